"""OpenTelemetry GenAI spans, as OTLP JSON: one document, or one a line as a file exporter writes.

Tokens are counted where a model was called (`chat`, `text_completion`, `generate_content`); spans of agents
repeat the sum of theirs. A tool call that a model's answer announces and a span then executes is one call,
told by its id or, without one, by its name.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO, ClassVar, Final

from adjudge.formats.traces.blocks import plain_text
from adjudge.formats.traces.documents import END, read_parts
from adjudge.formats.traces.lines import broken, decode_line
from adjudge.formats.traces.recent import Recent
from adjudge.formats.traces.tools import tool_call
from adjudge.formats.traces.usage import bad_counts, first_count, without
from adjudge.formats.traces.values import cost_of, items_of, json_text, mapping_of, name_of, text_of, time_of
from adjudge.records.trace import (
    MAX_TEXT,
    BrokenLine,
    Message,
    Stop,
    Thought,
    TokenCounts,
    ToolResult,
    TraceItem,
    TraceUsage,
)

__all__ = ["OtelSpans"]

_SPANS: Final = re.compile(rb'"(?:resourceSpans|resource_spans|scopeSpans)"\s*:')
_LISTS: Final = (("resourceSpans", "*", "scopeSpans", "*", "spans"), ("scopeSpans", "*", "spans"))
_MODEL_CALLS: Final = frozenset({"chat", "text_completion", "generate_content"})
_ROLES: Final[Mapping[str, Any]] = {"user": "user", "assistant": "assistant", "model": "assistant"}


class OtelSpans:
    """Spans of the GenAI conventions."""

    name: ClassVar[str] = "otel"

    def recognises(self, head: bytes, filename: str) -> bool:
        """Whether it holds spans of a resource."""
        return _SPANS.search(head) is not None

    def events(self, stream: BinaryIO) -> Iterator[TraceItem]:
        """Read spans."""
        reader = _Reader()
        for part in read_parts(stream, _LISTS):
            if isinstance(part, BrokenLine):
                yield part
            elif part.value is not END and part.path[-2:] == ("spans", "*"):
                yield from reader.take(part.number, mapping_of(part.value))


class _Reader:
    def __init__(self) -> None:
        self._asked = False
        self._main: str | None = None
        self._announced = Recent()
        self._nameless: Counter[str] = Counter()

    def take(self, number: int, span: Mapping[str, Any]) -> Iterator[TraceItem]:
        attributes = _attributes(span.get("attributes"))
        operation = text_of(attributes.get("gen_ai.operation.name"))
        time_s = time_of(span.get("startTimeUnixNano"))
        name = name_of(attributes.get("gen_ai.agent.name")) or name_of(attributes.get("gen_ai.agent.id"))
        self._main = self._main or name
        agent = name if name != self._main else None
        if operation in _MODEL_CALLS or (not operation and "gen_ai.request.model" in attributes):
            yield from self._model_call(number, span, attributes, time_s, agent)
        elif operation == "execute_tool":
            yield from self._tool(span, attributes, time_s, agent)
        elif operation == "invoke_agent" and not span.get("parentSpanId"):
            ended = time_of(span.get("endTimeUnixNano"))
            code = mapping_of(span.get("status")).get("code")
            failed = code in (2, "STATUS_CODE_ERROR")
            yield Stop(
                reason="error" if failed else "end_turn",
                is_error=failed,
                text=text_of(mapping_of(span.get("status")).get("message")),
                duration_s=ended - time_s
                if ended is not None and time_s is not None and ended >= time_s
                else None,
                time_s=ended,
            )

    def _model_call(
        self,
        number: int,
        span: Mapping[str, Any],
        attributes: Mapping[str, Any],
        time_s: float | None,
        agent: str | None,
    ) -> Iterator[TraceItem]:
        model = name_of(attributes.get("gen_ai.response.model")) or name_of(
            attributes.get("gen_ai.request.model")
        )
        if not self._asked:
            self._asked = True
            yield from self._messages(
                attributes.get("gen_ai.input.messages"), time_s, agent, model, calls=False
            )
        for event in items_of(span.get("events")):
            yield from self._event(mapping_of(event), agent, model)
        yield from self._messages(attributes.get("gen_ai.output.messages"), time_s, agent, model, calls=True)
        if problem := bad_counts({k: v for k, v in attributes.items() if k.startswith("gen_ai.usage.")}):
            yield broken(number, problem, text_of(span.get("name")))
        tokens = _tokens(attributes)
        cost = cost_of(attributes.get("gen_ai.usage.cost"))
        if tokens != TokenCounts() or cost is not None:
            yield TraceUsage(tokens=tokens, cost_usd=cost, model=model, time_s=time_s, agent=agent)

    def _event(self, event: Mapping[str, Any], agent: str | None, model: str | None) -> Iterator[TraceItem]:
        """The earlier conventions put messages into events of the span."""
        name = text_of(event.get("name"))
        role = name.removeprefix("gen_ai.").removesuffix(".message")
        attributes = _attributes(event.get("attributes"))
        text = text_of(attributes.get("content")) or text_of(attributes.get("gen_ai.event.content"))
        if name == "gen_ai.choice" or role in ("assistant", "user", "system"):
            said: Any = "assistant" if name == "gen_ai.choice" else role
            if text:
                yield Message(
                    role=said, text=text, model=model, time_s=time_of(event.get("timeUnixNano")), agent=agent
                )

    def _messages(
        self, given: object, time_s: float | None, agent: str | None, model: str | None, *, calls: bool
    ) -> Iterator[TraceItem]:
        for item in items_of(_json(given)):
            message = mapping_of(item)
            role: Any = _ROLES.get(text_of(message.get("role")), "system")
            for inner in items_of(message.get("parts")):
                part = mapping_of(inner)
                type_ = text_of(part.get("type"))
                if type_ == "tool_call" and calls:
                    call = tool_call(
                        part.get("name"), part.get("arguments"), id=part.get("id"), time_s=time_s, agent=agent
                    )
                    if not self._announced.add(call.id) and len(self._nameless) < 1000:
                        self._nameless[call.name] += 1
                    yield call
                elif type_ == "reasoning":
                    yield Thought(text=text_of(part.get("content")), time_s=time_s, agent=agent)
                elif type_ == "text" or (type_ and not type_.startswith("tool_call")):
                    yield Message(
                        role=role,
                        text=plain_text([part]),
                        model=model if role == "assistant" else None,
                        time_s=time_s,
                        agent=agent,
                    )

    def _tool(
        self, span: Mapping[str, Any], attributes: Mapping[str, Any], time_s: float | None, agent: str | None
    ) -> Iterator[TraceItem]:
        call = tool_call(
            attributes.get("gen_ai.tool.name"),
            attributes.get("gen_ai.tool.call.arguments"),
            id=attributes.get("gen_ai.tool.call.id"),
            time_s=time_s,
            agent=agent,
        )
        if call.id and self._announced.discard(call.id):
            pass
        elif self._nameless[call.name] > 0:
            self._nameless[call.name] -= 1
        else:
            yield call
        code = mapping_of(span.get("status")).get("code")
        yield ToolResult(
            call_id=call.id,
            text=json_text(attributes.get("gen_ai.tool.call.result")),
            is_error=True if code in (2, "STATUS_CODE_ERROR") or "error.type" in attributes else None,
            time_s=time_of(span.get("endTimeUnixNano")),
            agent=agent,
        )


def _tokens(attributes: Mapping[str, Any]) -> TokenCounts:
    """Input includes caches, by the conventions."""
    read = first_count(attributes, "gen_ai.usage.cache_read.input_tokens")
    write = first_count(attributes, "gen_ai.usage.cache_creation.input_tokens")
    prompt = first_count(attributes, "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens")
    return TokenCounts(
        input=without(prompt, read, write),
        output=first_count(attributes, "gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"),
        cache_read=read,
        cache_write=write,
        reasoning=first_count(attributes, "gen_ai.usage.reasoning.output_tokens"),
    )


def _attributes(given: object) -> dict[str, Any]:
    """A list of keys and values as a mapping."""
    return {
        text_of(mapping_of(item).get("key")): _value(mapping_of(item).get("value"))
        for item in items_of(given)[:10_000]
    }


def _value(given: object, depth: int = 0) -> Any:
    value = mapping_of(given)
    if depth > 50:
        return None
    for name in ("stringValue", "boolValue", "doubleValue"):
        if name in value:
            return value[name]
    if "intValue" in value:
        text = str(value["intValue"])
        # 64-bit integers are texts in OTLP's JSON.
        return int(text) if re.fullmatch(r"-?\d{1,20}", text) else None
    if "arrayValue" in value:
        return [_value(item, depth + 1) for item in items_of(mapping_of(value["arrayValue"]).get("values"))]
    if "kvlistValue" in value:
        return {
            text_of(mapping_of(item).get("key")): _value(mapping_of(item).get("value"), depth + 1)
            for item in items_of(mapping_of(value["kvlistValue"]).get("values"))
        }
    return None


def _json(given: object) -> Any:
    """Messages, which are written as JSON text where structured attributes are not supported."""
    if not isinstance(given, str) or len(given) > 16 * MAX_TEXT:
        return given
    try:
        return decode_line(given.encode("utf-8", "replace"))
    except (json.JSONDecodeError, ValueError, RecursionError):
        return None
