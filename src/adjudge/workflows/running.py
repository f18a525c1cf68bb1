"""Running a matrix: so many runs at once, each graded the moment it stops, all of it recorded as it happens.

A run is recorded as running before its agent starts, as finished when what it left was captured, and then
graded. Whatever instant the process is killed at, the next start finds finished runs as they are, grades
those that were not graded any more from the store, and starts all others over from a clean workspace.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from adjudge.contracts import BlobStore, GradedSubject, RunStore, SandboxBackend
from adjudge.engine.collectors import Means
from adjudge.errors import AdjudgeError, InfraError, SandboxUnavailable, SubjectError
from adjudge.gates.run import run_gate
from adjudge.judge.cache import AnswerDirectory
from adjudge.judge.court import Court
from adjudge.records.base import BlobRef
from adjudge.records.evaluation import Evaluation, TaskRef
from adjudge.records.judging import JudgeConfig
from adjudge.records.run import AgentOutcome, Attempt, Experiment, Run, RunStatus, run_id_of
from adjudge.records.task import RunLimits, Task
from adjudge.settings import ANSWERS
from adjudge.tasks.freeze import FrozenTask
from adjudge.tasks.stability import find_stability
from adjudge.workflows.attempt import Attempted, AttemptOrder, run_attempt
from adjudge.workflows.conversation import Conversation
from adjudge.workflows.experiment import Standing, tighter
from adjudge.workflows.grading import SubjectGrading
from adjudge.workflows.judgeruns import judge_one, judgement_of
from adjudge.workflows.ledger import ledger_evaluation
from adjudge.workflows.planning import Cell
from adjudge.workflows.recipes import GradedBy
from adjudge.workflows.runevents import EventKind, Observe, RunEvent, Tally
from adjudge.workflows.startingpoint import StartingPoint, prepare_start
from adjudge.workflows.storedchanges import store_tree
from adjudge.workflows.storedruns import StoredRuns, is_complete, with_words
from adjudge.workflows.storewriter import StoreWriter

__all__ = ["RETRY_PAUSE_S", "TRIES", "ExperimentRunner", "RunnerSettings"]

TRIES = 3
"""How often a run is begun before an infrastructure fault is its end."""
RETRY_PAUSE_S = 1.0
"""Before the first retry; twice as long before the next."""


@dataclasses.dataclass(frozen=True, slots=True)
class RunnerSettings:
    """What holds for every run of an experiment."""

    state_dir: Path
    jobs: int
    backend: Callable[[Task], SandboxBackend]
    limits: RunLimits
    max_cost_usd: float | None = None
    judge: JudgeConfig | None = None
    """Who judges every run; one configuration for all of them."""


class _Start:
    """What the runs of one task share: made by whoever needs it first."""

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.point: StartingPoint | None = None
        self.files: BlobRef | None = None


class ExperimentRunner:
    """Runs what is left of an experiment. Used once.

    Args:
        experiment: What it belongs to.
        cells: The whole matrix, in the order its runs start in.
        standing: What is stored of it already.
        store: Where everything is recorded.
        blobs: Where the large parts go.
        settings: What holds for every run.
        observe: Told what happens.
    """

    def __init__(
        self,
        experiment: Experiment,
        cells: Sequence[Cell],
        standing: Standing,
        store: RunStore,
        blobs: BlobStore,
        settings: RunnerSettings,
        observe: Observe,
    ) -> None:
        self._experiment = experiment
        self._cells = cells
        self._standing = standing
        self._store = store
        self._blobs = blobs
        self._settings = settings
        self._observe = observe
        self._draining = False
        self._capped = False
        self._court: Court | None = None
        self._starts: dict[str, _Start] = {}
        self._baselines: dict[str, str] = {}
        """Task digest → the baseline that runs which are kept started from."""
        self._stored = StoredRuns(blobs, settings.state_dir)
        self._writer = StoreWriter()
        self.tally = Tally(total=len(cells))

    @property
    def drained(self) -> bool:
        """Whether it was asked to stop early."""
        return self._draining

    @property
    def capped(self) -> bool:
        """Whether the cost cap kept runs from being started."""
        return self._capped

    def drain(self) -> None:
        """Start no further run; those that are under way are finished."""
        if not self._draining:
            self._draining = True
            self._observe(RunEvent(EventKind.DRAINING))

    async def run(self) -> None:
        """Until nothing is left to do, the cost cap is reached, or it was asked to drain.

        Cancelling it ends every run that is under way; those start over next time.
        """
        async with contextlib.AsyncExitStack() as stack:
            stack.enter_context(self._stored)
            stack.enter_context(self._writer)
            if self._settings.judge is not None:
                answers = AnswerDirectory(self._settings.state_dir / ANSWERS)
                court = Court(self._settings.judge, cache=answers, blobs=self._blobs)
                self._court = await stack.enter_async_context(court)
            queue = deque(await self._leave_out_finished())
            workers = min(self._settings.jobs, len(queue))
            try:
                async with asyncio.TaskGroup() as group:
                    for _ in range(workers):
                        group.create_task(self._work(queue))
            except BaseExceptionGroup as several:
                # Whatever ended one worker ended them all; the first of them says why.
                raise several.exceptions[0] from None

    async def _leave_out_finished(self) -> list[Cell]:
        left = []
        for cell in self._cells:
            id_ = run_id_of(self._experiment.id, cell.key)
            if id_ not in self._standing.graded:
                left.append(cell)
                continue
            run = await self._writer.do(self._store.run, id_)
            evaluation = await self._writer.do(self._store.current_evaluation, id_)
            assert evaluation is not None
            self._count_judge(evaluation)
            if run.attempt is not None and run.attempt.baseline_digest is not None:
                self._baselines[run.task.digest] = run.attempt.baseline_digest
            self.tally.add(run, evaluation, kept=True)
            self._observe(RunEvent(EventKind.GRADED, run=run, evaluation=evaluation, kept=True))
        return left

    async def _work(self, queue: deque[Cell]) -> None:
        while queue and not self._draining and not self._over_cost():
            await self._run_cell(queue.popleft())

    def _over_cost(self) -> bool:
        cap = self._settings.max_cost_usd
        if cap is None or self.tally.cost_usd < cap:
            return False
        if not self._capped:
            self._capped = True
            message = f"${self.tally.cost_usd:.2f} spent, cap ${cap:.2f}"
            self._observe(RunEvent(EventKind.CAPPED, message=message))
        return True

    async def _run_cell(self, cell: Cell) -> None:
        id_ = run_id_of(self._experiment.id, cell.key)
        if id_ in self._standing.ungraded:
            run = await self._writer.do(self._store.run, id_)
            graded = await self._grade_stored(cell, run)
        else:
            found = await self._make(cell, id_)
            if found is None:
                return
            run, graded = found
        self.tally.add(run, graded.evaluation)
        self._observe(RunEvent(EventKind.GRADED, run=run, evaluation=graded.evaluation))

    async def _make(self, cell: Cell, id_: str) -> tuple[Run, GradedSubject] | None:
        """Make the attempt and grade it; None after an infrastructure fault."""
        run = Run(
            id=id_,
            task=TaskRef(name=cell.task.task.name, digest=cell.task.task.digest),
            agent=cell.agent,
            model=cell.model,
            trial=cell.trial,
            experiment_id=self._experiment.id,
            status=RunStatus.RUNNING,
            started_at=datetime.now(UTC),
            tags=dict(cell.tags),
        )
        for number in range(1, TRIES + 1):
            run = run.model_copy(update={"attempts": number, "started_at": datetime.now(UTC)})
            await self._writer.do(self._store.save_run, run)
            conversation = Conversation(cell.task.task.scenario)
            async with contextlib.AsyncExitStack() as stack:
                try:
                    start = await self._start_of(cell.task, run)
                    made = await stack.enter_async_context(
                        run_attempt(self._order(cell, run, start, conversation))
                    )
                except Exception as error:
                    if await self._faulted(run, error, last=number == TRIES):
                        return None
                    continue
                return await self._finish(cell, run, made, conversation)
        raise AssertionError("the last try neither ended nor returned")

    def _order(self, cell: Cell, run: Run, start: StartingPoint, conversation: Conversation) -> AttemptOrder:
        task = cell.task.task
        limits = tighter(task.scenario.limits, self._settings.limits)
        limited = task.model_copy(update={"scenario": task.scenario.model_copy(update={"limits": limits})})
        return AttemptOrder(
            start=dataclasses.replace(start, task=limited),
            agent=cell.agent,
            blobs=self._blobs,
            backend=None if start.tree is None else self._settings.backend(task),
            model=cell.model,
            next_message=conversation,
            phase=lambda phase: self._observe(RunEvent(EventKind.PHASE, run=run, phase=phase)),
        )

    async def _faulted(self, run: Run, error: Exception, *, last: bool) -> bool:
        """Record or forgive an infrastructure fault; whether it is the run's end."""
        message = error.message if isinstance(error, AdjudgeError) else f"{type(error).__name__}: {error}"
        hopeless = not isinstance(error, InfraError) or isinstance(error, SandboxUnavailable)
        if last or hopeless or self._draining:
            hint = getattr(error, "hint", None)
            ended = run.model_copy(
                update={
                    "status": RunStatus.INFRASTRUCTURE_FAULT,
                    "fault": f"{message} (hint: {hint})" if hint else message,
                    "ended_at": datetime.now(UTC),
                }
            )
            await self._writer.do(self._store.save_run, ended)
            self.tally.add_fault(ended)
            self._observe(RunEvent(EventKind.FAULT, run=ended, message=ended.fault or ""))
            return True
        self._observe(RunEvent(EventKind.RETRY, run=run, message=message))
        await asyncio.sleep(RETRY_PAUSE_S * 2 ** (run.attempts - 1))
        return False

    async def _start_of(self, frozen: FrozenTask, run: Run) -> StartingPoint:
        """Where a task's runs start; set up once, by the first of them."""
        start = self._starts.setdefault(frozen.task.digest, _Start())
        async with start.lock:
            if start.point is None:
                self._observe(RunEvent(EventKind.PHASE, run=run, phase="seeding"))
                start.point = await asyncio.to_thread(
                    prepare_start,
                    frozen,
                    state_dir=self._settings.state_dir,
                    backend=self._settings.backend,
                    blobs=self._blobs,
                    baseline_digest=self._baselines.get(frozen.task.digest),
                )
                if frozen.task.files:
                    start.files = await asyncio.to_thread(
                        store_tree, frozen.files, frozen.task.files, self._blobs
                    )
                for note in start.point.notes:
                    self._observe(RunEvent(EventKind.NOTE, message=f"{frozen.task.name}: {note}"))
            return start.point

    async def _finish(
        self, cell: Cell, run: Run, made: Attempted, conversation: Conversation
    ) -> tuple[Run, GradedSubject]:
        """Record what the agent left, grade it, record that."""
        more: dict[str, Any] = {"task_files": self._starts[cell.task.task.digest].files}
        if cell.task.task.scenario.turns or made.subject is None:
            more["transcript"] = await asyncio.to_thread(conversation.keep, self._blobs)
        run = run.model_copy(
            update={
                "status": RunStatus.FINISHED,
                "ended_at": datetime.now(UTC),
                "attempt": made.attempt.model_copy(update=more),
            }
        )
        # What a live scorer looks at is gone with the sandbox: such a run is over only when it is graded.
        live = any(spec.config.get("isolation") == "live" for spec in cell.task.task.scenario.recipe.scorers)
        if not live:
            await self._writer.do(self._store.save_run, run)
        self._observe(RunEvent(EventKind.PHASE, run=run, phase="grading"))
        graded = await self._judged(run, await self._grade(cell, run, made))
        if live:
            await self._writer.do(self._store.save_run, run)
        await self._writer.do(self._store.save_evaluation, run.id, graded)
        return run, graded

    async def _grade(self, cell: Cell, run: Run, made: Attempted) -> GradedSubject:
        if made.subject is None and made.fault is None:
            return self._grade_ledger(cell, run)
        by = GradedBy(cell.task.task, cell.task)
        with SubjectGrading(
            by, self._means(cell), jobs=1, unstable=self._unstable(cell.task.task)
        ) as grading:
            subject = made.subject
            if subject is not None and subject.trace is None:
                subject = with_words(subject, made.attempt, self._blobs)
            return await self._graded(grading, cell, run, subject or made.fault, made.fault)

    async def _grade_stored(self, cell: Cell, run: Run) -> GradedSubject:
        """Grade a run that was captured before this start."""
        self._observe(RunEvent(EventKind.PHASE, run=run, phase="grading"))
        attempt = run.attempt
        if not is_complete(attempt):
            graded = await self._grade_incomplete(cell, run, attempt)
        else:
            with contextlib.ExitStack() as stack:
                rebuilt = await asyncio.to_thread(
                    stack.enter_context, self._stored.rebuild(run, cell.task.task)
                )
                by = GradedBy(cell.task.task, cell.task, warnings=rebuilt.notes)
                grading = stack.enter_context(
                    SubjectGrading(by, self._means(cell), jobs=1, unstable=self._unstable(cell.task.task))
                )
                graded = await self._graded(grading, cell, run, rebuilt.subject, None)
        graded = await self._judged(run, graded)
        await self._writer.do(self._store.save_evaluation, run.id, graded)
        return graded

    async def _judged(self, run: Run, graded: GradedSubject) -> GradedSubject:
        """With the judge's verdict, where the experiment has a judge. It follows every scorer."""
        if self._court is None:
            return graded
        self._observe(RunEvent(EventKind.PHASE, run=run, phase="judging"))
        return await judge_one(self._court, run, graded, self._blobs)

    def _count_judge(self, evaluation: Evaluation) -> None:
        """What was spent on judging before this start is held against the same cap."""
        judgement = judgement_of(evaluation)
        if self._court is not None and judgement is not None:
            self._court.purse.spend(judgement.usage.cost_usd)

    async def _grade_incomplete(self, cell: Cell, run: Run, attempt: Attempt | None) -> GradedSubject:
        if attempt is None or attempt.baseline_digest is None:
            return self._grade_ledger(cell, run)
        fault = SubjectError("what the attempt left could not be captured")
        with SubjectGrading(GradedBy(cell.task.task, cell.task), self._means(cell), jobs=1) as grading:
            return await self._graded(grading, cell, run, fault, fault)

    async def _graded(
        self, grading: SubjectGrading, cell: Cell, run: Run, subject: Any, fault: SubjectError | None
    ) -> GradedSubject:
        attempt = run.attempt
        assert attempt is not None
        await asyncio.to_thread(grading.begin, subject)
        await grading.wait()
        return await asyncio.to_thread(
            lambda: grading.conclude(
                baseline=None if attempt.change_set is None else attempt.change_set.baseline,
                change_set=attempt.change_set,
                fault=fault,
                run_id=run.id,
                run_gate=run_gate(self._outcome(run), self._limits(cell)),
            )
        )

    def _grade_ledger(self, cell: Cell, run: Run) -> GradedSubject:
        gate = run_gate(self._outcome(run), self._limits(cell))
        return ledger_evaluation(cell.task.task, run_id=run.id, run_gate=gate)

    def _outcome(self, run: Run) -> AgentOutcome:
        assert run.attempt is not None
        assert run.attempt.outcome is not None
        return run.attempt.outcome

    def _limits(self, cell: Cell) -> RunLimits:
        return tighter(cell.task.task.scenario.limits, self._settings.limits)

    def _means(self, cell: Cell) -> Means:
        task = cell.task.task
        return Means(
            backend=lambda: self._settings.backend(task),
            settings=task.scenario.sandbox,
            blobs=self._blobs,
            answers=self._settings.state_dir / ANSWERS,
        )

    def _unstable(self, task: Task) -> Mapping[str, frozenset[str]]:
        record = find_stability(task.digest, self._settings.state_dir)
        return {} if record is None else record.unstable()
