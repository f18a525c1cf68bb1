"""Trees on disk: a directory, or copy-on-write layers as the kernel's overlay leaves them.

Owns the meaning of an upper layer (whiteouts, opaque directories, redirects) and which parts of two stacks
are the same bytes, so that a comparison reads only what the upper layers hold. Marks are read from the
attribute names that the kernel alone can write; what an agent sets under `user.overlay.*` inside the
overlay arrives under another name and is data.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from adjudge.capture.disk import CHUNK_BYTES, Directory, entry_type, join
from adjudge.capture.entries import EntryType, git_mode
from adjudge.errors import CaptureError
from adjudge.records.sandbox import WorkspaceTree

__all__ = ["DiskContent", "DiskFolder", "DiskTree", "LayerPool", "differing_names", "same_bytes"]

_CAP_SYS_ADMIN = 1 << 21


class LayerPool:
    """Open layer directories, shared so that two trees over the same layer know that they are."""

    def __init__(self) -> None:
        self._open: dict[str, Directory] = {}

    def directory(self, path: Path) -> Directory:
        """The directory at `path`, opened once."""
        key = os.path.realpath(path)
        if key not in self._open:
            self._open[key] = Directory(path)
        return self._open[key]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for directory in self._open.values():
            directory.close()


class DiskContent:
    """A file, symlink or special file in one layer."""

    __slots__ = ("_status", "directory", "name", "parent", "type")
    digest = None

    def __init__(
        self,
        directory: Directory,
        parent: bytes,
        name: bytes,
        kind: EntryType,
        status: os.stat_result | None = None,
    ) -> None:
        self.directory = directory
        self.parent = parent
        self.name = name
        self.type = kind
        self._status = status

    @property
    def status(self) -> os.stat_result:
        """Its lstat, read once."""
        if self._status is None:
            try:
                self._status = self.directory.lstat(self.parent, self.name)
            except FileNotFoundError as error:
                raise self.directory.changed(join(self.parent, self.name)) from error
        return self._status

    @property
    def mode(self) -> int:
        """Its mode in git's form."""
        return git_mode(self.status.st_mode)

    @property
    def permissions(self) -> int:
        """Its permission bits."""
        return stat.S_IMODE(self.status.st_mode)

    @property
    def size(self) -> int:
        """How many bytes it has; for a symlink, the length of its target."""
        return self.status.st_size

    def chunks(self) -> Iterator[bytes]:
        """Its bytes, or its target."""
        if self.type is EntryType.SYMLINK:
            yield self.directory.readlink(self.parent, self.name)
        elif self.type is EntryType.FILE:
            yield from self.directory.chunks(self.parent, self.name)

    def open_chunks(self) -> tuple[int, list[bytes] | Iterator[bytes]]:
        """Size and bytes of a regular file, taken from the same open file."""
        descriptor = self.open()
        size = self.status.st_size
        if size >= CHUNK_BYTES:
            return size, _read_and_close(descriptor)
        try:
            return size, [os.read(descriptor, size + 1)]
        finally:
            os.close(descriptor)

    def open(self) -> int:
        """Open a regular file, keeping its status; the caller closes the descriptor."""
        descriptor, self._status = self.directory.open(self.parent, self.name)
        return descriptor


Stack = tuple[tuple[Directory, bytes], ...]
"""The directories that merge into one, top first."""


class DiskTree:
    """A workspace tree. `pool` must stay open as long as the tree is used."""

    def __init__(self, tree: WorkspaceTree, pool: LayerPool) -> None:
        self.layers = tuple(pool.directory(layer) for layer in reversed(tree.layers))
        self._bottom = self.layers[-1]
        self._prefix = tree.xattr_prefix
        self._follows_redirects = tree.xattr_prefix.startswith("trusted.")
        if len(self.layers) > 1 and self._follows_redirects and not _reads_trusted_attributes():
            raise CaptureError(
                "the layers were written by a privileged overlay and their marks are not readable",
                hint="run as the user that started the sandbox (root)",
            )

    @property
    def root(self) -> DiskFolder:
        """The top directory."""
        return DiskFolder(self, self._merge([(layer, b"", b"") for layer in self.layers]))

    def lookup(self, path: bytes) -> DiskContent | DiskFolder | None:
        """Find an entry by its path."""
        return _descend(self.root, path)

    def is_whiteout(self, directory: Directory, status: os.stat_result) -> bool:
        """Whether an entry of a layer says that there is nothing."""
        return directory is not self._bottom and stat.S_ISCHR(status.st_mode) and status.st_rdev == 0

    def merge(self, candidates: Stack, name: bytes) -> Stack:
        """The stack of the subdirectory `name`, looked up in `candidates`, top first."""
        return self._merge([(directory, parent, name) for directory, parent in candidates])

    def _merge(self, candidates: list[tuple[Directory, bytes, bytes]]) -> Stack:
        stack: list[tuple[Directory, bytes]] = []
        renamed: bytes | None = None
        for directory, parent, name in candidates:
            wanted = name if renamed is None else renamed
            if wanted:
                status = directory.find(parent, wanted)
                if status is None:
                    continue
                if not stat.S_ISDIR(status.st_mode):
                    break
            path = join(parent, wanted) if wanted else parent
            stack.append((directory, path))
            if directory is self._bottom:
                break
            try:
                opaque, redirect = self._is_opaque(directory, path), self._redirect(directory, path)
            except PermissionError:
                # Its marks are as unreadable as its entries: listing it says so, whatever lies below.
                break
            if opaque:
                break
            if redirect is None:
                continue
            if redirect.startswith(b"/"):
                stack.extend(self._below(directory, redirect.strip(b"/")))
                break
            renamed = redirect
        return tuple(stack)

    def _below(self, directory: Directory, path: bytes) -> Stack:
        """Where an absolute redirect of `directory` leads in the layers under it."""
        under = self.layers[self.layers.index(directory) + 1 :]
        folder = DiskFolder(self, self._merge([(layer, b"", b"") for layer in under]))
        found = _descend(folder, path)
        return found.stack if isinstance(found, DiskFolder) else ()

    def _is_opaque(self, directory: Directory, path: bytes) -> bool:
        value = self._attribute(directory, path, "opaque")
        if value not in (None, b"y", b"n"):
            raise CaptureError(f"unknown overlay mark opaque={value!r} in {directory.root}")
        return value == b"y"

    def _redirect(self, directory: Directory, path: bytes) -> bytes | None:
        if not self._follows_redirects or not path:
            return None
        value = self._attribute(directory, path, "redirect")
        if value is None:
            return None
        parts = value.strip(b"/").split(b"/")
        if not value.strip(b"/") or any(part in (b"", b".", b"..") for part in parts):
            raise CaptureError(f"malformed overlay redirect {value!r} in {directory.root}")
        return value

    def _attribute(self, directory: Directory, path: bytes, mark: str) -> bytes | None:
        return _read_attribute(directory.descriptor(path), self._prefix + mark)

    def check_content(self, content: DiskContent) -> None:
        """Refuse a file of which only the metadata was copied up: its bytes are somewhere else."""
        if content.directory is self._bottom or content.type is not EntryType.FILE:
            return
        try:
            descriptor = content.open()
        except PermissionError:
            return
        try:
            if _read_attribute(descriptor, self._prefix + "metacopy") is not None:
                raise CaptureError(
                    "an upper layer holds files without their data (metacopy)",
                    hint="mount the overlay with metacopy=off",
                )
        finally:
            os.close(descriptor)


class DiskFolder:
    """A directory, merged from every layer that has a part in it."""

    __slots__ = ("stack", "tree")
    type = EntryType.DIRECTORY
    mode = 0o040000

    def __init__(self, tree: DiskTree, stack: Stack) -> None:
        self.tree = tree
        self.stack = stack

    def entries(self) -> Mapping[bytes, DiskContent | DiskFolder]:
        """Everything in it."""
        if len(self.stack) > 1:
            names = {name for directory, path in self.stack for name, _ in directory.scan(path)}
            merged = {name: self.get(name) for name in names}
            return {name: entry for name, entry in merged.items() if entry is not None}
        directory, path = self.stack[0]
        found: dict[bytes, DiskContent | DiskFolder] = {}
        plain = directory is self.tree.layers[-1]
        for name, kind in directory.scan(path):
            if plain and kind is EntryType.DIRECTORY:
                found[name] = DiskFolder(self.tree, ((directory, join(path, name)),))
            elif plain:
                found[name] = DiskContent(directory, path, name, kind)
            else:
                entry = self.get(name)
                if entry is not None:
                    found[name] = entry
        return found

    def get(self, name: bytes) -> DiskContent | DiskFolder | None:
        """One entry of it."""
        for position, (directory, path) in enumerate(self.stack):
            status = directory.find(path, name)
            if status is None:
                continue
            if self.tree.is_whiteout(directory, status):
                return None
            if stat.S_ISDIR(status.st_mode):
                return DiskFolder(self.tree, self.tree.merge(self.stack[position:], name))
            content = DiskContent(directory, path, name, entry_type(status.st_mode), status)
            self.tree.check_content(content)
            return content
        return None


def differing_names(old: DiskFolder, new: DiskFolder) -> set[bytes] | None:
    """The names under which two folders can differ; None when that takes reading both.

    Where the one's stack ends in the whole of the other's, only what lies on top can make a difference.
    """
    surplus = len(new.stack) - len(old.stack)
    if surplus < 0 or new.stack[surplus:] != old.stack:
        return None
    return {name for directory, path in new.stack[:surplus] for name, _ in directory.scan(path)}


def same_bytes(old: DiskContent, new: DiskContent) -> bool:
    """Whether two regular files have the same content. Sets the status of both.

    Raises:
        CaptureError: The old one may not be read.
        PermissionError: The new one may not be read.
    """
    try:
        first = old.open()
    except PermissionError as error:
        raise CaptureError(f"the baseline cannot be read: {error}") from error
    try:
        second = new.open()
        try:
            before, after = old.status, new.status
            if before.st_size != after.st_size:
                return False
            if before.st_ino == after.st_ino and before.st_dev == after.st_dev:
                return True
            # A buffer of the file's size: asking for a whole chunk each time costs more than the read.
            piece = min(before.st_size + 1, CHUNK_BYTES)
            while True:
                chunk = os.read(first, piece)
                if chunk != os.read(second, piece):
                    return False
                if len(chunk) < piece:
                    return True
        finally:
            os.close(second)
    finally:
        os.close(first)


def _read_and_close(descriptor: int) -> Iterator[bytes]:
    try:
        while chunk := os.read(descriptor, CHUNK_BYTES):
            yield chunk
    finally:
        os.close(descriptor)


def _descend(folder: DiskFolder, path: bytes) -> DiskContent | DiskFolder | None:
    found: DiskContent | DiskFolder | None = folder
    for name in path.split(b"/") if path else ():
        if not isinstance(found, DiskFolder) or not found.stack:
            return None
        found = found.get(name)
    return found


def _read_attribute(descriptor: int, name: str) -> bytes | None:
    try:
        return os.getxattr(descriptor, name)
    except OSError as error:
        if error.errno in (errno.ENODATA, errno.ENOTSUP):
            return None
        raise


def _reads_trusted_attributes() -> bool:
    """Whether `trusted.*` is readable; without the right, reading says "no such attribute", not "no"."""
    with open("/proc/self/uid_map") as mapping:
        in_first_namespace = mapping.read().split() == ["0", "0", "4294967295"]
    with open("/proc/self/status") as status:
        effective = next(line for line in status if line.startswith("CapEff:"))
    return in_first_namespace and bool(int(effective.split()[1], 16) & _CAP_SYS_ADMIN)
