"""Codex: the events of `codex exec --json`, and the rollout files of its sessions.

Both state tokens as running totals (`turn.completed` for its thread, `token_count` for the session), repeated
at will; input includes what came from the cache. Neither states a cost.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO, ClassVar, Final

from adjudge.formats.traces.blocks import plain_text
from adjudge.formats.traces.lines import broken, read_objects
from adjudge.formats.traces.recent import Recent
from adjudge.formats.traces.tools import tool_call
from adjudge.formats.traces.usage import RunningTotal, bad_counts, openai_tokens
from adjudge.formats.traces.values import items_of, json_text, mapping_of, name_of, text_of, time_of
from adjudge.records.trace import (
    BrokenLine,
    Message,
    PermissionRequest,
    PermissionResponse,
    Stop,
    Thought,
    ToolKind,
    ToolResult,
    TraceItem,
    TraceUsage,
)

__all__ = ["Codex"]

_LINES: Final = re.compile(
    rb'"type"\s*:\s*"(?:thread\.started|turn\.(?:started|completed|failed)|item\.(?:started|updated|completed)'
    rb'|session_meta|turn_context|response_item|event_msg)"'
)
_INJECTED: Final = ("<environment_context>", "<user_instructions>", "<permissions instructions>")
_ITEMS: Final = frozenset(
    {
        "message",
        "reasoning",
        "function_call",
        "function_call_output",
        "custom_tool_call",
        "custom_tool_call_output",
        "local_shell_call",
        "web_search_call",
    }
)


class Codex:
    """What Codex prints and what it keeps."""

    name: ClassVar[str] = "codex"

    def recognises(self, head: bytes, filename: str) -> bool:
        """Whether a line near the top is one of its events."""
        return _LINES.search(head) is not None

    def events(self, stream: BinaryIO) -> Iterator[TraceItem]:
        """Read a stream or a rollout."""
        reader = _Reader()
        for line in read_objects(stream):
            if isinstance(line, BrokenLine):
                yield line
            else:
                yield from reader.take(line.line, line.value)


class _Reader:
    def __init__(self) -> None:
        self._total = RunningTotal()
        self._thread = ""
        self._begun = Recent()
        self._model: str | None = None

    def take(self, number: int, line: Mapping[str, Any]) -> Iterator[TraceItem]:
        type_ = text_of(line.get("type"))
        time_s = time_of(line.get("timestamp"))
        if type_.startswith("item."):
            yield from self._item(type_, mapping_of(line.get("item")), time_s)
        elif type_ == "thread.started":
            thread = text_of(line.get("thread_id"))
            if thread != self._thread:
                self._thread, self._total = thread, RunningTotal()
            # Items are numbered anew in every process.
            self._begun = Recent()
        elif type_ == "turn.completed":
            yield from self._usage(number, line.get("usage"), time_s)
            yield Stop(reason="end_turn", is_error=False, time_s=time_s)
        elif type_ == "turn.failed":
            error = mapping_of(line.get("error"))
            yield Stop(reason="error", is_error=True, text=text_of(error.get("message")), time_s=time_s)
        elif type_ == "error":
            yield Message(role="system", text=text_of(line.get("message")), time_s=time_s)
        elif type_ == "turn_context":
            self._model = name_of(mapping_of(line.get("payload")).get("model"))
        elif type_ == "response_item":
            yield from self._response_item(mapping_of(line.get("payload")), time_s)
        elif type_ == "event_msg":
            yield from self._event_msg(number, mapping_of(line.get("payload")), time_s)
        elif type_ in _ITEMS:
            # Rollouts of the first versions have no envelope.
            yield from self._response_item(line, time_s)
        elif not type_ and "record_type" not in line and "instructions" not in line:
            yield broken(number, "no type", json_text(line))

    def _usage(self, number: int, given: object, time_s: float | None) -> Iterator[TraceItem]:
        usage = mapping_of(given)
        if problem := bad_counts(usage):
            yield broken(number, problem, json_text(usage))
        if usage and (tokens := self._total.increment(openai_tokens(usage))):
            yield TraceUsage(tokens=tokens, model=self._model, time_s=time_s)

    def _item(self, type_: str, item: Mapping[str, Any], time_s: float | None) -> Iterator[TraceItem]:
        what = text_of(item.get("type")) or text_of(item.get("item_type"))
        id_ = text_of(item.get("id"))
        done = type_ == "item.completed"
        if what in ("agent_message", "assistant_message", "plan", "error"):
            if done:
                role: Any = "system" if what == "error" else "assistant"
                text = text_of(item.get("text")) or text_of(item.get("message"))
                yield Message(role=role, text=text, time_s=time_s)
        elif what == "reasoning":
            if done:
                yield Thought(text=text_of(item.get("text")), time_s=time_s)
        elif what:
            if id_ not in self._begun:
                self._begun.add(id_)
                yield _call_of_item(what, id_, item, time_s)
            if done:
                self._begun.discard(id_)
                yield from _result_of_item(id_, item, time_s)

    def _response_item(self, item: Mapping[str, Any], time_s: float | None) -> Iterator[TraceItem]:
        what = text_of(item.get("type"))
        id_ = item.get("call_id") or item.get("id")
        if what == "message":
            text = plain_text(item.get("content"))
            role: Any = {"assistant": "assistant", "user": "user"}.get(text_of(item.get("role")), "system")
            if role == "user" and text.startswith(_INJECTED):
                role = "system"
            yield Message(
                role=role, text=text, model=self._model if role == "assistant" else None, time_s=time_s
            )
        elif what == "reasoning":
            text = plain_text(item.get("summary")) or plain_text(item.get("content"))
            yield Thought(text=text, time_s=time_s)
        elif what in ("function_call", "custom_tool_call"):
            arguments = item.get("arguments", item.get("input"))
            yield tool_call(item.get("name"), arguments, id=id_, time_s=time_s)
        elif what in ("local_shell_call", "web_search_call"):
            yield tool_call(what.removesuffix("_call"), item.get("action"), id=id_, time_s=time_s)
        elif what in ("function_call_output", "custom_tool_call_output"):
            output = item.get("output")
            success = mapping_of(output).get("success")
            yield ToolResult(
                call_id=text_of(id_),
                text=plain_text(output),
                is_error=None if not isinstance(success, bool) else not success,
                time_s=time_s,
            )

    def _event_msg(self, number: int, event: Mapping[str, Any], time_s: float | None) -> Iterator[TraceItem]:
        what = text_of(event.get("type"))
        if what == "token_count":
            info = mapping_of(event.get("info"))
            yield from self._usage(number, info.get("total_token_usage"), time_s)
        elif what in ("task_complete", "turn_complete"):
            yield Stop(
                reason="end_turn",
                is_error=False,
                text=text_of(event.get("last_agent_message")),
                time_s=time_s,
            )
        elif what == "turn_aborted":
            yield Stop(reason=text_of(event.get("reason")) or "aborted", is_error=True, time_s=time_s)
        elif what == "error":
            yield Stop(reason="error", is_error=True, text=text_of(event.get("message")), time_s=time_s)
        elif what in ("exec_approval_request", "apply_patch_approval_request"):
            call_id = text_of(event.get("call_id"))
            yield PermissionRequest(
                id=call_id, call_id=call_id, text=json_text(event.get("command")), time_s=time_s
            )


def _call_of_item(what: str, id_: str, item: Mapping[str, Any], time_s: float | None) -> TraceItem:
    if what == "mcp_tool_call":
        name = f"mcp__{text_of(item.get('server'))}__{text_of(item.get('tool'))}"
        return tool_call(name, item.get("arguments"), id=id_, time_s=time_s)
    if what == "command_execution":
        return tool_call(what, item.get("command"), id=id_, time_s=time_s)
    if what == "file_change":
        changes = items_of(item.get("changes"))
        deletes = [mapping_of(change).get("kind") == "delete" for change in changes]
        kind = ToolKind.DELETE if deletes and all(deletes) else ToolKind.EDIT
        return tool_call(what, changes, id=id_, kind=kind, time_s=time_s)
    if what == "collab_tool_call":
        return tool_call(item.get("tool"), item.get("prompt"), id=id_, time_s=time_s)
    return tool_call(what, item.get("query", item.get("items")), id=id_, time_s=time_s)


def _result_of_item(id_: str, item: Mapping[str, Any], time_s: float | None) -> Iterator[TraceItem]:
    status = text_of(item.get("status"))
    if status == "declined":
        yield PermissionResponse(call_id=id_, outcome="denied", time_s=time_s)
    text = item.get("aggregated_output")
    if text is None:
        text = item.get("error") or item.get("result")
    yield ToolResult(
        call_id=id_,
        text=plain_text(mapping_of(text).get("content")) or json_text(text),
        is_error=None if not status else status != "completed",
        time_s=time_s,
    )
