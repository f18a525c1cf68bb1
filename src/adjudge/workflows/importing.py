"""`adjudge run --from-trace`: traces made elsewhere as runs without a workspace, for judging alone."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from adjudge.contracts import BlobStore, GradedSubject
from adjudge.errors import SubjectError, UsageError
from adjudge.formats.traces.adjudge import encode_header, encode_item
from adjudge.formats.traces.detect import read_trace
from adjudge.formats.traces.summary import TraceSummariser, usage_of
from adjudge.gates.run import trace_given
from adjudge.judge.cache import AnswerDirectory
from adjudge.judge.court import Court
from adjudge.records.base import BlobRef
from adjudge.records.evaluation import TaskRef
from adjudge.records.judging import JudgeConfig
from adjudge.records.run import AgentOutcome, AgentRef, AgentStatus, Attempt, Run, RunStatus, run_id_of
from adjudge.records.score import Recipe
from adjudge.records.task import Scenario, Task
from adjudge.records.trace import Message, TraceSummary
from adjudge.settings import ANSWERS
from adjudge.tasks.freeze import FrozenTask, freeze, task_digest
from adjudge.tasks.load import label, load_scenario
from adjudge.tasks.lookup import find_task
from adjudge.workflows.experiment import Asked, find_or_add, held, standing_of
from adjudge.workflows.judgeruns import judge_one
from adjudge.workflows.ledger import ledger_evaluation
from adjudge.workflows.planning import refuse_unrunnable
from adjudge.workflows.run import RunMeans, RunResult
from adjudge.workflows.runevents import EventKind, RunEvent, Tally

__all__ = ["IMPORTED", "import_traces"]

IMPORTED = "imported"
"""What the agent of an imported trace is called: nobody here ran it."""
_CHUNK = 1 << 20


class _Imported(NamedTuple):
    file: Path
    outcome: AgentOutcome
    summary: TraceSummary
    instruction: str
    """The first thing the user said."""


def import_traces(
    files: Sequence[str],
    means: RunMeans,
    *,
    scenario: str | None = None,
    name: str | None = None,
    new: bool = False,
    judge: JudgeConfig | None = None,
) -> RunResult:
    """Record traces as finished runs; the same traces again are the runs they were.

    Args:
        files: The traces, in any format that is known.
        means: What running takes.
        scenario: What was asked of the agents; None: what the user said first in each trace.
        name: What reports call the experiment.
        new: Whether to import them once more where they are there already.
        judge: Who judges them; None: nobody, for now.

    Raises:
        UsageError: A file is no trace, or the scenario has a workspace; nothing was recorded.
    """
    asked = None if scenario is None else _task_of(scenario, means.state_dir)
    imported = [_import(Path(file), means.blobs) for file in dict.fromkeys(files)]
    runs: dict[str, tuple[_Imported, Task, Run]] = {}
    for one in imported:
        task = asked or _task_from(one)
        run = _run(one, task)
        runs.setdefault(run.key.digest, (one, task, run))
    content = Asked(
        name=name or (asked.name if asked is not None else label(Path(files[0]).stem)),
        keys=tuple(run.key for _, _, run in runs.values()),
        tasks=tuple({task.digest: task for _, task, _ in runs.values()}.values()),
        conditions="imported traces" if judge is None else {"imported traces": judge.digest},
        judge=None if judge is None else judge.model_dump(mode="json"),
    )
    experiment, _ = find_or_add(content, means.store, new=new, finished=True)
    tally = Tally(total=len(runs))
    with held(experiment, means.state_dir):
        means.observe(
            RunEvent(
                EventKind.BEGUN,
                message=f"experiment {experiment.id}: {len(runs)} imported traces",
                experiment=experiment,
            )
        )
        graded = standing_of(experiment, means.store).graded
        left: list[tuple[Run, GradedSubject]] = []
        for one, task, run in runs.values():
            id_ = run_id_of(experiment.id, run.key)
            run = run.model_copy(update={"id": id_, "experiment_id": experiment.id})
            if id_ in graded:
                evaluation = means.store.current_evaluation(id_)
                assert evaluation is not None
                tally.add(run, evaluation, kept=True)
                continue
            means.store.save_run(run)
            gate = trace_given("trace", one.summary, task.scenario.limits)
            left.append((run, ledger_evaluation(task, run_id=id_, run_gate=gate)))
        recorder = _Recorder(means, tally)
        if judge is None:
            for run, done in left:
                recorder.record(run, done)
        else:
            asyncio.run(_judge(left, judge, means, recorder))
    means.observe(RunEvent(EventKind.ENDED))
    return RunResult(experiment, tally, drained=False, capped=False, fail_under=None)


class _Recorder(NamedTuple):
    means: RunMeans
    tally: Tally

    def record(self, run: Run, done: GradedSubject) -> None:
        self.means.store.save_evaluation(run.id, done)
        self.tally.add(run, done.evaluation)
        self.means.observe(RunEvent(EventKind.GRADED, run=run, evaluation=done.evaluation))


async def _judge(
    left: Sequence[tuple[Run, GradedSubject]], judge: JudgeConfig, means: RunMeans, recorder: _Recorder
) -> None:
    """Put runs before the judge, each recorded as soon as it is judged."""
    slots = asyncio.Semaphore(judge.concurrency)

    async def work(run: Run, done: GradedSubject) -> None:
        async with slots:
            recorder.record(run, await judge_one(court, run, done, means.blobs))

    async with Court(judge, cache=AnswerDirectory(means.state_dir / ANSWERS), blobs=means.blobs) as court:
        try:
            async with asyncio.TaskGroup() as group:
                for run, done in left:
                    group.create_task(work(run, done))
        except BaseExceptionGroup as several:
            raise several.exceptions[0] from None


def _task_of(scenario: str, state_dir: Path) -> Task:
    found = find_task(scenario, state_dir)
    frozen = (
        found if isinstance(found, FrozenTask) else freeze(load_scenario(found.file, to_run=True), state_dir)
    )
    task = frozen.task
    if task.source_digest is not None:
        raise UsageError(
            f"{scenario} has a workspace, which a trace alone says nothing about",
            hint="adjudge grade --trace grades a workspace that came with a trace",
        )
    refuse_unrunnable(task)
    return task


def _task_from(one: _Imported) -> Task:
    """The task of a trace that came without one: what the user said first."""
    instruction = one.instruction or "(the trace does not say what was asked)"
    scenario = Scenario(name=label(one.file.stem), instruction=instruction, recipe=Recipe(scorers=()))
    return Task(name=scenario.name, digest=task_digest(scenario, None, ()), scenario=scenario)


def _run(one: _Imported, task: Task) -> Run:
    """The run, its id still to be worked out from the experiment it belongs to."""
    raw = one.outcome.raw_trace
    assert raw is not None
    agent = AgentRef(name=IMPORTED, type="trace", config={"trace": raw.digest})
    models = one.summary.models
    now = datetime.now(UTC)
    return Run(
        id="0" * 12,
        task=TaskRef(name=task.name, digest=task.digest),
        agent=agent,
        model=models[0] if models else None,
        status=RunStatus.FINISHED,
        started_at=now,
        ended_at=now,
        attempt=Attempt(outcome=one.outcome),
    )


def _import(file: Path, blobs: BlobStore) -> _Imported:
    """Keep a trace as it is and in our own form, reading it once.

    Raises:
        UsageError: It cannot be read, or is no trace.
    """
    raw = _keep(file, blobs)
    writer = blobs.writer()
    try:
        with file.open("rb") as stream:
            opened = read_trace(stream, filename=file.name)
            summariser = TraceSummariser(opened.format)
            instruction = ""
            writer.write(encode_header(opened.format))
            for item in opened.items:
                summariser.add(item)
                writer.write(encode_item(item))
                if not instruction and isinstance(item, Message) and item.role == "user":
                    instruction = item.text
        trace = writer.commit()
    except SubjectError as error:
        raise UsageError(f"{file}: {error.message}", hint=error.hint) from error
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}") from error
    finally:
        writer.abort()
    summary = summariser.summary()
    outcome = AgentOutcome(
        status=AgentStatus.COMPLETED,
        response=summary.response,
        trace=trace,
        raw_trace=raw,
        trace_format=opened.format,
        usage=usage_of(summary),
        turns=max(1, summary.turns),
        wall_s=summary.duration_s or 0.0,
    )
    return _Imported(file, outcome, summary, instruction)


def _keep(file: Path, blobs: BlobStore) -> BlobRef:
    # Not `Path.is_file`, which raises for a name that is too long.
    if not os.path.isfile(file):
        raise UsageError(f"{file} is not a file")
    writer = blobs.writer()
    try:
        with file.open("rb") as stream:
            while chunk := stream.read(_CHUNK):
                writer.write(chunk)
        return writer.commit()
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}") from error
    finally:
        writer.abort()
