from __future__ import annotations

import pytest

from adjudge.formats.traces.summary import summarise
from adjudge.formats.traces.tools import tool_call
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
from adjudge.reports.timeline import render_event, render_totals

pytestmark = pytest.mark.anyone

NASTY = "\x1b[2J\u202eevil\u2066\r\n\x07\x9b31m" + "x" * 5000
ITEMS: list[TraceItem] = [
    Message(role="user", text=NASTY, time_s=100, agent=NASTY[:100]),
    tool_call(NASTY[:100], NASTY, id=NASTY[:50]),
    ToolResult(text=NASTY, is_error=True),
    TraceUsage(tokens=TokenCounts(input=1), model=NASTY[:100]),
    PermissionResponse(outcome="denied", text=NASTY),
    BrokenLine(line=3, reason=NASTY[:300], text=NASTY),
    Stop(reason=NASTY[:100], text=NASTY, time_s=90),
]


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.type)
def test_an_event_is_one_safe_line_that_fits(item: TraceItem) -> None:
    line = render_event(item, started_s=100.0, width=80)
    assert len(line) <= 80
    assert line.isprintable()


def test_totals_are_safe() -> None:
    text = render_totals(summarise(ITEMS, "x"))
    assert all(line.isprintable() for line in text.splitlines())
    assert "cost        unknown" in text
    assert "1 part could not be read" in text


def test_times_are_counted_from_the_first() -> None:
    assert render_event(Message(role="user", text="x", time_s=101.5), started_s=100, width=80) == (
        "   +1.5 s  user        x"
    )
    assert render_event(Message(role="user", text="x"), started_s=100, width=80) == "           user        x"
