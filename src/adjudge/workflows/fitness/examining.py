"""Trying a task out: its solution, nothing at all, nonsense, and golden outputs, each in fresh sandboxes."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from adjudge.capture.changes import capture_changes
from adjudge.contracts import SandboxBackend, Subject
from adjudge.engine.collect import collect_one
from adjudge.engine.collectors import sandbox_spec
from adjudge.engine.plan import Collected
from adjudge.errors import Problem, UsageError
from adjudge.evidence.verifier.collector import VerifierCollector
from adjudge.records.change import ChangeSet
from adjudge.records.evidence import VerifierOutcome, VerifierRun
from adjudge.records.run import AgentRef, AgentStatus
from adjudge.records.sandbox import WorkspaceTree
from adjudge.records.task import Scenario, Task
from adjudge.scorers.external.verifier import Verifier
from adjudge.store.blobs import BlobDirectory
from adjudge.tasks.freeze import FrozenTask
from adjudge.tasks.load import is_task_directory
from adjudge.tasks.trees import read_entries, remove_tree
from adjudge.workflows.attempt import AttemptOrder, run_attempt
from adjudge.workflows.contents import TreeContents
from adjudge.workflows.fitness.checks import conclude
from adjudge.workflows.fitness.facts import Check, Facts, Status, Verified
from adjudge.workflows.fitness.looking import find_history, find_reachable, read_scripts
from adjudge.workflows.starting import freeze_to_start
from adjudge.workflows.startingpoint import StartingPoint, prepare_start

__all__ = ["FitnessReport", "examine_task", "has_verifier"]

_NONSENSE = b"\x00\xff this is not what was asked for \xfe\n"
_MAX_ANSWER_BYTES = 16 * 1024 * 1024


class FitnessReport(NamedTuple):
    """What was concluded about a task."""

    task: Task
    checks: tuple[Check, ...]
    warnings: tuple[Problem, ...]

    @property
    def fit(self) -> bool:
        """Whether it is fit to grade with."""
        return all(check.status is not Status.FAIL for check in self.checks)


def has_verifier(scenario: Scenario) -> bool:
    """Whether a scenario is graded by a verifier."""
    return any(spec.type == Verifier.name for spec in scenario.recipe.scorers)


def examine_task(
    task: str,
    *,
    repeats: int,
    jobs: int,
    state_dir: Path,
    backend: Callable[[Task], SandboxBackend],
) -> FitnessReport:
    """Try a task out. Nothing of it is kept.

    Args:
        task: A task directory, a scenario's path, a frozen task's folder, or its digest.
        repeats: How often the verifier runs over the solved and over the untouched workspace.
        jobs: How many sandboxes may run at once.
        state_dir: Where frozen tasks are looked for.
        backend: Chooses the sandbox.

    Raises:
        UsageError: The task is not valid, or has no workspace or no verifier.
        InfraError: A sandbox could not do its part.
    """
    scratch = Path(tempfile.mkdtemp(prefix="adjudge-"))
    try:
        frozen, warnings = freeze_to_start(task, state_dir, scratch)
        if not has_verifier(frozen.task.scenario):
            raise UsageError(f"{frozen.task.name} has no verifier", hint="doctor looks at its tests instead")
        examination = _Examination(frozen, scratch, backend, repeats=repeats, jobs=jobs)
        # What an image is built from may hold more than the workspace, such as a `.git`.
        examination.histories = [Path(task) / "environment"] if is_task_directory(task) else []
        facts = examination.facts()
    finally:
        remove_tree(scratch)
    return FitnessReport(frozen.task, tuple(conclude(facts)), warnings)


class _Examination:
    def __init__(
        self,
        frozen: FrozenTask,
        scratch: Path,
        backend: Callable[[Task], SandboxBackend],
        *,
        repeats: int,
        jobs: int,
    ) -> None:
        self._frozen = frozen
        self._task = frozen.task
        self._scratch = scratch
        self._choose = backend
        self._repeats = repeats
        self._jobs = jobs
        spec = next(spec for spec in self._task.scenario.recipe.scorers if spec.type == Verifier.name)
        self._config = Verifier.Config.model_validate(dict(spec.config))
        request = Verifier().needs(self._config)[0]
        assert isinstance(request, VerifierRun)
        self._request = request
        self._trees = 0
        self.histories: list[Path] = []
        """Further folders in which a repository may hold the answer."""

    def facts(self) -> Facts:
        config, files = self._config, self._frozen.files
        facts = Facts(
            unsupported=config.unsupported,
            max_reward=config.max_reward,
            pass_threshold=config.pass_threshold,
            scripts=read_scripts(files / self._request.tests),
            network=config.network,
            has_solution=self._task.scenario.solution is not None,
            no_solution="there is none (solution/solve.sh)",
        )
        if config.unsupported:
            return facts
        facts.reachable = find_reachable(self._task.files, files, read_entries(self._frozen.source))
        blobs = BlobDirectory(self._scratch / "blobs")
        start = prepare_start(self._frozen, state_dir=self._scratch, backend=self._choose, blobs=blobs)
        asyncio.run(self._try(facts, start, blobs))
        return facts

    async def _try(self, facts: Facts, start: StartingPoint, blobs: BlobDirectory) -> None:
        assert start.baseline is not None
        assert start.baseline.tree is not None
        slots = asyncio.Semaphore(self._jobs)
        backend = self._choose(self._task)
        base = sandbox_spec(self._task.scenario.sandbox)
        collector = VerifierCollector(backend, base)
        deaf = VerifierCollector(backend, base, candidate_fails=True)

        async def verify(subject: Subject, *, by: VerifierCollector = collector) -> Verified:
            async with slots:
                piece = await collect_one(by, self._request, subject)
            if piece.error is not None:
                raise piece.error
            assert isinstance(piece.answer, VerifierOutcome)
            evidence = Collected({self._request.digest: (self._request, piece.answer)})
            return Verified(piece.answer, Verifier().score(self._config, evidence))

        async def several(subject: Subject) -> list[Verified]:
            return await _all(*(verify(subject) for _ in range(self._repeats)))

        untouched = start.baseline.tree
        with self._subject(start, untouched) as subject:
            facts.untouched = await several(subject)
        if self._request.output is not None:
            place = await asyncio.to_thread(self._with_output, untouched.base, _NONSENSE)
            with self._subject(start, WorkspaceTree(layers=(place,))) as subject:
                facts.unusable = await verify(subject)
        for name, golden in self._golden():
            made = await asyncio.to_thread(self._with_golden, untouched.base, golden)
            if made is None:
                facts.golden[name] = "it is a file, and the task does not say where its output goes"
                continue
            with self._subject(start, WorkspaceTree(layers=(made,))) as subject:
                facts.golden[name] = await verify(subject)
        if facts.has_solution:
            async with self._solved(facts, start, backend, blobs) as solved:
                if solved is not None:
                    facts.solved = await several(solved)
                    if facts.solved[0].run.candidate_runs:
                        facts.deaf = await verify(solved, by=deaf)
                    self._look_for_answers(facts, solved)

    @contextlib.contextmanager
    def _subject(self, start: StartingPoint, tree: WorkspaceTree) -> Iterator[Subject]:
        assert start.baseline is not None
        with TreeContents(start.baseline, tree) as contents:
            yield Subject(
                task=self._task,
                change_set=capture_changes(start.baseline, tree),
                baseline=start.baseline.tree,
                workspace=tree,
                contents=contents,
                scenario_files=self._frozen.files,
            )

    @contextlib.asynccontextmanager
    async def _solved(
        self, facts: Facts, start: StartingPoint, backend: SandboxBackend, blobs: BlobDirectory
    ) -> AsyncIterator[Subject | None]:
        """The workspace as the reference solution leaves it; None, with the reason noted, when it fails."""
        order = AttemptOrder(
            start=start, agent=AgentRef(name="oracle", type="oracle"), blobs=blobs, backend=backend
        )
        async with contextlib.AsyncExitStack() as stack:
            try:
                attempted = await stack.enter_async_context(run_attempt(order))
            except UsageError as error:
                facts.no_solution = error.message
                yield None
                return
            subject, outcome = attempted.subject, attempted.attempt.outcome
            if attempted.fault is not None:
                facts.no_solution = attempted.fault.message
            elif outcome is not None and outcome.status is not AgentStatus.COMPLETED:
                said = " ".join(outcome.response.split())[-200:]
                facts.no_solution = f"it fails: {outcome.reason}{f' ({said})' if said else ''}"
                subject = None
            yield subject

    def _golden(self) -> list[tuple[str, Path]]:
        top = self._frozen.files / self._request.tests / "golden"
        found = []
        for kind in ("pass", "fail"):
            folder = top / kind
            if folder.is_dir():
                found += [(f"{kind}/{place.name}", place) for place in sorted(folder.iterdir())]
        return found

    def _with_golden(self, base: Path, golden: Path) -> Path | None:
        """The untouched workspace with a golden output in its place; a folder is laid over all of it."""
        if golden.is_file():
            return None if self._request.output is None else self._with_output(base, golden.read_bytes())
        made = self._copy(base)
        shutil.copytree(golden, made, dirs_exist_ok=True)
        return made

    def _with_output(self, base: Path, data: bytes) -> Path:
        assert self._request.output is not None
        made = self._copy(base)
        place = made / self._request.output
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
        return made

    def _copy(self, base: Path) -> Path:
        self._trees += 1
        made = self._scratch / f"tree{self._trees}"
        shutil.copytree(base, made, symlinks=True)
        return made

    def _look_for_answers(self, facts: Facts, solved: Subject) -> None:
        """Whether what the solution makes was within an agent's reach from the start."""
        seen = {entry.digest: entry.path for entry in read_entries(self._frozen.source)}
        changes: ChangeSet = solved.change_set
        answers = []
        for change in changes.work:
            if change.new_digest is None or not change.new_size_bytes:
                continue
            if change.new_digest in seen and change.new_size_bytes >= 16:
                facts.answers.append(seen[change.new_digest])
            answers.append(solved.contents.new(change, max_bytes=_MAX_ANSWER_BYTES))
        facts.history = find_history([self._frozen.source, *self.histories], answers)


async def _all(*work: Any) -> list[Any]:
    """Everything at once; the first failure ends the rest, and is what is raised."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one) for one in work]
    except ExceptionGroup as several:
        raise several.exceptions[0] from several
    return [task.result() for task in tasks]
