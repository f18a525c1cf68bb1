"""Whether the workspace's git still leads back to the commit that the attempt began at.

Commits are read from the object databases themselves, loose or packed, before and after, and every one is
hashed again. What cannot be followed is unknown, and nothing is said of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

from adjudge.capture.disk import join
from adjudge.capture.entries import Entry
from adjudge.capture.gitobjects import ObjectStore, hash_name_of
from adjudge.capture.layers import DiskFolder
from adjudge.errors import AdjudgeError

__all__ = ["lost_start"]

Lookup = Callable[[bytes], Entry | None]
Read = Callable[[bytes], bytes]

_MAX_COMMITS = 1000


def lost_start(
    place: bytes, final: Lookup, before: Lookup, read_final: Read, read_before: Read
) -> Iterator[tuple[bytes, str]]:
    """References that no longer lead to the commit that the attempt began at, with what to say of each.

    Args:
        place: The `.git` directory.
        final: Finds an entry of the final workspace.
        before: The same of the baseline.
        read_final: The bytes of a small file of the final workspace; none where it has no such.
        read_before: The same of the baseline.
    """
    branch = _branch(place, read_before)
    old = _head(place, read_before)
    if old is None:
        return
    head = _head(place, read_final)
    kept = None if branch is None else _reference(place, branch, read_final)
    begun = f"the commit that the attempt began at, {old[:12]}"
    with ExitStack() as stack:
        now, then = _Commits(place, (final, before), stack), _Commits(place, (before,), stack)
        if branch is not None and kept is not None and kept != old and _holds(kept, old, now, then) is False:
            yield join(place, branch), f"no longer holds {begun}"
        elif head is None or head in (old, kept):
            return
        elif branch is not None and kept is None and _holds(head, old, now, then) is False:
            yield join(place, branch), f"is gone, and with it {begun}"
        elif _begins_anew(head, now, then):
            yield join(place, b"HEAD"), f"has a history that begins anew, without {begun}"


class _Commits:
    """The commits of one or several object databases."""

    def __init__(self, place: bytes, lookups: tuple[Lookup, ...], stack: ExitStack) -> None:
        self._stores: list[ObjectStore] = []
        for lookup in lookups:
            folder = lookup(join(place, b"objects"))
            for directory, path in folder.stack if isinstance(folder, DiskFolder) else ():
                for hash_name in ("sha1", "sha256"):
                    store = ObjectStore(directory, path, hash_name)
                    stack.callback(store.close)
                    self._stores.append(store)

    def has(self, commit: str) -> bool:
        """Whether it is there."""
        return any(True for _ in self._with(commit))

    def parents(self, commit: str) -> list[str] | None:
        """What it was made on; None where it cannot be read."""
        for store in self._with(commit):
            try:
                _, data = store.read(commit, expected=b"commit")
            except (AdjudgeError, OSError):
                continue
            lines = data.partition(b"\n\n")[0].split(b"\n")
            return [line[7:].decode("ascii", "replace").strip() for line in lines if line[:7] == b"parent "]
        return None

    def _with(self, commit: str) -> Iterator[ObjectStore]:
        for store in self._stores:
            try:
                if hash_name_of(commit) == store.hash_name and store.contains(commit):
                    yield store
            except (AdjudgeError, OSError):
                continue


def _holds(commit: str, old: str, now: _Commits, then: _Commits) -> bool | None:
    """Whether `old` is `commit` or one before it.

    What the attempt made is followed down to what was there before. Where all of that comes before `old`,
    it cannot hold it.
    """
    pending, seen, earlier = [commit], set[str](), set[str]()
    while pending:
        one = pending.pop()
        if one == old:
            return True
        if one in seen:
            continue
        seen.add(one)
        if then.has(one):
            earlier.add(one)
            continue
        parents = now.parents(one)
        if parents is None or len(seen) >= _MAX_COMMITS:
            return None
        pending += parents
    return None if earlier - _before(old, then, earlier) else False


def _before(commit: str, commits: _Commits, wanted: set[str]) -> set[str]:
    """Those of some commits that come before one."""
    pending, seen = [commit], {commit}
    while pending and len(seen) < _MAX_COMMITS and not wanted <= seen:
        for parent in commits.parents(pending.pop(0)) or ():
            if parent not in seen:
                seen.add(parent)
                pending.append(parent)
    return wanted & seen


def _begins_anew(commit: str, now: _Commits, then: _Commits) -> bool:
    """Whether a commit and all before it are the attempt's own."""
    pending, seen = [commit], set[str]()
    while pending:
        one = pending.pop()
        if one in seen:
            continue
        seen.add(one)
        parents = None if then.has(one) or len(seen) >= _MAX_COMMITS else now.parents(one)
        if parents is None:
            return False
        pending += parents
    return True


def _branch(place: bytes, read: Read) -> bytes | None:
    """The branch that is checked out."""
    head = read(join(place, b"HEAD")).strip()
    name = head.removeprefix(b"ref: ").strip()
    return (
        name if head.startswith(b"ref: ") and name.startswith(b"refs/heads/") and b".." not in name else None
    )


def _head(place: bytes, read: Read) -> str | None:
    """The commit that is checked out."""
    branch = _branch(place, read)
    return _reference(place, b"HEAD" if branch is None else branch, read)


def _reference(place: bytes, name: bytes, read: Read) -> str | None:
    """The commit that a reference is at, in a file of its own or among packed ones."""
    found = _commit(read(join(place, name)))
    if found is not None:
        return found
    for line in read(join(place, b"packed-refs")).split(b"\n"):
        value, _, packed = line.partition(b" ")
        if packed.strip() == name:
            return _commit(value)
    return None


def _commit(data: bytes) -> str | None:
    text = data.strip().decode("ascii", "replace")
    return text if hash_name_of(text) is not None else None
