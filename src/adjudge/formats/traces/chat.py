"""Messages of chat interfaces, wherever a file keeps them: one a line, in a list, or under `messages`.

What the two families of messages share; `openai_chat` and `anthropic_messages` read them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO, NamedTuple

from adjudge.formats.traces.documents import END, read_parts, split_lines
from adjudge.formats.traces.lines import ObjectLine, first_filled_line
from adjudge.formats.traces.values import mapping_of
from adjudge.records.trace import BrokenLine

__all__ = ["ChatPart", "chat_parts"]

_LISTS = ((), ("messages",))
_BESIDE = frozenset(
    {
        "choices",
        "content",
        "created",
        "id",
        "metadata",
        "model",
        "object",
        "role",
        "stop_reason",
        "system",
        "tool_calls",
        "tool_call_id",
        "tools",
        "usage",
    }
)
"""What is looked at beside messages; nothing else is held."""


class ChatPart(NamedTuple):
    """A message, or what a document says beside its messages."""

    number: int
    message: Mapping[str, Any] | None
    beside: Mapping[str, Any]
    """Where there is no message: other members, such as `usage`, `model`, `choices`."""


def chat_parts(stream: BinaryIO) -> Iterator[ChatPart | BrokenLine]:
    """Every message in order, and what stands beside them."""
    data = first_filled_line(stream)
    lines, first = split_lines(stream, data)
    if lines is None:
        yield from _of_document(stream, first)
        return
    for line in lines:
        yield from (line,) if isinstance(line, BrokenLine) else _of_object(line)


def _of_object(line: ObjectLine) -> Iterator[ChatPart]:
    """The messages of one line: itself, those it holds, or those of a recorded exchange."""
    number, value = line
    inner = value.get("request")
    if isinstance(inner, dict) and isinstance(inner.get("messages"), list):
        # A recorded exchange repeats what came before; only the answer is new.
        value = {**mapping_of(value.get("response"))} or value
    messages = value.get("messages")
    if isinstance(messages, list):
        for message in messages:
            yield ChatPart(number, mapping_of(message), {})
        yield ChatPart(number, None, {name: member for name, member in value.items() if name != "messages"})
    elif "role" in value:
        yield ChatPart(number, value, {})
    else:
        yield ChatPart(number, None, value)


def _of_document(stream: BinaryIO, first: bytes) -> Iterator[ChatPart | BrokenLine]:
    beside: dict[str, Any] = {}
    for part in read_parts(stream, _LISTS, first=first):
        if isinstance(part, BrokenLine):
            yield part
        elif part.value is END:
            if part.path == ():
                yield from _closing(part.number, beside)
                beside = {}
        elif part.path[-1:] == ("*",):
            yield ChatPart(part.number, mapping_of(part.value), {})
        elif len(part.path) == 1 and part.path[0] in _BESIDE:
            beside[part.path[0]] = part.value


def _closing(number: int, beside: Mapping[str, Any]) -> Iterator[ChatPart]:
    if "role" in beside:
        yield ChatPart(number, beside, {})
    elif beside:
        yield ChatPart(number, None, beside)
