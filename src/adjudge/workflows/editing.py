"""Changing a scenario: read it, check what is not saved yet, try it on a stored run, write it.

The text of the file is what is edited; rows of a form are a way to change the lines of its recipe. Nothing is
written but by `save_scenario`, and that writes all or nothing.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from adjudge.contracts import SandboxBackend
from adjudge.errors import Problem, ScenarioInvalid, StoreError, UsageError, boundary
from adjudge.formats.tasks.editing import EditedLine, NotEditable, RecipeLine, read_lines, write_lines
from adjudge.records.base import digest_bytes
from adjudge.records.evaluation import Evaluation
from adjudge.records.listing import RunFilter, RunSummary
from adjudge.records.score import ScorerSpec
from adjudge.records.task import Task
from adjudge.settings import Settings
from adjudge.store.runs import RunDatabase
from adjudge.tasks.load import TASK_FILE, LoadedScenario, parse_loaded, read_scenario
from adjudge.workflows.regrade import RegradeMeans, RegradeRequest, regrade

__all__ = [
    "Change",
    "Checked",
    "FrozenCopy",
    "OpenedScenario",
    "ScenarioChanged",
    "Tried",
    "check_text",
    "frozen_copies",
    "open_scenario",
    "runs_to_try",
    "save_scenario",
    "try_recipe",
    "with_lines",
]


class ScenarioChanged(UsageError):
    """Somebody else wrote the file since it was read."""


@dataclass(frozen=True, slots=True)
class OpenedScenario:
    """A scenario file as it is."""

    file: Path
    text: str
    digest: str
    """Of the bytes; what is saved says which text it was made from."""
    dialect: str
    lines: tuple[RecipeLine, ...]
    fixed: str = ""
    """Why its lines cannot be edited as rows; empty when they can."""


@dataclass(frozen=True, slots=True)
class Checked:
    """What the command line would say of a text."""

    problems: tuple[Problem, ...]
    warnings: tuple[Problem, ...]
    scorers: tuple[ScorerSpec, ...] = ()
    """Every line with its defaults filled in; nothing where there are problems."""
    name: str = ""


class Change(NamedTuple):
    """One scorer, before and after. None: it was not there, or is not any more."""

    name: str
    type: str
    before: str | None
    after: str | None
    reason: str

    @property
    def moved(self) -> bool:
        """Whether its verdict is another one."""
        return self.before != self.after


@dataclass(frozen=True, slots=True)
class Tried:
    """What a recipe says of a stored run, beside what is kept."""

    run_id: str
    before: Evaluation | None
    after: Evaluation
    changes: tuple[Change, ...]
    computed: tuple[str, ...]


class FrozenCopy(NamedTuple):
    """A task that was frozen from a scenario of that name: it keeps its own copy of the recipe."""

    digest: str
    runs: int
    same_recipe: bool
    """Whether its recipe is still the scenario's."""
    scorers: tuple[ScorerSpec, ...]


def open_scenario(file: Path) -> OpenedScenario:
    """Read a scenario file, valid or not.

    Raises:
        UsageError: It cannot be read, or is too large to be a scenario.
    """
    data = read_scenario(file)
    text = data.decode("utf-8", "replace")
    digest = digest_bytes(data)
    if file.name == TASK_FILE:
        return OpenedScenario(file, text, digest, "", (), "it is a task directory of another format")
    if text.encode() != data:
        return OpenedScenario(file, text, digest, "", (), "it is not UTF-8")
    try:
        dialect, lines = read_lines(text)
    except NotEditable as error:
        return OpenedScenario(file, text, digest, "", (), str(error))
    return OpenedScenario(file, text, digest, dialect, lines)


def with_lines(text: str, lines: Sequence[EditedLine]) -> str:
    """A scenario's text with these lines as its recipe.

    Raises:
        UsageError: They cannot be written into it.
    """
    try:
        return write_lines(text, lines)
    except NotEditable as error:
        raise UsageError(str(error)) from None


def check_text(file: Path, text: str) -> Checked:
    """What `adjudge validate` would say if the file had that text."""
    try:
        loaded = parse_loaded(file, text.encode("utf-8", "surrogatepass"))
    except ScenarioInvalid as error:
        return Checked(error.problems, ())
    return Checked((), loaded.warnings, loaded.scenario.recipe.scorers, loaded.scenario.name)


def save_scenario(file: Path, text: str, *, made_from: str) -> str:
    """Write a scenario's text, whole or not at all; its permissions stay.

    Args:
        file: Where.
        text: What it will say. It has to be valid.
        made_from: The digest of the text that was edited.

    Returns:
        The digest of what is there now.

    Raises:
        ScenarioInvalid: The text is not a valid scenario; nothing was written.
        ScenarioChanged: The file is not what was edited any more; nothing was written.
        StoreError: It cannot be written; the old text is still there.
    """
    data = text.encode("utf-8", "surrogatepass")
    parse_loaded(file, data)
    if digest_bytes(read_scenario(file)) != made_from:
        raise ScenarioChanged(
            f"{file.name} was changed by somebody else since it was opened; nothing was saved",
            hint="open it again and make the change once more",
        )
    # A link stays one: what it leads to is written.
    place = Path(os.path.realpath(file))
    with boundary(StoreError, f"{file.name} cannot be written"):
        mode = os.stat(place).st_mode & 0o7777
        descriptor, beside = tempfile.mkstemp(dir=place.parent, prefix=f".{place.name}.")
        try:
            with os.fdopen(descriptor, "wb") as stream:
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())
            os.chmod(beside, mode)
            os.replace(beside, place)
        except BaseException:
            os.unlink(beside)
            raise
    return digest_bytes(data)


def try_recipe(
    store: RunDatabase,
    settings: Settings,
    backend: Callable[[Task], SandboxBackend],
    run: str,
    file: Path,
    text: str,
) -> Tried:
    """Grade a stored run with a recipe that is not saved, and say what would change. Nothing is kept.

    Raises:
        ScenarioInvalid: The text is not valid.
        UsageError: There is no such run, or it cannot be graded again.
    """
    loaded = parse_loaded(file, text.encode("utf-8", "surrogatepass"))
    recipe_only = loaded.scenario.model_copy(
        update={"instruction": "", "workspace": None, "setup": None, "turns": (), "solution": None}
    )
    trying = LoadedScenario(recipe_only, loaded.file, loaded.folder, loaded.files, loaded.warnings)
    means = RegradeMeans(
        store=store,
        blobs=store.blobs,
        state_dir=settings.state_dir,
        jobs=1,
        backend=backend,
        answers=settings.answers_dir,
    )
    (done,) = regrade(RegradeRequest(runs=(run,), trying=trying), means).runs
    if done.problem:
        raise UsageError(f"run {done.run.id} cannot be graded with it: {done.problem}")
    after = done.current
    if after is None:
        raise UsageError(f"run {done.run.id} has nothing that scorers could look at")
    return Tried(done.run.id, done.before, after, _changes(done.before, after), done.computed)


def frozen_copies(store: RunDatabase, name: str, scorers: Sequence[ScorerSpec]) -> list[FrozenCopy]:
    """The tasks of stored runs with a scenario's name, each with the recipe it was frozen with."""
    found = []
    for digest, runs in store.tasks_named(name):
        recipe = store.task(digest).scenario.recipe.scorers
        found.append(FrozenCopy(digest, runs, tuple(recipe) == tuple(scorers), tuple(recipe)))
    return found


def runs_to_try(store: RunDatabase, name: str, limit: int = 20) -> list[RunSummary]:
    """The newest runs of tasks of that name."""
    return list(store.summaries(RunFilter(task=name), limit=limit))


def _changes(before: Evaluation | None, after: Evaluation) -> tuple[Change, ...]:
    old = {row.name: row for row in before.scorers} if before is not None else {}
    new = {row.name: row for row in after.scorers}
    rows = []
    for name in dict.fromkeys([*new, *old]):
        one, other = old.get(name), new.get(name)
        shown = other or one
        assert shown is not None
        rows.append(
            Change(
                name,
                shown.type,
                one.verdict.value if one is not None else None,
                other.verdict.value if other is not None else None,
                shown.reason,
            )
        )
    return tuple(rows)
