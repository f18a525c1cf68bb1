from __future__ import annotations

import io
import json

import pytest

from adjudge.errors import InfraError, TraceUnreadable
from adjudge.formats.traces.adjudge import AdjudgeTrace, encode_header, write_trace
from adjudge.formats.traces.detect import read_trace
from adjudge.formats.traces.lines import MAX_LINE
from adjudge.formats.traces.recorded import RecordedTrace
from adjudge.formats.traces.tools import tool_call
from adjudge.records.trace import (
    BrokenLine,
    Message,
    PermissionRequest,
    PermissionResponse,
    Stop,
    Thought,
    TokenCounts,
    ToolKind,
    ToolResult,
    TraceItem,
    TraceUsage,
)

pytestmark = pytest.mark.anyone

EVERYTHING: list[TraceItem] = [
    Message(role="user", text="go\u202e\x1b[2J\n", time_s=1.5),
    Thought(text="hm", agent="sub"),
    tool_call("Bash", {"command": "ls"}, id="t1"),
    ToolResult(call_id="t1", text="a", is_error=False),
    TraceUsage(tokens=TokenCounts(input=1, cache_read=2), cost_usd=0.0, model="m"),
    PermissionRequest(id="p", call_id="t1"),
    PermissionResponse(request_id="p", outcome="denied"),
    Stop(reason="end_turn", is_error=False, duration_s=2.0),
    BrokenLine(line=4, reason="not JSON", text="{"),
]


def written(items: list[TraceItem]) -> bytes:
    stream = io.BytesIO()
    write_trace(items, stream, format="x")
    return stream.getvalue()


def test_what_is_written_is_read() -> None:
    data = written(EVERYTHING)
    opened = read_trace(io.BytesIO(data))
    assert opened.format == "adjudge"
    assert list(opened.items) == EVERYTHING
    assert written(EVERYTHING) == data
    assert json.loads(data.splitlines()[3])["kind"] == "execute"


def test_bad_events_are_broken_lines() -> None:
    bad = [
        b'{"type":"dance"}',
        b'{"type":"message"}',
        b'{"type":"message","role":"user","text":"x","surprise":1}',
        b'{"type":"usage","tokens":{"input":-1}}',
        b"[]",
        b"nonsense",
        b"[" * 100_000,
        b'{"type":"stop","reason":' + b"9" * 5000 + b"}",
        b"\xff\xfe\x00",
        b'{"type":"stop","reason":"' + b"x" * MAX_LINE + b'"}',
    ]
    good = b'{"type":"tool_call","raw_name":"\\ud800W","name":"w","kind":"write"}'
    data = encode_header("x") + b"\n".join([*bad, b"", good]) + b"\n"
    items = list(AdjudgeTrace().events(io.BytesIO(data)))
    assert [item.line for item in items if isinstance(item, BrokenLine)] == list(range(2, 2 + len(bad)))
    last = items[-1]
    assert last.type == "tool_call"
    assert last.kind is ToolKind.EDIT


@pytest.mark.parametrize("data", [b"", b"{}\n", b"x\n"])
def test_without_a_header_it_is_none(data: bytes) -> None:
    with pytest.raises(TraceUnreadable, match="line 1"):
        list(AdjudgeTrace().events(io.BytesIO(data)))


def test_text_is_the_last_resort() -> None:
    opened = read_trace(io.BytesIO(b"I fixed it.\n"))
    assert opened.format == "text"
    assert list(opened.items) == [Message(role="assistant", text="I fixed it.\n")]
    assert list(read_trace(io.BytesIO(b"")).items) == []


def test_bytes_that_are_no_text_are_refused() -> None:
    with pytest.raises(TraceUnreadable, match="known format"):
        read_trace(io.BytesIO(b"\x00\x01"))


def test_long_text_keeps_its_ends() -> None:
    data = b"begin" + b"x" * 3_000_000 + b"end"
    (message,) = read_trace(io.BytesIO(data)).items
    assert message.type == "message"
    assert message.text.startswith("begin")
    assert message.text.endswith("end")
    assert message.dropped > 2_000_000


class Failing(io.BytesIO):
    def read(self, size: int | None = -1, /) -> bytes:
        raise OSError(5, "Input/output error")

    readinto = None  # type: ignore[assignment]  # so that `read` is what is called


def test_a_disk_that_fails_is_not_the_attempts_fault() -> None:
    trace = RecordedTrace(lambda: Failing(b"x"))
    with pytest.raises(InfraError, match=r"the trace cannot be read: .*Input/output error"):
        trace.summary()


def test_a_summary_is_made_once() -> None:
    opened = []

    def open_it() -> io.BytesIO:
        opened.append(1)
        return io.BytesIO(written(EVERYTHING))

    trace = RecordedTrace(open_it)
    assert trace.summary() is trace.summary()
    assert len(opened) == 1
    bad = RecordedTrace(lambda: io.BytesIO(b"{}"), format="adjudge")
    for _ in range(2):
        with pytest.raises(TraceUnreadable):
            bad.summary()
