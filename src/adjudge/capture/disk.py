"""Reading directories on disk whose every byte may be hostile.

Owns the rules of safe reading: each component of a path is opened relative to its parent's descriptor and
never through a symlink, only regular files are opened (a fifo would block, a device could do anything), and
neither path length nor depth is limited by PATH_MAX or by the number of descriptors a process may hold.
What the bytes mean is left to the callers.
"""

from __future__ import annotations

import os
import stat
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

from adjudge.errors import SubjectChanged
from adjudge.records.change import EntryType

__all__ = ["CHUNK_BYTES", "Directory", "join"]

CHUNK_BYTES = 1 << 20
_DIRECTORY_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_OPEN_DESCRIPTORS = 64
"""Walks are depth first, so the parents of what is read next are nearly always among the last few."""


def join(parent: bytes, name: bytes) -> bytes:
    """The path of `name` in the directory `parent`, where the root is the empty path."""
    return b"%b/%b" % (parent, name) if parent else name


class Directory:
    """One directory tree on disk. Paths are relative to it, in bytes; the root itself is `b""`.

    A context manager; closing it closes every descriptor. Not safe to share between threads.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._root_descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self._descriptors: OrderedDict[bytes, int] = OrderedDict()

    def close(self) -> None:
        """Close every descriptor. Harmless when repeated."""
        while self._descriptors:
            os.close(self._descriptors.popitem()[1])
        if self._root_descriptor >= 0:
            os.close(self._root_descriptor)
            self._root_descriptor = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def descriptor(self, path: bytes) -> int:
        """A descriptor of the directory at `path`, valid until the next call."""
        if not path:
            return self._root_descriptor
        found = self._descriptors.get(path)
        if found is not None:
            self._descriptors.move_to_end(path)
            return found
        ancestor = path
        missing: list[bytes] = []
        descriptor = self._root_descriptor
        while ancestor:
            cached = self._descriptors.get(ancestor)
            if cached is not None:
                descriptor = cached
                break
            ancestor, _, name = ancestor.rpartition(b"/")
            missing.append(name)
        for name in reversed(missing):
            descriptor = os.open(name, _DIRECTORY_FLAGS, dir_fd=descriptor)
            ancestor = join(ancestor, name)
            self._descriptors[ancestor] = descriptor
            if len(self._descriptors) > _OPEN_DESCRIPTORS:
                os.close(self._descriptors.popitem(last=False)[1])
        return descriptor

    def scan(self, path: bytes) -> list[tuple[bytes, EntryType]]:
        """What is in the directory at `path`, in no particular order."""
        found: list[tuple[bytes, EntryType]] = []
        with os.scandir(self.descriptor(path)) as entries:
            for entry in entries:
                if entry.is_file(follow_symlinks=False):
                    kind = EntryType.FILE
                elif entry.is_dir(follow_symlinks=False):
                    kind = EntryType.DIRECTORY
                elif entry.is_symlink():
                    kind = EntryType.SYMLINK
                else:
                    kind = EntryType.SPECIAL
                found.append((os.fsencode(entry.name), kind))
        return found

    def lstat(self, parent: bytes, name: bytes) -> os.stat_result:
        """Status of one entry, itself rather than what it points to."""
        return os.stat(name, dir_fd=self.descriptor(parent), follow_symlinks=False)

    def find(self, parent: bytes, name: bytes) -> os.stat_result | None:
        """Like `lstat`, but None when nothing is there."""
        try:
            return self.lstat(parent, name)
        except FileNotFoundError:
            return None

    def readlink(self, parent: bytes, name: bytes) -> bytes:
        """Target of a symlink. Raises `SubjectChanged` when it is none any more."""
        try:
            return os.readlink(name, dir_fd=self.descriptor(parent))
        except PermissionError:
            raise
        except OSError as error:
            raise self.changed(join(parent, name)) from error

    def open(self, parent: bytes, name: bytes) -> tuple[int, os.stat_result]:
        """Open a regular file; the caller closes the descriptor.

        Raises:
            SubjectChanged: It was listed as a regular file and is none any more.
            PermissionError: It may not be read.
        """
        try:
            descriptor = os.open(name, _FILE_FLAGS, dir_fd=self.descriptor(parent))
        except PermissionError:
            raise
        except OSError as error:
            raise self.changed(join(parent, name)) from error
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            os.close(descriptor)
            raise self.changed(join(parent, name))
        return descriptor, status

    def chunks(self, parent: bytes, name: bytes) -> Iterator[bytes]:
        """The content of a regular file, in pieces."""
        descriptor, _ = self.open(parent, name)
        try:
            while chunk := os.read(descriptor, CHUNK_BYTES):
                yield chunk
        finally:
            os.close(descriptor)

    def read_control_file(self, path: bytes, *, max_bytes: int = CHUNK_BYTES) -> bytes | None:
        """The content of a small file such as `.git/HEAD`.

        None when there is none: nothing there, not a regular file, unreadable, behind a symlink, or larger
        than `max_bytes`.
        """
        parent, _, name = path.rpartition(b"/")
        try:
            descriptor, status = self.open(parent, name)
        except (OSError, SubjectChanged):
            return None
        try:
            return os.read(descriptor, status.st_size) if status.st_size <= max_bytes else None
        finally:
            os.close(descriptor)

    def kind(self, path: bytes) -> EntryType | None:
        """What is at `path`, reached without following any symlink; None when nothing is, or unreachable."""
        parent, _, name = path.rpartition(b"/")
        try:
            mode = self.lstat(parent, name).st_mode
        except OSError:
            return None
        return entry_type(mode)

    def changed(self, path: bytes) -> SubjectChanged:
        """The error to raise when what was just listed is no longer there."""
        where = os.fsdecode(join(os.fsencode(self.root), path))
        return SubjectChanged(
            f"{where!r} changed while it was being read",
            hint="end every process that writes to the workspace, then try again",
        )


def entry_type(mode: int) -> EntryType:
    """What a file mode says the entry is."""
    if stat.S_ISREG(mode):
        return EntryType.FILE
    if stat.S_ISDIR(mode):
        return EntryType.DIRECTORY
    if stat.S_ISLNK(mode):
        return EntryType.SYMLINK
    return EntryType.SPECIAL
