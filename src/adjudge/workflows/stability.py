"""Which tests of a task are unstable: its suites run several times on the baseline, where no attempt runs.

The runs are one after another, each with collection of its own and in fresh sandboxes, as written and without
falsified twins. What they show is kept beside the task; grading leaves those tests out.
"""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from adjudge.capture.baseline import task_baseline
from adjudge.capture.changes import capture_changes
from adjudge.contracts import Collector, SandboxBackend, Subject
from adjudge.engine.collect import collect_one
from adjudge.engine.collectors import Means, make_collector
from adjudge.engine.plan import Plan, make_plan
from adjudge.errors import Problem, UsageError
from adjudge.records.base import Record
from adjudge.records.evidence import Isolation, ReportedTests, ReportRun, TestProof, TestRun
from adjudge.records.sandbox import WorkspaceTree
from adjudge.records.stability import StabilityMeasurement, SuiteStability, UnstableTest
from adjudge.records.task import Task
from adjudge.records.testreport import TestOutcome, TrustedTestRun
from adjudge.tasks.freeze import FrozenTask
from adjudge.tasks.seeds import Baseline
from adjudge.tasks.stability import Measured, keep_stability
from adjudge.tasks.trees import remove_tree
from adjudge.workflows.contents import TreeContents
from adjudge.workflows.starting import freeze_to_start, make_baseline

__all__ = ["Examined", "Seen", "conclude_suite", "examine_tests", "measure", "refuse_without_tests"]

_MISSING = "missing"
_UNDECIDED = (TestOutcome.SKIPPED, TestOutcome.XFAILED)


class Examined(NamedTuple):
    """A task whose tests were examined."""

    task: Task
    measured: Measured
    warnings: tuple[Problem, ...]


class Seen(NamedTuple):
    """What one run of a suite says: outcomes by id, and whether it reached its end."""

    outcomes: Mapping[str, str]
    whole: bool
    problem: str = ""
    """Why it did not."""


def examine_tests(
    task: str, *, repeats: int, state_dir: Path, backend: Callable[[Task], SandboxBackend]
) -> Examined:
    """Measure the tests of a task without making a workspace of it; only the record is kept.

    Args:
        task: A scenario's path, a frozen task's folder, or its digest.
        repeats: How many runs of each suite.
        state_dir: Where tasks are looked for, and the record is kept.
        backend: Chooses the sandbox.

    Raises:
        UsageError: The task is not valid, has no workspace or no tests, or they cannot be run.
        InfraError: A sandbox could not do its part.
    """
    scratch = Path(tempfile.mkdtemp(prefix="adjudge-"))
    try:
        frozen, warnings = freeze_to_start(task, state_dir, scratch)
        refuse_without_tests(frozen.task)
        baseline, _ = make_baseline(frozen, scratch, backend)
        measured = measure(frozen, baseline, backend(frozen.task), repeats, state_dir)
    finally:
        remove_tree(scratch)
    return Examined(frozen.task, measured, warnings)


def refuse_without_tests(task: Task) -> None:
    """Refuse a task of which no scorer runs tests."""
    with _planned(task) as plan:
        if not _suites(plan):
            raise UsageError(
                f"no scorer of {task.name} runs tests, so there is nothing to repeat",
                hint="types that do: tests, pytest, swebench",
            )


def measure(
    frozen: FrozenTask, baseline: Baseline, backend: SandboxBackend, repeats: int, state_dir: Path
) -> Measured:
    """Run every suite of a task `repeats` times on its baseline, and keep what that shows."""
    task = frozen.task
    tree = WorkspaceTree(layers=(baseline.tree,))
    trusted = task_baseline(tree, description="the baseline itself", digest=baseline.digest)
    means = Means(backend=lambda: backend, settings=task.scenario.sandbox)
    measured_at = datetime.now(UTC).isoformat(timespec="seconds")
    with _planned(task) as plan, TreeContents(trusted, tree) as contents:
        subject = Subject(
            task=task,
            change_set=capture_changes(trusted, tree),
            baseline=tree,
            workspace=tree,
            contents=contents,
            scenario_files=frozen.files,
        )
        suites = _suites(plan)
        requests = {request.digest: request for _, request in suites}
        seen = asyncio.run(_run(requests, means, subject, repeats))
    measurement = StabilityMeasurement(
        measured_at=measured_at,
        baseline_digest=baseline.digest,
        repeats=repeats,
        suites=tuple(conclude_suite(scorer, seen[request.digest]) for scorer, request in suites),
    )
    return keep_stability(task.digest, measurement, state_dir)


@contextlib.contextmanager
def _planned(task: Task) -> Iterator[Plan]:
    plan = make_plan(task.scenario.recipe)
    try:
        for planned in plan.scorers:
            if planned.problem is not None:
                raise planned.problem
        yield plan
    finally:
        plan.close()


def _suites(plan: Plan) -> list[tuple[str, TestRun | ReportRun]]:
    """Every scorer that runs tests, and what it asks for."""
    return [
        (planned.spec.name, request)
        for planned in plan.scorers
        for request in (plan.requests[digest] for digest in planned.requests)
        if isinstance(request, TestRun | ReportRun)
    ]


async def _run(
    requests: Mapping[str, TestRun | ReportRun], means: Means, subject: Subject, repeats: int
) -> dict[str, list[Seen]]:
    """All suites in turn, again and again: what depends on the time gets the most of it."""
    collectors: dict[str, Collector] = {}
    seen: dict[str, list[Seen]] = {digest: [] for digest in requests}
    for _ in range(repeats):
        for digest, request in requests.items():
            if request.kind not in collectors:
                collectors[request.kind] = make_collector(request.kind, means)
            piece = await collect_one(collectors[request.kind], _as_written(request), subject)
            if piece.answer is None:
                assert piece.error is not None
                raise piece.error
            seen[digest].append(_seen(piece.answer))
    return seen


def _as_written(request: TestRun | ReportRun) -> TestRun | ReportRun:
    if isinstance(request, ReportRun):
        # Over the baseline both are the same tree, but the clean one is compared with the baseline once more.
        tree = request.tree.model_copy(update={"isolation": Isolation.SNAPSHOT})
        return request.model_copy(update={"tree": tree, "proof": TestProof.SINGLE})
    command = request.command
    if command.runner == "pytest":
        # Tests of a missing feature often do not load on the baseline; pytest would then run no other.
        args = (*command.args, "--continue-on-collection-errors")
        command = command.model_copy(update={"args": args})
    return request.model_copy(update={"command": command, "proof": TestProof.SINGLE, "retry": ()})


def _seen(answer: Record) -> Seen:
    outcomes: dict[str, str] = {}
    if isinstance(answer, TrustedTestRun):
        broken = [session for session in answer.sessions if not session.complete]
        for test in answer.tests:
            if test.written is not None:
                outcomes[test.id] = test.outcome.value
        return Seen(outcomes, not broken, "; ".join(broken[0].problems) if broken else "")
    assert isinstance(answer, ReportedTests)
    if answer.trusted is not None:
        return _seen(answer.trusted)
    if answer.report is None:
        exit_code = answer.result.exit_code
        ended = answer.result.ended.value if exit_code is None else f"exit {exit_code}"
        return Seen(
            {}, whole=False, problem="; ".join((f"no result could be read ({ended})", *answer.problems))
        )
    for case in answer.report.cases:
        # Of an id that is reported twice, what is not a pass counts.
        if outcomes.get(case.id, TestOutcome.PASSED) == TestOutcome.PASSED:
            outcomes[case.id] = case.outcome.value
    return Seen(outcomes, answer.report.complete, "" if answer.report.complete else "the report has no end")


def conclude_suite(scorer: str, runs: Sequence[Seen]) -> SuiteStability:
    """Compare the runs of one suite, test by test.

    A run that broke off says nothing of the tests it did not get to; a whole one that does not know a test
    says that it is missing.
    """
    ids = sorted({id_ for run in runs for id_ in run.outcomes})
    unstable = []
    for id_ in ids:
        ended = [run.outcomes.get(id_, _MISSING) for run in runs if run.whole or id_ in run.outcomes]
        if len({_kind(outcome) for outcome in ended}) > 1:
            unstable.append(UnstableTest(id=id_, outcomes=dict(sorted(Counter(ended).items()))))
    return SuiteStability(
        scorer=scorer,
        tests=len(ids),
        unstable=tuple(unstable),
        broken_off=sum(not run.whole for run in runs),
        problem=next((run.problem for run in runs if not run.whole), ""),
    )


def _kind(outcome: str) -> str:
    """What an outcome means for a score: failing in another way is not unstable."""
    if outcome == TestOutcome.PASSED:
        return "passes"
    return "undecided" if outcome in _UNDECIDED else "fails"
