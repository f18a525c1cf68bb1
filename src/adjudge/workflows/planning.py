"""From what an experiment asks for to the cells of its matrix: every task loaded and frozen, nothing run.

Everything that can be refused is refused here, all problems of all files at once, before anything is spent.
"""

from __future__ import annotations

import fnmatch
import glob
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from adjudge.errors import Problem, ScenarioInvalid, UsageError
from adjudge.formats.tasks.messages import did_you_mean
from adjudge.formats.tasks.scenario import JUDGE_PARTS
from adjudge.records.experiment import ExperimentPlan, MatrixBlock
from adjudge.records.run import AgentRef, RunKey
from adjudge.records.task import SourceKind, Task
from adjudge.tasks.freeze import FrozenTask, freeze
from adjudge.tasks.load import LoadedScenario, load_scenario
from adjudge.tasks.lookup import find_task
from adjudge.workflows.agents import refuse_misfit
from adjudge.workflows.validate import scenario_files

__all__ = ["Cell", "Matrix", "plan_matrix", "refuse_unrunnable"]


class Cell(NamedTuple):
    """One run of a matrix, not yet begun."""

    task: FrozenTask
    agent: AgentRef
    model: str | None
    trial: int
    tags: Mapping[str, str]

    @property
    def key(self) -> RunKey:
        """Which run it is."""
        return RunKey(
            task_digest=self.task.task.digest,
            agent_digest=self.agent.config_digest,
            model=self.model,
            trial=self.trial,
        )


@dataclass(slots=True)
class Matrix:
    """The cells, in the order they start in, and what a person should know about them."""

    cells: list[Cell] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


class _Found(NamedTuple):
    """A task that a text of the plan means."""

    scenario: LoadedScenario | FrozenTask
    name: str
    tags: Mapping[str, str]


def plan_matrix(plan: ExperimentPlan, state_dir: Path, *, store_folder: Path | None = None) -> Matrix:
    """Load and freeze the tasks of a plan and lay out its runs.

    The first trial of everything comes before the second of anything, so that what was left out when money
    or patience ran out is repeats.

    Args:
        plan: What is asked for.
        state_dir: Where tasks are frozen.
        store_folder: Where runs are kept; a source that holds it would change with every run.

    Raises:
        ScenarioInvalid: Scenarios are not valid, or not fit to be run; every problem of all is in it.
        UsageError: A task or agent cannot be had, an agent does not fit a task, or nothing is left to run.
    """
    finder = _Finder(plan, state_dir)
    blocks = [(block, finder.tasks_of(block)) for block in plan.blocks]
    finder.raise_problems()
    blocks = _limited(blocks, plan.limit)
    asked = [
        (found, planned.ref, model, trial)
        for block, tasks in blocks
        for trial in range(1, block.trials + 1)
        for found in tasks
        for planned in block.agents
        for model in _models(planned.model, block.models)
    ]
    asked.sort(key=lambda cell: cell[3])
    _refuse_unknown_filters(plan.where, [found for found, _, _, _ in asked])
    wanted = [cell for cell in asked if _fits(plan.where, *cell)]
    if not wanted:
        raise UsageError(
            f"none of the {len(asked)} runs is left by --where",
            hint="see what there is: adjudge run --dry-run",
        )
    _refuse_misfits(wanted)
    if store_folder is not None:
        _refuse_store_inside([found for found, _, _, _ in wanted], store_folder)
    matrix = Matrix(warnings=list(finder.warnings))
    frozen: dict[str, FrozenTask] = {}
    seen: dict[str, str] = {}
    for found, ref, model, trial in wanted:
        place = _place_of(found)
        if place not in frozen:
            task = found.scenario
            frozen[place] = task if isinstance(task, FrozenTask) else freeze(task, state_dir)
            matrix.warnings += [f"{found.name}: {note}" for note in frozen[place].notes]
        cell = Cell(frozen[place], ref, model, trial, found.tags)
        digest, label = cell.key.digest, f"{found.name} with {ref.name}"
        if digest in seen:
            if trial == 1 and seen[digest] != label:
                matrix.warnings.append(f"{label} is the same run as {seen[digest]}, and made once")
            continue
        seen[digest] = label
        matrix.cells.append(cell)
    return matrix


def refuse_unrunnable(task: Task) -> None:
    """Refuse a frozen task that no agent can be run on.

    Raises:
        UsageError: It has no instruction, or no workspace and scorers that need one.
    """
    scenario = task.scenario
    if not scenario.instruction.strip():
        raise UsageError(f"task {task.name} has no instruction, so there is nothing to tell an agent")
    if scenario.workspace is None:
        needing = [spec.name for spec in scenario.recipe.scorers if spec.type not in JUDGE_PARTS]
        if needing:
            raise UsageError(
                f"task {task.name} has no workspace, and scorer {needing[0]!r} needs one",
                hint=f"a run without a workspace takes only {' and '.join(JUDGE_PARTS)}",
            )


class _Finder:
    def __init__(self, plan: ExperimentPlan, state_dir: Path) -> None:
        self._folder = Path(plan.folder)
        self._state_dir = state_dir
        self._known: dict[str, _Found] = {}
        self._problems: list[Problem] = []
        self.warnings: list[str] = []

    def tasks_of(self, block: MatrixBlock) -> list[_Found]:
        """The tasks of a block, each once; what is not valid is noted."""
        texts = dict.fromkeys(text for task in block.tasks for text in self._texts(task))
        found = [self._load(text) for text in texts]
        return [task for task in found if task is not None]

    def raise_problems(self) -> None:
        """Everything that was noted, at once."""
        if self._problems:
            raise ScenarioInvalid(self._problems)

    def _texts(self, task: str) -> Iterator[str]:
        path = self._folder / task
        if os.path.isdir(path) and not os.path.exists(path / "task.json"):
            yield from (str(file) for file in scenario_files(path, within_scenarios=False))
        elif os.path.exists(path):
            yield str(path)
        elif glob.has_magic(task):
            matched = sorted(glob.glob(str(path), recursive=True))
            listed = [text for match in matched for text in self._matched(Path(match))]
            if not listed:
                raise UsageError(f"{task} matches no scenario", hint=f"in {self._folder.resolve()}")
            yield from listed
        else:
            # Perhaps a digest; if not, the path as it would be is what the message is about.
            try:
                find_task(task, self._state_dir)
            except UsageError:
                if not _looks_like_a_digest(task):
                    yield str(path)
                    return
                raise
            yield task

    def _matched(self, path: Path) -> Iterator[str]:
        if not path.is_dir():
            if path.suffix in (".yaml", ".yml"):
                yield str(path)
        elif (path / "task.json").exists():
            yield str(path)
        else:
            found = list(scenario_files(path, within_scenarios=False))
            yield from (str(file) for file in found if file != path)

    def _load(self, text: str) -> _Found | None:
        if text not in self._known:
            loaded: LoadedScenario | FrozenTask
            try:
                loaded = find_task(text, self._state_dir)
                if isinstance(loaded, FrozenTask):
                    refuse_unrunnable(loaded.task)
                else:
                    loaded = load_scenario(Path(text), to_run=True)
            except ScenarioInvalid as error:
                self._problems += error.problems
                return None
            scenario = loaded.task.scenario if isinstance(loaded, FrozenTask) else loaded.scenario
            if not isinstance(loaded, FrozenTask):
                self.warnings += [str(warning) for warning in loaded.warnings]
            self._known[text] = _Found(loaded, scenario.name, scenario.tags)
        return self._known[text]


def _looks_like_a_digest(text: str) -> bool:
    bare = text.removeprefix("sha256:")
    return len(bare) >= 4 and all(char in "0123456789abcdef" for char in bare)


def _place_of(found: _Found) -> str:
    scenario = found.scenario
    return str(scenario.directory if isinstance(scenario, FrozenTask) else scenario.file)


def _limited(
    blocks: Sequence[tuple[MatrixBlock, list[_Found]]], limit: int | None
) -> list[tuple[MatrixBlock, list[_Found]]]:
    """Only the first tasks, over all blocks."""
    if limit is None:
        return list(blocks)
    first = list(dict.fromkeys(_place_of(found) for _, tasks in blocks for found in tasks))[:limit]
    return [(block, [found for found in tasks if _place_of(found) in first]) for block, tasks in blocks]


def _models(own: str | None, models: tuple[str, ...]) -> tuple[str | None, ...]:
    return (own,) if own is not None or not models else models


_KEYS = ("task", "agent", "model", "trial")


def _fits(where: Mapping[str, str], found: _Found, ref: AgentRef, model: str | None, trial: int) -> bool:
    values = {**found.tags, "task": found.name, "agent": ref.name, "model": model or "", "trial": str(trial)}
    return all(fnmatch.fnmatchcase(values.get(key, ""), pattern) for key, pattern in where.items())


def _refuse_unknown_filters(where: Mapping[str, str], tasks: Sequence[_Found]) -> None:
    known = [*_KEYS, *dict.fromkeys(tag for found in tasks for tag in found.tags)]
    for key in where:
        if key not in known:
            raise UsageError(f"--where {key}=…: no task has a tag {key!r}", hint=did_you_mean(key, known))


def _refuse_store_inside(tasks: Sequence[_Found], store_folder: Path) -> None:
    store = Path(os.path.realpath(store_folder))
    for found in tasks:
        loaded = found.scenario
        source = None if isinstance(loaded, FrozenTask) else loaded.scenario.workspace
        if source is None or source.source is not SourceKind.DIRECTORY or isinstance(loaded, FrozenTask):
            continue
        if store.is_relative_to(os.path.realpath(loaded.folder / (source.path or "."))):
            raise UsageError(
                f"{loaded.file}: workspace.path: {source.path!r} holds {store_folder}, where runs are kept",
                hint="run adjudge from another folder, or set ADJUDGE_STORE to one outside",
            )


def _refuse_misfits(cells: Sequence[tuple[_Found, AgentRef, str | None, int]]) -> None:
    """Agents that cannot do what a task asks, before anything runs."""
    seen: set[tuple[str, str]] = set()
    for found, ref, _, _ in cells:
        pair = (_place_of(found), ref.config_digest)
        if pair in seen:
            continue
        seen.add(pair)
        loaded = found.scenario
        scenario = loaded.task.scenario if isinstance(loaded, FrozenTask) else loaded.scenario
        try:
            refuse_misfit(ref, workspace=scenario.workspace is not None, several_turns=bool(scenario.turns))
        except UsageError as error:
            raise UsageError(f"{found.name} with {ref.name}: {error.message}", hint=error.hint) from error
