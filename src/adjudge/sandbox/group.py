"""One control group, by its files: made, entered, read and removed. Standard library only.

How a process gets in matters. Writing its pid to `cgroup.procs` waits for all processors (measured: 7 to
10 ms, and longer under load), more than bwrap takes as a whole. A process that moves only itself through
version 1's `tasks` does not wait (0.2 ms), nor does one that is born in a group of version 2.
"""

from __future__ import annotations

import contextlib
import os
import time

from adjudge.sandbox import kernel
from adjudge.sandbox.launchrequest import Counters, Group

__all__ = [
    "entrances",
    "fork_into",
    "make_group",
    "read_counters",
    "read_value",
    "remove_group",
    "write_value",
]

_REMOVE_S = 2.0


def _directories(group: Group) -> list[str]:
    return list(
        dict.fromkeys(path for path in (group["memory"], group["pids"], group["freezer"]) if path is not None)
    )


def make_group(group: Group) -> None:
    """Make the group and set its limits.

    Raises:
        OSError: It cannot be made.
    """
    for path in _directories(group):
        os.mkdir(path)
    memory, pids = group["memory"], group["pids"]
    if memory is not None:
        most = str(group["memory_bytes"])
        if group["version"] == 1:
            write_value(f"{memory}/memory.limit_in_bytes", most)
            with contextlib.suppress(OSError):
                # Exists only where swap is accounted; without it swap would add to the limit.
                write_value(f"{memory}/memory.memsw.limit_in_bytes", most)
        else:
            write_value(f"{memory}/memory.max", most)
            for name, value in (("memory.swap.max", "0"), ("memory.oom.group", "1")):
                with contextlib.suppress(OSError):
                    write_value(f"{memory}/{name}", value)
    if pids is not None:
        write_value(f"{pids}/pids.max", str(group["tasks"]))


def entrances(group: Group | None) -> list[str] | None:
    """Files to which a process writes `0` to be in the group; None when it should be born there."""
    if group is None:
        return []
    if group["version"] == 1:
        return [f"{path}/tasks" for path in _directories(group)]
    return None


def fork_into(group: Group) -> tuple[int, list[str]]:
    """Fork a child into a group of version 2; returns as `os.fork`, and what it still has to write `0` to."""
    (path,) = _directories(group)
    directory = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        return kernel.fork_into_cgroup(directory), []
    except OSError:
        # Kernels before 5.7, or a system call filter around us: the slow way.
        return os.fork(), [f"{path}/cgroup.procs"]
    finally:
        os.close(directory)


def read_counters(group: Group) -> Counters:
    """What the kernel counted so far."""
    memory, pids, first = group["memory"], group["pids"], group["version"] == 1
    kills, peak = 0, None
    if memory is not None:
        kills = _field(f"{memory}/{'memory.oom_control' if first else 'memory.events'}", b"oom_kill")
        peak = _number(f"{memory}/{'memory.max_usage_in_bytes' if first else 'memory.peak'}")
    return {
        "oom_kills": kills,
        "refused_forks": _field(f"{pids}/pids.events", b"max") if pids is not None else 0,
        "peak_memory_bytes": peak,
        "peak_tasks": _number(f"{pids}/pids.peak") if pids is not None else None,
    }


def remove_group(group: Group) -> None:
    """Remove the group; every process in it must be dead."""
    deadline = time.monotonic() + _REMOVE_S
    for path in _directories(group):
        while True:
            try:
                os.rmdir(path)
                break
            except FileNotFoundError:
                break
            except OSError:
                # A dead process leaves its group only when the last reference to it goes.
                if time.monotonic() > deadline:
                    break
                time.sleep(0.001)


def write_value(path: str, text: str) -> None:
    """Write to a file of the kernel, in one go."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)


def read_value(path: str) -> bytes:
    """Read a file of the kernel; empty when it is not there."""
    try:
        with open(path, "rb", buffering=0) as file:
            return file.read()
    except OSError:
        return b""


def _field(path: str, name: bytes) -> int:
    for line in read_value(path).splitlines():
        key, _, value = line.partition(b" ")
        if key == name:
            return int(value)
    return 0


def _number(path: str) -> int | None:
    text = read_value(path).strip()
    return int(text) if text.isdigit() else None
