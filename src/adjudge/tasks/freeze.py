"""From a scenario to a task: a deep copy, kept under the state directory by its digest.

    tasks/<digest>/task.json    the `Task`
    tasks/<digest>/source/      the source tree, where the scenario has a workspace
    tasks/<digest>/files/       the files its recipe refers to

The digest covers what decides how an attempt is made and graded: the source tree, the setup command, the
instruction and further turns, the recipe, every file the recipe refers to, the expected outcome, limits, and
what is asked of the sandbox. It leaves out labels and places: the scenario's name, where the source came
from, which backend runs it. So equal content has one digest on every machine, however it was written or
fetched.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from adjudge.errors import StoreError, UsageError, boundary
from adjudge.records.base import digest_bytes, digest_json
from adjudge.records.paths import render_path
from adjudge.records.task import Scenario, SourceKind, Task
from adjudge.records.tree import SYMLINK, TreeEntry, digest_tree
from adjudge.tasks.folder import Folder
from adjudge.tasks.load import LoadedScenario
from adjudge.tasks.trees import PlainContent, PlainFolder, TreeWriter, remove_tree, write_folder

__all__ = ["FrozenTask", "freeze", "load_task", "task_digest", "task_without_source"]

_TASK_FILE = "task.json"


@dataclass(frozen=True, slots=True)
class FrozenTask:
    """A task and the folder that holds its copy."""

    task: Task
    directory: Path
    notes: tuple[str, ...] = ()
    """What freezing left out or found remarkable."""

    @property
    def source(self) -> Path:
        """The source tree. It exists where the task has a workspace."""
        return self.directory / "source"

    @property
    def files(self) -> Path:
        """The files the recipe refers to, at their paths relative to the scenario."""
        return self.directory / "files"


def task_digest(scenario: Scenario, source_digest: str | None, files: tuple[TreeEntry, ...]) -> str:
    """The digest of a task; see the module's docstring for what it covers."""
    covered: dict[str, Any] = {
        "schema": "adjudge.task/1",
        "source": source_digest,
        "setup": scenario.setup.model_dump(mode="json") if scenario.setup else None,
        "instruction": scenario.instruction,
        "recipe": scenario.recipe.model_dump(mode="json"),
        "files": [file.model_dump(mode="json") for file in files],
        "expected_outcome": scenario.expected_outcome.value,
        "limits": scenario.limits.model_dump(mode="json"),
        "sandbox": scenario.sandbox.model_dump(mode="json", exclude={"backend", "also_at"}),
    }
    if scenario.turns:
        # Only then, so that tasks of one turn keep the digests they always had.
        covered["turns"] = [turn.model_dump(mode="json") for turn in scenario.turns]
    if scenario.sandbox.also_at:
        covered["also_at"] = [str(place) for place in scenario.sandbox.also_at]
    if scenario.error_categories:
        covered["error_categories"] = list(scenario.error_categories)
    if scenario.solution is not None:
        covered["solution"] = scenario.solution
    if scenario.solution_env:
        covered["solution_env"] = dict(scenario.solution_env)
    return digest_json(covered)


def freeze(loaded: LoadedScenario, state_dir: Path) -> FrozenTask:
    """Freeze a scenario, its source included, and keep the copy.

    Raises:
        UsageError: The source or a file cannot be had as it is.
        StoreError: The copy cannot be written.
    """
    folder = Folder(loaded.folder)
    _refuse_state_inside(loaded.scenario, folder, state_dir)
    with _scratch(state_dir) as scratch:
        scenario = loaded.scenario
        source_digest: str | None = None
        entries: tuple[TreeEntry, ...] = ()
        notes: tuple[str, ...] = ()
        if scenario.workspace is not None:
            # Loaded here: grading a folder needs task digests, but no archives and no git.
            materialise = importlib.import_module("adjudge.tasks.sources").materialise
            made = materialise(scenario.workspace, folder, scratch / "source")
            scenario = scenario.model_copy(update={"workspace": made.source})
            source_digest, entries, notes = digest_tree(made.entries), made.entries, made.notes
        files = _write_files(loaded.files, folder, scratch / "files")
        task = Task(
            name=scenario.name,
            digest=task_digest(scenario, source_digest, files),
            scenario=scenario,
            source_digest=source_digest,
            files=files,
        )
        with boundary(StoreError, f"task {task.digest} cannot be written"):
            (scratch / _TASK_FILE).write_text(task.model_dump_json(indent=1) + "\n", encoding="utf-8")
        directory = _keep(scratch, state_dir / "tasks" / task.digest.removeprefix("sha256:"))
    visible = _visible(loaded, files, entries)
    return FrozenTask(task, directory, (*notes, *visible))


def task_without_source(loaded: LoadedScenario) -> Task:
    """The task of a scenario for workspaces that were not made from its source.

    Nothing is fetched or kept. The digest says nothing about the source, because no graded workspace is known
    to come from it.
    """
    folder = Folder(loaded.folder)
    with tempfile.TemporaryDirectory(prefix="adjudge-") as scratch:
        files = _write_files(loaded.files, folder, Path(scratch) / "files")
    scenario = loaded.scenario
    digest = task_digest(scenario, None, files)
    return Task(name=scenario.name, digest=digest, scenario=scenario, files=files)


def load_task(directory: Path) -> FrozenTask:
    """Load a frozen task, checked against its digest.

    Raises:
        UsageError: The folder holds no task.
        StoreError: It holds one that was damaged.
    """
    file = directory / _TASK_FILE
    try:
        data = file.read_bytes()
    except FileNotFoundError:
        raise UsageError(f"{directory} holds no frozen task") from None
    except OSError as error:
        raise StoreError(f"{file} cannot be read: {error.strerror}") from error
    try:
        task = Task.model_validate_json(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise StoreError(f"{file} is damaged: {where}: {first['msg']}") from error
    if task_digest(task.scenario, task.source_digest, task.files) != task.digest:
        raise StoreError(f"{file} is damaged: its content does not have the digest it names")
    return FrozenTask(task, directory)


def _refuse_state_inside(scenario: Scenario, folder: Folder, state_dir: Path) -> None:
    """A folder that holds our state cannot be a source: it would be copied into itself, baselines and all."""
    source = scenario.workspace
    if source is None or source.source not in (SourceKind.DIRECTORY, SourceKind.FILES):
        return
    for path in [source.path] if source.path is not None else [file.src for file in source.files]:
        inside = os.path.join(os.path.realpath(folder.root / path), "")
        if os.path.join(os.path.realpath(state_dir), "").startswith(inside):
            raise UsageError(
                f"workspace.path: {path!r} holds {state_dir}, where tasks are kept",
                hint="set ADJUDGE_HOME to a place outside it",
            )


@contextlib.contextmanager
def _scratch(state_dir: Path) -> Iterator[Path]:
    """A folder on the state's own file system, gone at the end unless it was moved into place."""
    with boundary(StoreError, f"{state_dir} cannot be written", hint="set ADJUDGE_HOME to a place that can"):
        (state_dir / "tasks").mkdir(parents=True, exist_ok=True, mode=0o700)
        scratch = Path(tempfile.mkdtemp(prefix=".freezing-", dir=state_dir / "tasks"))
    try:
        yield scratch
    finally:
        remove_tree(scratch)


def _keep(scratch: Path, place: Path) -> Path:
    """Move a finished copy to its place, unless an equal one is there."""
    with boundary(StoreError, f"{place} cannot be written"):
        try:
            scratch.rename(place)
        except OSError:
            if not place.is_dir():
                raise
    return place


def _write_files(paths: tuple[str, ...], folder: Folder, into: Path) -> tuple[TreeEntry, ...]:
    """Copy what the recipe refers to, links resolved, each at its own path."""
    writer = TreeWriter(into)
    written: set[str] = set()
    # A folder before what lies in it, so that the latter is not written twice.
    for path in sorted(paths, key=lambda path: (path.count("/"), path)):
        if any(path == done or path.startswith(f"{done}/") for done in written):
            continue
        written.add(path)
        try:
            place = os.fsencode(folder.resolve(path))
        except ValueError as error:
            raise UsageError(str(error)) from error
        status = os.stat(place)
        raw = os.fsencode(path)
        if os.path.isdir(place):
            write_folder(PlainFolder(place), writer, at=raw, leave_out_git=True)
        else:
            chunks = PlainContent(place, status.st_mode).chunks()
            writer.add_file(raw, chunks, executable=bool(status.st_mode & 0o100))
    entries = writer.finish()
    for entry in entries:
        if entry.mode == SYMLINK:
            raise UsageError(f"{render_path(entry.path)} is a link inside a folder the recipe refers to")
    return entries


def _visible(
    loaded: LoadedScenario, files: tuple[TreeEntry, ...], source: tuple[TreeEntry, ...]
) -> tuple[str, ...]:
    """Parts of the scenario that an agent finds in its workspace."""
    there = {entry.digest for entry in source}
    notes = [
        f"{render_path(file.path)}, which the recipe uses, is also in the workspace: an agent can read it"
        for file in files
        if file.digest in there
    ]
    paths = {entry.path.rpartition("/")[2] for entry in source}
    if loaded.file.name in paths and _digest_file(loaded.file) in there:
        notes.insert(0, f"{loaded.file.name} is also in the workspace: an agent can read how it is graded")
    return tuple(notes)


def _digest_file(file: Path) -> str:
    return digest_bytes(file.read_bytes())
