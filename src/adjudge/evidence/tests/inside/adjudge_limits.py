"""A limit on the time of one test, for every runner of Python's and for the workers of pytest-xdist."""

from __future__ import annotations

import signal
import threading
from typing import Any

__all__ = ["TestTimedOut", "limited"]


class TestTimedOut(Exception):
    """A test took longer than its limit."""

    __test__ = False


class limited:
    """A limit on the time of what runs inside the block; fires again should the first be swallowed."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._before: Any = None

    def __enter__(self) -> None:
        if self._seconds > 0 and threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGALRM, self._fire)
            signal.setitimer(signal.ITIMER_REAL, self._seconds, max(1.0, self._seconds / 4))

    def _fire(self, number: int, frame: object) -> None:
        raise TestTimedOut("took longer than " + str(self._seconds) + " s")

    def __exit__(self, *error: object) -> None:
        if self._before is not None:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, self._before)
            self._before = None
