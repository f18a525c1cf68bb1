"""Anthropic messages: a list of them, a response, a request with `messages`, or one of these a line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO, ClassVar, Final

from adjudge.formats.traces.blocks import anthropic_blocks
from adjudge.formats.traces.chat import chat_parts
from adjudge.formats.traces.lines import broken
from adjudge.formats.traces.usage import Snapshots, anthropic_tokens, bad_counts
from adjudge.formats.traces.values import json_text, mapping_of, name_of, text_of
from adjudge.records.trace import BrokenLine, Stop, TokenCounts, TraceItem, TraceUsage

__all__ = ["AnthropicMessages"]

_ROLE: Final = re.compile(rb'"role"\s*:\s*"(?:user|assistant)"')
_BLOCKS: Final = re.compile(
    rb'"type"\s*:\s*"(?:tool_use|tool_result|thinking|redacted_thinking)"|"stop_reason"\s*:'
    rb'|"cache_(?:read|creation)_input_tokens"\s*:'
)


class AnthropicMessages:
    """Messages of Anthropic's interface."""

    name: ClassVar[str] = "anthropic"

    def recognises(self, head: bytes, filename: str) -> bool:
        """Whether it is JSON in which somebody has a role and a block is of a kind only these have."""
        return (
            head.lstrip()[:1] in (b"{", b"[")
            and _ROLE.search(head) is not None
            and _BLOCKS.search(head) is not None
        )

    def events(self, stream: BinaryIO) -> Iterator[TraceItem]:
        """Read messages."""
        snapshots = Snapshots()
        for part in chat_parts(stream):
            if isinstance(part, BrokenLine):
                yield part
            elif part.message is not None:
                yield from _message(part.number, part.message, snapshots)
            elif "usage" in part.beside or "system" in part.beside:
                yield from anthropic_blocks(part.beside.get("system"), "system", time_s=None, agent=None)
                yield from _usage(part.number, part.beside, snapshots)
            elif part.beside and "model" not in part.beside:
                yield broken(part.number, "no message", json_text(part.beside))


def _message(number: int, message: Mapping[str, Any], snapshots: Snapshots) -> Iterator[TraceItem]:
    role = text_of(message.get("role"))
    if role not in ("user", "assistant", "system"):
        yield broken(number, f"a message of the role {role[:40]!r}", json_text(message))
        return
    model = name_of(message.get("model"))
    yield from anthropic_blocks(message.get("content"), role, time_s=None, agent=None, model=model)
    yield from _usage(number, message, snapshots)
    reason = text_of(message.get("stop_reason"))
    if reason and reason not in ("tool_use", "pause_turn"):
        yield Stop(reason=reason, is_error=False)


def _usage(number: int, given: Mapping[str, Any], snapshots: Snapshots) -> Iterator[TraceItem]:
    usage = mapping_of(given.get("usage"))
    if problem := bad_counts(usage):
        yield broken(number, problem, json_text(usage))
    tokens = anthropic_tokens(usage)
    if tokens != TokenCounts() and (grown := snapshots.increment(text_of(given.get("id")), tokens)):
        yield TraceUsage(tokens=grown, model=name_of(given.get("model")))
