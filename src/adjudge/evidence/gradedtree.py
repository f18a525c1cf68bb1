"""The tree that code runs over, put together from layers: what is graded, and what is laid over it.

`snapshot` is the final workspace as it is. `clean` is the baseline with one layer of the attempt's
changes, so its cost grows with the change. Hidden files are a layer on top, in which nothing is a link, so
whatever lies at their paths is replaced and never followed; each is also mounted read-only.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import stat
import tempfile
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from adjudge.contracts import Subject
from adjudge.evidence.cleantree import plan_clean_tree
from adjudge.evidence.hiddenfiles import HiddenFiles, baseline_directory, read_hidden
from adjudge.evidence.protected import Protection
from adjudge.records.change import EntryType
from adjudge.records.evidence import GradedTree, Isolation
from adjudge.records.paths import path_bytes
from adjudge.records.sandbox import Mount, WorkspaceTree

__all__ = ["Graded", "graded_tree", "laid_over"]

_WORKSPACE = PurePosixPath("/workspace")
_MAX_MOUNTS = 200
"""Each costs about a millisecond in every sandbox; a larger set of hidden files is read-only by its mode."""
_MAX_FILE_BYTES = 1 << 30


@dataclass(frozen=True)
class Graded:
    """What code runs over, for as long as the block lasts."""

    tree: WorkspaceTree
    """Without the hidden files."""
    hidden: HiddenFiles
    place: Path
    """A folder of our own for further layers."""


@asynccontextmanager
async def graded_tree(request: GradedTree, subject: Subject) -> AsyncIterator[Graded]:
    """Make the tree a request asks for, and remove what was made of it at the end.

    Raises:
        SubjectError: A changed file cannot be read.
        StoreError: A hidden file is not what the task was made with.
        UsageError: There is no baseline, or something cannot be laid over it.
    """
    place = Path(tempfile.mkdtemp(prefix="adjudge-graded-"))
    try:
        yield await asyncio.to_thread(_make, request, subject, place)
    finally:
        await asyncio.to_thread(shutil.rmtree, place)


def _make(request: GradedTree, subject: Subject, place: Path) -> Graded:
    hidden = read_hidden(request, subject)
    if request.isolation is not Isolation.CLEAN:
        return Graded(subject.workspace, hidden, place)
    plan = plan_clean_tree(subject, Protection(request.allow, request.protect))
    layer = _Layer(place / "changes")
    for path, written in plan.written.items():
        data = written.data
        if data is None:
            data = subject.contents.new(written.change, max_bytes=_MAX_FILE_BYTES)
        if written.change.new_type is EntryType.SYMLINK and written.data is None:
            layer.link(path, data)
        else:
            layer.write(path, data, executable=written.executable)
    for path in plan.removed:
        layer.remove(path)
    return Graded(_stacked(baseline_directory(subject), layer.root), hidden, place)


async def laid_over(
    tree: WorkspaceTree, layer: Path, hidden: HiddenFiles, *, without: Collection[str] = ()
) -> tuple[WorkspaceTree, tuple[Mount, ...]]:
    """A tree with hidden files on top, and the mounts that keep them as they are.

    Args:
        tree: What they are laid over.
        layer: Where the layer is to be written; nothing is there yet.
        hidden: The files, and what goes with them.
        without: Further paths that are to be gone from the tree.
    """
    if not hidden and not without:
        return tree, ()

    def write() -> None:
        made = _Layer(layer)
        for path, data in hidden.files.items():
            made.write(path, data, executable=path in hidden.executable, read_only=True)
        for path in (*hidden.removed, *without):
            made.remove(path)

    await asyncio.to_thread(write)
    mounts: tuple[Mount, ...] = ()
    if len(hidden.files) <= _MAX_MOUNTS:
        mounts = tuple(Mount(source=layer / path, target=_WORKSPACE / path) for path in sorted(hidden.files))
    return _stacked(tree, layer), mounts


def _stacked(tree: WorkspaceTree, layer: Path) -> WorkspaceTree:
    prefix = tree.xattr_prefix
    if tree.flat:
        prefix = "trusted.overlay." if os.geteuid() == 0 else "user.overlay."
    return tree.model_copy(update={"layers": (*tree.layers, layer), "xattr_prefix": prefix})


class _Layer:
    """An upper layer in the making. Only we write to it, and only what we wrote is in it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._raw = os.fsencode(root)
        os.mkdir(self._raw, 0o755)

    def write(self, path: str, data: bytes, *, executable: bool, read_only: bool = False) -> None:
        place = self._make_room(path)
        mode = 0o755 if executable else 0o644
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with os.fdopen(os.open(place, flags, 0o600), "wb") as file:
            file.write(data)
            os.fchmod(file.fileno(), mode & ~0o222 if read_only else mode)

    def link(self, path: str, target: bytes) -> None:
        os.symlink(target, self._make_room(path))

    def remove(self, path: str) -> None:
        """Hide what lies at a path below, unless the layer has something of its own there."""
        place = os.path.join(self._raw, path_bytes(path))
        parent = os.path.dirname(place)
        while len(parent) > len(self._raw):
            if os.path.lexists(parent) and not stat.S_ISDIR(os.lstat(parent).st_mode):
                return
            parent = os.path.dirname(parent)
        if os.path.lexists(place):
            return
        self._make_folders(os.path.dirname(path_bytes(path)))
        # The kernel's own mark for "nothing here"; anybody may make it.
        os.mknod(place, stat.S_IFCHR, os.makedev(0, 0))

    def _make_room(self, path: str) -> bytes:
        raw = path_bytes(path)
        self._make_folders(os.path.dirname(raw))
        return os.path.join(self._raw, raw)

    def _make_folders(self, folder: bytes) -> None:
        place = self._raw
        for part in folder.split(b"/") if folder else ():
            place = os.path.join(place, part)
            try:
                os.mkdir(place, 0o755)
                os.chmod(place, 0o755)
            except FileExistsError:
                if not stat.S_ISDIR(os.lstat(place).st_mode):
                    raise
