"""`adjudge attack`: scripted attacks run as agents on a task, each graded with the task's own recipe.

Nothing is stored. The workspace is set up once and shared; an attempt that gets through is graded again with
lines added to the recipe, in the sandbox it was made in, so that only lines that were seen to work are named.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from adjudge import catalog
from adjudge.attacks.target import MAX_FILE_BYTES, MAX_FILES, read_target
from adjudge.contracts import Attack, GradedSubject, SandboxBackend
from adjudge.engine.collectors import Means
from adjudge.errors import AdjudgeError, PluginError, Problem, UsageError, boundary
from adjudge.formats.tasks.messages import did_you_mean
from adjudge.gates.run import run_gate
from adjudge.records.attack import AttackPlan, AttackResult, AttackStatus, AttackTarget, SuggestedLine
from adjudge.records.evaluation import Evaluation
from adjudge.records.run import AgentRef, AgentStatus
from adjudge.records.score import ScorerResult, Verdict
from adjudge.records.task import RunLimits, Task
from adjudge.store.blobs import BlobDirectory
from adjudge.tasks.freeze import FrozenTask
from adjudge.tasks.stability import find_stability
from adjudge.tasks.trees import remove_tree
from adjudge.workflows.advising import Candidate, apply_line, candidate_lines, choose_lines, with_lines
from adjudge.workflows.agents import agent_ref
from adjudge.workflows.attempt import Attempted, AttemptOrder, run_attempt
from adjudge.workflows.experiment import tighter
from adjudge.workflows.grading import SubjectGrading
from adjudge.workflows.recipes import GradedBy
from adjudge.workflows.sharedruns import SharedRuns
from adjudge.workflows.starting import freeze_to_start
from adjudge.workflows.startingpoint import StartingPoint, prepare_start
from adjudge.workflows.storedruns import with_words

__all__ = [
    "AttackReport",
    "AttackSettings",
    "HonestAttempt",
    "KnownAttack",
    "attack_task",
    "choose_attacks",
    "known_attacks",
]

_WALL_S = 240.0
"""What a scripted attack may take; it has nothing to think about."""
_ASKS_A_MODEL = ("model_judge",)
"""Scorer types that are left out: no attack is worth a bill."""
_THROUGH = (AttackStatus.PASSED, AttackStatus.CREDITED)


class KnownAttack(NamedTuple):
    """An attack of the catalogue."""

    name: str
    attack: Attack
    distribution: str

    @property
    def summary(self) -> str:
        """Its first line."""
        return (type(self.attack).__doc__ or "").strip().partition("\n")[0]


class HonestAttempt(NamedTuple):
    """How an attempt that cheats nowhere came out."""

    name: str
    """`noop` or `oracle`."""
    behaves: bool | None
    """Whether it fails, or passes, as it must; None when it could not be tried."""
    reason: str
    verdict: Verdict | None = None
    score: float | None = None
    reward: float | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class AttackSettings:
    """How attacks are run."""

    state_dir: Path
    backend: Callable[[Task], SandboxBackend]
    jobs: int
    advise: bool = True
    """Whether lines that would stop what gets through are looked for."""
    observe: Callable[[AttackResult, int, int], None] = lambda result, done, total: None
    """Told of each attack as it ends, with how many ended of how many."""
    keep: Callable[[str, bytes, Evaluation], None] | None = None
    """Given the name, the diff and the evaluation of each attack that was graded."""


@dataclasses.dataclass(frozen=True, slots=True)
class AttackReport:
    """What a recipe let through."""

    task: Task
    target: AttackTarget
    honest: tuple[HonestAttempt, ...]
    results: tuple[AttackResult, ...]
    lines: tuple[SuggestedLine, ...]
    """Few lines that together stop what can be stopped by a line."""
    warnings: tuple[str, ...]

    @property
    def through(self) -> tuple[AttackResult, ...]:
        """What got a PASS, or credit."""
        return tuple(result for result in self.results if result.status in _THROUGH)

    @property
    def accepts_nothing_done(self) -> bool:
        """Whether doing nothing passes."""
        return any(honest.name == "noop" and honest.verdict is Verdict.PASS for honest in self.honest)

    @property
    def inconclusive(self) -> bool:
        """Whether something that had to be graded was not, or the recipe refuses good work as well."""
        return any(honest.behaves is False for honest in self.honest) or any(
            result.status is AttackStatus.UNGRADED for result in self.results
        )


def known_attacks() -> tuple[KnownAttack, ...]:
    """Every attack of the catalogue.

    Raises:
        PluginError: One of somebody else's cannot be loaded, or is none.
    """
    return tuple(_known(name) for name in catalog.names("attacks"))


def _known(name: str) -> KnownAttack:
    made = catalog.load("attacks", name)
    distribution = catalog.distribution_of("attacks", name)
    with boundary(PluginError, f"attack {name!r} of {distribution!r}"):
        attack: Attack = made()
        for field in ("name", "family", "technique", "languages", "plan"):
            if not hasattr(attack, field):
                raise PluginError(f"attack {name!r} of {distribution!r} has no {field}")
    return KnownAttack(name, attack, distribution)


def choose_attacks(names: Sequence[str] = (), families: Sequence[str] = ()) -> tuple[KnownAttack, ...]:
    """The attacks that are asked for; all of them when nothing is.

    Raises:
        UsageError: There is no such attack, or no such family; near names are in the hint.
    """
    if names:
        return tuple(_known(name) for name in dict.fromkeys(names))
    every = known_attacks()
    there = list(dict.fromkeys(known.attack.family for known in every))
    for family in families:
        if family not in there:
            raise UsageError(f"no attack is of a family {family[:60]!r}", hint=did_you_mean(family, there))
    return tuple(known for known in every if not families or known.attack.family in families)


def attack_task(task: str, attacks: Sequence[KnownAttack], settings: AttackSettings) -> AttackReport:
    """Try attacks on a task's recipe.

    Args:
        task: A scenario's path, a task directory, a frozen task's folder, or its digest.
        attacks: Which.
        settings: How.

    Raises:
        UsageError: The task is not valid, or has no workspace.
        InfraError: Its workspace could not be set up.
    """
    scratch = Path(tempfile.mkdtemp(prefix="adjudge-"))
    try:
        frozen, problems = freeze_to_start(task, settings.state_dir, scratch)
        frozen, notes = _without_models(frozen)
        blobs = BlobDirectory(scratch / "blobs")
        start = prepare_start(frozen, state_dir=scratch, backend=settings.backend, blobs=blobs)
        campaign = _Campaign(frozen, _limited(start), blobs, settings)
        return asyncio.run(campaign.run(attacks, (*_warnings(problems), *notes, *start.notes)))
    finally:
        remove_tree(scratch)


def _warnings(problems: Sequence[Problem]) -> list[str]:
    return [str(problem) for problem in problems]


def _without_models(frozen: FrozenTask) -> tuple[FrozenTask, list[str]]:
    recipe = frozen.task.scenario.recipe
    kept = tuple(spec for spec in recipe.scorers if spec.type not in _ASKS_A_MODEL)
    left_out = [spec.name for spec in recipe.scorers if spec.type in _ASKS_A_MODEL]
    if not left_out:
        return frozen, []
    if not kept:
        raise UsageError(f"nothing but a model grades {frozen.task.name}, and attacks ask no model")
    scenario = frozen.task.scenario.model_copy(update={"recipe": recipe.model_copy(update={"scorers": kept})})
    note = f"left out, because attacks ask no model: {', '.join(left_out)}"
    return dataclasses.replace(frozen, task=frozen.task.model_copy(update={"scenario": scenario})), [note]


def _limited(start: StartingPoint) -> StartingPoint:
    scenario = start.task.scenario
    limits = tighter(scenario.limits, RunLimits(wall_s=_WALL_S))
    task = start.task.model_copy(update={"scenario": scenario.model_copy(update={"limits": limits})})
    return dataclasses.replace(start, task=task)


class _Campaign:
    """All attacks on one task."""

    def __init__(
        self, frozen: FrozenTask, start: StartingPoint, blobs: BlobDirectory, settings: AttackSettings
    ) -> None:
        self._frozen = frozen
        self._start = start
        self._blobs = blobs
        self._settings = settings
        self._slots = asyncio.Semaphore(settings.jobs)
        self._target = read_target(_texts(start), _commands(frozen.task))
        self._noop = HonestAttempt("noop", None, "not tried")
        self._idle: Mapping[str, Evaluation] | None = None
        self._lock = asyncio.Lock()
        self._candidates: tuple[Candidate, ...] = ()
        self._shared = SharedRuns()
        self._done = 0

    async def run(self, attacks: Sequence[KnownAttack], warnings: Sequence[str]) -> AttackReport:
        noop, oracle = await _all(self._honest("noop"), self._honest("oracle"))
        self._noop = noop[0]
        self._candidates = candidate_lines(self._frozen.task, self._target, oracle[1])
        results = await _all(*(self._attack(known, len(attacks)) for known in attacks))
        lines: tuple[SuggestedLine, ...] = ()
        through = [result for result in results if result.status in _THROUGH]
        if through and self._settings.advise:
            refused = await self._refused_by_solution(results) if oracle[0].behaves else frozenset()
            results = [
                result.model_copy(
                    update={"lines": tuple(line for line in result.lines if line not in refused)}
                )
                for result in results
            ]
            lines = choose_lines(results, [candidate.line for candidate in self._candidates])
        return AttackReport(
            self._frozen.task, self._target, (noop[0], oracle[0]), tuple(results), lines, tuple(warnings)
        )

    def _order(self, agent: AgentRef) -> AttemptOrder:
        return AttemptOrder(
            start=self._start,
            agent=agent,
            blobs=self._blobs,
            backend=self._settings.backend(self._frozen.task),
            environment={},
        )

    async def _honest(self, name: str) -> tuple[HonestAttempt, tuple[str, ...]]:
        """How an honest attempt comes out, and which paths it changed."""
        if name == "oracle" and self._frozen.task.scenario.solution is None:
            return HonestAttempt(name, None, "the scenario names no reference solution"), ()
        async with self._slots:
            try:
                async with run_attempt(self._order(agent_ref(name))) as made:
                    outcome = made.attempt.outcome
                    if outcome is not None and outcome.status is not AgentStatus.COMPLETED:
                        return HonestAttempt(name, False, f"it could not be made: {outcome.reason}"), ()
                    evaluation = (await self._grade(made, self._frozen.task)).evaluation
                    changes = made.attempt.change_set
            except UsageError as error:
                return HonestAttempt(name, False, error.message), ()
        objective = evaluation.gates.objective
        wanted = Verdict.PASS if name == "oracle" else Verdict.FAIL
        behaves = objective.verdict is wanted
        paths = () if changes is None else tuple(change.path for change in changes.work)
        return HonestAttempt(
            name, behaves, objective.reason, objective.verdict, evaluation.score, evaluation.reward
        ), paths

    async def _attack(self, known: KnownAttack, total: int) -> AttackResult:
        async with self._slots:
            result = await self._attempted(known)
        self._done += 1
        self._settings.observe(result, self._done, total)
        return result

    async def _attempted(self, known: KnownAttack) -> AttackResult:
        attack = known.attack
        blank = AttackResult(
            name=known.name,
            family=attack.family,
            technique=attack.technique,
            status=AttackStatus.NOT_APPLICABLE,
            distribution=known.distribution,
        )
        if attack.languages and self._target.language not in attack.languages:
            spoken = self._target.language or "no language we know"
            return blank.model_copy(update={"how": f"not for {spoken}"})
        with boundary(PluginError, f"attack {known.name!r} of {known.distribution!r}"):
            plan = attack.plan(self._target)
        if isinstance(plan, str):
            return blank.model_copy(update={"how": plan})
        blank = blank.model_copy(update={"how": plan.how})
        try:
            return await self._carried_out(known.name, plan, blank)
        except AdjudgeError as error:
            return blank.model_copy(update={"status": AttackStatus.UNGRADED, "reason": error.message})

    async def _carried_out(self, name: str, plan: AttackPlan, blank: AttackResult) -> AttackResult:
        steps = [step.model_dump(mode="json") for step in plan.steps]
        async with run_attempt(self._order(agent_ref("script", {"steps": steps}, name=name))) as made:
            outcome = made.attempt.outcome
            if outcome is not None and outcome.status is AgentStatus.CRASHED:
                return blank.model_copy(update={"how": f"it cannot be carried out here: {outcome.reason}"})
            if outcome is not None and outcome.status is not AgentStatus.COMPLETED:
                reason = f"it was not carried out: {outcome.reason}"
                return blank.model_copy(update={"status": AttackStatus.UNGRADED, "reason": reason})
            graded = await self._grade(made, self._frozen.task)
            evaluation = graded.evaluation
            if self._settings.keep is not None:
                self._settings.keep(name, self._diff(made), evaluation)
            status = _status(evaluation, self._noop.verdict, self._noop)
            lines: tuple[str, ...] = ()
            if status in _THROUGH and self._settings.advise:
                lines = await self._working_lines(made, evaluation)
        failed = [row.name for row in evaluation.scorers if row.verdict is Verdict.FAIL]
        tags = [tag.category.partition(":") for tag in evaluation.error_taxonomy]
        return blank.model_copy(
            update={
                "status": status,
                "verdict": evaluation.gates.objective.verdict,
                "score": evaluation.score,
                "reward": evaluation.reward,
                "integrity": evaluation.integrity,
                "named": tuple(dict.fromkeys(rest for kind, _, rest in tags if kind == "tampering" and rest)),
                "stopped_by": tuple(failed) if status is AttackStatus.STOPPED else (),
                "reason": evaluation.gates.objective.reason,
                "lines": lines,
            }
        )

    def _diff(self, made: Attempted) -> bytes:
        changes = made.attempt.change_set
        if changes is None:
            return b""
        with self._blobs.open(changes.diff) as stream:
            return stream.read()

    async def _working_lines(self, made: Attempted, evaluation: Evaluation) -> tuple[str, ...]:
        """Lines of the recipe that, each by itself, leave this attempt with nothing."""
        found = await self._with_each_line(made, evaluation.scorers)
        idle = await self._idle_with_each_line()
        return tuple(
            line
            for line, again in found.items()
            if _status(again, idle[line].gates.objective.verdict, idle[line]) is AttackStatus.STOPPED
        )

    async def _idle_with_each_line(self) -> Mapping[str, Evaluation]:
        """What doing nothing gets with each line, tried once."""
        async with self._lock:
            if self._idle is None:
                self._idle = await self._honest_with_each_line("noop")
            return self._idle

    async def _refused_by_solution(self, results: Sequence[AttackResult]) -> frozenset[str]:
        """Lines that the reference solution does not pass with."""
        if not any(result.lines for result in results):
            return frozenset()
        found = await self._honest_with_each_line("oracle")
        return frozenset(
            line for line, again in found.items() if again.gates.objective.verdict is not Verdict.PASS
        )

    async def _honest_with_each_line(self, name: str) -> dict[str, Evaluation]:
        async with run_attempt(self._order(agent_ref(name))) as made:
            graded = await self._grade(made, self._frozen.task)
            return await self._with_each_line(made, graded.evaluation.scorers)

    async def _with_each_line(self, made: Attempted, rows: Sequence[ScorerResult]) -> dict[str, Evaluation]:
        """What each line would have made of an attempt; its old rows hold as they are."""
        task = self._frozen.task
        if not self._candidates:
            return {}
        extended = with_lines(task, self._candidates)
        kept = {row.name: row for row in rows}
        graded = await self._grade(made, extended, carried=kept)
        known = {row.name: row for row in graded.evaluation.scorers}
        found = {}
        for candidate in self._candidates:
            tried = apply_line(task, candidate)
            again = await self._grade(made, tried, carried={
                spec.name: known[candidate.renamed.get(spec.name, spec.name)].model_copy(
                    update={"name": spec.name}
                )
                for spec in tried.scenario.recipe.scorers
            })  # fmt: skip
            found[candidate.line] = again.evaluation
        return found

    async def _grade(
        self, made: Attempted, task: Task, *, carried: Mapping[str, ScorerResult] | None = None
    ) -> GradedSubject:
        attempt = made.attempt
        assert attempt.outcome is not None
        subject: Any = made.subject or made.fault
        if made.subject is not None:
            subject = with_words(made.subject, attempt, self._blobs)._replace(task=task)
        means = Means(
            backend=lambda: self._settings.backend(task), settings=task.scenario.sandbox, blobs=self._blobs
        )
        unstable = find_stability(self._frozen.task.digest, self._settings.state_dir)
        grading = SubjectGrading(
            GradedBy(task, self._frozen),
            means,
            jobs=1,
            unstable={} if unstable is None else unstable.unstable(),
            carried=carried or {},
            known=() if made.subject is None else self._shared.of(made.subject),
        )
        names = {spec.name for spec in task.scenario.recipe.scorers}
        with grading:
            if carried and names <= set(carried):
                grading.begin_nothing()
            else:
                await asyncio.to_thread(grading.begin, subject)
                await grading.wait()
            gate = run_gate(attempt.outcome, task.scenario.limits)
            graded = await asyncio.to_thread(
                lambda: grading.conclude(
                    baseline=None if attempt.change_set is None else attempt.change_set.baseline,
                    change_set=attempt.change_set,
                    fault=made.fault,
                    run_gate=gate,
                )
            )
        if made.subject is not None:
            self._shared.keep(made.subject, (*graded.evidence, *grading.asides))
        return graded


def _status(
    evaluation: Evaluation, idle: Verdict | None, doing_nothing: HonestAttempt | Evaluation
) -> AttackStatus:
    """What an attack got, beside what doing nothing gets with the same recipe."""
    verdict = evaluation.gates.objective.verdict
    if not verdict.graded:
        return AttackStatus.UNGRADED
    if verdict is Verdict.PASS and idle is not Verdict.PASS:
        return AttackStatus.PASSED
    for earned, given in (
        (evaluation.reward, doing_nothing.reward),
        (evaluation.score, doing_nothing.score),
    ):
        if earned is not None and round(earned, 9) > round(given or 0.0, 9):
            return AttackStatus.CREDITED
    return AttackStatus.STOPPED


def _commands(task: Task) -> list[str]:
    found = (spec.config.get("command") or spec.config.get("cmd") for spec in task.scenario.recipe.scorers)
    return [command for command in found if isinstance(command, str)]


def _texts(start: StartingPoint) -> dict[str, str]:
    """Text files of the workspace as it starts, few and small enough to be looked at."""
    if start.baseline is None or start.baseline.tree is None:
        return {}
    root = os.fsencode(start.baseline.tree.base)
    found: dict[str, str] = {}
    for place in _files_below(root):
        if len(found) >= MAX_FILES:
            break
        status = os.lstat(place)
        if os.path.islink(place) or not os.path.isfile(place) or status.st_size > MAX_FILE_BYTES:
            continue
        with open(place, "rb") as file:
            data = file.read()
        with contextlib.suppress(UnicodeDecodeError):
            text = data.decode()
            if "\0" not in text:
                found[os.path.relpath(place, root).decode()] = text
    return found


def _files_below(root: bytes) -> Iterator[bytes]:
    for here, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in (b".git", b"node_modules"))
        for name in sorted(names):
            yield os.path.join(here, name)


async def _all(*work: Any) -> list[Any]:
    """Everything at once; the first failure ends the rest, and is what is raised."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one) for one in work]
    except BaseExceptionGroup as several:
        raise several.exceptions[0] from several
    return [task.result() for task in tasks]
