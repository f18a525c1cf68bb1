"""Which task a workspace is graded by, and whether the attempt could have written it.

A recipe often lies in the repository it grades, where an agent can edit it. One that lies in the workspace
is therefore read from the baseline, wherever the baseline has it; what the attempt made of it counts for
nothing. Only a recipe that the baseline does not have is read from the workspace, and then that is said.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from adjudge.capture.entries import Entry, is_content, is_folder
from adjudge.errors import StoreError, UsageError
from adjudge.formats.tasks.scenario import parse_scenario
from adjudge.records.change import EntryType
from adjudge.records.paths import render_path
from adjudge.records.task import Scenario, SourceKind, Task
from adjudge.tasks.freeze import FrozenTask, load_task, task_digest, task_without_source
from adjudge.tasks.load import SCENARIO_FILE, LoadedScenario
from adjudge.tasks.lookup import find_task
from adjudge.tasks.seeds import Seed
from adjudge.workflows.contents import TreeContents

__all__ = ["GradedBy", "find_recipe", "frozen_task_of"]

_MAX_BYTES = 1024 * 1024


class GradedBy(NamedTuple):
    """The task a workspace is graded by."""

    task: Task
    source: LoadedScenario | FrozenTask | None = None
    """Where it came from, when it was not given as a record or read from a baseline."""
    warnings: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    """Why an attempt could have had a hand in it; integrity is never clean then."""


def find_recipe(
    given: str | Path | Scenario | None,
    *,
    state_dir: Path,
    workspace: Path | None = None,
    contents: TreeContents | None = None,
    seed: Seed | None = None,
) -> GradedBy:
    """Find the task.

    Args:
        given: A scenario's path, a frozen task's folder or digest, a scenario itself, or nothing: then the
            task the workspace was seeded from, else `adjudge.yaml` in the current folder.
        state_dir: Where frozen tasks are kept.
        workspace: What is graded; None for a patch, which cannot reach the recipe.
        contents: The baseline and the workspace, to read a recipe that lies in them.
        seed: What is recorded about the workspace.

    Raises:
        UsageError: It means nothing, or is not valid.
    """
    if isinstance(given, Scenario):
        digest = task_digest(given, None, ())
        return _beside_seed(GradedBy(Task(name=given.name, digest=digest, scenario=given)), seed, state_dir)
    if given is None and seed is not None:
        frozen = frozen_task_of(seed, state_dir)
        if frozen is not None:
            return GradedBy(frozen.task, frozen)
    text = SCENARIO_FILE if given is None else os.fspath(given)
    if workspace is not None and contents is not None:
        for inside in _paths_inside(text, workspace):
            found = _from_baseline(inside, text, contents)
            if found is not None:
                return _beside_seed(found, seed, state_dir)
    return _beside_seed(_from_disk(text, state_dir, workspace), seed, state_dir)


def frozen_task_of(seed: Seed, state_dir: Path) -> FrozenTask | None:
    """The task a workspace was seeded from; None when its copy is gone."""
    try:
        return load_task(state_dir / "tasks" / seed.record.task_digest.removeprefix("sha256:"))
    except UsageError:
        return None


def _from_disk(text: str, state_dir: Path, workspace: Path | None) -> GradedBy:
    found = find_task(text, state_dir)
    warnings: tuple[str, ...] = ()
    if isinstance(found, FrozenTask):
        task, place = found.task, found.directory
    else:
        task, place = task_without_source(found), found.file
        warnings = tuple(str(problem) for problem in found.warnings)
    doubts: tuple[str, ...] = ()
    if workspace is not None and _paths_inside(str(place), workspace):
        doubts = (f"recipe: {place} lies in the workspace, so the attempt could have written it",)
    return GradedBy(task, found, (*warnings, *doubts), doubts)


def _paths_inside(text: str, workspace: Path) -> list[str]:
    """The paths, relative to the workspace, at which a path could lie in it: as written, and resolved.

    Both count: an attempt can replace a recipe by a link out of the workspace.
    """
    found: list[str] = []
    for path in (os.path.abspath(text), os.path.realpath(text)):
        for root in (os.path.abspath(workspace), os.path.realpath(workspace)):
            if path == root or path.startswith(root + os.sep):
                relative = os.path.relpath(path, root)
                if relative not in found:
                    found.append(relative)
    return found


def _from_baseline(inside: str, text: str, contents: TreeContents) -> GradedBy | None:
    """The recipe as the baseline has it; None when it has none there."""
    entry = contents.find_old("" if inside == "." else inside)
    if is_folder(entry):
        inside = os.path.normpath(os.path.join(inside, SCENARIO_FILE))
        entry = contents.find_old(inside)
    if entry is None or entry.type is not EntryType.FILE or not is_content(entry):
        return None
    data = _bytes(entry)
    folder = _BaselineFolder(os.path.dirname(inside), contents)
    name = Path(inside).stem
    if os.path.basename(inside) == SCENARIO_FILE:
        name = Path(os.path.realpath(text)).parent.name or "scenario"
    label = f"{text} (at the baseline)"
    parsed = parse_scenario(data, file=label, default_name=name[:100], folder=folder)
    scenario = parsed.or_raise()
    warnings = [str(problem) for problem in parsed.warnings]
    if contents.read(inside, max_bytes=_MAX_BYTES + 1) != data:
        warnings.append(
            f"recipe: the attempt changed {render_path(inside)}; it is graded by the baseline's version"
        )
    digest = task_digest(scenario, None, ())
    return GradedBy(Task(name=scenario.name, digest=digest, scenario=scenario), warnings=tuple(warnings))


class _BaselineFolder:
    """A `ScenarioFolder` in a baseline."""

    def __init__(self, folder: str, contents: TreeContents) -> None:
        self._folder = folder
        self._contents = contents

    def __call__(self, path: str) -> None:
        raise ValueError(
            f"{path!r}: a recipe that lies in the workspace it grades cannot refer to files; "
            "keep it outside, or freeze it with `adjudge seed`"
        )

    def source(self, path: str, kind: SourceKind) -> None:
        if self._find(path) is None:
            raise ValueError(f"{path!r} does not exist in the scenario's folder at the baseline")

    def text(self, path: str) -> str:
        entry = self._find(path)
        if entry is None or entry.type is not EntryType.FILE:
            raise ValueError(f"{path!r} is not a file at the baseline")
        try:
            return _bytes(entry).decode("utf-8-sig")
        except UnicodeDecodeError:
            raise ValueError(f"{path!r} is not UTF-8 text") from None

    def _find(self, path: str) -> Entry | None:
        return self._contents.find_old(os.path.normpath(os.path.join(self._folder, path)))


def _bytes(entry: Entry) -> bytes:
    assert is_content(entry)
    if entry.size > _MAX_BYTES:
        raise UsageError(
            f"the scenario at the baseline has {entry.size} bytes, at most {_MAX_BYTES} are read"
        )
    return b"".join(entry.chunks())


def _beside_seed(found: GradedBy, seed: Seed | None, state_dir: Path) -> GradedBy:
    """Settle a task's digest beside what the workspace was seeded from.

    A scenario given as a file is compared with the seeded task as if it had been frozen over the same source;
    where the two are equal, the seeded task itself is meant.
    """
    if seed is None:
        return found
    if isinstance(found.source, FrozenTask):
        task = found.task
    else:
        try:
            seeded = frozen_task_of(seed, state_dir)
        except StoreError as error:
            return _warned(found, f"the task the workspace was seeded from cannot be read: {error.message}")
        source_digest = None if seeded is None else seeded.task.source_digest
        digest = task_digest(found.task.scenario, source_digest, found.task.files)
        task = found.task.model_copy(update={"digest": digest, "source_digest": source_digest})
    found = GradedBy(task, found.source, found.warnings, found.doubts)
    if task.digest == seed.record.task_digest:
        return found
    return _warned(
        found,
        f"the workspace was seeded from task {_short(seed.record.task_digest)} and is graded by "
        f"{_short(task.digest)}: the scenario changed since, or is another one",
    )


def _warned(found: GradedBy, *warnings: str) -> GradedBy:
    return GradedBy(found.task, found.source, (*found.warnings, *warnings), found.doubts)


def _short(digest: str) -> str:
    return digest.removeprefix("sha256:")[:12]
