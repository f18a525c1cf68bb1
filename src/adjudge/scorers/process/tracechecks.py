"""What the scorers of traces share: figures that may be unknown, and how they are spoken of."""

from __future__ import annotations

from typing import NamedTuple

from adjudge.records.score import ScorerOutcome
from adjudge.records.trace import TraceSummary
from adjudge.scorers.wording import counted

__all__ = [
    "NO_TRACE",
    "Metric",
    "broken_note",
    "cost_metric",
    "no_trace",
    "tokens_metric",
    "tool_calls_metric",
]

NO_TRACE = "no trace came with the attempt"


class Metric(NamedTuple):
    """A figure of the trace."""

    name: str
    value: float | None
    """None: the trace does not tell."""
    shown: str


def no_trace() -> ScorerOutcome:
    """The outcome without a trace."""
    return ScorerOutcome.not_applicable(NO_TRACE)


def tokens_metric(summary: TraceSummary) -> Metric:
    """Tokens read and written, caches included."""
    total = summary.tokens.total
    return Metric("tokens", total, "unknown" if total is None else counted(total, "token"))


def cost_metric(summary: TraceSummary) -> Metric:
    """What it cost."""
    cost = summary.cost_usd
    return Metric("cost_usd", cost, "unknown" if cost is None else f"${cost:.6g}")


def tool_calls_metric(summary: TraceSummary) -> Metric:
    """How many tools were called."""
    calls = summary.tool_calls if summary.tools_known else None
    return Metric("tool_calls", calls, "unknown" if calls is None else counted(calls, "tool call"))


def broken_note(summary: TraceSummary) -> str:
    """What a reader should know of a trace that could not be read whole."""
    return f"; {counted(summary.broken, 'part')} of the trace could not be read" if summary.broken else ""
