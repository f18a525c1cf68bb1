"""Ending every process below a supervisor that is their subreaper. Standard library only."""

from __future__ import annotations

import contextlib
import os
import signal

from adjudge.sandbox.processes import children

__all__ = ["end_all_children", "end_process"]


def end_process(pid: int) -> None:
    """Kill a child that was not reaped yet."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def end_all_children() -> None:
    """Kill and reap until there are none; orphans of the tree arrive here as their parents die."""
    me = os.getpid()
    while True:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid != 0:
            continue
        # A child of ours that was not reaped keeps its number, so no stranger can be hit.
        for child in children(me):
            end_process(child)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(-1, 0)
