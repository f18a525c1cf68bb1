"""Noticing that a workspace changed while it was read or graded.

Owns a cheap digest over the status of every entry (no content is read) and the stat index that spares
reading the files of a workspace we copied ourselves. Both rest on the change time, which an unprivileged
process cannot set. Who compares, and when, is the caller's business.
"""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path

from adjudge.capture.disk import Directory, PathBudget, join
from adjudge.capture.entries import EntryType
from adjudge.capture.layers import DiskContent
from adjudge.errors import WorkspaceUnreadable, boundary
from adjudge.records.sandbox import WorkspaceTree

__all__ = ["StatIndex", "fingerprint", "record_stat_index"]

_RACY_NS = 20_000_000
"""A change time moves in ticks of at most 10 ms; a file changed that close to the recording could hide a
later change within the same tick, so it is compared by content."""

_Key = tuple[int, int, int, int, int]


def fingerprint(tree: WorkspaceTree) -> str:
    """A digest of the status of every entry of a workspace: take it before and after, and compare.

    For a layered tree only the upper layers are read. The top `.git` is left out: a mere `git status` of
    somebody looking on rewrites the index there.
    """
    state = hashlib.sha256()
    for layer in tree.layers if tree.flat else tree.layers[1:]:
        with (
            boundary(WorkspaceUnreadable, f"workspace {layer} cannot be read"),
            Directory(layer) as directory,
        ):
            for path, status in sorted(_statuses(directory).items()):
                state.update(b"%d\0%b\0" % (len(path), path))
                state.update(repr((*_key(status), status.st_mtime_ns)).encode())
    return f"sha256:{state.hexdigest()}"


class StatIndex:
    """The status of every file of a copied workspace, right after it was copied."""

    def __init__(self, keys: dict[bytes, _Key]) -> None:
        self._keys = keys
        self._safe_before = max((key[1] for key in keys.values()), default=0) - _RACY_NS

    def unchanged(self, path: bytes, content: DiskContent) -> bool:
        """Whether a file is certainly the one that was copied. False means: compare the content."""
        recorded = self._keys.get(path)
        if recorded is None or recorded[1] >= self._safe_before:
            return False
        return recorded == _key(content.status)


def record_stat_index(root: Path) -> StatIndex:
    """Record a workspace that was just copied and that no other process has seen yet."""
    with boundary(WorkspaceUnreadable, f"workspace {root} cannot be read"), Directory(root) as directory:
        statuses = _statuses(directory)
    return StatIndex(
        {path: _key(status) for path, status in statuses.items() if stat.S_ISREG(status.st_mode)}
    )


def _key(status: os.stat_result) -> _Key:
    return status.st_ino, status.st_ctime_ns, status.st_size, status.st_mode, status.st_dev


def _statuses(directory: Directory) -> dict[bytes, os.stat_result]:
    found: dict[bytes, os.stat_result] = {}
    pending = [b""]
    budget = PathBudget()
    while pending:
        folder = pending.pop()
        try:
            names = directory.scan(folder)
        except PermissionError:
            continue
        for name, kind in names:
            if name == b".git" and not folder:
                continue
            path = join(folder, name)
            budget.spend(path)
            try:
                found[path] = directory.lstat(folder, name)
            except PermissionError:
                continue
            if kind is EntryType.DIRECTORY:
                pending.append(path)
    return found
