"""Trees on their way to disk: written once, never through a link, and recorded as they are written.

Everything that becomes a source, a baseline or a workspace goes through `TreeWriter`: folders, archives, git
objects and what a setup command left. Modes are git's (executable or not); owners and times are the writer's.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Protocol

from adjudge.errors import StoreError, UsageError, boundary
from adjudge.records.change import EntryType
from adjudge.records.paths import path_from_bytes, render_path
from adjudge.records.tree import DIRECTORY, EXECUTABLE, FILE, NO_CONTENT, SYMLINK, TreeEntry

__all__ = [
    "Content",
    "Entry",
    "Folder",
    "PlainFolder",
    "TreeRefused",
    "TreeWriter",
    "has_git_part",
    "read_entries",
    "remove_tree",
    "shown",
    "write_folder",
]

_CHUNK_BYTES = 1 << 20
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class TreeRefused(UsageError):
    """A tree holds something that cannot be taken over as it is."""


class Entry(Protocol):
    """Anything with a name in a tree that is read."""

    @property
    def type(self) -> EntryType:
        """What it is."""

    @property
    def mode(self) -> int:
        """Its mode; of a file's permission bits, only the owner's right to execute is looked at."""


class Content(Entry, Protocol):
    """A regular file (its bytes) or a symlink (its target)."""

    def chunks(self) -> Iterator[bytes]:
        """The bytes, streamed."""


class Folder(Entry, Protocol):
    """A directory."""

    def entries(self) -> Mapping[bytes, Entry]:
        """Everything in it."""


class TreeWriter:
    """Writes a tree below a folder that does not exist yet, and records what it wrote.

    Args:
        root: The folder to make.
        subdir: Only what lies below this path of the tree is written, without it; the rest is only checked.
    """

    def __init__(self, root: Path, *, subdir: str | None = None) -> None:
        self._root = os.fsencode(root)
        self._prefix = b"" if subdir in (None, ".") else os.fsencode(subdir or "") + b"/"
        self._kinds: dict[bytes, int] = {b"": DIRECTORY}
        self._holding: set[bytes] = set()
        self._entries: list[TreeEntry] = []
        self._found = not self._prefix
        self.bytes_written = 0
        os.mkdir(self._root, 0o755)
        os.chmod(self._root, 0o755)

    def add_directory(self, path: bytes) -> None:
        """Make a directory and those above it. Harmless when it is there."""
        inside = self.inside(path)
        if inside is not None:
            self._make_directories(inside)
        elif path + b"/" == self._prefix:
            self._found = True

    def add_symlink(self, path: bytes, target: bytes) -> None:
        """Make a symlink, wherever it points."""
        inside = self.inside(path)
        if inside is None:
            return
        place = self._claim(inside, SYMLINK)
        if not target or b"\0" in target:
            raise TreeRefused(f"{shown(path)} is a symlink without a usable target")
        os.symlink(target, place)
        self._record(inside, SYMLINK, hashlib.sha256(target))

    def add_file(self, path: bytes, chunks: Iterable[bytes], *, executable: bool) -> None:
        """Write a file. For a path outside `subdir` the chunks are read and dropped."""
        inside = self.inside(path)
        if inside is None:
            for chunk in chunks:
                self.bytes_written += len(chunk)
            return
        mode = EXECUTABLE if executable else FILE
        place = self._claim(inside, mode)
        digest = hashlib.sha256()
        descriptor = os.open(place, _NEW_FILE, 0o600)
        try:
            for chunk in chunks:
                digest.update(chunk)
                self.bytes_written += len(chunk)
                # Whoever reads the source calls an `OSError` the source's; this one is our disk's.
                with boundary(StoreError, f"{shown(inside)} cannot be written to {shown(self._root)}"):
                    _write_all(descriptor, chunk)
            os.fchmod(descriptor, 0o755 if executable else 0o644)
        finally:
            os.close(descriptor)
        self._record(inside, mode, digest)

    def file_at(self, path: bytes) -> Path | None:
        """Where a file that was written before lies, if so."""
        inside = self.inside(path)
        if inside is None or self._kinds.get(inside) not in (FILE, EXECUTABLE):
            return None
        return Path(os.fsdecode(os.path.join(self._root, inside)))

    def finish(self) -> tuple[TreeEntry, ...]:
        """Everything written, in the order of paths. Directories are listed only when they hold nothing."""
        empty = [
            TreeEntry(path=path_from_bytes(path), mode=DIRECTORY, digest=NO_CONTENT)
            for path, kind in self._kinds.items()
            if kind == DIRECTORY and path and path not in self._holding
        ]
        return tuple(sorted([*self._entries, *empty], key=lambda entry: os.fsencode(entry.path)))

    @property
    def found_subdir(self) -> bool:
        """Whether the subdirectory was seen, or anything below it."""
        return self._found or len(self._kinds) > 1

    def inside(self, path: bytes) -> bytes | None:
        """The path below `subdir`, or None when it lies elsewhere."""
        parts = path.split(b"/")
        if not path or b"\0" in path or any(part in (b"", b".", b"..") for part in parts):
            raise TreeRefused(f"{shown(path)} is not a path inside the tree")
        if not self._prefix:
            return path
        return path[len(self._prefix) :] if path.startswith(self._prefix) else None

    def _claim(self, path: bytes, mode: int) -> bytes:
        """Take a path for a new entry, with its directories made."""
        if path in self._kinds:
            raise TreeRefused(f"{shown(path)} appears twice")
        parent = path.rpartition(b"/")[0]
        self._make_directories(parent)
        self._holding.add(parent)
        self._kinds[path] = mode
        return os.path.join(self._root, path)

    def _make_directories(self, path: bytes) -> None:
        missing: list[bytes] = []
        while path not in self._kinds:
            missing.append(path)
            path = path.rpartition(b"/")[0]
        if self._kinds[path] != DIRECTORY:
            raise TreeRefused(f"{shown(path)} is no directory, but something lies below it")
        for directory in reversed(missing):
            place = os.path.join(self._root, directory)
            try:
                os.mkdir(place, 0o755)
                os.chmod(place, 0o755)
            except OSError as error:
                raise TreeRefused(f"{shown(directory)} cannot be made: {error.strerror}") from error
            self._kinds[directory] = DIRECTORY
            self._holding.add(directory.rpartition(b"/")[0])

    def _record(self, path: bytes, mode: int, digest: hashlib._Hash) -> None:
        entry = TreeEntry(path=path_from_bytes(path), mode=mode, digest=f"sha256:{digest.hexdigest()}")
        self._entries.append(entry)


class PlainFolder:
    """A directory on disk as a `Folder`. Links are never followed, special files never opened."""

    type = EntryType.DIRECTORY
    mode = DIRECTORY

    def __init__(self, path: bytes) -> None:
        self._path = path

    def entries(self) -> Mapping[bytes, Entry]:
        """Everything in it."""
        found: dict[bytes, Entry] = {}
        with os.scandir(self._path) as listed:
            for item in listed:
                if item.is_dir(follow_symlinks=False):
                    found[item.name] = PlainFolder(item.path)
                else:
                    found[item.name] = PlainContent(item.path, item.stat(follow_symlinks=False).st_mode)
        return found


class PlainContent:
    """A file, symlink or special file on disk."""

    def __init__(self, path: bytes, mode: int) -> None:
        self._path = path
        self.mode = mode
        if stat.S_ISREG(mode):
            self.type = EntryType.FILE
        else:
            self.type = EntryType.SYMLINK if stat.S_ISLNK(mode) else EntryType.SPECIAL

    def chunks(self) -> Iterator[bytes]:
        """Its bytes, or its target."""
        if self.type is EntryType.SYMLINK:
            yield os.readlink(self._path)
            return
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
        descriptor = os.open(self._path, flags)
        try:
            while chunk := os.read(descriptor, _CHUNK_BYTES):
                yield chunk
        finally:
            os.close(descriptor)


def write_folder(
    folder: Folder, writer: TreeWriter, *, leave_out_git: bool, drop_special: bool = False, at: bytes = b""
) -> tuple[str, ...]:
    """Write everything in a folder but its `.git`.

    Args:
        folder: What to write.
        writer: Where to.
        leave_out_git: Leave out everything called `.git` at any depth, not only at the top.
        drop_special: Leave out fifos, sockets and devices instead of refusing the tree.
        at: The path that the folder gets; the top when empty.

    Returns:
        What was left out below the top, for people.
    """
    left_out: list[str] = []
    pending: list[tuple[bytes, Folder]] = [(at, folder)]
    if at:
        writer.add_directory(at)
    while pending:
        parent, here = pending.pop()
        for name, entry in _listed(here, parent):
            path = parent + b"/" + name if parent else name
            if name == b".git" and (leave_out_git or parent == at):
                if parent != at:
                    left_out.append(f"{shown(path)} was left out: history of its own does not belong here")
            elif entry.type is EntryType.DIRECTORY:
                writer.add_directory(path)
                pending.append((path, entry))  # type: ignore[arg-type]  # the type says it is a Folder
            elif entry.type in (EntryType.FILE, EntryType.SYMLINK):
                _write_content(path, entry, writer)  # type: ignore[arg-type]  # and this one a Content
            elif drop_special:
                left_out.append(f"{shown(path)} was left out: it is neither a file, a folder nor a symlink")
            else:
                raise TreeRefused(f"{shown(path)} is neither a file, a folder nor a symlink")
    return tuple(left_out)


def _listed(folder: Folder, path: bytes) -> list[tuple[bytes, Entry]]:
    try:
        return sorted(folder.entries().items(), key=lambda item: item[0])
    except OSError as error:
        raise TreeRefused(
            f"{shown(path) if path else 'the tree'} cannot be read: {error.strerror}"
        ) from error


def _write_content(path: bytes, content: Content, writer: TreeWriter) -> None:
    try:
        if content.type is EntryType.SYMLINK:
            writer.add_symlink(path, b"".join(content.chunks()))
        else:
            writer.add_file(path, content.chunks(), executable=bool(content.mode & 0o100))
    except OSError as error:
        raise TreeRefused(f"{shown(path)} cannot be taken over: {error.strerror}") from error


def read_entries(root: Path) -> tuple[TreeEntry, ...]:
    """Everything in a tree of ours, read and hashed again."""
    found: list[TreeEntry] = []
    pending: list[tuple[bytes, Folder]] = [(b"", PlainFolder(os.fsencode(root)))]
    while pending:
        parent, here = pending.pop()
        listed = _listed(here, parent)
        if parent and not listed:
            found.append(TreeEntry(path=path_from_bytes(parent), mode=DIRECTORY, digest=NO_CONTENT))
        for name, entry in listed:
            path = parent + b"/" + name if parent else name
            if isinstance(entry, PlainFolder):
                pending.append((path, entry))
            elif isinstance(entry, PlainContent) and entry.type is not EntryType.SPECIAL:
                found.append(_read_entry(path, entry))
            else:
                raise TreeRefused(f"{shown(path)} is neither a file, a folder nor a symlink")
    return tuple(sorted(found, key=lambda entry: os.fsencode(entry.path)))


def _read_entry(path: bytes, content: PlainContent) -> TreeEntry:
    digest = hashlib.sha256()
    try:
        for chunk in content.chunks():
            digest.update(chunk)
    except OSError as error:
        raise TreeRefused(f"{shown(path)} cannot be read: {error.strerror}") from error
    file_mode = EXECUTABLE if content.mode & 0o100 else FILE
    mode = SYMLINK if content.type is EntryType.SYMLINK else file_mode
    return TreeEntry(path=path_from_bytes(path), mode=mode, digest=f"sha256:{digest.hexdigest()}")


def has_git_part(path: bytes) -> bool:
    """Whether any part of a path is called `.git`."""
    return b".git" in path.split(b"/")


def shown(path: bytes) -> str:
    """A path for a message."""
    return render_path(path_from_bytes(path))


def remove_tree(root: Path) -> None:
    """Remove a tree of ours, whatever became of its permissions. Harmless when there is none."""
    pending = [os.fsencode(root)]
    directories: list[bytes] = []
    if not os.path.lexists(root):
        return
    while pending:
        here = pending.pop()
        directories.append(here)
        os.chmod(here, 0o700)
        with os.scandir(here) as listed:
            for item in listed:
                if item.is_dir(follow_symlinks=False):
                    pending.append(item.path)
                else:
                    os.unlink(item.path)
    for directory in reversed(directories):
        os.rmdir(directory)


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
