"""The collector of `TraceRead`: the trace that came with the attempt, in figures."""

from __future__ import annotations

from typing import ClassVar

from adjudge.contracts import Subject
from adjudge.records.evidence import SummarisedTrace, TraceRead

__all__ = ["TraceReadCollector"]


class TraceReadCollector:
    """Reads the trace once, whole, in bounded memory."""

    kind: ClassVar[str] = "trace_read"
    cost: ClassVar[int] = 1

    async def collect(self, request: TraceRead, subject: Subject) -> SummarisedTrace:
        """The trace in figures; none when the attempt came without one.

        Raises:
            TraceUnreadable: There is one, but it is not what its format says.
        """
        return SummarisedTrace(summary=None if subject.trace is None else subject.trace.summary())
