"""What it means to exceed a limit, in words and in kernel terms; shared by every backend.

Who notices is elsewhere: `watcher` samples a process tree, `cgroups` reads the kernel's counters, `output`
counts bytes. All of them speak of a `Breach`.
"""

from __future__ import annotations

import resource
from dataclasses import dataclass

from adjudge.records.sandbox import Ended, Limits

__all__ = [
    "Breach",
    "disk_breach",
    "memory_breach",
    "output_breach",
    "process_breach",
    "render_bytes",
    "rlimits",
    "timeout_breach",
]

_OPEN_FILES = 65_536
"""Enough for test runners and servers; a leak is stopped before it exhausts the machine's table."""

_FILE_SLACK = 256 * 1024 * 1024
"""What a fast disk takes in the time a watcher needs: the tree is to be ended for its disk limit, not to
fail with `File too large`."""


@dataclass(frozen=True, slots=True)
class Breach:
    """A limit that was exceeded: how the exec ended, and why in words."""

    ended: Ended
    reason: str


def render_bytes(count: int) -> str:
    """A size for people: `512 B`, `4.1 GiB`."""
    if count < 1024:
        return f"{count} B"
    size = float(count)
    for unit in ("KiB", "MiB", "GiB", "TiB"):
        size /= 1024
        if size < 1024 or unit == "TiB":
            break
    return f"{size:.1f} {unit}"


def memory_breach(used_bytes: int, limits: Limits, held_by: str) -> Breach:
    """The tree's memory exceeded its limit."""
    return Breach(
        Ended.OUT_OF_MEMORY,
        f"used {render_bytes(used_bytes)} of memory, limit {render_bytes(limits.memory_bytes)} ({held_by})",
    )


def process_breach(count: int | None, limits: Limits, held_by: str) -> Breach:
    """The tree held more processes and threads than it may; None when the kernel refused the next one."""
    had = f"had {count}" if count is not None else "asked for more"
    return Breach(Ended.PROCESS_LIMIT, f"{had} processes and threads, limit {limits.processes} ({held_by})")


def disk_breach(used_bytes: int, limits: Limits, held_by: str) -> Breach:
    """The tree added more to its disk than it may."""
    return Breach(
        Ended.DISK_LIMIT,
        f"added {render_bytes(used_bytes)} on disk, limit {render_bytes(limits.disk_bytes)} ({held_by})",
    )


def output_breach(limits: Limits) -> Breach:
    """The tree wrote more output than it may."""
    return Breach(
        Ended.OUTPUT_LIMIT, f"wrote more than {render_bytes(limits.output_bytes)} to stdout and stderr"
    )


def timeout_breach(limits: Limits) -> Breach:
    """The tree ran longer than it may."""
    return Breach(Ended.TIMED_OUT, f"ran longer than {limits.wall_s:g} s")


def rlimits(limits: Limits) -> list[tuple[int, int]]:
    """Kernel limits of each process, as (resource, value) for both the soft and the hard limit.

    These only back up the limits on the whole tree. There is no address-space limit: it breaks programs
    that reserve much and use little (the JVM, Node, Go).
    """
    hard_files = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    files = _OPEN_FILES if hard_files == resource.RLIM_INFINITY else min(_OPEN_FILES, hard_files)
    return [
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, files),
        (resource.RLIMIT_FSIZE, limits.disk_bytes + _FILE_SLACK),
    ]
