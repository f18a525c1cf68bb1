"""A trace in figures: one pass, bounded memory, whatever is in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from adjudge.records.run import TokenUsage
from adjudge.records.trace import (
    MAX_TOKENS,
    BrokenLine,
    Message,
    PermissionResponse,
    Stop,
    Thought,
    TokenCounts,
    ToolCall,
    ToolCount,
    ToolKind,
    ToolResult,
    TraceItem,
    TraceSummary,
    TraceUsage,
    clip_text,
)

__all__ = ["TraceSummariser", "summarise", "usage_of"]

MAX_TOOLS = 1000
MAX_MODELS = 50
MAX_SUBAGENTS = 200
MAX_SAMPLES = 10
MAX_RESPONSE = 64 * 1024
_OTHERS = ""
"""Stands for the sub-agents beyond the cap."""
_PARTS = ("input", "output", "cache_read", "cache_write", "reasoning", "total")


def summarise(items: Iterable[TraceItem], format: str) -> TraceSummary:
    """Add up a whole trace."""
    summariser = TraceSummariser(format)
    for item in items:
        summariser.add(item)
    return summariser.summary()


@dataclass(slots=True)
class _Spent:
    """What was used since the last total."""

    tokens: Counter[str] = field(default_factory=Counter)
    cost_usd: float = 0.0
    costed: int = 0
    uncosted: int = 0

    def add(self, usage: TraceUsage) -> None:
        parts = usage.tokens.parts
        for name in _PARTS[:-1]:
            if (count := getattr(usage.tokens, name)) is not None:
                self.tokens[name] += count
        total = usage.tokens.total if usage.tokens.total is not None else parts
        if total is not None:
            self.tokens["total"] += total
        if usage.cost_usd is not None:
            self.cost_usd += usage.cost_usd
            self.costed += 1
        elif total is not None:
            self.uncosted += 1

    def at_least(self, stated: _Spent) -> None:
        """Take what is stated for the whole where it is more."""
        for name, count in stated.tokens.items():
            self.tokens[name] = max(self.tokens.get(name, 0), count)
        if stated.costed:
            self.cost_usd = max(self.cost_usd, stated.cost_usd)
            self.costed, self.uncosted = 1, 0
        elif stated.uncosted and not self.costed:
            self.uncosted = 1


class TraceSummariser:
    """Adds events up as they come. `summary` may be asked for at any time.

    Args:
        format: What the events were read from, for the summary.
    """

    def __init__(self, format: str) -> None:
        self._format = format
        self._by_type: Counter[str] = Counter()
        self._kinds: Counter[ToolKind] = Counter()
        self._tools: Counter[tuple[str, str, ToolKind]] = Counter()
        self._unnamed = 0
        self._tool_errors = 0
        self._denied = 0
        self._models: dict[str, None] = {}
        self._subagents: dict[str, None] = {}
        self._closed = _Spent()
        self._open: dict[str | None, _Spent] = {None: _Spent()}
        """By the agent that used it."""
        self._stop: Stop | None = None
        self._stated_s: float | None = None
        self._times: tuple[float, float] | None = None
        self._turns = 0
        self._working = False
        self._response = ""
        self._dropped = 0
        self._structured = False
        self._broken: list[BrokenLine] = []

    def add(self, item: TraceItem) -> None:
        """Take the next event, or what could not be read as one."""
        self._by_type[item.type] += 1
        self._dropped += item.dropped
        if isinstance(item, BrokenLine):
            if len(self._broken) < MAX_SAMPLES:
                self._broken.append(item)
            return
        if not isinstance(item, Message):
            self._structured = True
        if item.time_s is not None:
            first, last = self._times or (item.time_s, item.time_s)
            self._times = min(first, item.time_s), max(last, item.time_s)
        if item.agent is not None:
            _remember(self._subagents, item.agent, MAX_SUBAGENTS)
        elif isinstance(item, Stop) or (isinstance(item, Message) and item.role == "user"):
            self._working = False
        elif not self._working and _is_work(item):
            self._turns += 1
            self._working = True
        self._take(item)

    def _take(self, item: TraceItem) -> None:
        if isinstance(item, Message):
            if item.model:
                _remember(self._models, item.model, MAX_MODELS)
            if item.role == "assistant" and item.agent is None and item.text.strip():
                self._response = clip_text(item.text, MAX_RESPONSE)[0]
        elif isinstance(item, ToolCall):
            self._kinds[item.kind] += 1
            key = item.raw_name, item.name, item.kind
            if key in self._tools or len(self._tools) < MAX_TOOLS:
                self._tools[key] += 1
            else:
                self._unnamed += 1
        elif isinstance(item, ToolResult):
            self._tool_errors += item.is_error is True
        elif isinstance(item, TraceUsage):
            self._take_usage(item)
        elif isinstance(item, PermissionResponse):
            self._denied += item.outcome == "denied"
        elif isinstance(item, Stop) and item.agent is None:
            self._stop = item
            if item.duration_s is not None:
                self._stated_s = (self._stated_s or 0.0) + item.duration_s
            if item.text.strip() and not item.is_error:
                self._response = clip_text(item.text, MAX_RESPONSE)[0]

    def _take_usage(self, usage: TraceUsage) -> None:
        if usage.model:
            _remember(self._models, usage.model, MAX_MODELS)
        agent = usage.agent
        if agent not in self._open and len(self._open) > MAX_SUBAGENTS:
            agent = _OTHERS
        spent = self._open.setdefault(agent, _Spent())
        if usage.scope == "increment":
            spent.add(usage)
            return
        stated = _Spent()
        stated.add(usage)
        spent.at_least(stated)
        self._closed = _sum(self._closed, self._open.pop(agent))

    def usage(self) -> TokenUsage:
        """What was used so far: the part of the summary that is cheap enough to ask for after every event."""
        spent = self._spent()
        calls = sum(self._kinds.values()) if self._structured else None
        return _usage(_tokens(spent), _cost(spent), calls)

    def _spent(self) -> _Spent:
        spent = self._closed
        for unclosed in self._open.values():
            spent = _sum(spent, unclosed)
        return spent

    def summary(self) -> TraceSummary:
        """Everything so far."""
        spent = self._spent()
        started, ended = self._times or (None, None)
        lasted = [] if self._stated_s is None else [self._stated_s]
        if started is not None and ended is not None and ended > started:
            # One time alone says nothing of how long it took.
            lasted.append(ended - started)
        calls = sum(self._kinds.values())
        broken = self._by_type["broken"]
        return TraceSummary(
            format=self._format,
            events=sum(self._by_type.values()) - broken,
            by_type={name: count for name, count in self._by_type.items() if name != "broken"},
            turns=self._turns,
            tool_calls=calls,
            tool_kinds={kind: self._kinds[kind] for kind in ToolKind if self._kinds[kind]},
            tools=tuple(
                ToolCount(raw_name=raw, name=name, kind=kind, calls=count)
                for (raw, name, kind), count in self._tools.most_common()
            ),
            tools_known=self._structured,
            unnamed_tool_calls=self._unnamed,
            tool_errors=self._tool_errors,
            tokens=_tokens(spent),
            cost_usd=_cost(spent),
            permission_requests=self._by_type["permission_request"],
            denied=self._denied,
            stop_reason=self._stop.reason if self._stop else None,
            stopped_in_error=self._stop.is_error if self._stop else None,
            duration_s=round(max(lasted), 6) if lasted else None,
            started_s=started,
            ended_s=ended,
            models=tuple(self._models),
            subagents=tuple(self._subagents),
            response=self._response,
            dropped=self._dropped,
            broken=broken,
            broken_samples=tuple(self._broken),
            notes=_notes(spent, self._unnamed),
        )


def usage_of(summary: TraceSummary) -> TokenUsage:
    """What a run used, by its trace. What a total states beyond its parts is counted as output."""
    return _usage(summary.tokens, summary.cost_usd, summary.tool_calls if summary.tools_known else None)


def _usage(tokens: TokenCounts, cost_usd: float | None, tool_calls: int | None) -> TokenUsage:
    beyond = (tokens.total or 0) - (tokens.parts or 0)
    return TokenUsage(
        input_tokens=tokens.input,
        output_tokens=(tokens.output or 0) + beyond if beyond > 0 else tokens.output,
        cache_read_tokens=tokens.cache_read,
        cache_write_tokens=tokens.cache_write,
        cost_usd=cost_usd,
        tool_calls=tool_calls,
    )


def _is_work(item: TraceItem) -> bool:
    return isinstance(item, Thought | ToolCall) or (isinstance(item, Message) and item.role == "assistant")


def _remember(seen: dict[str, None], name: str, most: int) -> None:
    if len(seen) < most:
        seen.setdefault(name)


def _sum(left: _Spent, right: _Spent) -> _Spent:
    """Both together. A part without a known cost leaves the whole without one."""
    return _Spent(
        tokens=Counter(
            {name: left.tokens[name] + right.tokens[name] for name in {*left.tokens, *right.tokens}}
        ),
        cost_usd=left.cost_usd + right.cost_usd,
        costed=left.costed + right.costed,
        uncosted=left.uncosted + right.uncosted,
    )


def _cost(spent: _Spent) -> float | None:
    return round(spent.cost_usd, 9) if spent.costed and not spent.uncosted else None


def _tokens(spent: _Spent) -> TokenCounts:
    known = {name: min(spent.tokens[name], MAX_TOKENS) for name in _PARTS if name in spent.tokens}
    parts = [known[name] for name in _PARTS[:4] if name in known]
    if parts:
        known["total"] = min(MAX_TOKENS, max(sum(parts), known.get("total", 0)))
    return TokenCounts(**known)


def _notes(spent: _Spent, unnamed: int) -> tuple[str, ...]:
    notes = []
    if spent.costed and spent.uncosted:
        notes.append(
            f"a cost is stated for a part only (${spent.cost_usd:.6g}), so the whole cost is not known"
        )
    if unnamed:
        notes.append(f"more than {MAX_TOOLS:,} different tools; {unnamed:,} calls are counted without a name")
    return tuple(notes)
