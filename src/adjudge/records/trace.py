"""Traces: how an agent worked, in one form whatever it was written by.

Everything in a trace is what the agent says about itself. Texts and names are bounded and numbers are in
range wherever an event comes from, so that whoever holds one holds little; the summary is what scorers and
gates read. Readers of foreign formats are in `adjudge.formats.traces`.
"""

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, model_validator

from adjudge.records.base import Record

__all__ = [
    "MAX_NAME",
    "MAX_TEXT",
    "MAX_TOKENS",
    "TRACE_SCHEMA",
    "AnyTraceEvent",
    "BrokenLine",
    "Message",
    "PermissionRequest",
    "PermissionResponse",
    "Stop",
    "Thought",
    "TokenCounts",
    "ToolCall",
    "ToolCount",
    "ToolKind",
    "ToolResult",
    "TraceEvent",
    "TraceItem",
    "TraceSummary",
    "TraceUsage",
    "clip_text",
]

TRACE_SCHEMA = "adjudge.trace/1"
"""The normalised form on disk: a line with this as `schema`, then an event a line."""
MAX_TEXT = 256 * 1024
"""Characters of a text that an event keeps."""
MAX_NAME = 512
"""Characters of a name or an id that an event keeps."""
MAX_TOKENS = 10**15
"""More tokens than this is no count."""
MAX_COST_USD = 1e9
MAX_TIME_S = 253_402_300_799.0
"""The end of the year 9999."""

_SURROGATES = re.compile("[\ud800-\udfff]")
_LONG = frozenset({"text", "input"})


def clip_text(text: str, limit: int = MAX_TEXT) -> tuple[str, int]:
    """A text of at most `limit` characters, both ends kept and the gap marked, and how many were left out."""
    if len(text) <= limit:
        return text, 0
    mark = f"\n[… {len(text)} characters in all …]\n"
    room = max(0, limit - len(mark))
    tail = room // 4
    head = room - tail
    kept = (text[:head] + mark + (text[-tail:] if tail else ""))[:limit]
    return kept, len(text) - head - tail


class ToolKind(StrEnum):
    """What a tool does, whatever it is called."""

    READ = "read"
    EDIT = "edit"
    """Creates or changes files; `write` is the same."""
    DELETE = "delete"
    MOVE = "move"
    SEARCH = "search"
    EXECUTE = "execute"
    THINK = "think"
    FETCH = "fetch"
    OTHER = "other"

    @classmethod
    def _missing_(cls, value: object) -> "ToolKind | None":
        return cls.EDIT if value == "write" else None


class TraceEvent(Record):
    """What all events have."""

    time_s: float | None = Field(default=None, ge=0, le=MAX_TIME_S)
    """Seconds since 1970, UTC; None when the trace does not say."""
    agent: str | None = Field(default=None, max_length=MAX_NAME)
    """The sub-agent it belongs to, by whatever id the trace has; None: the agent itself."""
    dropped: int = Field(default=0, ge=0)
    """How many characters of its texts were left out."""

    @model_validator(mode="before")
    @classmethod
    def _bounded(cls, data: Any) -> Any:
        """Shorten what is too long and replace what is no character, wherever the event comes from."""
        if not isinstance(data, dict):
            return data
        given = dict(data)
        dropped = 0
        for field, value in data.items():
            if not isinstance(value, str):
                continue
            text, left_out = clip_text(value, MAX_TEXT if field in _LONG else MAX_NAME)
            given[field] = _SURROGATES.sub("\ufffd", text)
            dropped += left_out
        if dropped and isinstance(before := given.get("dropped", 0), int):
            given["dropped"] = before + dropped
        return given


class Message(TraceEvent):
    """Something that was said."""

    type: Literal["message"] = "message"
    role: Literal["user", "assistant", "system"]
    text: str
    model: str | None = None


class Thought(TraceEvent):
    """Reasoning that the trace shows."""

    type: Literal["thought"] = "thought"
    text: str


class ToolCall(TraceEvent):
    """A tool that was called."""

    type: Literal["tool_call"] = "tool_call"
    id: str = ""
    """As the trace has it: neither unique nor always there."""
    raw_name: str
    """What the agent calls the tool."""
    name: str
    """The same in snake case, without the name of a server or a namespace."""
    kind: ToolKind
    input: str = ""
    """Its arguments, as JSON text or whatever there was."""


class ToolResult(TraceEvent):
    """What a tool gave back."""

    type: Literal["tool_result"] = "tool_result"
    call_id: str = ""
    text: str = ""
    is_error: bool | None = None
    """None when the trace does not say."""


Tokens = Annotated[int, Field(ge=0, le=MAX_TOKENS)]


class TokenCounts(Record):
    """Tokens, each counted in one place only. None: not known, which is not 0."""

    input: Tokens | None = None
    """Read anew: neither out of a cache nor into one."""
    output: Tokens | None = None
    """Written, reasoning included."""
    cache_read: Tokens | None = None
    cache_write: Tokens | None = None
    reasoning: Tokens | None = None
    """The part of `output` that was reasoning."""
    total: Tokens | None = None
    """Read and written, caches included."""

    @property
    def parts(self) -> int | None:
        """What the known parts add up to; None when none is known."""
        known = [n for n in (self.input, self.output, self.cache_read, self.cache_write) if n is not None]
        return sum(known) if known else None


class TraceUsage(TraceEvent):
    """What was used. Increments add up; readers make increments of snapshots and running totals."""

    type: Literal["usage"] = "usage"
    scope: Literal["increment", "total"] = "increment"
    """`total`: one figure for everything that `agent` used since the last one, increments included. Of the
    two, the larger counts."""
    tokens: TokenCounts = TokenCounts()
    """`total` is set only where the trace states it without its parts."""
    cost_usd: float | None = Field(default=None, ge=0, le=MAX_COST_USD)
    model: str | None = None


class PermissionRequest(TraceEvent):
    """The agent asked to be allowed something."""

    type: Literal["permission_request"] = "permission_request"
    id: str = ""
    call_id: str = ""
    """The tool call it is about, where that is known."""
    text: str = ""


class PermissionResponse(TraceEvent):
    """The answer to such a request, or a refusal nobody asked about."""

    type: Literal["permission_response"] = "permission_response"
    request_id: str = ""
    call_id: str = ""
    outcome: Literal["allowed", "denied", "cancelled"]
    text: str = ""


class Stop(TraceEvent):
    """The agent stopped, or a turn of it ended."""

    type: Literal["stop"] = "stop"
    reason: str
    """In the trace's own word: `end_turn`, `max_tokens`, `error`, …"""
    is_error: bool | None = None
    text: str = ""
    """What it gave back at the end, or why it failed."""
    duration_s: float | None = Field(default=None, ge=0, le=MAX_TIME_S)
    """How long it took, where the trace states that."""


class BrokenLine(TraceEvent):
    """A part of the trace that could not be read. Never fatal, always counted."""

    type: Literal["broken"] = "broken"
    line: int = Field(ge=0)
    """Which line, or which part of a document, from 1."""
    reason: str
    text: str = ""
    """Its beginning."""

    SAMPLE: ClassVar[int] = 1000
    """How much of it is kept."""


AnyTraceEvent = (
    Message | Thought | ToolCall | ToolResult | TraceUsage | PermissionRequest | PermissionResponse | Stop
)
"""The closed set of events."""
TraceItem = AnyTraceEvent | BrokenLine
"""What reading a trace gives, one after another."""


class ToolCount(Record):
    """How often a tool was called."""

    raw_name: str
    name: str
    kind: ToolKind
    calls: int


class TraceSummary(Record):
    """A trace in figures, made in one pass."""

    format: str
    """The reader's name, such as `claude-code`."""
    events: int = 0
    by_type: Mapping[str, int] = Field(default_factory=dict)
    """How many events of each type."""
    turns: int = 0
    """Stretches of the agent's work, each ended by a user's message or a stop."""
    tool_calls: int = 0
    tool_kinds: Mapping[ToolKind, int] = Field(default_factory=dict)
    """Calls of each kind that was called."""
    tools: tuple[ToolCount, ...] = ()
    """Calls of each tool; capped."""
    tools_known: bool = True
    """Whether the trace would show tools: not where all it has is what was said, as in plain text."""
    unnamed_tool_calls: int = 0
    """Calls of tools beyond the cap of `tools`."""
    tool_errors: int = 0
    """Results that the trace calls errors."""
    tokens: TokenCounts = TokenCounts()
    cost_usd: float | None = None
    """None: not known. Known only where every use of a model has a cost, or a total states it."""
    permission_requests: int = 0
    denied: int = 0
    """Requests that were denied, and refusals without one."""
    stop_reason: str | None = None
    """Of the last stop; None when the trace has none."""
    stopped_in_error: bool | None = None
    duration_s: float | None = None
    """Stated, or between the first and the last time in the trace; the larger of the two."""
    started_s: float | None = None
    ended_s: float | None = None
    models: tuple[str, ...] = ()
    """In the order they appear; capped."""
    subagents: tuple[str, ...] = ()
    """In the order they appear; capped."""
    response: str = ""
    """The last thing the agent itself said."""
    dropped: int = 0
    """Characters left out of events because a text was too long."""
    broken: int = 0
    """Parts that could not be read."""
    broken_samples: tuple[BrokenLine, ...] = ()
    """The first few of them."""
    notes: tuple[str, ...] = ()
    """What a reader should know, such as a count that is no number; capped."""
