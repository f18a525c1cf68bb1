"""OpenAI chat messages: a list of them, a completion, a request with `messages`, or one of these a line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO, ClassVar, Final

from adjudge.formats.traces.blocks import plain_text
from adjudge.formats.traces.chat import chat_parts
from adjudge.formats.traces.lines import broken
from adjudge.formats.traces.tools import tool_call
from adjudge.formats.traces.usage import bad_counts, openai_tokens
from adjudge.formats.traces.values import cost_of, items_of, json_text, mapping_of, name_of, text_of, time_of
from adjudge.records.trace import (
    BrokenLine,
    Message,
    Stop,
    Thought,
    TokenCounts,
    ToolResult,
    TraceItem,
    TraceUsage,
)

__all__ = ["OpenAIChat", "openai_message"]

_MESSAGES: Final = re.compile(
    rb'"role"\s*:\s*"(?:user|assistant|system|developer|tool|function)"|"object"\s*:\s*"chat\.completion"'
)


class OpenAIChat:
    """Messages of chat completions."""

    name: ClassVar[str] = "openai"

    def recognises(self, head: bytes, filename: str) -> bool:
        """Whether it is JSON in which somebody has a role."""
        return head.lstrip()[:1] in (b"{", b"[") and _MESSAGES.search(head) is not None

    def events(self, stream: BinaryIO) -> Iterator[TraceItem]:
        """Read messages."""
        for part in chat_parts(stream):
            if isinstance(part, BrokenLine):
                yield part
            elif part.message is not None:
                yield from openai_message(part.number, part.message)
            elif part.beside:
                yield from _beside(part.number, part.beside)


def _beside(number: int, value: Mapping[str, Any]) -> Iterator[TraceItem]:
    """A completion, or what is written beside a list of messages."""
    model = name_of(value.get("model"))
    time_s = time_of(value.get("created"))
    choice = mapping_of(next(iter(items_of(value.get("choices"))), None))
    if choice:
        yield from openai_message(number, mapping_of(choice.get("message")), model=model, time_s=time_s)
    usage = mapping_of(value.get("usage"))
    if problem := bad_counts(usage):
        yield broken(number, problem, json_text(usage))
    tokens = openai_tokens(usage)
    cost = cost_of(usage.get("cost"))
    if tokens != TokenCounts() or cost is not None:
        yield TraceUsage(tokens=tokens, cost_usd=cost, model=model, time_s=time_s)
    reason = text_of(choice.get("finish_reason"))
    if reason and reason not in ("tool_calls", "function_call"):
        yield Stop(reason=reason, is_error=False, time_s=time_s)
    if not choice and not usage and "messages" not in value and not _KNOWN & value.keys():
        yield broken(number, "neither a message nor a completion", json_text(value))


_KNOWN: Final = frozenset({"model", "tools", "id", "metadata", "temperature"})


def openai_message(
    number: int,
    message: Mapping[str, Any],
    *,
    model: str | None = None,
    time_s: float | None = None,
    agent: str | None = None,
) -> Iterator[TraceItem]:
    """The events of one message."""
    role = text_of(message.get("role"))
    time_s = time_s if time_s is not None else time_of(message.get("timestamp"))
    content = message.get("content")
    if role in ("tool", "function"):
        yield ToolResult(
            call_id=text_of(message.get("tool_call_id")),
            text=plain_text(content),
            is_error=True if message.get("error") else None,
            time_s=time_s,
            agent=agent,
        )
        return
    if role not in ("user", "assistant", "system", "developer"):
        yield broken(number, f"a message of the role {role[:40]!r}", json_text(message))
        return
    thought = text_of(message.get("reasoning_content")) or text_of(message.get("reasoning"))
    if thought:
        yield Thought(text=thought, time_s=time_s, agent=agent)
    said: Any = "system" if role == "developer" else role
    model = name_of(message.get("model")) or model
    if text := plain_text(content) or text_of(message.get("refusal")):
        yield Message(
            role=said, text=text, model=model if said == "assistant" else None, time_s=time_s, agent=agent
        )
    legacy = message.get("function_call")
    calls = [*items_of(message.get("tool_calls")), *([{"function": legacy}] if legacy else [])]
    for given in calls:
        call = mapping_of(given)
        function = call.get("function", call.get("custom"))
        if isinstance(function, str):
            # Inspect writes the name itself here and the arguments beside it.
            name, arguments = function, call.get("arguments")
        else:
            name = text_of(mapping_of(function).get("name"))
            arguments = mapping_of(function).get("arguments", mapping_of(function).get("input"))
        yield tool_call(name, arguments, id=call.get("id"), time_s=time_s, agent=agent)
    if usage := mapping_of(message.get("usage")):
        yield TraceUsage(tokens=openai_tokens(usage), model=model, time_s=time_s, agent=agent)
