"""A trace read while it is being written: bytes in as they arrive, events out.

Readers of traces pull from a stream, so each has a thread in which it waits for more.
"""

from __future__ import annotations

import io
import threading
from collections import deque
from collections.abc import Callable
from typing import BinaryIO, cast

from adjudge import catalog
from adjudge.contracts import TraceFormat
from adjudge.errors import TraceUnreadable
from adjudge.records.trace import TraceItem

__all__ = ["TraceFeed"]

_PATIENCE_S = 60.0


class TraceFeed:
    """Hands what an agent prints to the reader of its trace format.

    Args:
        format: The name of the format.
        observe: Called with each event, in the reader's thread.
    """

    def __init__(self, format: str, observe: Callable[[TraceItem], None]) -> None:
        self.problem: str | None = None
        """Why the whole is not such a trace, if so."""
        self._reader: TraceFormat = catalog.load("traceformats", format)()
        self._observe = observe
        self._arrived = threading.Condition()
        self._chunks: deque[bytes] = deque()
        self._closed = False
        self._waiting = False
        self._thread = threading.Thread(target=self._read, name="adjudge-trace", daemon=True)
        self._thread.start()

    def feed(self, data: bytes) -> None:
        """Take bytes in."""
        with self._arrived:
            self._chunks.append(data)
            self._arrived.notify_all()

    def settle(self) -> None:
        """Wait until everything that arrived was read; from another thread than the event loop's."""
        with self._arrived:
            self._arrived.wait_for(
                lambda: (self._waiting and not self._chunks) or not self._thread.is_alive(), _PATIENCE_S
            )

    def close(self) -> None:
        """Nothing more comes: wait until the reader is done."""
        with self._arrived:
            self._closed = True
            self._arrived.notify_all()
        self._thread.join(_PATIENCE_S)

    def take(self, most: int) -> bytes:
        """For the reader: what has arrived, waiting for some; empty at the end."""
        with self._arrived:
            self._waiting = True
            self._arrived.notify_all()
            self._arrived.wait_for(lambda: self._chunks or self._closed)
            self._waiting = False
            if not self._chunks:
                return b""
            data = self._chunks.popleft()
            if len(data) > most:
                self._chunks.appendleft(data[most:])
            return data[:most]

    def _read(self) -> None:
        stream = io.BufferedReader(_Arriving(self), 64 * 1024)
        try:
            for item in self._reader.events(cast(BinaryIO, stream)):
                self._observe(item)
        except TraceUnreadable as error:
            self.problem = error.message
        finally:
            with self._arrived:
                self._closed = True
                self._chunks.clear()
                self._arrived.notify_all()


class _Arriving(io.RawIOBase):
    """What arrives, as a stream."""

    def __init__(self, feed: TraceFeed) -> None:
        super().__init__()
        self._feed = feed

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # the stub's buffer has no len()
        data = self._feed.take(len(buffer))
        buffer[: len(data)] = data
        return len(data)
