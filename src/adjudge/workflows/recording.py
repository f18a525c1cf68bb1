"""What becomes known of an attempt as it is made: the trace kept, added up, held against the limits."""

from __future__ import annotations

import threading
from collections.abc import Callable

from adjudge.contracts import BlobStore
from adjudge.formats.traces.adjudge import encode_header, encode_item
from adjudge.formats.traces.summary import TraceSummariser
from adjudge.gates.run import exceeded
from adjudge.records.base import BlobRef
from adjudge.records.task import RunLimits
from adjudge.records.trace import Message, ToolCall, TraceItem, TraceSummary, TraceUsage

__all__ = ["Recording"]


class Recording:
    """Takes the events of a trace as they come, from any thread.

    Args:
        blobs: Where the normalised trace is kept.
        limits: What the attempt may use.
        on_over: Called once, with what was exceeded.
    """

    def __init__(self, blobs: BlobStore, limits: RunLimits, on_over: Callable[[str], None]) -> None:
        self._limits = limits
        self._on_over = on_over
        self._writer = blobs.writer()
        self._writer.write(encode_header("adjudge"))
        self._summary = TraceSummariser("adjudge")
        self._lock = threading.Lock()
        self._asked: str | None = None
        self._own = 0
        self._others = 0
        self._over = False

    def ask(self, message: str) -> None:
        """A message of the user, which not every agent repeats in its trace."""
        with self._lock:
            self._take(Message(role="user", text=message))
            self._asked = message.strip()
            self._own += 1

    def answer(self, reply: str) -> None:
        """A reply of an agent that has no trace of its own."""
        if reply:
            with self._lock:
                self._take(Message(role="assistant", text=reply))

    def __call__(self, item: TraceItem) -> None:
        """Take an event."""
        with self._lock:
            if isinstance(item, Message) and item.role == "user" and item.text.strip() == self._asked:
                self._asked = None
                return
            self._others += item.type != "broken"
            self._take(item)
            if self._over or not isinstance(item, ToolCall | TraceUsage):
                return
            over = exceeded(self._summary.usage(), self._limits)
            self._over = over is not None
        if over is not None:
            self._on_over(over)

    @property
    def said_something(self) -> bool:
        """Whether the agent's own trace has any event."""
        with self._lock:
            return self._others > 0

    def summary(self) -> TraceSummary:
        """Everything so far, in figures."""
        with self._lock:
            return self._summary.summary()

    def commit(self) -> BlobRef:
        """Keep the trace."""
        with self._lock:
            return self._writer.commit()

    def abort(self) -> None:
        """Forget it. Harmless after `commit`."""
        self._writer.abort()

    def _take(self, item: TraceItem) -> None:
        self._summary.add(item)
        self._writer.write(encode_item(item))
