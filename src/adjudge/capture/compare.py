"""Comparing two trees: every path at which they differ.

Owns the walk and the question whether two entries are the same. Where both trees stand on the same layers
only what lies on top is read. What a difference is called, how it is drawn and what is litter is decided
elsewhere.

The `.git` at the top of the workspace, and the one of a submodule that the baseline knows, are not
compared; `gitdir` looks at them. Every other `.git` is content like any other.
"""

from __future__ import annotations

import stat
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from adjudge.capture.commit import Blob, CommitFolder, Submodule, hash_as_blob
from adjudge.capture.disk import PathBudget, join
from adjudge.capture.entries import Content, Entry, EntryType, Folder, is_content, is_folder
from adjudge.capture.layers import DiskContent, DiskFolder, differing_names, same_bytes
from adjudge.errors import CaptureError

__all__ = ["Comparison", "Difference"]

_NOTABLE_PERMISSIONS = stat.S_ISUID | stat.S_ISGID | stat.S_IWOTH


@dataclass(slots=True)
class Difference:
    """One path at which the trees differ. An absent side is None."""

    path: bytes
    old: Entry | None
    new: Entry | None
    unreadable: str | None = None
    """Why the new side could not be read; that it differs is certain."""


class Settle(Protocol):
    """Decides whether bytes that differ are only what a checkout made of a blob."""

    def settle(self, path: bytes, old: Content, new: Content) -> Content | None:
        """None when they are; else the old content as it should be shown."""


_Pending = list[tuple[bytes, Folder | None, Folder | None]]
_Getter = Callable[[bytes], Entry | None]


class Comparison:
    """One comparison of a baseline with a final tree.

    Args:
        checkout: For a commit baseline: undoes what a checkout does to files.
        expand: For a commit baseline: finds a submodule's files, given its path.
        unchanged: Says that a file on disk is untouched since it was copied from the baseline.
    """

    def __init__(
        self,
        *,
        checkout: Settle | None = None,
        expand: Callable[[bytes, Submodule], CommitFolder | None] | None = None,
        unchanged: Callable[[bytes, DiskContent], bool] | None = None,
    ) -> None:
        self._checkout = checkout
        self._expand = expand
        self._unchanged = unchanged
        self.repositories: set[bytes] = {b""}
        """Directories whose `.git` was left out: the top, and known submodules."""
        self.unknown_modules: list[bytes] = []
        """Submodules with content whose recorded commit was not found."""
        self.gained_permissions: dict[bytes, int] = {}
        """Paths that gained set-id or world-writable bits, which git does not record."""

    def run(self, baseline: Folder, final: Folder) -> Iterator[Difference]:
        """Every difference, in no particular order."""
        pending: _Pending = [(b"", baseline, final)]
        budget = PathBudget()
        for difference in self._walk(pending, budget):
            budget.spend(difference.path)
            yield difference

    def _walk(self, pending: _Pending, budget: PathBudget) -> Iterator[Difference]:
        while pending:
            path, old, new = pending.pop()
            try:
                names, before_of, after_of = _sides(old, new)
            except PermissionError as error:
                yield from _closed(path, old, new, _reason(error))
                continue
            if not names and path and (old is None or new is None):
                yield Difference(path, old, new)
            for name in names:
                if name == b".git" and path in self.repositories:
                    continue
                child = join(path, name)
                before = before_of(name)
                try:
                    after = after_of(name)
                except PermissionError as error:
                    yield from _out_of_reach(child, before, _reason(error))
                    continue
                waiting = len(pending)
                yield from self._step(child, before, after, pending)
                if len(pending) > waiting:
                    budget.spend(child)

    def _step(
        self, path: bytes, before: Entry | None, after: Entry | None, pending: _Pending
    ) -> Iterator[Difference]:
        if is_folder(before):
            if is_folder(after):
                pending.append((path, before, after))
            elif after is None or _is_empty(before):
                if after is None:
                    pending.append((path, before, None))
                else:
                    yield Difference(path, before, after)
            else:
                yield Difference(path, None, after)
                pending.append((path, before, None))
        elif is_folder(after):
            if isinstance(before, Submodule):
                yield from self._compare_module(path, before, after, pending)
            elif before is None:
                pending.append((path, None, after))
            elif _is_empty(after):
                yield Difference(path, before, after)
            else:
                yield Difference(path, before, None)
                pending.append((path, None, after))
        elif before is None or after is None:
            if before is not after:
                yield Difference(path, before, after)
        else:
            difference = self._compare_entries(path, before, after)
            if difference is not None:
                yield difference

    def _compare_module(
        self, path: bytes, module: Submodule, folder: Folder, pending: _Pending
    ) -> Iterator[Difference]:
        """A submodule of the baseline against the directory in its place.

        An empty directory is how git leaves a submodule that was not fetched. A filled one is compared file
        by file with the recorded commit; when that is not to be found, all of its files show as added.
        """
        if _is_empty(folder):
            return
        contents = None if self._expand is None else self._expand(path, module)
        self.repositories.add(path)
        if contents is None:
            self.unknown_modules.append(path)
            yield Difference(path, module, module, unreadable=f"commit {module.commit} was not found")
        pending.append((path, contents, folder))

    def _compare_entries(self, path: bytes, before: Entry, after: Entry) -> Difference | None:
        if before.type is not after.type:
            return Difference(path, before, after)
        if not (is_content(before) and is_content(after)):
            return None if before.mode == after.mode else Difference(path, before, after)
        try:
            if self._is_known_unchanged(path, after):
                return None
            shown = self._differing_content(path, before, after)
            self._note_permissions(path, before, after)
            if shown is None and before.mode == after.mode:
                return None
        except PermissionError as error:
            return Difference(path, before, after, _reason(error))
        return Difference(path, shown or before, after)

    def _is_known_unchanged(self, path: bytes, after: Content) -> bool:
        return self._unchanged is not None and isinstance(after, DiskContent) and self._unchanged(path, after)

    def _differing_content(self, path: bytes, before: Content, after: Content) -> Content | None:
        """None when the bytes are the same; else the old content, as it should be shown."""
        if isinstance(before, Blob):
            if hash_as_blob(before.hash_name, after) == before.object_id:
                return None
            if self._checkout is not None and before.type is EntryType.FILE:
                return self._checkout.settle(path, before, after)
            return before
        if (
            isinstance(before, DiskContent)
            and isinstance(after, DiskContent)
            and before.type is EntryType.FILE
        ):
            return None if same_bytes(before, after) else before
        return None if list(before.chunks()) == list(after.chunks()) else before

    def _note_permissions(self, path: bytes, before: Content, after: Content) -> None:
        bits = after.permissions
        if bits is None or not bits & _NOTABLE_PERMISSIONS or after.type is EntryType.SYMLINK:
            return
        had = before.permissions
        # A commit records no such bits, and a foreign checkout's umask may make everything world-writable.
        gained = bits & ~had if had is not None else bits & ~stat.S_IWOTH
        if gained & _NOTABLE_PERMISSIONS:
            self.gained_permissions[path] = gained & _NOTABLE_PERMISSIONS


def _sides(old: Folder | None, new: Folder | None) -> tuple[Iterable[bytes], _Getter, _Getter]:
    """The names to compare under two folders, and how to get at each side's entries."""
    if isinstance(old, DiskFolder) and isinstance(new, DiskFolder):
        differing = differing_names(old, new)
        if differing is not None:
            return differing, old.get, new.get
    afters = {} if new is None else new.entries()
    try:
        befores = {} if old is None else old.entries()
    except PermissionError as error:
        raise CaptureError(f"the baseline cannot be read: {error}") from error
    return befores.keys() | afters.keys(), befores.get, afters.get


class _Unknown:
    """Something that is there and of which not even the type can be found out."""

    type = EntryType.FILE

    @property
    def mode(self) -> int:
        raise PermissionError("its directory cannot be searched")


def _out_of_reach(path: bytes, before: Entry | None, reason: str) -> Iterator[Difference]:
    """An entry of a directory of the final tree that may be listed but not searched."""
    if is_folder(before):
        yield from _closed(path, before, before, reason)
    else:
        yield Difference(path, before, _Unknown(), f"its directory cannot be searched: {reason}")


def _closed(path: bytes, old: Folder | None, new: Folder | None, reason: str) -> Iterator[Difference]:
    """A directory of the final tree that may not be listed: it, and everything the baseline had in it."""
    why = f"its directory cannot be listed: {reason}"
    yield Difference(path, old, new, f"cannot be listed: {reason}")
    pending: list[tuple[bytes, Folder]] = [] if old is None else [(path, old)]
    while pending:
        parent, folder = pending.pop()
        for name, entry in folder.entries().items():
            child = join(parent, name)
            if is_folder(entry):
                pending.append((child, entry))
            else:
                yield Difference(child, entry, None, why)


def _is_empty(folder: Folder) -> bool:
    try:
        return not folder.entries()
    except PermissionError:
        return False


def _reason(error: PermissionError) -> str:
    return error.strerror or str(error)
