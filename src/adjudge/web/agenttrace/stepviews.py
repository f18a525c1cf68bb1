"""Steps for people: a label, a title, and texts cut to what fits, around what was searched for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

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
    TraceUsage,
)
from adjudge.web.agenttrace.steps import StepKind
from adjudge.web.agenttrace.timeline import ShownStep

__all__ = ["Excerpt", "Part", "StepView", "excerpt", "step_view"]

_ROOM = {"text": 1_500, "input": 700, "result": 900, "note": 400}
"""Characters of a text that a page of steps shows."""
_MAX_HITS = 200
"""Places that are marked in one text."""
_MAX_PARSED = 64 * 1024
_BEFORE = 120
"""Characters that stand before the first place that is marked."""


class Excerpt(NamedTuple):
    """Part of a text, in pieces: what was searched for and what stands between."""

    pieces: tuple[tuple[str, bool], ...]
    before: int
    """Characters left out before it."""
    after: int
    """Characters left out behind it."""

    @property
    def whole(self) -> bool:
        """Whether nothing is left out."""
        return not self.before and not self.after


class Part(NamedTuple):
    """One text of a step."""

    kind: str
    """`text`, `input`, `result` or `note`; results are folded."""
    label: str
    text: Excerpt
    failed: bool = False
    lines: int = 0
    """Of the whole text."""
    dropped: int = 0
    """Characters that the trace itself has lost."""


class StepView(NamedTuple):
    """A step as it is shown."""

    number: int
    kind: str
    label: str
    title: str
    agent: str | None
    since_s: float | None
    """Seconds since the trace began."""
    tokens: int | None
    cost_usd: float | None
    failed: bool
    denied: bool
    parts: tuple[Part, ...]
    left_out: int

    @property
    def whole(self) -> bool:
        """Whether every text of it is shown in full."""
        return not self.left_out and all(part.text.whole for part in self.parts)


def step_view(shown: ShownStep, started_s: float | None, *, query: str = "", full: bool = False) -> StepView:
    """A step for a page; `full`: with every text as it is."""
    step = shown.step
    parts = tuple(part for item in shown.items for part in _parts(item, query, full=full))
    label, title = _named(step.kind, shown.items)
    since_s = None if step.time_s is None or started_s is None else step.time_s - started_s
    return StepView(
        number=shown.number,
        kind=step.kind.value,
        label=label,
        title=title[:200],
        agent=step.agent,
        since_s=since_s,
        tokens=step.tokens,
        cost_usd=step.cost_usd,
        failed=step.failed,
        denied=step.denied,
        parts=parts,
        left_out=step.left_out,
    )


def _named(kind: StepKind, items: tuple[TraceItem, ...]) -> tuple[str, str]:
    first = items[0] if items else None
    if isinstance(first, Message):
        return {"user": "User", "assistant": "Agent", "system": "System"}[first.role], first.model or ""
    if isinstance(first, ToolCall):
        return f"Tool · {first.kind.value}", first.raw_name
    if isinstance(first, Stop):
        return "Stop", first.reason
    if isinstance(first, BrokenLine):
        return "Unreadable", f"line {first.line}"
    return {
        StepKind.THOUGHT: ("Thought", ""),
        StepKind.TOOL: ("Tool", "a result without its call"),
        StepKind.PERMISSION: ("Permission", ""),
        StepKind.USAGE: ("Usage", "in all"),
    }.get(kind, ("Unreadable", ""))


def _parts(item: TraceItem, query: str, *, full: bool) -> Iterator[Part]:
    def part(kind: str, label: str, text: str, *, failed: bool = False) -> Part:
        room = None if full else _ROOM[kind]
        lines = text.rstrip("\n").count("\n") + 1 if text else 0
        return Part(kind, label, excerpt(text, query, room), failed, lines, item.dropped)

    if isinstance(item, Message | Thought):
        yield part("text", "", item.text)
    elif isinstance(item, ToolCall):
        if item.input.strip() not in ("", "{}"):
            yield part("input", "", _readable(item.input))
    elif isinstance(item, ToolResult):
        yield part("result", "Error" if item.is_error else "Result", item.text, failed=item.is_error is True)
    elif isinstance(item, PermissionRequest):
        yield part("note", "Permission asked", item.text)
    elif isinstance(item, PermissionResponse):
        yield part("note", f"Permission {item.outcome}", item.text, failed=item.outcome != "allowed")
    elif isinstance(item, Stop):
        if item.text:
            yield part("text", "", item.text, failed=item.is_error is True)
    elif isinstance(item, BrokenLine):
        yield part("note", item.reason, item.text)
    else:
        assert isinstance(item, TraceUsage)


def _readable(text: str) -> str:
    """Arguments as lines, a name and its value each, where they are a plain object."""
    if len(text) > _MAX_PARSED or not text.lstrip().startswith("{"):
        return text
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    if not isinstance(value, dict) or not value:
        return text
    if len(value) == 1:
        only = next(iter(value.values()))
        if isinstance(only, str):
            return only
    return "\n".join(f"{name}: {_value(item)}" for name, item in value.items())


def _value(value: Any) -> str:
    if isinstance(value, str):
        return f"\n{value}" if "\n" in value else value
    return json.dumps(value, ensure_ascii=False)


def excerpt(text: str, query: str = "", room: int | None = None) -> Excerpt:
    """As much of a text as there is room for, from shortly before what was searched for."""
    found = text.lower().find(query.lower()) if query else -1
    # Lower case may be longer than the text; then places are not told.
    if found >= 0 and len(text.lower()) != len(text):
        found = -1
    start = 0
    if room is not None and found + len(query) > room:
        start = max(0, found - _BEFORE)
    end = len(text) if room is None else min(len(text), start + room)
    shown = text[start:end]
    return Excerpt(tuple(_pieces(shown, query if found >= 0 else "")), start, len(text) - end)


def _pieces(text: str, query: str) -> Iterator[tuple[str, bool]]:
    at, hits, wanted, lowered = 0, 0, query.lower(), text.lower()
    while wanted and hits < _MAX_HITS and (found := lowered.find(wanted, at)) >= 0:
        if found > at:
            yield text[at:found], False
        yield text[found : found + len(wanted)], True
        at, hits = found + len(wanted), hits + 1
    if at < len(text):
        yield text[at:], False
