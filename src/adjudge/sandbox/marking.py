"""Finding a sandbox's processes by a mark in their environment, where nothing better is left.

A process can wipe its environment, so this is a second net: the first is that a supervisor is the parent of
every orphan of its tree, and that holds until a command without isolation kills its supervisor.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time

__all__ = ["MARK", "end_marked"]

MARK = "ADJUDGE_SANDBOX"
_PATIENCE_S = 5.0


def end_marked(name: str) -> None:
    """Kill every process of this user with `MARK=name` in its environment, until there is none."""
    deadline = time.monotonic() + _PATIENCE_S
    while marked := _marked(name):
        for handle in marked:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                signal.pidfd_send_signal(handle, signal.SIGKILL)
            os.close(handle)
        if time.monotonic() > deadline:
            return
        time.sleep(0.01)


def _marked(name: str) -> list[int]:
    """A handle of each process that carries the mark and is not dead yet."""
    wanted = f"{MARK}={name}".encode()
    found: list[int] = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit() or not _carries(int(entry), wanted):
            continue
        with contextlib.suppress(OSError):
            handle = os.pidfd_open(int(entry))
            # Read again now that the handle is held: the number may have been reused in between.
            if _carries(int(entry), wanted):
                found.append(handle)
            else:
                os.close(handle)
    return found


def _carries(pid: int, wanted: bytes) -> bool:
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return wanted in file.read().split(b"\0")
    except OSError:
        return False
