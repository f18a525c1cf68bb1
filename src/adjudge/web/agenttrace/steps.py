"""A trace as steps: a call with its result and permission, a message with what it cost.

One pass over the events makes a small entry per step; the texts stay where they are and are read when a step
is shown. Everything here is what the agent says about itself.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

__all__ = ["KINDS", "Step", "StepKind", "StepMaker"]

_MAX_PARTS = 64
"""Events of one step that are shown: a trace may hang any number of results on one call."""
_MAX_OPEN = 10_000
"""Calls that are remembered until their results come."""


class StepKind(StrEnum):
    """What a step is, for its label and the filter."""

    MESSAGE = "message"
    THOUGHT = "thought"
    TOOL = "tool"
    PERMISSION = "permission"
    USAGE = "usage"
    STOP = "stop"
    BROKEN = "broken"


KINDS: Mapping[str, str] = {
    "message": "Messages",
    "thought": "Thoughts",
    "tool": "Tool calls",
    "permission": "Permissions",
    "error": "Errors",
    "subagent": "Sub-agents",
}
"""What a timeline can be narrowed to → how that is called."""


@dataclass(slots=True)
class Step:
    """Where a step's events are, and what is known of it without reading their texts."""

    kind: StepKind
    parts: list[int]
    """Numbers of its events, from 0; capped."""
    agent: str | None = None
    time_s: float | None = None
    failed: bool = False
    """A tool that gave an error back, or a stop in error."""
    asked: bool = False
    """Whether a permission belongs to it."""
    denied: bool = False
    tokens: int | None = None
    """Read and written, caches included; None: not known."""
    cost_usd: float | None = None
    left_out: int = 0
    """Events of it beyond what is shown."""

    def is_of(self, kind: str) -> bool:
        """Whether it belongs to one of `KINDS`."""
        if kind == "error":
            return self.failed or self.denied
        if kind == "subagent":
            return self.agent is not None
        if kind == "permission":
            return self.kind is StepKind.PERMISSION or self.asked
        return self.kind == kind

    def take(self, number: int) -> None:
        """Make an event part of it."""
        if len(self.parts) < _MAX_PARTS:
            self.parts.append(number)
        else:
            self.left_out += 1


@dataclass(slots=True)
class StepMaker:
    """Turns events, as the plain objects of a normalised trace, into steps."""

    steps: list[Step] = field(default_factory=list)
    agents: dict[str, None] = field(default_factory=dict)
    """Sub-agents, in the order they appear."""
    owners: array[int] = field(default_factory=lambda: array("L"))
    """The step of each event, from 0."""
    _calls: dict[tuple[str | None, str], int] = field(default_factory=dict)
    _unanswered: dict[str | None, int] = field(default_factory=dict)
    _asked_before: dict[tuple[str | None, str], int] = field(default_factory=dict)
    """Where permission for a call was asked that had not been recorded yet."""
    _requests: dict[str, int] = field(default_factory=dict)
    _last: dict[str | None, int] = field(default_factory=dict)

    def add(self, event: Mapping[str, Any] | None) -> None:
        """Take the next event; None: a line that is none."""
        number = len(self.owners)
        kind = None if event is None else event.get("type")
        handler = _HANDLERS.get(kind) if isinstance(kind, str) else None
        if event is None or handler is None:
            self.steps.append(Step(StepKind.BROKEN, [number]))
            self.owners.append(len(self.steps) - 1)
            return
        agent = _text(event, "agent") or None
        if agent is not None and len(self.agents) < _MAX_OPEN:
            self.agents.setdefault(agent)
        self.owners.append(handler(self, number, event, agent))

    def _begin(
        self, kind: StepKind, number: int, event: Mapping[str, Any], agent: str | None, **more: Any
    ) -> int:
        time_s = event.get("time_s")
        moment = float(time_s) if isinstance(time_s, int | float) else None
        self.steps.append(Step(kind, [number], agent, moment, **more))
        return len(self.steps) - 1

    def _message(self, number: int, event: Mapping[str, Any], agent: str | None) -> int:
        at = self._begin(StepKind.MESSAGE, number, event, agent)
        if event.get("role") == "assistant":
            self._last[agent] = at
        return at

    def _thought(self, number: int, event: Mapping[str, Any], agent: str | None) -> int:
        at = self._last[agent] = self._begin(StepKind.THOUGHT, number, event, agent)
        return at

    def _call(self, number: int, event: Mapping[str, Any], agent: str | None) -> int:
        called = _text(event, "id")
        at = self._asked_before.pop((agent, called), None) if called else None
        if at is None:
            at = self._begin(StepKind.TOOL, number, event, agent)
        else:
            self.steps[at].kind = StepKind.TOOL
            self.steps[at].parts.insert(0, number)
        self._last[agent] = self._unanswered[agent] = at
        if called:
            _remember(self._calls, (agent, called), at)
        return at

    def _result(self, number: int, event: Mapping[str, Any], agent: str | None) -> int:
        at = self._call_of(_text(event, "call_id"), agent)
        if at is None:
            at = self._begin(StepKind.TOOL, number, event, agent)
        else:
            self.steps[at].take(number)
            if self._unanswered.get(agent) == at:
                del self._unanswered[agent]
        self.steps[at].failed |= event.get("is_error") is True
        return at

    def _call_of(self, called: str, agent: str | None) -> int | None:
        """The call that a result or a permission names, or the last one without a result."""
        if not called:
            return self._unanswered.get(agent)
        found = self._calls.get((agent, called))
        # A result may be recorded by the agent that waits for a sub-agent.
        return self._calls.get((None, called)) if found is None and agent is not None else found

    def _request(self, number: int, event: Mapping[str, Any], agent: str | None) -> int:
        called = _text(event, "call_id")
        at = self._call_of(called, agent) if called else None
        if at is None:
            at = self._begin(StepKind.PERMISSION, number, event, agent)
            if called:
                _remember(self._asked_before, (agent, called), at)
        else:
            self.steps[at].take(number)
        self.steps[at].asked = True
        if asked := _text(event, "id"):
            _remember(self._requests, asked, at)
        return at

    def _response(self, number: int, event: Mapping[str, Any], agent: str | None) -> int:
        at = self._requests.get(_text(event, "request_id"))
        called = _text(event, "call_id")
        if at is None and called:
            at = self._call_of(called, agent)
        if at is None:
            at = self._begin(StepKind.PERMISSION, number, event, agent)
        else:
            self.steps[at].take(number)
        self.steps[at].asked = True
        self.steps[at].denied |= event.get("outcome") in ("denied", "cancelled")
        return at

    def _usage(self, number: int, event: Mapping[str, Any], agent: str | None) -> int:
        at = self._last.get(agent) if event.get("scope", "increment") == "increment" else None
        if at is None:
            at = self._begin(StepKind.USAGE, number, event, agent)
        step = self.steps[at]
        tokens, cost = _tokens(event.get("tokens")), event.get("cost_usd")
        if tokens is not None:
            step.tokens = (step.tokens or 0) + tokens
        if isinstance(cost, int | float):
            step.cost_usd = (step.cost_usd or 0.0) + cost
        return at

    def _stop(self, number: int, event: Mapping[str, Any], agent: str | None) -> int:
        return self._begin(StepKind.STOP, number, event, agent, failed=event.get("is_error") is True)


_HANDLERS = {
    "message": StepMaker._message,
    "thought": StepMaker._thought,
    "tool_call": StepMaker._call,
    "tool_result": StepMaker._result,
    "permission_request": StepMaker._request,
    "permission_response": StepMaker._response,
    "usage": StepMaker._usage,
    "stop": StepMaker._stop,
}


def _remember(places: dict[Any, int], key: Any, at: int) -> None:
    """Keep where a call is; the oldest is forgotten when there are too many."""
    places.pop(key, None)
    if len(places) >= _MAX_OPEN:
        del places[next(iter(places))]
    places[key] = at


def _text(event: Mapping[str, Any], name: str) -> str:
    value = event.get(name)
    return value if isinstance(value, str) else ""


def _tokens(counts: Any) -> int | None:
    if not isinstance(counts, Mapping):
        return None
    if isinstance(total := counts.get("total"), int):
        return total
    known = list(_known(counts))
    return sum(known) if known else None


def _known(counts: Mapping[str, Any]) -> Iterator[int]:
    for name in ("input", "output", "cache_read", "cache_write"):
        if isinstance(count := counts.get(name), int):
            yield count
