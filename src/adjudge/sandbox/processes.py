"""Reading process trees from /proc; shared by every backend. Nothing here ends a process.

Standard library only: the launcher uses it too.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from typing import NamedTuple

__all__ = [
    "ProportionalMemory",
    "TreeSample",
    "UnlinkedFiles",
    "children",
    "descendants",
    "is_dead",
    "parent",
    "proportional_memory",
    "sample",
    "start_time",
    "unlinked_files",
]

_PAGE = os.sysconf("SC_PAGE_SIZE")
_TICK = os.sysconf("SC_CLK_TCK")


class TreeSample(NamedTuple):
    """A process tree at one moment."""

    tasks: int
    """Processes and threads."""
    memory_bytes: int
    """Resident memory summed over the processes: shared pages count once for each."""
    cpu_s: float
    """Of the living, with what they waited for."""
    pids: tuple[int, ...]


def children(pid: int) -> list[int]:
    """The processes right below one."""
    found: list[int] = []
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return found
    for thread in threads:
        text = _read(f"/proc/{pid}/task/{thread}/children")
        if text is None and not _HAS_CHILDREN:
            return _all_children().get(pid, [])
        found.extend(int(child) for child in (text or b"").split())
    return found


def descendants(root: int) -> list[int]:
    """`root` and every process below it.

    Below the first process of a pid namespace, or below a subreaper, nothing can leave the tree: an orphan
    is handed up to that process.
    """
    found = [root]
    if _HAS_CHILDREN:
        for pid in found:
            found.extend(children(pid))
    else:
        below = _all_children()
        for pid in found:
            found.extend(below.get(pid, ()))
    return found


def _all_children() -> dict[int, list[int]]:
    """For kernels without CONFIG_PROC_CHILDREN, at the price of reading every process."""
    below: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            above = parent(int(name))
            if above is not None:
                below.setdefault(above, []).append(int(name))
    return below


def parent(pid: int) -> int | None:
    """The pid of a process's parent; None when the process is gone."""
    fields = _stat_fields(pid)
    return None if fields is None else int(fields[1])


def sample(pids: Iterable[int]) -> TreeSample:
    """Measure the processes that are still there; zombies hold no memory and are not counted."""
    tasks = memory = ticks = 0
    alive = []
    for pid in pids:
        fields = _stat_fields(pid)
        if fields is None:
            continue
        ticks += sum(int(value) for value in fields[11:15])
        if fields[0] in (b"Z", b"X"):
            continue
        alive.append(pid)
        tasks += int(fields[17])
        memory += int(fields[21]) * _PAGE
    return TreeSample(tasks, memory, ticks / _TICK, tuple(alive))


class ProportionalMemory(NamedTuple):
    """Memory with each shared page divided among its users."""

    total_bytes: int
    shared_bytes: int
    """The part in shared memory: tmpfs, memory files, System V segments."""


def proportional_memory(pids: Iterable[int]) -> ProportionalMemory | None:
    """Memory with each shared page divided among its users; None when the kernel does not tell.

    Exact where the plain sum is far too high (a large process that forked workers), but it walks every
    page table: some 5 ms for a process of 1 GiB. So it is asked only when the sum is over a limit.
    """
    total = shared = 0
    for pid in pids:
        text = _read(f"/proc/{pid}/smaps_rollup")
        if text is None:
            if os.path.exists(f"/proc/{pid}"):
                return None
            continue
        for line in text.splitlines():
            if line.startswith(b"Pss:"):
                total += int(line.split()[1]) * 1024
            elif line.startswith(b"Pss_Shmem:"):
                shared += int(line.split()[1]) * 1024
    return ProportionalMemory(total, shared)


class UnlinkedFiles(NamedTuple):
    """Bytes that no name leads to, but that open descriptors keep."""

    disk_bytes: int
    memory_bytes: int
    """Of memory files, which no process need have mapped and which resident memory then leaves out."""


def unlinked_files(pids: Iterable[int]) -> UnlinkedFiles:
    """Look through the open files of some processes for those that are on no path."""
    disk = memory = 0
    seen: set[tuple[int, int]] = set()
    for pid in pids:
        try:
            descriptors = os.listdir(f"/proc/{pid}/fd")
        except OSError:
            continue
        for descriptor in descriptors:
            link = f"/proc/{pid}/fd/{descriptor}"
            try:
                status = os.stat(link)
                if status.st_nlink != 0 or not stat.S_ISREG(status.st_mode):
                    continue
                target = os.readlink(link)
            except OSError:
                continue
            key = (status.st_dev, status.st_ino)
            if key in seen:
                continue
            seen.add(key)
            if target.startswith("/memfd:"):
                memory += status.st_blocks * 512
            else:
                disk += status.st_blocks * 512
    return UnlinkedFiles(disk, memory)


def start_time(pid: int) -> int | None:
    """When a process started, in clock ticks since boot: with the pid, an identity that is not reused."""
    fields = _stat_fields(pid)
    return None if fields is None else int(fields[19])


def is_dead(pid: int) -> bool:
    """Whether a process is gone or a zombie."""
    fields = _stat_fields(pid)
    return fields is None or fields[0] in (b"Z", b"X")


def _stat_fields(pid: int) -> list[bytes] | None:
    """The fields of /proc/PID/stat from `state` on (the name before it may hold spaces and brackets)."""
    text = _read(f"/proc/{pid}/stat")
    return None if text is None else text.rpartition(b")")[2].split()


def _read(path: str) -> bytes | None:
    try:
        with open(path, "rb", buffering=0) as file:
            return file.read()
    except OSError:
        return None


_HAS_CHILDREN = os.path.exists(f"/proc/self/task/{os.getpid()}/children")
