from __future__ import annotations

from typing import Any

import pytest

from adjudge.formats.traces.summary import MAX_TOOLS, TraceSummariser, summarise, usage_of
from adjudge.formats.traces.tools import tool_call
from adjudge.records.run import TokenUsage
from adjudge.records.trace import (
    MAX_TOKENS,
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
    TraceSummary,
    TraceUsage,
)

pytestmark = pytest.mark.anyone


def used(cost: float | None = None, scope: Any = "increment", **tokens: int) -> TraceUsage:
    return TraceUsage(scope=scope, tokens=TokenCounts(**tokens), cost_usd=cost)


def of(*items: TraceItem) -> TraceSummary:
    return summarise(items, "text")


def test_nothing_is_not_zero() -> None:
    summary = of()
    assert (summary.events, summary.tool_calls, summary.denied, summary.turns) == (0, 0, 0, 0)
    assert summary.tokens == TokenCounts()
    assert (summary.cost_usd, summary.duration_s, summary.stop_reason) == (None, None, None)


def test_increments_add_up_and_caches_stay_apart() -> None:
    summary = of(
        used(input=10, output=5, cache_read=100), used(input=1, output=2, cache_write=7, reasoning=1)
    )
    assert summary.tokens == TokenCounts(
        input=11, output=7, cache_read=100, cache_write=7, reasoning=1, total=125
    )


def test_of_increments_and_a_total_the_larger_counts() -> None:
    more = of(used(input=10, output=1), used(scope="total", input=8, output=9))
    assert (more.tokens.input, more.tokens.output, more.tokens.total) == (10, 9, 19)
    only = of(used(scope="total", total=50))
    assert (only.tokens.total, only.tokens.input) == (50, None)


def test_each_total_covers_what_came_since_the_last() -> None:
    summary = of(
        used(input=5),
        used(scope="total", cost=0.5, input=6),
        used(input=100),
        used(scope="total", cost=0.25, input=10),
    )
    assert summary.tokens.input == 106
    assert summary.cost_usd == 0.75


def test_a_cost_of_a_part_is_not_the_cost() -> None:
    summary = of(used(cost=0.5, input=1), used(input=1))
    assert summary.cost_usd is None
    assert "$0.5" in summary.notes[0]
    assert of(used(cost=0.5, input=1), used(input=1), used(scope="total", cost=0.7)).cost_usd == 0.7
    assert of(used(input=1)).cost_usd is None
    assert of(used(cost=0.0, input=1)).cost_usd == 0.0


def test_a_total_without_a_cost_does_not_unsay_one() -> None:
    assert of(used(cost=0.5, input=1), used(scope="total", input=3)).cost_usd == 0.5
    assert of(used(scope="total", input=3)).cost_usd is None


def test_absurd_sums_stay_in_range() -> None:
    assert of(*[used(input=MAX_TOKENS)] * 3).tokens.input == MAX_TOKENS


def test_tools_are_counted_by_kind_and_name_and_duplicate_ids_count() -> None:
    summary = of(*[tool_call("Bash", {}, id="t")] * 3, tool_call("Edit", {}), ToolResult(is_error=True))
    assert summary.tool_calls == 4
    assert summary.tool_kinds == {ToolKind.EXECUTE: 3, ToolKind.EDIT: 1}
    assert [(tool.raw_name, tool.calls) for tool in summary.tools] == [("Bash", 3), ("Edit", 1)]
    assert summary.tool_errors == 1


def test_names_beyond_the_cap_are_counted() -> None:
    summary = of(*(tool_call(f"tool{n}", {}) for n in range(MAX_TOOLS + 5)))
    assert (len(summary.tools), summary.unnamed_tool_calls) == (MAX_TOOLS, 5)
    assert summary.tool_calls == MAX_TOOLS + 5


def test_turns_are_stretches_of_work() -> None:
    work, asked = Thought(text="…"), Message(role="user", text="go")
    assert of(work, tool_call("Bash", {}), work).turns == 1
    assert of(asked, work, asked, asked, work, Stop(reason="end_turn"), work).turns == 3
    assert of(asked).turns == 0
    assert of(Thought(text="…", agent="a")).turns == 0


def test_permissions_stop_and_response() -> None:
    summary = of(
        PermissionRequest(id="1"),
        PermissionResponse(request_id="1", outcome="denied"),
        PermissionResponse(outcome="cancelled"),
        Message(role="assistant", text="done", time_s=10),
        Message(role="assistant", text="aside", agent="sub", time_s=25),
        Stop(reason="other", agent="sub"),
        Stop(reason="end_turn", duration_s=3, is_error=False),
    )
    assert (summary.permission_requests, summary.denied) == (1, 1)
    assert (summary.stop_reason, summary.response, summary.duration_s) == ("end_turn", "done", 15)
    assert summary.subagents == ("sub",)


def test_broken_parts_are_counted_and_the_first_kept() -> None:
    summary = of(*(BrokenLine(line=n, reason="not JSON") for n in range(1, 31)))
    assert (summary.broken, summary.events, len(summary.broken_samples)) == (30, 0, 10)


def test_a_summary_can_be_asked_for_on_the_way() -> None:
    summariser = TraceSummariser("text")
    summariser.add(used(input=1))
    assert summariser.summary().tokens.total == 1
    summariser.add(used(input=1))
    assert summariser.summary().tokens.total == 2
    summariser.add(tool_call("Bash", {}))
    summariser.add(used(scope="total", cost=0.5, input=7, total=10))
    assert summariser.usage() == usage_of(summariser.summary())
    assert summariser.usage() == TokenUsage(input_tokens=7, output_tokens=3, cost_usd=0.5, tool_calls=1)


def test_what_was_said_tells_nothing_of_tools() -> None:
    said = of(Message(role="user", text="go"), Message(role="assistant", text="done"))
    assert (said.tools_known, usage_of(said).tool_calls) == (False, None)
    assert of(Stop(reason="end_turn")).tools_known
