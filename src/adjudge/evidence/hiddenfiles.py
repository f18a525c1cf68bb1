"""What a recipe adds to the graded tree: hidden files, and what a patch with tests makes of the baseline.

Files are read where the scenario or its frozen copy keeps them, and must still have the digests the task was
made with. They reach no place that an agent or a candidate's code could read before they are graded.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field
from pathlib import Path

from adjudge.contracts import Subject
from adjudge.errors import StoreError, SubjectError, UsageError
from adjudge.formats.patch import parse_patch
from adjudge.formats.patching import FOLDER, TreeFile, apply_patch
from adjudge.records.base import digest_bytes
from adjudge.records.evidence import GradedTree
from adjudge.records.hidden import HiddenFile
from adjudge.records.paths import path_bytes, render_path
from adjudge.records.sandbox import WorkspaceTree
from adjudge.records.tree import DIRECTORY, EXECUTABLE, TreeEntry

__all__ = ["HiddenFiles", "baseline_directory", "read_hidden", "read_scenario_file"]

_MAX_BYTES = 512 * 1024 * 1024
"""Of all hidden files of one scorer."""


@dataclass
class HiddenFiles:
    """What is laid over a tree."""

    files: dict[str, bytes] = field(default_factory=dict)
    """Content by path in the workspace."""
    executable: set[str] = field(default_factory=set)
    removed: list[str] = field(default_factory=list)
    """Paths that a patch with tests takes away."""

    def __bool__(self) -> bool:
        return bool(self.files or self.removed)


def baseline_directory(subject: Subject) -> WorkspaceTree:
    """The baseline on disk.

    Raises:
        UsageError: There is none, and none can be made.
    """
    if subject.baseline is not None:
        return subject.baseline
    if subject.make_baseline is None:
        raise UsageError(
            "tests come from the baseline, and there is none as a directory", hint="name one with --baseline"
        )
    return subject.make_baseline()


def read_scenario_file(entry: TreeEntry, place: Path | None) -> bytes:
    """A file that the recipe refers to, checked against its digest.

    Raises:
        StoreError: It is not there any more, or not the same.
    """
    if place is None:
        raise StoreError(f"{render_path(entry.path)}, which the recipe refers to, is not at hand")
    try:
        data = Path(f"{place}/{entry.path}").read_bytes()
    except OSError as error:
        raise StoreError(
            f"{render_path(entry.path)} of the scenario cannot be read: {error.strerror}"
        ) from error
    if digest_bytes(data) != entry.digest:
        raise StoreError(
            f"{render_path(entry.path)} of the scenario changed while it was being graded",
            hint="leave the scenario's files alone, or freeze it with `adjudge seed`",
        )
    return data


def read_hidden(tree: GradedTree, subject: Subject) -> HiddenFiles:
    """Everything that is laid over the tree. What is injected wins over what the patch makes.

    Raises:
        StoreError: A file is not what the task was made with.
        UsageError: A file is to go where it cannot, or the patch does not apply to the baseline.
    """
    found = HiddenFiles()
    if tree.test_patch is not None:
        _apply(tree.test_patch, subject, found)
    size = 0
    for hidden in tree.inject:
        for entry, dest in _entries(hidden, subject):
            data = read_scenario_file(entry, subject.scenario_files)
            size += len(data)
            if size > _MAX_BYTES:
                raise UsageError(f"hidden files of more than {_MAX_BYTES >> 20} MiB")
            found.files[dest] = data
            if entry.mode == EXECUTABLE:
                found.executable.add(dest)
    _refuse_nested(found)
    return found


def _entries(hidden: HiddenFile, subject: Subject) -> list[tuple[TreeEntry, str]]:
    dest = hidden.dest or hidden.src.rpartition("/")[2]
    found: list[tuple[TreeEntry, str]] = []
    for entry in subject.task.files:
        if entry.mode == DIRECTORY:
            continue
        if entry.path == hidden.src:
            found.append((entry, hidden.src.rpartition("/")[2] if dest == "." else dest))
        elif entry.path.startswith(f"{hidden.src}/"):
            inside = entry.path[len(hidden.src) + 1 :]
            found.append((entry, inside if dest == "." else f"{dest}/{inside}"))
    if not found:
        raise StoreError(f"{render_path(hidden.src)}, which the recipe injects, is not kept with the task")
    return found


def _apply(path: str, subject: Subject, found: HiddenFiles) -> None:
    entry = next((entry for entry in subject.task.files if entry.path == path), None)
    if entry is None:
        raise StoreError(f"{render_path(path)}, which the recipe refers to, is not kept with the task")
    patch = read_scenario_file(entry, subject.scenario_files)
    tree = baseline_directory(subject)
    if not tree.flat:
        raise UsageError("a patch with tests needs a baseline that is a plain directory")
    try:
        changed = apply_patch(parse_patch(patch), lambda name: _look(tree.base, name))
    except SubjectError as error:
        raise UsageError(f"test_patch {path} does not apply to the baseline: {error.message}") from error
    for name, file in changed.items():
        if file is None:
            found.removed.append(name)
        elif file.mode in (0o100644, 0o100755):
            found.files[name] = file.content
            if file.mode == 0o100755:
                found.executable.add(name)
        else:
            raise UsageError(f"test_patch {path} makes {render_path(name)} something that is not a file")


def _look(root: Path, path: str) -> TreeFile | None:
    """What lies at a path of the baseline, which nobody changes; links are not followed."""
    place = os.fsencode(root)
    parts = path_bytes(path).split(b"/")
    for at, part in enumerate(parts):
        place = os.path.join(place, part)
        try:
            mode = os.lstat(place).st_mode
        except (FileNotFoundError, NotADirectoryError):
            return None
        if at < len(parts) - 1 and not stat.S_ISDIR(mode):
            return None
    if stat.S_ISDIR(mode):
        return TreeFile(FOLDER, b"")
    if stat.S_ISLNK(mode):
        return TreeFile(0o120000, os.readlink(place))
    if not stat.S_ISREG(mode):
        return None
    with open(place, "rb") as file:
        return TreeFile(0o100755 if mode & 0o100 else 0o100644, file.read())


def _refuse_nested(found: HiddenFiles) -> None:
    """No hidden file may be in the place of a folder that another one needs."""
    for path in found.files:
        parts = path.split("/")
        for depth in range(1, len(parts)):
            above = "/".join(parts[:depth])
            if above in found.files:
                raise UsageError(
                    f"{render_path(above)} is injected as a file and {render_path(path)} below it"
                )
