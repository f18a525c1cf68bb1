"""Claude Code: `--output-format stream-json`, and the JSONL files of its sessions.

A message comes as one line for each of its blocks, and each line repeats the usage of the whole message,
which may have grown: it counts once, by the message's id. The `result` line states the totals of its process,
helper models and sub-agents included (`modelUsage`), and the cost, which no other line has. A process that
is given several prompts states everything so far each time, one that resumes a session only its own; which it
is shows in whether the difference covers the messages in between.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO, ClassVar, Final, Literal

from adjudge.formats.traces.blocks import anthropic_blocks
from adjudge.formats.traces.lines import broken, read_objects
from adjudge.formats.traces.recent import Recent
from adjudge.formats.traces.usage import Snapshots, anthropic_tokens, bad_counts
from adjudge.formats.traces.values import (
    cost_of,
    count_of,
    items_of,
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
    PermissionRequest,
    PermissionResponse,
    Stop,
    TokenCounts,
    ToolResult,
    TraceItem,
    TraceUsage,
)

__all__ = ["ClaudeCode"]

_LINES: Final = re.compile(
    rb'"(?:parent_tool_use_id|isSidechain|parentUuid)"\s*:|"subtype"\s*:\s*"init"[^\n]{0,4000}"session_id"\s*:'
    rb'|"session_id"\s*:[^\n]{0,4000}"subtype"\s*:\s*"init"|"type"\s*:\s*"result"[^\n]{0,4000}"total_cost_usd"\s*:'
)
_REFUSED: Final = re.compile(
    r"^(?:The user doesn't want to proceed with this tool use|Permission to use .{1,200} has been denied"
    r"|Claude requested permissions? to .{1,300}, but you haven't granted it yet)",
    re.DOTALL,
)
_ENDS: Final = frozenset(
    {"end_turn", "stop_sequence", "max_tokens", "refusal", "model_context_window_exceeded"}
)


class ClaudeCode:
    """The stream and the session files of Claude Code."""

    name: ClassVar[str] = "claude-code"

    def recognises(self, head: bytes, filename: str) -> bool:
        """Whether a line near the top has the keys of its own that its lines have."""
        return _LINES.search(head) is not None

    def events(self, stream: BinaryIO) -> Iterator[TraceItem]:
        """Read a stream or a session."""
        reader = _Reader()
        for line in read_objects(stream):
            if isinstance(line, BrokenLine):
                yield line
            elif not name_of(line.value.get("type")):
                yield broken(line.line, "no type", json_text(line.value))
            else:
                yield from reader.take(line.line, line.value)


class _Reader:
    def __init__(self) -> None:
        self._snapshots = Snapshots()
        self._stopped = Recent()
        self._refused = Recent()
        self._stated = TokenCounts()
        self._stated_cost = 0.0
        self._since = 0
        """Tokens of the messages since the last result."""

    def take(self, number: int, line: Mapping[str, Any]) -> Iterator[TraceItem]:
        type_ = line["type"]
        message = mapping_of(line.get("message"))
        agent = _agent(line)
        time_s = time_of(line.get("timestamp"))
        if type_ == "assistant":
            yield from self._assistant(number, line, message, time_s, agent)
        elif type_ == "user":
            role = "system" if line.get("isMeta") is True or line.get("isSynthetic") is True else "user"
            for item in anthropic_blocks(message.get("content"), role, time_s=time_s, agent=agent):
                yield item
                if isinstance(item, ToolResult) and item.is_error and _REFUSED.match(item.text):
                    self._refused.add(item.call_id)
                    yield PermissionResponse(
                        call_id=item.call_id, outcome="denied", time_s=time_s, agent=agent
                    )
        elif type_ == "result":
            yield from self._result(number, line, time_s)
        elif type_ == "system" and name_of(line.get("content")):
            yield Message(role="system", text=line["content"], time_s=time_s, agent=agent)
        elif type_ == "control_request":
            request = mapping_of(line.get("request"))
            if request.get("subtype") == "can_use_tool":
                yield PermissionRequest(
                    id=text_of(line.get("request_id")), text=text_of(request.get("tool_name")), time_s=time_s
                )
        elif type_ == "control_response":
            response = mapping_of(line.get("response"))
            behaviour = mapping_of(response.get("response")).get("behavior")
            if behaviour in ("allow", "deny"):
                yield PermissionResponse(
                    request_id=text_of(response.get("request_id")),
                    outcome="allowed" if behaviour == "allow" else "denied",
                    time_s=time_s,
                )

    def _assistant(
        self,
        number: int,
        line: Mapping[str, Any],
        message: Mapping[str, Any],
        time_s: float | None,
        agent: str | None,
    ) -> Iterator[TraceItem]:
        model = name_of(message.get("model"))
        if model == "<synthetic>":
            model = None
        yield from anthropic_blocks(
            message.get("content"), "assistant", time_s=time_s, agent=agent, model=model
        )
        id_ = text_of(message.get("id"))
        if usage := mapping_of(message.get("usage")):
            if problem := bad_counts(usage):
                yield broken(number, problem, json_text(usage))
            # For the whole run, not for the sub-agent: the result's total covers them all.
            if tokens := self._snapshots.increment(id_, anthropic_tokens(usage)):
                self._since += tokens.parts or 0
                yield TraceUsage(tokens=tokens, model=model, time_s=time_s)
        reason = text_of(message.get("stop_reason"))
        # A stream ends with its result; only session files leave the end to the messages.
        if "sessionId" in line and reason in _ENDS and self._stopped.add(id_ or str(number)):
            yield Stop(reason=reason, is_error=False, time_s=time_s, agent=agent)

    def _result(self, number: int, line: Mapping[str, Any], time_s: float | None) -> Iterator[TraceItem]:
        for given in items_of(line.get("permission_denials")):
            id_ = text_of(mapping_of(given).get("tool_use_id"))
            if self._refused.add(id_) or not id_:
                yield PermissionResponse(
                    call_id=id_,
                    outcome="denied",
                    text=text_of(mapping_of(given).get("tool_name")),
                    time_s=time_s,
                )
        usage = mapping_of(line.get("usage"))
        if problem := bad_counts(usage):
            yield broken(number, problem, json_text(usage))
        cost = cost_of(line.get("total_cost_usd"))
        if line.get("total_cost_usd") is not None and cost is None:
            yield broken(number, "total_cost_usd is no cost", json_text(line.get("total_cost_usd")))
        tokens = _of_models(line.get("modelUsage")) or anthropic_tokens(usage)
        if cost is not None or tokens.parts is not None:
            tokens, cost = self._since_last_result(tokens, cost)
            yield TraceUsage(scope="total", tokens=tokens, cost_usd=cost, time_s=time_s)
        is_error = line.get("is_error")
        subtype, stated = text_of(line.get("subtype")), text_of(line.get("stop_reason"))
        yield Stop(
            reason=(stated if subtype == "success" else "") or subtype or "result",
            is_error=is_error if isinstance(is_error, bool) else None,
            text=text_of(line.get("result")),
            duration_s=seconds_of(line.get("duration_ms"), per_s=1000),
            time_s=time_s,
        )

    def _since_last_result(self, tokens: TokenCounts, cost: float | None) -> tuple[TokenCounts, float | None]:
        """What a result adds to the one before it."""
        before, cost_before = self._stated, self._stated_cost
        self._stated, self._stated_cost = tokens, cost or 0.0
        since, self._since = self._since, 0
        goes_on = (
            before.parts is not None
            and (tokens.parts or 0) >= before.parts + since
            and (cost is None or cost >= cost_before)
        )
        if not goes_on:
            return tokens, cost
        grown = {name: (getattr(tokens, name) or 0) - (getattr(before, name) or 0) for name in _OURS}
        return (
            TokenCounts(**{name: max(0, count) for name, count in grown.items()}),
            None if cost is None else round(cost - cost_before, 9),
        )


def _agent(line: Mapping[str, Any]) -> str | None:
    parent = name_of(line.get("parent_tool_use_id"))
    if parent is not None:
        return parent
    return name_of(line.get("agentId")) or "sidechain" if line.get("isSidechain") is True else None


_OURS: Final = ("input", "output", "cache_read", "cache_write")
_MODEL_COUNTS: Final[Mapping[str, Literal["input", "output", "cache_read", "cache_write"]]] = {
    "inputTokens": "input",
    "outputTokens": "output",
    "cacheReadInputTokens": "cache_read",
    "cacheCreationInputTokens": "cache_write",
}


def _of_models(given: object) -> TokenCounts | None:
    """The sum over all models; None when nothing is stated by model."""
    total: dict[str, int] = {}
    for counts in mapping_of(given).values():
        for theirs, ours in _MODEL_COUNTS.items():
            if (count := count_of(mapping_of(counts).get(theirs))) is not None:
                total[ours] = total.get(ours, 0) + count
    capped = {name: count_of(count) for name, count in total.items()}
    return TokenCounts(**capped) if any(total.values()) else None
