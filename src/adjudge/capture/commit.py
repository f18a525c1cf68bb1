"""A commit as a tree to compare with: what git objects say a checkout should hold.

Owns the reading of tree objects and of submodules. A submodule's commit id stands in the tree, so its files
can be verified like any others wherever its objects are found.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping

from adjudge.capture.entries import Content, Entry, EntryType, is_folder
from adjudge.capture.gitobjects import ObjectStore
from adjudge.capture.layers import DiskContent
from adjudge.errors import BaselineNotFound

__all__ = ["Blob", "CommitFolder", "CommitTree", "Submodule", "hash_as_blob"]


_HASHES: dict[str, Callable[[bytes], hashlib._Hash]] = {"sha1": hashlib.sha1, "sha256": hashlib.sha256}


class Blob:
    """A committed file or symlink."""

    __slots__ = ("_size", "_store", "mode", "object_id", "type")
    digest = None
    permissions = None

    def __init__(self, store: ObjectStore, mode: int, object_id: str) -> None:
        self._store = store
        self._size: int | None = None
        self.mode = mode
        self.object_id = object_id
        self.type = EntryType.SYMLINK if mode == 0o120000 else EntryType.FILE

    @property
    def hash_name(self) -> str:
        """The object format of its id."""
        return self._store.hash_name

    @property
    def size(self) -> int:
        """How many bytes."""
        if self._size is None:
            kind, self._size = self._store.header(self.object_id)
            if kind != b"blob":
                raise BaselineNotFound(f"git object {self.object_id} is a {kind.decode()}, not a blob")
        return self._size

    def chunks(self) -> Iterator[bytes]:
        """The bytes, verified."""
        return self._store.chunks(self.object_id)


class Submodule:
    """A commit of another repository, recorded in a tree."""

    __slots__ = ("commit", "contents")
    type = EntryType.REPOSITORY
    mode = 0o160000

    def __init__(self, commit: str) -> None:
        self.commit = commit
        self.contents: CommitFolder | None = None
        """Its tree, once the comparison has found it."""


class CommitFolder:
    """A tree object."""

    __slots__ = ("_parsed", "_store", "_tree_id")
    type = EntryType.DIRECTORY
    mode = 0o040000

    def __init__(self, store: ObjectStore, tree_id: str) -> None:
        self._store = store
        self._tree_id = tree_id
        self._parsed: dict[bytes, Entry] | None = None

    def entries(self) -> Mapping[bytes, Entry]:
        """Everything in it."""
        if self._parsed is None:
            self._parsed = _parse_tree(self._store, self._tree_id)
        return self._parsed

    def get(self, name: bytes) -> Entry | None:
        """One entry of it."""
        return self.entries().get(name)


class CommitTree:
    """The tree of a commit, seen from one of its directories.

    Args:
        top: The commit's top directory.
        prefix: The directory that corresponds to the workspace; empty for the top.
        find_module: Finds a submodule's tree, given its path in the workspace and its commit.
    """

    def __init__(
        self, top: CommitFolder, prefix: bytes, find_module: Callable[[bytes, str], CommitFolder | None]
    ) -> None:
        self.top = top
        self._prefix = prefix
        self._find_module = find_module

    @property
    def root(self) -> CommitFolder:
        """The directory that corresponds to the workspace."""
        found = self.lookup_from_top(self._prefix)
        if not isinstance(found, CommitFolder):
            raise BaselineNotFound(
                f"the baseline commit has no directory {self._prefix.decode('utf-8', 'replace')!r}",
                hint="the workspace is a directory of a repository that did not have it then",
            )
        return found

    def lookup_from_top(self, path: bytes) -> Entry | None:
        """Find an entry by its path from the top of the repository, through submodules that were found."""
        found: Entry | None = self.top
        for name in path.split(b"/") if path else ():
            if isinstance(found, Submodule):
                found = found.contents
            if not is_folder(found):
                return None
            found = found.get(name)
        return found.contents if isinstance(found, Submodule) and found.contents is not None else found

    def expand(self, path: bytes, module: Submodule) -> CommitFolder | None:
        """The files of a submodule, where its objects can be found."""
        if module.contents is None:
            module.contents = self._find_module(path, module.commit)
        return module.contents


def hash_as_blob(hash_name: str, content: Content) -> str:
    """The id that git would give to a file's content."""
    if isinstance(content, DiskContent) and content.type is EntryType.FILE:
        # The status comes from the open file and most files are one read: half the cost of a walk.
        size, chunks = content.open_chunks()
    else:
        size, chunks = content.size, content.chunks()
    state = _HASHES[hash_name](b"blob %d\0" % size)
    for chunk in chunks:
        state.update(chunk)
    return state.hexdigest()


def _parse_tree(store: ObjectStore, tree_id: str) -> dict[bytes, Entry]:
    _, data = store.read(tree_id, b"tree")
    found: dict[bytes, Entry] = {}
    at = 0
    width = store.id_size
    while at < len(data):
        space = data.find(b" ", at)
        end = data.find(b"\0", space)
        name = data[space + 1 : end]
        raw = data[end + 1 : end + 1 + width]
        mode_text = data[at:space]
        if space < 0 or end < 0 or len(raw) != width or not mode_text or mode_text.strip(b"01234567"):
            raise BaselineNotFound(f"git tree {tree_id} is malformed")
        if name in (b"", b".", b"..", b".git") or b"/" in name or name in found:
            raise BaselineNotFound(f"git tree {tree_id} has an entry with the name {name!r}")
        mode = int(mode_text, 8)
        object_id = raw.hex()
        entry: Entry
        if mode == 0o040000:
            entry = CommitFolder(store, object_id)
        elif mode == 0o160000:
            entry = Submodule(object_id)
        elif mode == 0o120000:
            entry = Blob(store, mode, object_id)
        else:
            entry = Blob(store, 0o100755 if mode & 0o100 else 0o100644, object_id)
        found[name] = entry
        at = end + 1 + width
    return found
