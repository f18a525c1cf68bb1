"""How often a wrong token may be tried."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable

__all__ = ["Attempts"]

_MAX_ADDRESSES = 4096


class Attempts:
    """Counts failures within a window, by address and over all addresses.

    Args:
        most: How many failures one address has.
        over_s: Within which time.
        overall: How many all addresses have together.
        clock: What tells the time.
    """

    def __init__(
        self,
        most: int = 10,
        over_s: float = 60.0,
        overall: int = 200,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._most = most
        self._over_s = over_s
        self._overall = overall
        self._clock = clock
        self._lock = threading.Lock()
        self._failed: dict[str, deque[float]] = {}
        self._all: deque[float] = deque()

    def wait_s(self, address: str) -> float:
        """How long that address has to wait before it may try again; 0 when it need not."""
        with self._lock:
            now = self._clock()
            waits = [
                times[0] + self._over_s - now
                for times, most in ((self._recent(address, now), self._most), (self._all, self._overall))
                if len(times) >= most
            ]
            return max(0.0, *waits) if waits else 0.0

    def fail(self, address: str) -> None:
        """Note that it failed."""
        with self._lock:
            now = self._clock()
            if address not in self._failed and len(self._failed) >= _MAX_ADDRESSES:
                self._failed.pop(next(iter(self._failed)))
            for times in (self._failed.setdefault(address, deque()), self._all):
                times.append(now)
            self._recent(address, now)

    def _recent(self, address: str, now: float) -> deque[float]:
        mine = self._failed.get(address, deque())
        for times in (mine, self._all):
            while times and times[0] <= now - self._over_s:
                times.popleft()
        if not mine:
            self._failed.pop(address, None)
        return mine
