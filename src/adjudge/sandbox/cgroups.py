"""Limits held by the kernel: one control group per exec, version 1 or 2, where we may make them.

Version 1: a group below our own in the `memory` and the `pids` hierarchy. Version 2: a group below the
nearest ancestor that we may write and that already hands both controllers down (a group that holds
processes, such as our own, may not).
"""

from __future__ import annotations

import contextlib
import os
import time
from functools import cache
from pathlib import Path

from adjudge.records.sandbox import Limits
from adjudge.sandbox.limits import Breach, memory_breach, process_breach

__all__ = ["Cgroup", "CgroupPlaces", "find_places", "group_prefix", "remove_cgroups_of"]

_PREFIX = "adjudge-"
_OWN_TASKS = 3
"""bwrap's two processes, and the command before it is executed: not the command's own."""
_REMOVE_S = 2.0


def group_prefix(scratch_id: str) -> str:
    """What the names of one adjudge process's groups start with."""
    return f"{_PREFIX}{scratch_id}-"


class CgroupPlaces:
    """Where groups can be made.

    Args:
        version: 1 or 2.
        memory: Parent of groups that limit memory, if any.
        pids: Parent of groups that limit processes, if any; the same directory in version 2.
    """

    def __init__(self, version: int, memory: Path | None, pids: Path | None) -> None:
        self.version = version
        self.memory = memory
        self.pids = pids

    @property
    def name(self) -> str:
        """For people and provenance."""
        return f"cgroup v{self.version}"

    @property
    def parents(self) -> list[Path]:
        """Each distinct parent directory."""
        return list(dict.fromkeys(path for path in (self.memory, self.pids) if path is not None))

    def settings(self, limits: Limits) -> list[tuple[int, str, str, bool]]:
        """What to write into a group: number of the parent, file, value, and whether it must succeed."""
        wanted: list[tuple[int, str, str, bool]] = []
        if self.memory is not None:
            at = self.parents.index(self.memory)
            most = str(limits.memory_bytes)
            if self.version == 1:
                # The second exists only where swap is accounted; without it swap would add to the limit.
                wanted += [(at, "memory.limit_in_bytes", most, True)]
                wanted += [(at, "memory.memsw.limit_in_bytes", most, False)]
            else:
                # One process killed for memory takes the group along.
                wanted += [(at, "memory.max", most, True), (at, "memory.swap.max", "0", False)]
                wanted += [(at, "memory.oom.group", "1", False)]
        if self.pids is not None:
            at = self.parents.index(self.pids)
            wanted.append((at, "pids.max", str(limits.processes + _OWN_TASKS), True))
        return wanted


@cache
def find_places(proc: Path = Path("/proc"), root: Path = Path("/sys/fs/cgroup")) -> CgroupPlaces | None:
    """Find out by trying where this process may make groups; None when nowhere."""
    own = _own_groups(proc)
    if "" in own and (root / "cgroup.controllers").exists():
        parent = _v2_parent(root, own[""])
        return None if parent is None else CgroupPlaces(2, parent, parent)
    memory = _v1_parent(root, "memory", own)
    pids = _v1_parent(root, "pids", own)
    return None if memory is None and pids is None else CgroupPlaces(1, memory, pids)


def _own_groups(proc: Path) -> dict[str, str]:
    """Controller → our group's path; the empty controller is version 2."""
    groups: dict[str, str] = {}
    with contextlib.suppress(OSError):
        for line in (proc / "self/cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            for controller in controllers.split(","):
                groups[controller] = path
    return groups


def _v1_parent(root: Path, controller: str, own: dict[str, str]) -> Path | None:
    if controller not in own:
        return None
    # In a container the path is the host's, while the mount shows our own group as its root.
    for parent in (root / controller / own[controller].lstrip("/"), root / controller):
        limit = "memory.limit_in_bytes" if controller == "memory" else "pids.max"
        if parent.is_dir() and _can_make(parent, limit):
            return parent
    return None


def _v2_parent(root: Path, own: str) -> Path | None:
    here = root / own.lstrip("/")
    for parent in (here, *here.parents):
        if not parent.is_relative_to(root):
            return None
        with contextlib.suppress(OSError):
            handed = (parent / "cgroup.subtree_control").read_text().split()
            if {"memory", "pids"} <= set(handed) and _can_make(parent, "memory.max"):
                return parent
    return None


def _can_make(parent: Path, limit: str) -> bool:
    trial = parent / f"{_PREFIX}probe-{os.getpid()}-{time.monotonic_ns()}"
    try:
        trial.mkdir()
    except OSError:
        return False
    try:
        return os.access(trial / limit, os.W_OK) and os.access(trial / "cgroup.procs", os.W_OK)
    finally:
        trial.rmdir()


class Cgroup:
    """The group of one exec, made by the launcher; read and removed by us."""

    def __init__(self, places: CgroupPlaces, name: str, limits: Limits) -> None:
        self._places = places
        self._limits = limits
        self._paths = [parent / name for parent in places.parents]
        self._memory = places.memory / name if places.memory is not None else None
        self._pids = places.pids / name if places.pids is not None else None

    def breach(self) -> Breach | None:
        """Whether the kernel had to kill or refuse something."""
        held_by = self._places.name
        if self._memory is not None and self._out_of_memory():
            return memory_breach(self.peak_memory() or self._limits.memory_bytes, self._limits, held_by)
        if self._pids is not None and _counter(self._pids / "pids.events", "max") > 0:
            return process_breach(None, self._limits, held_by)
        return None

    def _out_of_memory(self) -> bool:
        assert self._memory is not None
        name = "memory.oom_control" if self._places.version == 1 else "memory.events"
        return _counter(self._memory / name, "oom_kill") > 0

    def peak_memory(self) -> int | None:
        """The most memory the tree held, page cache of its files included."""
        name = "memory.max_usage_in_bytes" if self._places.version == 1 else "memory.peak"
        return None if self._memory is None else _number(self._memory / name)

    def peak_processes(self) -> int | None:
        """The most processes and threads alive at once, where the kernel keeps it (6.6 and later)."""
        peak = None if self._pids is None else _number(self._pids / "pids.peak")
        return None if peak is None else max(1, peak - _OWN_TASKS + 1)

    def remove(self) -> None:
        """Remove the group; every process in it must be dead."""
        deadline = time.monotonic() + _REMOVE_S
        for path in self._paths:
            while True:
                try:
                    path.rmdir()
                    break
                except FileNotFoundError:
                    break
                except OSError:
                    # A dead process leaves its group only when the last reference to it goes.
                    if time.monotonic() > deadline:
                        raise
                    time.sleep(0.001)


def remove_cgroups_of(ids: list[str], places: CgroupPlaces) -> None:
    """Remove the groups that adjudge processes which died left behind."""
    for parent in places.parents:
        for one in ids:
            for path in parent.glob(f"{group_prefix(one)}*"):
                with contextlib.suppress(OSError):
                    path.rmdir()


def _counter(path: Path, name: str) -> int:
    with contextlib.suppress(OSError):
        for line in path.read_text().splitlines():
            key, _, value = line.partition(" ")
            if key == name:
                return int(value)
    return 0


def _number(path: Path) -> int | None:
    with contextlib.suppress(OSError, ValueError):
        return int(path.read_text())
    return None
