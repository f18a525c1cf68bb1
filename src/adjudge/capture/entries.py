"""What a tree consists of, whether it is read from disk or from git objects.

Owns the small interface that comparison, renames and the diff are written against. `layers` and `commit`
implement it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Protocol, TypeGuard

from adjudge.records.change import EntryType

__all__ = [
    "Content",
    "Entry",
    "EntryType",
    "Folder",
    "KnownContent",
    "digest_chunks",
    "folder_in",
    "git_mode",
    "is_content",
    "is_folder",
    "read_rules",
]

_MAX_RULES_BYTES = 4 << 20
"""A `.gitignore` or `.gitattributes` beyond this is not an honest one."""


class Entry(Protocol):
    """Anything with a name in a tree. Reading may raise `PermissionError`."""

    @property
    def type(self) -> EntryType:
        """What it is."""

    @property
    def mode(self) -> int:
        """Its mode in git's form; for special files and directories, the type bits alone."""


class Content(Entry, Protocol):
    """A regular file (its bytes) or a symlink (its target)."""

    @property
    def size(self) -> int:
        """How many bytes."""

    def chunks(self) -> Iterator[bytes]:
        """The bytes, streamed. Raises `PermissionError` when they may not be read."""

    @property
    def digest(self) -> str | None:
        """The sha256 of the content where it is known without reading, as `sha256:…`."""

    @property
    def permissions(self) -> int | None:
        """Permission bits (0o7777), where the tree records them."""


class Folder(Entry, Protocol):
    """A directory."""

    def entries(self) -> Mapping[bytes, Entry]:
        """Everything in it. Raises `PermissionError` when it may not be listed."""

    def get(self, name: bytes) -> Entry | None:
        """One entry of it."""


def is_folder(entry: Entry | None) -> TypeGuard[Folder]:
    """Whether an entry is a directory."""
    return entry is not None and entry.type is EntryType.DIRECTORY


def folder_in(parent: Folder | None, name: bytes) -> Folder | None:
    """The directory `name` of a directory, through a submodule whose files were found."""
    found = None if parent is None else parent.get(name)
    if found is not None and found.type is EntryType.REPOSITORY:
        found = getattr(found, "contents", None)
    return found if is_folder(found) else None


def is_content(entry: Entry | None) -> TypeGuard[Content]:
    """Whether an entry has bytes of its own: a regular file or a symlink."""
    return entry is not None and entry.type in (EntryType.FILE, EntryType.SYMLINK)


def read_rules(folder: Folder | None, name: bytes) -> bytes | None:
    """The content of a rules file of the baseline; None when there is none, or it is no honest one."""
    entry = None if folder is None else folder.get(name)
    if not is_content(entry) or entry.type is not EntryType.FILE or entry.size > _MAX_RULES_BYTES:
        return None
    return b"".join(entry.chunks())


class KnownContent:
    """Content that is in memory, or of which only digest and size are known."""

    type = EntryType.FILE
    permissions = None

    def __init__(self, mode: int, data: bytes | None, *, digest: str | None = None, size: int = 0) -> None:
        self.mode = mode
        self._data = data
        self.size = size if data is None else len(data)
        self.digest = digest

    def chunks(self) -> Iterator[bytes]:
        """The bytes; `PermissionError` when only the digest is known."""
        if self._data is None:
            raise PermissionError("only a pointer to the content is in the baseline")
        yield self._data


def git_mode(mode: int) -> int:
    """The mode git would record: whether the owner may execute a file, else the type alone."""
    kind = mode & 0o170000
    if kind == 0o100000:
        return 0o100755 if mode & 0o100 else 0o100644
    return kind


def digest_chunks(chunks: Iterable[bytes]) -> str:
    """The sha256 of streamed bytes."""
    state = hashlib.sha256()
    for chunk in chunks:
        state.update(chunk)
    return f"sha256:{state.hexdigest()}"
