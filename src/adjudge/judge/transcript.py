"""A trace as a judge reads it: one line of who, then what, bounded in memory whatever the trace's size."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

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
)

__all__ = ["render_transcript"]

_MAX_ITEM = 6_000
"""Characters of one event that are shown."""


def render_transcript(items: Iterable[TraceItem], budget: int) -> str:
    """The events as text: all of them, or a head of two thirds and a tail, with what is between counted."""
    head: list[str] = []
    tail: deque[str] = deque()
    head_room, tail_room = budget * 2 // 3, budget // 3
    tail_size = left_out = 0
    for item in items:
        text = _rendered(item)
        if not text:
            continue
        if not tail and head_room >= len(text):
            head.append(text)
            head_room -= len(text)
            continue
        tail.append(text)
        tail_size += len(text)
        while tail_size > tail_room and len(tail) > 1:
            tail_size -= len(tail.popleft())
            left_out += 1
    if left_out:
        tail.appendleft(f"[… {left_out} events left out here …]")
    return "\n".join((*head, *tail))


def _rendered(item: TraceItem) -> str:
    who = f" of {item.agent}" if item.agent else ""
    match item:
        case Message():
            return f"{item.role}{who}: {_shown(item.text)}"
        case Thought():
            return f"thought{who}: {_shown(item.text)}"
        case ToolCall():
            return f"tool call{who}: {item.name} ({item.kind}) {_shown(item.input)}"
        case ToolResult():
            error = " (error)" if item.is_error else ""
            return f"tool result{error}: {_shown(item.text)}"
        case PermissionRequest():
            return f"asks for permission{who}: {_shown(item.text)}"
        case PermissionResponse():
            return f"permission {item.outcome}: {_shown(item.text)}"
        case Stop():
            return f"stops{who}: {item.reason}"
        case BrokenLine():
            return f"(a line that cannot be read: {item.reason})"
        case _:
            return ""


def _shown(text: str) -> str:
    if len(text) <= _MAX_ITEM:
        return text
    half = _MAX_ITEM // 2
    return f"{text[:half]} [… {len(text) - _MAX_ITEM} characters left out …] {text[-half:]}"
