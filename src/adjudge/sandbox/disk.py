"""How much disk a process tree has taken; shared by every backend.

The candidate owns the directories while they are walked, so nothing is followed and nothing is opened but
directories, each relative to its parent's descriptor.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from adjudge.sandbox.processes import unlinked_files

__all__ = ["DiskMeter", "disk_usage"]

_QUIET_S = 1.0
"""How long a walk may be put off while the file system's free space does not shrink."""
_SHARE = 4
"""A walk is followed by a pause of this many times its own length, so that watching a tree of a million
files takes at most a fifth of one core."""
_HINT_BYTES = 1024 * 1024
_MAX_DEPTH = 256
"""Descriptors the walk may hold. What lies deeper counts as unreadable."""
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class DiskMeter:
    """Bytes that directories grew by since the meter was made, unlinked but open files included.

    A walk costs about 4 ms per 1,000 entries, so it happens only when there is reason to: the file
    system lost free space since the last walk, or a second has passed.

    Args:
        directories: Where the tree can write.
        already_bytes: What was there before, not to be charged.
    """

    def __init__(self, directories: Sequence[Path], *, already_bytes: int = 0) -> None:
        self._directories = tuple(directories)
        self._already = already_bytes
        self._free_at_start = self._free()
        self._free_at_walk = self._free_at_start
        self._next_walk = 0.0
        self._next_quiet_walk = 0.0
        self._used = 0

    def used(self, pids: Callable[[], Iterable[int]]) -> int:
        """Bytes added so far; `pids` lists who may hold files that are open but unlinked."""
        now = time.monotonic()
        free = self._free()
        if now < self._next_walk or (now < self._next_quiet_walk and self._free_at_walk - free < _HINT_BYTES):
            return self._used
        return self.measure(pids())

    def measure(self, pids: Iterable[int] = ()) -> int:
        """Walk now."""
        started = time.monotonic()
        self._free_at_walk = self._free()
        total, unreadable = _walk(self._directories)
        total += unlinked_files(pids).disk_bytes
        used = max(0, total - self._already)
        if unreadable:
            # What was hidden behind a directory we may not read cannot be more than what the disk lost.
            used = max(used, self._free_at_start - self._free_at_walk)
        now = time.monotonic()
        self._next_walk = now + (now - started) * _SHARE
        self._next_quiet_walk = now + _QUIET_S
        self._used = used
        return used

    def rebase(self) -> None:
        """Charge what comes from now on only."""
        self._already += self._used
        self._used = 0
        self._free_at_start = self._free()

    def _free(self) -> int:
        free: dict[int, int] = {}
        for directory in self._directories:
            try:
                status = os.statvfs(directory)
                free[os.stat(directory).st_dev] = status.f_bfree * status.f_frsize
            except OSError:
                continue
        return sum(free.values())


def disk_usage(directories: Sequence[Path]) -> int:
    """Bytes allocated below `directories`, each file once however many names it has."""
    return _walk(directories)[0]


def _walk(directories: Sequence[Path]) -> tuple[int, bool]:
    """Bytes below the directories, and whether some directory could not be read."""
    total = 0
    unreadable = False
    seen: set[tuple[int, int]] = set()
    for root in directories:
        # Depth first, one open descriptor for each level on the way to where the walk is.
        stack: list[tuple[int, list[str]]] = []
        try:
            stack.append((os.open(root, _DIRECTORY), ["."]))
        except FileNotFoundError:
            continue
        except OSError:
            unreadable = True
            continue
        while stack:
            parent, names = stack[-1]
            if not names:
                os.close(parent)
                stack.pop()
                continue
            name = names.pop()
            if len(stack) > _MAX_DEPTH:
                unreadable = True
                continue
            try:
                here = os.open(name, _DIRECTORY, dir_fd=parent)
            except FileNotFoundError:
                continue
            except OSError:
                unreadable = True
                continue
            below: list[str] = []
            stack.append((here, below))
            try:
                with os.scandir(here) as entries:
                    for entry in entries:
                        total += _size(entry, below, seen)
            except OSError:
                unreadable = True
    return total, unreadable


def _size(entry: os.DirEntry[str], below: list[str], seen: set[tuple[int, int]]) -> int:
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError:
        return 0
    if stat.S_ISDIR(status.st_mode):
        below.append(entry.name)
    elif status.st_nlink > 1:
        key = (status.st_dev, status.st_ino)
        if key in seen:
            return 0
        seen.add(key)
    return status.st_blocks * 512
