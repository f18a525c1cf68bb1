"""Contents of messages: the blocks of Anthropic and OpenAI, and whatever else carries a text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from adjudge.formats.traces.tools import tool_call
from adjudge.formats.traces.values import items_of, mapping_of, text_of
from adjudge.records.trace import MAX_TEXT, Message, Thought, ToolResult, TraceItem

__all__ = ["TextBuffer", "anthropic_blocks", "plain_text"]

_CALLS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})
_THOUGHTS = frozenset({"thinking", "redacted_thinking"})


def plain_text(content: object) -> str:
    """The text of a content: itself, or the texts of its parts; what is no text is named in brackets."""
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        content = [content]
    parts, size = [], 0
    for part in items_of(content):
        text = part if isinstance(part, str) else _part_text(mapping_of(part))
        parts.append(text)
        size += len(text)
        if size > 4 * MAX_TEXT:
            break
    return "\n".join(part for part in parts if part)


def _part_text(part: Any) -> str:
    for name in ("text", "content", "refusal", "reasoning", "thinking", "output"):
        if isinstance(part.get(name), str):
            return text_of(part[name])
    if isinstance(part.get("content"), list):
        return "\n".join(text_of(mapping_of(inner).get("text")) for inner in part["content"][:1000])
    return f"[{text_of(part.get('type'))[:40] or 'something'}]" if part else ""


def anthropic_blocks(
    content: object, role: str, *, time_s: float | None, agent: str | None, model: str | None = None
) -> Iterator[TraceItem]:
    """The events in the content of one message of Anthropic's kind."""
    said: Any = "assistant" if role == "assistant" else "system" if role == "system" else "user"
    if isinstance(content, str):
        if content:
            yield Message(role=said, text=content, model=model, time_s=time_s, agent=agent)
        return
    for given in items_of(content):
        block = mapping_of(given)
        type_ = text_of(block.get("type"))
        if type_ == "text":
            yield Message(role=said, text=text_of(block.get("text")), model=model, time_s=time_s, agent=agent)
        elif type_ in _THOUGHTS:
            yield Thought(text=text_of(block.get("thinking")), time_s=time_s, agent=agent)
        elif type_ in _CALLS:
            yield tool_call(
                block.get("name"), block.get("input"), id=block.get("id"), time_s=time_s, agent=agent
            )
        elif type_.endswith("tool_result"):
            is_error = block.get("is_error")
            yield ToolResult(
                call_id=text_of(block.get("tool_use_id")),
                text=plain_text(block.get("content")),
                is_error=is_error if isinstance(is_error, bool) else None,
                time_s=time_s,
                agent=agent,
            )
        elif type_:
            yield Message(role=said, text=f"[{type_[:40]}]", time_s=time_s, agent=agent)


class TextBuffer:
    """A text that arrives in pieces. Keeps its beginning when it grows too long."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._size = 0
        self._dropped = 0

    def add(self, piece: str) -> None:
        """Append a piece."""
        kept = piece[: max(0, MAX_TEXT - self._size)]
        if kept:
            self._pieces.append(kept)
            self._size += len(kept)
        self._dropped += len(piece) - len(kept)

    def take(self) -> tuple[str, int]:
        """The text so far and how many characters were left out of it; begins anew."""
        taken = "".join(self._pieces), self._dropped
        self.__init__()  # type: ignore[misc]  # the empty state is defined once
        return taken
