"""opencode: the events of `opencode run --format json`.

Each `step_finish` states the tokens and the cost of its step; input leaves caches out and output leaves
reasoning out. A cost of 0 is what it writes for a model whose price it does not know, and a step in which
every count is 0 is one it did not count, so both are unknown here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO, ClassVar, Final

from adjudge.formats.traces.lines import broken, read_objects
from adjudge.formats.traces.tools import tool_call
from adjudge.formats.traces.usage import bad_counts
from adjudge.formats.traces.values import cost_of, count_of, json_text, mapping_of, name_of, text_of, time_of
from adjudge.records.trace import (
    BrokenLine,
    Message,
    PermissionResponse,
    Stop,
    Thought,
    TokenCounts,
    ToolResult,
    TraceItem,
    TraceUsage,
)

__all__ = ["OpenCode"]

_EVENT: Final = re.compile(
    rb'"type"\s*:\s*"(?:step_start|step_finish|tool_use|text|reasoning|error)"[^\n]{0,4000}"sessionID"\s*:'
)
_REJECTED: Final = re.compile(r"rejected permission|permission (?:was )?(?:denied|rejected)", re.IGNORECASE)


class OpenCode:
    """The event stream of opencode."""

    name: ClassVar[str] = "opencode"

    def recognises(self, head: bytes, filename: str) -> bool:
        """Whether a line near the top is one of its events."""
        return _EVENT.search(head) is not None

    def events(self, stream: BinaryIO) -> Iterator[TraceItem]:
        """Read a stream."""
        main: str | None = None
        for line in read_objects(stream):
            if isinstance(line, BrokenLine):
                yield line
                continue
            session = name_of(line.value.get("sessionID"))
            main = main or session
            yield from _event(line.line, line.value, session if session != main else None)


def _event(number: int, line: Mapping[str, Any], agent: str | None) -> Iterator[TraceItem]:
    type_ = text_of(line.get("type"))
    part = mapping_of(line.get("part"))
    time_s = time_of(line.get("timestamp"))
    if type_ == "text":
        yield Message(role="assistant", text=text_of(part.get("text")), time_s=time_s, agent=agent)
    elif type_ == "reasoning":
        yield Thought(text=text_of(part.get("text")), time_s=time_s, agent=agent)
    elif type_ == "tool_use":
        yield from _tool(part, time_s, agent)
    elif type_ == "step_finish":
        tokens = mapping_of(part.get("tokens"))
        cache = mapping_of(tokens.get("cache"))
        named = {f"tokens.{name}": value for name, value in {**tokens, **cache}.items()}
        if problem := bad_counts(named):
            yield broken(number, problem, json_text(part))
        counts = _tokens(tokens, cache)
        if counts.parts:
            cost = cost_of(part.get("cost")) or None
            yield TraceUsage(
                tokens=counts, cost_usd=cost, model=name_of(part.get("modelID")), time_s=time_s, agent=agent
            )
        reason = text_of(part.get("reason"))
        if reason and reason != "tool-calls":
            yield Stop(reason=reason, is_error=reason == "error", time_s=time_s, agent=agent)
    elif type_ == "error":
        error = line.get("error")
        data = mapping_of(mapping_of(error).get("data"))
        yield Stop(
            reason=text_of(mapping_of(error).get("name")) or "error",
            is_error=True,
            text=text_of(data.get("message")) or json_text(error),
            time_s=time_s,
            agent=agent,
        )
    elif not type_:
        yield broken(number, "no type", json_text(line))


def _tool(part: Mapping[str, Any], time_s: float | None, agent: str | None) -> Iterator[TraceItem]:
    state = mapping_of(part.get("state"))
    id_ = text_of(part.get("callID"))
    yield tool_call(part.get("tool"), state.get("input"), id=id_, time_s=time_s, agent=agent)
    status = text_of(state.get("status"))
    if status not in ("completed", "error"):
        return
    text = text_of(state.get("error") if status == "error" else state.get("output"))
    yield ToolResult(call_id=id_, text=text, is_error=status == "error", time_s=time_s, agent=agent)
    if status == "error" and _REJECTED.search(text[:2000]):
        yield PermissionResponse(call_id=id_, outcome="denied", time_s=time_s, agent=agent)


def _tokens(tokens: Mapping[str, Any], cache: Mapping[str, Any]) -> TokenCounts:
    output, reasoning = count_of(tokens.get("output")), count_of(tokens.get("reasoning"))
    return TokenCounts(
        input=count_of(tokens.get("input")),
        output=None if output is None else count_of(output + (reasoning or 0)),
        cache_read=count_of(cache.get("read")),
        cache_write=count_of(cache.get("write")),
        reasoning=reasoning,
    )
