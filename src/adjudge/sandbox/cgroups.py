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
from adjudge.sandbox.launchrequest import Counters, Group
from adjudge.sandbox.limits import Breach, memory_breach, process_breach

__all__ = [
    "CgroupPlaces",
    "breach_of",
    "find_places",
    "group_prefix",
    "peak_processes",
    "remove_cgroups_of",
]

_PREFIX = "adjudge-"
_OWN_TASKS = 3
"""bwrap's two processes, and the command before it is executed: not the command's own."""


def group_prefix(scratch_id: str) -> str:
    """What the names of one adjudge process's groups start with."""
    return f"{_PREFIX}{scratch_id}-"


class CgroupPlaces:
    """Where groups can be made.

    Args:
        version: 1 or 2.
        memory: Parent of groups that limit memory, if any.
        pids: Parent of groups that limit processes, if any; the same directory in version 2.
        freezer: Version 1: parent of groups that can be frozen, if any.
    """

    def __init__(
        self, version: int, memory: Path | None, pids: Path | None, freezer: Path | None = None
    ) -> None:
        self.version = version
        self.memory = memory
        self.pids = pids
        self.freezer = freezer

    @property
    def name(self) -> str:
        """For people and provenance."""
        return f"cgroup v{self.version}"

    @property
    def parents(self) -> list[Path]:
        """Each distinct parent directory."""
        return list(
            dict.fromkeys(path for path in (self.memory, self.pids, self.freezer) if path is not None)
        )

    def group(self, name: str, limits: Limits, *, keep: bool = False) -> Group:
        """A group for one command; with `keep`, one that can be frozen."""
        return {
            "version": self.version,
            "memory": None if self.memory is None else str(self.memory / name),
            "pids": None if self.pids is None else str(self.pids / name),
            "freezer": str(self.freezer / name) if keep and self.freezer is not None else None,
            "memory_bytes": limits.memory_bytes,
            "tasks": limits.processes + _OWN_TASKS,
        }


@cache
def find_places(proc: Path = Path("/proc"), root: Path = Path("/sys/fs/cgroup")) -> CgroupPlaces | None:
    """Find out by trying where this process may make groups; None when nowhere."""
    own = _own_groups(proc)
    if "" in own and (root / "cgroup.controllers").exists():
        parent = _v2_parent(root, own[""])
        return None if parent is None else CgroupPlaces(2, parent, parent)
    memory = _v1_parent(root, "memory", own)
    pids = _v1_parent(root, "pids", own)
    if memory is None and pids is None:
        return None
    return CgroupPlaces(1, memory, pids, _v1_parent(root, "freezer", own))


_V1_FILES = {"memory": "memory.limit_in_bytes", "pids": "pids.max", "freezer": "freezer.state"}


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
        if parent.is_dir() and _can_make(parent, _V1_FILES[controller]):
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


def breach_of(counters: Counters, limits: Limits, held_by: str) -> Breach | None:
    """Whether the kernel had to kill or refuse something."""
    if counters["oom_kills"] > 0:
        return memory_breach(counters["peak_memory_bytes"] or limits.memory_bytes, limits, held_by)
    if counters["refused_forks"] > 0:
        return process_breach(None, limits, held_by)
    return None


def peak_processes(counters: Counters) -> int | None:
    """The most processes and threads the command had at once, where the kernel keeps it."""
    peak = counters["peak_tasks"]
    return None if peak is None else max(1, peak - _OWN_TASKS + 1)


def remove_cgroups_of(ids: list[str], places: CgroupPlaces) -> None:
    """Remove the groups that adjudge processes which died left behind."""
    for parent in places.parents:
        for one in ids:
            for path in parent.glob(f"{group_prefix(one)}*"):
                with contextlib.suppress(OSError):
                    path.rmdir()
