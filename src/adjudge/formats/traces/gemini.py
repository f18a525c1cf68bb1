"""Gemini CLI: `--output-format stream-json`, and the single object of `--output-format json`.

The stream ends with a `result` that states the totals. The single object has the answer and figures only: its
tool calls are counted by name, without what they were called with. Prompts include what came from the cache,
candidates leave thoughts out. No cost is stated.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO, ClassVar, Final

from adjudge.formats.traces.blocks import TextBuffer
from adjudge.formats.traces.documents import lines_or_document
from adjudge.formats.traces.lines import broken
from adjudge.formats.traces.tools import tool_call
from adjudge.formats.traces.usage import bad_counts, without
from adjudge.formats.traces.values import (
    count_of,
    json_text,
    mapping_of,
    name_of,
    seconds_of,
    text_of,
    time_of,
)
from adjudge.records.trace import (
    BrokenLine,
    Message,
    PermissionResponse,
    Stop,
    TokenCounts,
    ToolResult,
    TraceItem,
    TraceUsage,
)

__all__ = ["Gemini"]

_STREAM: Final = re.compile(
    rb'"type"\s*:\s*"init"[^\n]{0,4000}"session_id"\s*:|"type"\s*:\s*"tool_use"[^\n]{0,4000}"tool_name"\s*:'
    rb'|"type"\s*:\s*"tool_result"[^\n]{0,4000}"tool_id"\s*:'
)
_OBJECT: Final = re.compile(
    rb'\A(?:[^\n{]{0,200}\n){0,20}\s*\{(?=.*"stats"\s*:\s*\{)(?=.*"(?:models|tools)"\s*:\s*\{)', re.DOTALL
)
_MOST_CALLS: Final = 10_000


class Gemini:
    """What Gemini CLI prints without a terminal."""

    name: ClassVar[str] = "gemini"

    def recognises(self, head: bytes, filename: str) -> bool:
        """Whether a line near the top is one of its events, or the whole is its object."""
        return _STREAM.search(head) is not None or _OBJECT.search(head) is not None

    def events(self, stream: BinaryIO) -> Iterator[TraceItem]:
        """Read a stream or an object."""
        reader = _Reader()
        for line in lines_or_document(stream):
            if isinstance(line, BrokenLine):
                yield line
            elif "type" in line.value:
                yield from reader.take(line.line, line.value)
            elif "stats" in line.value or "response" in line.value or "error" in line.value:
                yield from _object(line.line, line.value)
            else:
                yield broken(line.line, "no type", json_text(line.value))
        yield from reader.flush()


class _Reader:
    def __init__(self) -> None:
        self._said = TextBuffer()
        self._model: str | None = None
        self._time_s: float | None = None

    def flush(self) -> Iterator[TraceItem]:
        """The message whose pieces have arrived."""
        text, dropped = self._said.take()
        if text:
            yield Message(
                role="assistant", text=text, dropped=dropped, model=self._model, time_s=self._time_s
            )

    def take(self, number: int, line: Mapping[str, Any]) -> Iterator[TraceItem]:
        type_ = text_of(line["type"])
        time_s = time_of(line.get("timestamp"))
        if type_ == "message" and line.get("role") == "assistant" and line.get("delta") is True:
            self._said.add(text_of(line.get("content")))
            self._time_s = time_s
            return
        yield from self.flush()
        if type_ == "init":
            self._model = name_of(line.get("model"))
        elif type_ == "message":
            role: Any = line["role"] if line.get("role") in ("user", "assistant") else "system"
            yield Message(role=role, text=text_of(line.get("content")), time_s=time_s)
        elif type_ == "tool_use":
            yield tool_call(
                line.get("tool_name"), line.get("parameters"), id=line.get("tool_id"), time_s=time_s
            )
        elif type_ == "tool_result":
            yield from _tool_result(line, time_s)
        elif type_ == "error":
            yield Message(role="system", text=text_of(line.get("message")), time_s=time_s)
        elif type_ == "result":
            yield from _result(number, line, time_s)


def _tool_result(line: Mapping[str, Any], time_s: float | None) -> Iterator[TraceItem]:
    error = mapping_of(line.get("error"))
    id_ = text_of(line.get("tool_id"))
    if text_of(error.get("type")).lower() in ("permission_denied", "policy_violation", "cancelled_by_user"):
        yield PermissionResponse(call_id=id_, outcome="denied", time_s=time_s)
    yield ToolResult(
        call_id=id_,
        text=text_of(line.get("output")) or text_of(error.get("message")),
        is_error=line.get("status") == "error",
        time_s=time_s,
    )


def _result(number: int, line: Mapping[str, Any], time_s: float | None) -> Iterator[TraceItem]:
    stats = mapping_of(line.get("stats"))
    if problem := bad_counts(stats):
        yield broken(number, problem, json_text(stats))
    cached = count_of(stats.get("cached"))
    fresh = count_of(stats.get("input"))
    tokens = TokenCounts(
        input=fresh if fresh is not None else without(count_of(stats.get("input_tokens")), cached),
        output=count_of(stats.get("output_tokens")),
        cache_read=cached,
        total=count_of(stats.get("total_tokens")),
    )
    if tokens != TokenCounts():
        yield TraceUsage(scope="total", tokens=tokens, time_s=time_s)
    failed = line.get("status") == "error"
    yield Stop(
        reason="error" if failed else text_of(line.get("status")) or "result",
        is_error=failed,
        text=text_of(mapping_of(line.get("error")).get("message")),
        duration_s=seconds_of(stats.get("duration_ms"), per_s=1000),
        time_s=time_s,
    )


def _object(number: int, given: Mapping[str, Any]) -> Iterator[TraceItem]:
    stats = mapping_of(given.get("stats"))
    called = refused = 0
    for name, tool in mapping_of(mapping_of(stats.get("tools")).get("byName")).items():
        calls = min(count_of(mapping_of(tool).get("count")) or 0, _MOST_CALLS - called)
        called += calls
        for _ in range(calls):
            yield tool_call(name, None)
        rejected = count_of(mapping_of(mapping_of(tool).get("decisions")).get("reject")) or 0
        rejected = min(rejected, _MOST_CALLS - refused)
        refused += rejected
        for _ in range(rejected):
            yield PermissionResponse(outcome="denied", text=name)
    for model, figures in mapping_of(stats.get("models")).items():
        counts = mapping_of(mapping_of(figures).get("tokens"))
        if problem := bad_counts({f"tokens.{name}": value for name, value in counts.items()}):
            yield broken(number, problem, json_text(counts))
        yield TraceUsage(tokens=_of_model(counts), model=model)
    if text := text_of(given.get("response")):
        yield Message(role="assistant", text=text)
    error = mapping_of(given.get("error"))
    yield Stop(
        reason="error" if error else "result", is_error=bool(error), text=text_of(error.get("message"))
    )


def _of_model(counts: Mapping[str, Any]) -> TokenCounts:
    cached, thoughts = count_of(counts.get("cached")), count_of(counts.get("thoughts"))
    prompt, tool = count_of(counts.get("prompt")), count_of(counts.get("tool"))
    candidates = count_of(counts.get("candidates"))
    fresh = without(prompt, cached)
    return TokenCounts(
        input=None if fresh is None else count_of(fresh + (tool or 0)),
        output=None if candidates is None else count_of(candidates + (thoughts or 0)),
        cache_read=cached,
        reasoning=thoughts,
        total=count_of(counts.get("total")),
    )
