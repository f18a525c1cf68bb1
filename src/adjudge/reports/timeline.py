"""A trace for people: an event a line, and what it adds up to. Nothing in it can move a cursor."""

from __future__ import annotations

from datetime import UTC, datetime

from adjudge.records.trace import (
    BrokenLine,
    Message,
    PermissionRequest,
    PermissionResponse,
    Stop,
    Thought,
    ToolCall,
    ToolResult,
    TraceItem,
    TraceSummary,
    TraceUsage,
)
from adjudge.reports.plain import plain

__all__ = ["render_event", "render_totals"]

_LABEL = 10
_SHOWN = 2000
"""Characters of an event that are looked at to make its line."""


def render_event(item: TraceItem, *, started_s: float | None, width: int) -> str:
    """One line: when, what, and as much of it as fits.

    Args:
        item: The event.
        started_s: When the first event was, to count from.
        width: Columns there are.
    """
    label, text = _described(item)
    if item.agent is not None:
        text = f"[{item.agent[:24]}] {text}"
    line = f"{_since(item.time_s, started_s):>9}  {label:<{_LABEL}}  {plain(_one_line(text))}".rstrip()
    return line if len(line) <= width else f"{line[: max(1, width - 1)]}…"


def _described(item: TraceItem) -> tuple[str, str]:
    if isinstance(item, Message):
        return item.role, item.text
    if isinstance(item, Thought):
        return "thought", item.text
    if isinstance(item, ToolCall):
        return "call", f"{item.raw_name} ({item.kind.value}) {item.input[:_SHOWN]}"
    if isinstance(item, ToolResult):
        outcome = {True: "error: ", False: "", None: ""}[item.is_error]
        return "result", f"{outcome}{item.text[:_SHOWN]}"
    if isinstance(item, TraceUsage):
        return "usage", _usage(item)
    if isinstance(item, PermissionRequest):
        return "asks", item.text
    if isinstance(item, PermissionResponse):
        return item.outcome, item.text or item.call_id or item.request_id
    if isinstance(item, Stop):
        return "stop", f"{item.reason}{' (error)' if item.is_error else ''} {item.text[:_SHOWN]}"
    assert isinstance(item, BrokenLine)
    return "broken", f"line {item.line}: {item.reason}: {item.text[:_SHOWN]}"


def _usage(usage: TraceUsage) -> str:
    tokens = usage.tokens
    parts = [
        f"{count:,} {name}"
        for name, count in (
            ("in", tokens.input),
            ("out", tokens.output),
            ("cache read", tokens.cache_read),
            ("cache write", tokens.cache_write),
            ("in all", tokens.total),
        )
        if count is not None
    ]
    if usage.cost_usd is not None:
        parts.append(f"${usage.cost_usd:.6g}")
    return ("total: " if usage.scope == "total" else "") + ", ".join(parts)


def render_totals(summary: TraceSummary) -> str:
    """What a trace adds up to."""
    tokens = summary.tokens
    kinds = ", ".join(f"{count:,} {kind.value}" for kind, count in summary.tool_kinds.items())
    rows = [
        ("format", summary.format),
        ("events", f"{summary.events:,}"),
        ("turns", f"{summary.turns:,}"),
        ("models", ", ".join(summary.models) or "unknown"),
        (
            "tool calls",
            f"{summary.tool_calls:,}{f' ({kinds})' if kinds else ''}" if summary.tools_known else "unknown",
        ),
        ("tokens", f"{_count(tokens.total)} ({_parts(summary)})" if tokens.total is not None else "unknown"),
        ("cost", "unknown" if summary.cost_usd is None else f"${summary.cost_usd:.6g}"),
        ("denied", f"{summary.denied:,}"),
        ("time", "unknown" if summary.duration_s is None else f"{summary.duration_s:,.1f} s"),
        ("started", "unknown" if summary.started_s is None else _moment(summary.started_s)),
        ("stopped", summary.stop_reason or "unknown"),
    ]
    if summary.subagents:
        rows.append(("sub-agents", ", ".join(summary.subagents[:10])))
    if summary.dropped:
        rows.append(("cut", f"{summary.dropped:,} characters of long texts"))
    if summary.broken:
        rows.append(
            ("broken", f"{summary.broken:,} {'part' if summary.broken == 1 else 'parts'} could not be read")
        )
    rows += [("note", text) for text in summary.notes]
    lines = [f"{name:<{_LABEL}}  {plain(_one_line(text))}\n" for name, text in rows]
    lines += [
        f"{'':<{_LABEL}}  line {sample.line}: {plain(_one_line(sample.reason))}\n"
        for sample in summary.broken_samples
    ]
    return "".join(lines)


def _parts(summary: TraceSummary) -> str:
    tokens = summary.tokens
    return ", ".join(
        f"{name} {_count(count)}"
        for name, count in (
            ("input", tokens.input),
            ("output", tokens.output),
            ("cache read", tokens.cache_read),
            ("cache write", tokens.cache_write),
            ("reasoning", tokens.reasoning),
        )
        if count is not None or name in ("input", "output")
    )


def _count(count: int | None) -> str:
    return "unknown" if count is None else f"{count:,}"


def _since(time_s: float | None, started_s: float | None) -> str:
    if time_s is None or started_s is None:
        return ""
    return f"{time_s - started_s:+,.1f} s"


def _moment(time_s: float) -> str:
    return datetime.fromtimestamp(time_s, UTC).isoformat(timespec="seconds")


def _one_line(text: str) -> str:
    return " ".join(text[:_SHOWN].split())
