"""`adjudge regrade`: stored runs graded again, without an agent, a model under test or a network.

Only what changed is computed, and a judge is asked only with `--judge`. Every new evaluation is added beside
the old one and becomes the current one; what moved, and by which scorer, is the answer.
"""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from adjudge.contracts import BlobStore, GradedSubject, RunStore, SandboxBackend
from adjudge.engine.collectors import Means, asks_a_model
from adjudge.errors import AdjudgeError, ConfigInvalid, UsageError
from adjudge.formats.tasks.messages import did_you_mean
from adjudge.gates.run import run_gate
from adjudge.records.annotation import ErrorSource
from adjudge.records.base import Record
from adjudge.records.evaluation import Evaluation, GateResult, TaskRef
from adjudge.records.evidence import EvidenceRequest
from adjudge.records.judging import JudgeConfig
from adjudge.records.run import Run, RunStatus
from adjudge.records.score import Verdict
from adjudge.records.task import RunLimits, Task
from adjudge.tasks.load import LoadedScenario
from adjudge.tasks.stability import find_stability
from adjudge.workflows.carrying import ASKS_MODELS, Carried, RecipeFacts, carry, facts_of, same_files
from adjudge.workflows.experiment import tighter
from adjudge.workflows.grading import SubjectGrading
from adjudge.workflows.inspecting import limits_of_experiment
from adjudge.workflows.recipes import GradedBy
from adjudge.workflows.rejudging import Judges
from adjudge.workflows.revision import OtherScorers, Revisions
from adjudge.workflows.runevents import counting_gate
from adjudge.workflows.storedruns import StoredRuns, is_complete
from adjudge.workflows.storewriter import StoreWriter

__all__ = ["Move", "RegradeMeans", "RegradeRequest", "Regraded", "Regrading", "regrade"]


@dataclass(frozen=True, slots=True)
class RegradeRequest:
    """What to grade again, and how."""

    runs: tuple[str, ...] = ()
    experiment: str | None = None
    everything: bool = False
    with_scenario: str | None = None
    only: tuple[str, ...] = ()
    force: bool = False
    ask_models: bool = False
    """Whether judges are asked again; else what they said is carried over."""
    judge: JudgeConfig | None = None
    """Who is asked; None: the judge of each run's experiment."""
    trying: LoadedScenario | None = None
    """A recipe to try, in place of `with_scenario`: what it would say is answered, and nothing is kept."""


@dataclass(frozen=True, slots=True)
class RegradeMeans:
    """What regrading takes."""

    store: RunStore
    blobs: BlobStore
    state_dir: Path
    jobs: int
    backend: Callable[[Task], SandboxBackend]
    answers: Path | None = None
    """Where answers of models are remembered."""
    observe: Callable[[Regraded], None] = field(default=lambda _: None)


class Regraded(NamedTuple):
    """What became of one run."""

    run: Run
    before: Evaluation | None
    after: Evaluation | None
    """The evaluation that was added; None when nothing changed, or it could not be graded again."""
    computed: tuple[str, ...] = ()
    """Scorers that were computed; all others kept their rows."""
    environment: tuple[str, ...] = ()
    """What differs in the environment, where code was run again for it."""
    problem: str = ""
    """Why it could not be graded again."""
    judged: bool = False
    """Whether a judge was asked."""

    @property
    def current(self) -> Evaluation | None:
        """The evaluation that counts now."""
        return self.after or self.before

    @property
    def move(self) -> Move | None:
        """How the verdict changed, if it did."""
        if self.after is None or self.before is None:
            return None
        old, new = (counting_gate(self.run, one).verdict for one in (self.before, self.after))
        if old is new:
            return None
        by_judge = counting_gate(self.run, self.after) is self.after.gates.judge
        return Move(old, new, ("judge",) if by_judge else _movers(self.before, self.after))


class Move(NamedTuple):
    """A changed verdict, and the scorers whose rows made it change."""

    old: Verdict
    new: Verdict
    by: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Regrading:
    """What became of all of them."""

    runs: tuple[Regraded, ...]
    left_out: int = 0
    """Runs of the selection that `--with` is no revision of, or that are not finished."""

    @property
    def moves(self) -> Counter[Move]:
        """Changed verdicts, equal ones together."""
        return Counter(move for regraded in self.runs if (move := regraded.move) is not None)


def regrade(request: RegradeRequest, means: RegradeMeans) -> Regrading:
    """Grade stored runs again.

    Raises:
        UsageError: Nothing was selected, or what was asked for cannot be done; nothing was changed.
        InfraError: The store failed; what is recorded holds.
    """
    return asyncio.run(_Regrader(request, means).run())


def _movers(before: Evaluation, after: Evaluation) -> tuple[str, ...]:
    """The scorers that made the verdict another one; empty when the rules of the recipe did."""
    held, holds = _holding_back(before), _holding_back(after)
    found = [name for name in holds if name not in held] or [name for name in held if name not in holds]
    if found:
        return tuple(found)
    old = {row.name: (row.verdict, row.score) for row in before.scorers}
    return tuple(row.name for row in after.scorers if old.get(row.name) != (row.verdict, row.score))


def _holding_back(evaluation: Evaluation) -> list[str]:
    """Scorers that by themselves keep an evaluation from passing."""
    return [
        row.name
        for row in evaluation.scorers
        if row.failed_gate or (row.required and row.verdict in (Verdict.FAIL, Verdict.ERROR))
    ]


class _Regrader:
    def __init__(self, request: RegradeRequest, means: RegradeMeans) -> None:
        self._request = request
        self._means = means
        self._store = means.store
        self._scratch: tempfile.TemporaryDirectory[str] | None = None
        self._revisions = Revisions(means.store, self._frozen_in(), request.trying or request.with_scenario)
        self._stored = StoredRuns(means.blobs, means.state_dir)
        self._facts: dict[str, RecipeFacts] = {}
        self._limits: dict[str | None, RunLimits] = {None: RunLimits()}
        self._slots = asyncio.Semaphore(means.jobs)
        self._writer = StoreWriter()
        self._answers = None if request.force else means.answers
        self._judges = Judges(means.store, means.blobs, request.judge, self._answers)
        self._left_out = 0
        self._names: dict[str, None] = {}

    def _frozen_in(self) -> Path:
        """Where another recipe is frozen: a recipe that is only tried leaves nothing behind."""
        if self._request.trying is None:
            return self._means.state_dir
        self._scratch = tempfile.TemporaryDirectory(prefix="adjudge-try-")
        return Path(self._scratch.name)

    async def run(self) -> Regrading:
        try:
            return await self._run()
        finally:
            if self._scratch is not None:
                self._scratch.cleanup()

    async def _run(self) -> Regrading:
        selected = self._selected()
        async with contextlib.AsyncExitStack() as stack:
            stack.enter_context(self._stored)
            stack.enter_context(self._writer)
            await stack.enter_async_context(self._judges)
            planned = [one for run in selected if (one := self._planned(run)) is not None]
            self._refuse_nothing(len(selected), planned)
            done: list[Regraded | None] = [None] * len(planned)

            async def work(index: int, one: _Planned) -> None:
                async with self._slots:
                    done[index] = await self._regrade(one)
                self._means.observe(done[index])  # type: ignore[arg-type]  # just set

            try:
                async with asyncio.TaskGroup() as group:
                    for index, one in enumerate(planned):
                        group.create_task(work(index, one))
            except BaseExceptionGroup as several:
                raise several.exceptions[0] from None
        return Regrading(tuple(one for one in done if one is not None), self._left_out)

    def _selected(self) -> list[Run]:
        request = self._request
        chosen = sum((bool(request.runs), request.experiment is not None, request.everything))
        if chosen != 1:
            raise UsageError(
                "nothing to grade again was named" if not chosen else "name runs, an experiment, or all",
                hint="adjudge regrade RUN…, --experiment ID, or --all",
            )
        if request.runs:
            runs = [self._store.run(text) for text in dict.fromkeys(request.runs)]
            unfinished = [run for run in runs if run.status is not RunStatus.FINISHED]
            if unfinished:
                raise UsageError(
                    f"run {unfinished[0].id} is {unfinished[0].status.value.replace('_', ' ')}, so there is "
                    "nothing to grade"
                )
            return list({run.id: run for run in runs}.values())
        id_ = None if request.experiment is None else self._store.experiment(request.experiment).id
        finished = []
        for run in self._store.runs(experiment_id=id_):
            if run.status is RunStatus.FINISHED:
                finished.append(run)
            else:
                self._left_out += 1
        return finished

    def _planned(self, run: Run) -> _Planned | None:
        """What there is to do for a run; None when `--with` is no revision of its task."""
        before = self._store.current_evaluation(run.id)
        try:
            revision = self._revisions.of(run, before)
        except UsageError:
            if self._request.runs:
                raise
            self._left_out += 1
            return None
        task = revision.task
        if task.digest not in self._facts:
            self._facts[task.digest] = facts_of(task.scenario.recipe)
        self._names |= dict.fromkeys(spec.name for spec in task.scenario.recipe.scorers)
        return _Planned(run, before, revision)

    def _refuse_nothing(self, selected: int, planned: Sequence[_Planned]) -> None:
        if not planned:
            raise UsageError(
                f"none of the {selected} runs was made for the task of {self._request.with_scenario}"
                if selected
                else "no finished run was found",
                hint="a task stays frozen; only its scorers can be others" if selected else None,
            )
        for name in self._request.only:
            if name not in self._names:
                raise UsageError(
                    f"no scorer of these runs is called {name!r}", hint=did_you_mean(name, list(self._names))
                )
        if self._request.ask_models and not any(
            self._judge_of(one.run) or _asks_models(one) for one in planned
        ):
            raise ConfigInvalid("no judge was named", hint="--judge FILE|MODEL, or set ADJUDGE_JUDGE")

    def _judge_of(self, run: Run) -> JudgeConfig | None:
        return self._judges.of(run) if self._request.ask_models else None

    async def _regrade(self, planned: _Planned) -> Regraded:
        run, before = planned.run, planned.before
        task = planned.revision.task
        if run.attempt is None or run.attempt.change_set is None:
            # Nothing was captured, or there is no workspace: no scorer has anything to say again.
            return await self._judge_alone(planned)
        stability = find_stability(task.digest, self._means.state_dir)
        carried = self._carried(planned, stability)
        computed = tuple(spec.name for spec in task.scenario.recipe.scorers if spec.name not in carried.rows)
        asked = self._judge_of(run) is not None
        try:
            graded = await self._graded(planned, carried, computed, stability)
            if before is not None:
                graded = _with_judge(graded, before)
            if asked:
                graded = await self._judges.judge(run, graded)
        except AdjudgeError as error:
            return Regraded(run, before, None, problem=error.message)
        if before is not None and not (computed or asked) and _same_conclusion(before, graded.evaluation):
            return Regraded(run, before, None)
        if self._request.trying is None:
            await self._writer.do(self._store.save_evaluation, run.id, graded)
        return Regraded(run, before, graded.evaluation, computed, carried.environment, judged=asked)

    async def _judge_alone(self, planned: _Planned) -> Regraded:
        """Ask the judge of a run that scorers have nothing to say about; without one it stays as it is."""
        run, before = planned.run, planned.before
        if before is None or self._judge_of(run) is None:
            return Regraded(run, before, None)
        task = planned.revision.task
        if before.scorers:
            # Rows of another recipe cannot be computed, so the evaluation stays one of the old task.
            task = self._store.task(before.task.digest)
        evaluation = before.model_copy(update={"task": TaskRef(name=task.name, digest=task.digest)})
        try:
            evidence = tuple(await asyncio.to_thread(self._store.evidence, before.id))
            graded = await self._judges.judge(run, GradedSubject(evaluation, task, None, evidence))
        except AdjudgeError as error:
            return Regraded(run, before, None, problem=error.message)
        await self._writer.do(self._store.save_evaluation, run.id, graded)
        return Regraded(run, before, graded.evaluation, judged=True)

    def _carried(self, planned: _Planned, stability: Any) -> Carried:
        before, task = planned.before, planned.revision.task
        if before is None:
            return Carried({}, evidence=False, environment=())
        old = self._store.task(before.task.digest)
        return carry(
            before,
            old,
            task,
            self._facts[task.digest],
            stability=stability,
            only=self._request.only,
            force=self._request.force,
            ask_models=self._request.ask_models,
        )

    async def _graded(
        self, planned: _Planned, carried: Carried, computed: tuple[str, ...], stability: Any
    ) -> GradedSubject:
        run, before, task = planned.run, planned.before, planned.revision.task
        attempt = run.attempt
        assert attempt is not None
        known = await self._known(planned, carried)
        with contextlib.ExitStack() as stack:
            notes: tuple[str, ...] = ()
            subject: Any = None
            if computed:
                if not is_complete(attempt):
                    raise UsageError("it is not stored with what it takes to make its workspace again")
                rebuilt = await asyncio.to_thread(
                    stack.enter_context,
                    self._stored.rebuild(run, task, files=planned.revision.files),
                )
                notes, subject = rebuilt.notes, rebuilt.subject
            if carried.environment:
                notes = (
                    *notes,
                    f"graded in another environment than before: {', '.join(carried.environment)} differ",
                )
            grading = stack.enter_context(
                SubjectGrading(
                    GradedBy(task, None, warnings=notes),
                    Means(
                        backend=lambda: self._means.backend(task),
                        settings=task.scenario.sandbox,
                        blobs=self._means.blobs,
                        answers=self._answers,
                        asks_models=self._request.ask_models,
                    ),
                    jobs=1,
                    unstable={} if stability is None else stability.unstable(),
                    carried=carried.rows,
                    known=known,
                )
            )
            if computed:
                await asyncio.to_thread(grading.begin, subject)
                await grading.wait()
            else:
                grading.begin_nothing()
            assert attempt.change_set is not None
            return await asyncio.to_thread(
                lambda: grading.conclude(
                    baseline=attempt.change_set.baseline,  # type: ignore[union-attr]  # asserted above
                    change_set=attempt.change_set,
                    run_id=run.id,
                    run_gate=self._run_gate(run, before, task),
                )
            )

    async def _known(self, planned: _Planned, carried: Carried) -> Sequence[tuple[EvidenceRequest, Record]]:
        """What code did, where it would do the same now, and what models said unless they are asked again."""
        before, task = planned.before, planned.revision.task
        if before is None:
            return ()
        stored = await asyncio.to_thread(self._store.evidence, before.id)
        old = self._store.task(before.task.digest)
        return [
            (request, answer)
            for request, answer in stored
            if (not self._request.ask_models if asks_a_model(request.kind) else carried.evidence)
            and same_files(request.model_dump(mode="json"), old, task)
        ]

    def _run_gate(self, run: Run, before: Evaluation | None, task: Task) -> GateResult | None:
        """What is concluded on the agent, under the limits it ran with."""
        attempt = run.attempt
        if attempt is None or attempt.outcome is None:
            return None if before is None else before.gates.run
        limits = tighter(task.scenario.limits, self._limits_of(run.experiment_id))
        return run_gate(attempt.outcome, limits)

    def _limits_of(self, experiment_id: str | None) -> RunLimits:
        if experiment_id not in self._limits:
            assert experiment_id is not None
            self._limits[experiment_id] = limits_of_experiment(self._store, experiment_id)
        return self._limits[experiment_id]


class _Planned(NamedTuple):
    run: Run
    before: Evaluation | None
    revision: OtherScorers


def _asks_models(planned: _Planned) -> bool:
    return any(spec.type in ASKS_MODELS for spec in planned.revision.task.scenario.recipe.scorers)


def _with_judge(graded: GradedSubject, before: Evaluation) -> GradedSubject:
    """What a judge said of the run stays; and so does what ran the code of rows that were carried."""
    evaluation = graded.evaluation
    said = (tag for tag in before.error_taxonomy if tag.source is ErrorSource.JUDGE)
    update: dict[str, Any] = {
        "judge": before.judge,
        "gates": evaluation.gates.model_copy(update={"judge": before.gates.judge}),
        "error_taxonomy": (*evaluation.error_taxonomy, *said),
    }
    if before.confidence is not None and not before.confidence.annotator_count:
        # A jury's; what people said belongs to the evaluation they said it of.
        update["confidence"] = before.confidence
    if evaluation.provenance.sandbox is None and before.provenance.sandbox is not None:
        update["provenance"] = evaluation.provenance.model_copy(
            update={
                "sandbox": before.provenance.sandbox,
                "sandbox_notes": before.provenance.sandbox_notes,
                "limits_held_by": before.provenance.limits_held_by,
                "environment": before.provenance.environment,
            }
        )
    return graded._replace(evaluation=evaluation.model_copy(update=update))


def _same_conclusion(before: Evaluation, after: Evaluation) -> bool:
    return (
        before.task.digest == after.task.digest
        and before.gates == after.gates
        and before.score == after.score
        and before.scorers == after.scorers
    )
