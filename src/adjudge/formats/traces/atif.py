"""ATIF, the Agent Trajectory Interchange Format: read strictly, 1.0 to 1.8; written as 1.7.

A trajectory that breaks the format is refused, with the place; only one that is cut off is read as far as it
goes. Prompt tokens include caches. Embedded trajectories are sub-agents. Steps of copied context are shown,
but neither their calls nor their tokens count: they were counted where they were made.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, BinaryIO, ClassVar, Final, TypeVar

from pydantic import BaseModel, ValidationError

from adjudge.errors import TraceUnreadable
from adjudge.formats.tasks.messages import explain
from adjudge.formats.traces.atif_schema import (
    VERSIONS,
    AtifAgent,
    AtifMetrics,
    AtifStep,
    FinalMetrics,
    needed_version,
)
from adjudge.formats.traces.blocks import plain_text
from adjudge.formats.traces.documents import END, Part, Path, read_parts
from adjudge.formats.traces.recent import short_key
from adjudge.formats.traces.summary import TraceSummariser
from adjudge.formats.traces.tools import tool_call
from adjudge.formats.traces.usage import first_count, without
from adjudge.formats.traces.values import cost_of, count_of, mapping_of, text_of, time_of
from adjudge.records.trace import (
    BrokenLine,
    Message,
    PermissionResponse,
    Stop,
    Thought,
    TokenCounts,
    ToolCall,
    ToolResult,
    TraceItem,
    TraceSummary,
    TraceUsage,
)

__all__ = ["Atif", "write_atif"]

_WRITTEN: Final = "ATIF-v1.7"
_HEAD: Final = re.compile(rb'"schema_version"\s*:\s*"ATIF-')
_SUB: Final = ("subagent_trajectories", "*")
_LISTS: Final = (("steps",), (*_SUB, "steps"))
_ROOT: Final = frozenset(
    {
        "schema_version",
        "session_id",
        "trajectory_id",
        "agent",
        "steps",
        "notes",
        "final_metrics",
        "continued_trajectory_ref",
        "extra",
        "subagent_trajectories",
    }
)
_MOST_DENIED: Final = 10_000
_MOST_SUBAGENTS: Final = 100_000
_BRANCHES: Final = frozenset({"str", "int", "float", "list[ContentPart]"})
_Model = TypeVar("_Model", bound=BaseModel)


class Atif:
    """Trajectories of the ATIF."""

    name: ClassVar[str] = "atif"

    def recognises(self, head: bytes, filename: str) -> bool:
        """Whether it says so."""
        return head.lstrip()[:1] == b"{" and _HEAD.search(head) is not None

    def events(self, stream: BinaryIO) -> Iterator[TraceItem]:
        """Read a trajectory."""
        root = _Trajectory("")
        inner: _Trajectory | None = None
        seen = 0
        names: set[str] = set()
        cut_off = False
        for part in read_parts(stream, _LISTS):
            if isinstance(part, BrokenLine):
                if root.empty:
                    raise TraceUnreadable(f"atif trajectory: {part.reason}")
                cut_off = True
                yield part
            elif part.path[:2] == _SUB:
                if inner is None:
                    inner = _Trajectory(f"subagent_trajectories[{seen}]", embedded=True)
                    seen += 1
                yield from inner.take(part, part.path[2:])
                if part.value is END and part.path == _SUB:
                    yield from inner.finish()
                    root.needs(7, "subagent_trajectories")
                    name = short_key(inner.agent or "")
                    if name in names or len(names) >= _MOST_SUBAGENTS:
                        raise TraceUnreadable(f"atif trajectory: {inner.where}.trajectory_id: not unique")
                    names.add(name)
                    inner = None
            else:
                yield from root.take(part, part.path)
        if not cut_off:
            yield from root.finish()


class _Trajectory:
    """What is known of a trajectory while its parts arrive, in whatever order."""

    def __init__(self, where: str, *, embedded: bool = False) -> None:
        self.where = where
        self._embedded = embedded
        self._about: dict[str, Any] = {}
        self._steps = 0
        self._needed = (0, "")
        self._model: str | None = None

    @property
    def empty(self) -> bool:
        """Whether nothing was read yet."""
        return not self._steps and not self._about

    @property
    def agent(self) -> str | None:
        """The name its events have; None for the main one."""
        return text_of(self._about.get("trajectory_id")) or self.where if self._embedded else None

    def needs(self, minor: int, what: str) -> None:
        """Note that something is used which an earlier version does not have."""
        if minor > self._needed[0]:
            self._needed = minor, what

    def take(self, part: Part, path: Path) -> Iterator[TraceItem]:
        """A part of it."""
        if path == ("steps", "*"):
            yield from self._step(part.value)
        elif path[:1] == ("*",) or (path == () and part.value is not END):
            raise self._wrong("", "not an object")
        elif len(path) == 1:
            if path[0] not in _ROOT:
                raise self._wrong(path[0], "no such field")
            if path[0] in ("steps", "subagent_trajectories"):
                raise self._wrong(path[0], "not a list")
            self._about[path[0]] = part.value
            if path[0] == "schema_version":
                self._version()
            elif path[0] == "agent":
                self._model = self._read(AtifAgent, part.value, "agent").model_name

    def _step(self, value: object) -> Iterator[TraceItem]:
        where = f"steps[{self._steps}]"
        step = self._read(AtifStep, value, where)
        self._steps += 1
        if step.step_id != self._steps:
            raise self._wrong(f"{where}.step_id", f"{step.step_id}, expected {self._steps}")
        time_s = time_of(step.timestamp)
        if step.timestamp is not None and time_s is None:
            raise self._wrong(f"{where}.timestamp", "not an ISO 8601 time")
        self.needs(*needed_version(step))
        yield from _events(step, time_s, self.agent, self._model)

    def finish(self) -> Iterator[TraceItem]:
        """Check the whole, and state its totals."""
        minor = self._version()
        if self._needed[0] > minor:
            raise self._wrong(
                "", f"{self._needed[1]} needs ATIF-v1.{self._needed[0]}, this is ATIF-v1.{minor}"
            )
        if "agent" not in self._about:
            raise self._wrong("agent", "missing")
        if not self._steps:
            raise self._wrong("steps", "missing, or empty")
        if minor < 7 and not isinstance(self._about.get("session_id"), str):
            raise self._wrong("session_id", "missing")
        if self._embedded and not text_of(self._about.get("trajectory_id")):
            raise self._wrong("trajectory_id", "missing")
        for name, kind in _KINDS.items():
            if self._about.get(name) is not None and not isinstance(self._about[name], kind):
                raise self._wrong(name, f"not {'a text' if kind is str else 'an object'}")
        if self._about.get("extra") is not None and minor < 1:
            raise self._wrong("extra", "needs ATIF-v1.1")
        if self._about.get("trajectory_id") is not None and minor < 7:
            raise self._wrong("trajectory_id", "needs ATIF-v1.7")
        if self._about.get("final_metrics") is not None:
            final = self._read(FinalMetrics, self._about["final_metrics"], "final_metrics")
            tokens = _tokens(
                final.total_prompt_tokens,
                final.total_completion_tokens,
                final.total_cached_tokens,
                final.extra,
            )
            cost = cost_of(final.total_cost_usd)
            if tokens != TokenCounts() or cost is not None:
                yield TraceUsage(scope="total", tokens=tokens, cost_usd=cost, agent=self.agent)
        written = mapping_of(mapping_of(self._about.get("extra")).get("adjudge"))
        for _ in range(min(count_of(written.get("denied")) or 0, _MOST_DENIED)):
            yield PermissionResponse(outcome="denied", agent=self.agent)
        if reason := text_of(written.get("stop_reason")):
            yield Stop(reason=reason, agent=self.agent)

    def _version(self) -> int:
        version = self._about.get("schema_version", VERSIONS[-1])
        if version not in VERSIONS:
            raise self._wrong(
                "schema_version", f"{str(version)[:40]!r}, expected {VERSIONS[0]} to {VERSIONS[-1]}"
            )
        return VERSIONS.index(version)

    def _read(self, model: type[_Model], value: object, where: str) -> _Model:
        try:
            return model.model_validate(value)
        except ValidationError as error:
            found = error.errors(include_url=False)
            # Where a value may be of several kinds, the kind it got furthest with is meant.
            first = max(found, key=lambda problem: len(problem["loc"]))
            inside = "".join(
                f"[{p}]" if isinstance(p, int) else f".{p}" for p in first["loc"] if p not in _BRANCHES
            )
            raise self._wrong(f"{where}{inside}", explain(first)) from error
        except RecursionError as error:
            raise self._wrong(where, "nested too deeply") from error

    def _wrong(self, where: str, message: str) -> TraceUnreadable:
        place = ".".join(part for part in (self.where, where[:200]) if part)
        return TraceUnreadable(
            f"atif trajectory: {place}: {message}" if place else f"atif trajectory: {message}"
        )


_KINDS: Final[Mapping[str, type]] = {
    "session_id": str,
    "trajectory_id": str,
    "notes": str,
    "continued_trajectory_ref": str,
    "extra": dict,
}


def _events(
    step: AtifStep, time_s: float | None, agent: str | None, model: str | None
) -> Iterator[TraceItem]:
    role: Any = "assistant" if step.source == "agent" else step.source
    message = [part.model_dump() for part in step.message] if isinstance(step.message, list) else step.message
    if step.reasoning_content:
        yield Thought(text=step.reasoning_content, time_s=time_s, agent=agent)
    if text := plain_text(message):
        model = (step.model_name or model) if role == "assistant" else None
        yield Message(role=role, text=text, model=model, time_s=time_s, agent=agent)
    if step.is_copied_context:
        return
    for call in step.tool_calls or ():
        yield tool_call(call.function_name, call.arguments, id=call.tool_call_id, time_s=time_s, agent=agent)
    for result in step.observation.results if step.observation else ():
        content = result.content
        if isinstance(content, list):
            content = plain_text([part.model_dump() for part in content])
        failed = mapping_of(result.extra).get("is_error")
        yield ToolResult(
            call_id=result.source_call_id or "",
            text=content or "",
            is_error=failed if isinstance(failed, bool) else None,
            time_s=time_s,
            agent=agent,
        )
    if step.metrics is not None:
        yield _usage(step.metrics, step.model_name, time_s, agent)


def _usage(metrics: AtifMetrics, model: str | None, time_s: float | None, agent: str | None) -> TraceUsage:
    return TraceUsage(
        tokens=_tokens(
            metrics.prompt_tokens, metrics.completion_tokens, metrics.cached_tokens, metrics.extra
        ),
        cost_usd=cost_of(metrics.cost_usd),
        model=model,
        time_s=time_s,
        agent=agent,
    )


def _tokens(
    prompt: int | None, completion: int | None, cached: int | None, extra: Mapping[str, Any] | None
) -> TokenCounts:
    more = extra or {}
    write = first_count(more, "cache_write_tokens", "cache_creation_input_tokens", "total_cache_write_tokens")
    return TokenCounts(
        input=without(count_of(prompt), count_of(cached), write),
        output=count_of(completion),
        cache_read=count_of(cached),
        cache_write=write,
        reasoning=first_count(more, "reasoning_tokens", "reasoning_output_tokens", "total_reasoning_tokens"),
        total=first_count(more, "total_tokens"),
    )


def write_atif(
    items: Iterable[TraceItem],
    stream: BinaryIO,
    *,
    format: str,
    agent_name: str = "unknown",
    agent_version: str = "unknown",
    session_id: str | None = None,
) -> TraceSummary:
    """Write a trajectory, step by step, as ATIF 1.7.

    What the format has no place for is under `extra.adjudge`: how it stopped, permissions, parts that were
    broken. Events of sub-agents are steps with `extra.subagent`.

    Args:
        items: The events.
        stream: Where to.
        format: What the events were read from.
        agent_name: The agent.
        agent_version: Its version.
        session_id: The session, where it is known.

    Returns:
        What was written, in figures.
    """
    summariser = TraceSummariser(format)
    head = {"schema_version": _WRITTEN, **({"session_id": session_id} if session_id else {})}
    stream.write(_json(head)[:-1] + b',"steps":[')
    number = 0
    steps = _Steps()
    for item in items:
        summariser.add(item)
        for step in steps.take(item):
            number += 1
            stream.write((b",\n" if number > 1 else b"\n") + _json({"step_id": number, **step}))
    for step in steps.flush(last=number == 0):
        number += 1
        stream.write((b",\n" if number > 1 else b"\n") + _json({"step_id": number, **step}))
    summary = summariser.summary()
    closing = {
        "agent": {
            "name": agent_name,
            "version": agent_version,
            **({"model_name": summary.models[0]} if summary.models else {}),
        },
        "final_metrics": _final(summary, number),
        "extra": {
            "adjudge": {
                "format": summary.format,
                "stop_reason": summary.stop_reason,
                "permission_requests": summary.permission_requests,
                "denied": summary.denied,
                "broken": summary.broken,
            }
        },
    }
    stream.write(b"],\n" + _json(closing)[1:] + b"\n")
    return summary


class _Steps:
    """Groups events into steps: what a model said and called, with what came back."""

    def __init__(self) -> None:
        self._step: dict[str, Any] = {}
        self._agent: str | None = None
        self._calls = 0

    def take(self, item: TraceItem) -> Iterator[dict[str, Any]]:
        """The steps that an event completes."""
        if isinstance(item, Message) and item.role != "assistant":
            yield from self.flush()
            yield {"source": item.role, "message": item.text, **_when(item.time_s), **_whose(item.agent)}
        elif isinstance(item, Message | Thought | ToolCall):
            if self._step and (item.agent != self._agent or self._begins_another(item)):
                yield from self.flush()
            self._begin(item)
            self._add(item)
        elif isinstance(item, ToolResult):
            self._begin(item)
            self._add_result(item)
        elif isinstance(item, TraceUsage) and item.scope == "increment":
            if self._step and (item.agent != self._agent or "metrics" in self._step):
                yield from self.flush()
            self._begin(item)
            self._step["metrics"] = _metrics(item)

    def _begins_another(self, item: Message | Thought | ToolCall) -> bool:
        if "observation" in self._step or "metrics" in self._step:
            return True
        if isinstance(item, Thought):
            return bool(self._step["message"] or "tool_calls" in self._step)
        return isinstance(item, Message) and bool(self._step["message"])

    def _begin(self, item: TraceItem) -> None:
        if not self._step:
            self._agent = item.agent
            self._step = {"source": "agent", "message": "", **_when(item.time_s), **_whose(item.agent)}

    def _add(self, item: Message | Thought | ToolCall) -> None:
        if isinstance(item, Message):
            self._step["message"] = item.text
            if item.model:
                self._step["model_name"] = item.model
        elif isinstance(item, Thought):
            before = self._step.get("reasoning_content")
            self._step["reasoning_content"] = f"{before}\n{item.text}" if before else item.text
        else:
            self._calls += 1
            call = {
                "tool_call_id": item.id or f"call_{self._calls}",
                "function_name": item.raw_name,
                "arguments": _arguments(item.input),
            }
            self._step.setdefault("tool_calls", []).append(call)

    def _add_result(self, item: ToolResult) -> None:
        result: dict[str, Any] = {"content": item.text}
        if any(call["tool_call_id"] == item.call_id for call in self._step.get("tool_calls", ())):
            result["source_call_id"] = item.call_id
        if item.is_error is not None:
            result["extra"] = {"is_error": item.is_error}
        self._step.setdefault("observation", {"results": []})["results"].append(result)

    def flush(self, *, last: bool = False) -> Iterator[dict[str, Any]]:
        """The step at hand; as the `last` resort an empty one, since there has to be one."""
        step, self._step = self._step, {}
        if step:
            yield step
        elif last:
            yield {"source": "system", "message": ""}


def _arguments(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text, parse_constant=lambda constant: None) if text else {}
    except (ValueError, RecursionError):
        value = text
    return value if isinstance(value, dict) else {"input": value}


def _metrics(usage: TraceUsage) -> dict[str, Any]:
    tokens = usage.tokens
    read = [n for n in (tokens.input, tokens.cache_read, tokens.cache_write) if n is not None]
    extra = {
        name: count
        for name, count in (
            ("cache_write_tokens", tokens.cache_write),
            ("reasoning_tokens", tokens.reasoning),
            ("total_tokens", tokens.total),
        )
        if count is not None
    }
    stated = {
        "prompt_tokens": sum(read) if read else None,
        "completion_tokens": tokens.output,
        "cached_tokens": tokens.cache_read,
        "cost_usd": usage.cost_usd,
        "extra": extra or None,
    }
    return {name: value for name, value in stated.items() if value is not None}


def _final(summary: TraceSummary, steps: int) -> dict[str, Any]:
    whole = _metrics(TraceUsage(tokens=summary.tokens, cost_usd=summary.cost_usd))
    return {
        **{f"total_{name}": value for name, value in whole.items() if name != "extra"},
        "total_steps": steps,
        **({"extra": whole["extra"]} if "extra" in whole else {}),
    }


def _when(time_s: float | None) -> dict[str, str]:
    return {} if time_s is None else {"timestamp": datetime.fromtimestamp(time_s, UTC).isoformat()}


def _whose(agent: str | None) -> dict[str, Any]:
    return {} if agent is None else {"extra": {"subagent": agent}}


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
