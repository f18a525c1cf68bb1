"""Keeping every process of a tree from running, and letting it run again. Standard library only.

A control group's freezer where there is one: the kernel stops whatever is in it, however fast it breeds.
Elsewhere SIGSTOP. A process to which one was sent cannot fork any more (the kernel restarts the call, and
stops it first), so what it bred is complete; the tree is looked through until a whole look finds nobody
running, twice in a row, because an orphan may change its place in the tree during the first.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable

from adjudge.sandbox.group import read_value, write_value
from adjudge.sandbox.launchrequest import Group
from adjudge.sandbox.processes import start_time

__all__ = ["Freezer", "describe_processes", "freezer_of"]

_PATIENCE_S = 20.0
_STUCK_S = 1.0
"""A process that waits in the kernel (for a disk, or for the child it lent its memory to) takes the signal
when it comes back, before it executes anything of its own; after this time it counts as stopped."""
_COMMAND_BYTES = 500


def freezer_of(group: Group | None) -> str | None:
    """The file that freezes a control group; None when it has none."""
    if group is None:
        return None
    if group["version"] == 1:
        return None if group["freezer"] is None else f"{group['freezer']}/freezer.state"
    return None if group["pids"] is None else f"{group['pids']}/cgroup.freeze"


class Freezer:
    """Freezes one tree.

    Args:
        tree: Every process of it, now.
        group: The control group that holds the same processes, if any.
    """

    def __init__(self, tree: Callable[[], list[int]], group: Group | None) -> None:
        self._tree = tree
        self._file = freezer_of(group)
        self._stopped: dict[int, int | None] = {}

    def freeze(self) -> None:
        """Return when no process of the tree runs.

        Raises:
            OSError: Some would not stop.
        """
        if self._file is not None:
            self._freeze_group(self._file)
        else:
            self._stop_all()

    def thaw(self) -> None:
        """Let them run again: those that were running."""
        if self._file is not None:
            write_value(self._file, "THAWED" if self._file.endswith(".state") else "0")
            return
        for pid, started in self._stopped.items():
            # The number may be another's by now.
            if start_time(pid) == started:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGCONT)
        self._stopped.clear()

    def end(self) -> None:
        """Kill the tree, so that nothing of it runs once more first where that can be helped."""
        for pid in self._tree():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if self._file is not None:
            # What is frozen in a control group of version 1 dies only when it is thawed.
            self.thaw()

    def _freeze_group(self, file: str) -> None:
        old = file.endswith(".state")
        deadline = time.monotonic() + _PATIENCE_S
        while True:
            # Written each time: version 1 gives up when a process cannot be frozen at once.
            write_value(file, "FROZEN" if old else "1")
            if old:
                frozen = read_value(file).strip() == b"FROZEN"
            else:
                frozen = b"frozen 1" in read_value(f"{os.path.dirname(file)}/cgroup.events").splitlines()
            if frozen:
                return
            if time.monotonic() > deadline:
                raise OSError("the control group of the sandbox does not freeze")
            time.sleep(0.001)

    def _stop_all(self) -> None:
        told: dict[int, float] = {}
        deadline = time.monotonic() + _PATIENCE_S
        calm = 0
        while calm < 2:
            moving = False
            for pid in self._tree():
                states = _thread_states(pid)
                if states <= {"Z", "X"} or (pid not in told and states <= {"T", "t", "Z", "X"}):
                    continue
                if pid not in told:
                    told[pid] = time.monotonic()
                    self._stopped[pid] = start_time(pid)
                if states <= {"T", "t", "Z", "X"}:
                    continue
                if states <= {"D", "T", "t", "Z", "X"} and time.monotonic() - told[pid] > _STUCK_S:
                    continue
                moving = True
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGSTOP)
            calm = 0 if moving else calm + 1
            if time.monotonic() > deadline:
                raise OSError("the processes of the sandbox do not stop")
            if moving:
                time.sleep(0.001)


def describe_processes(pids: list[int], sessions: set[int]) -> list[tuple[str, bool]]:
    """Command line of each living process, and whether it left the given sessions."""
    found: list[tuple[str, bool]] = []
    for pid in pids:
        if _thread_states(pid) <= {"Z", "X"}:
            continue
        command = read_value(f"/proc/{pid}/cmdline").rstrip(b"\0").replace(b"\0", b" ")
        if not command:
            command = b"[" + read_value(f"/proc/{pid}/comm").strip() + b"]"
        try:
            detached = os.getsid(pid) not in sessions
        except OSError:
            continue
        found.append((command[:_COMMAND_BYTES].decode("utf-8", "replace"), detached))
    return found


def _thread_states(pid: int) -> set[str]:
    """The states of a process's threads; empty when it is gone."""
    states: set[str] = set()
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return states
    for thread in threads:
        text = read_value(f"/proc/{pid}/task/{thread}/stat")
        if text:
            states.add(text.rpartition(b")")[2].split()[0].decode())
    return states
