"""The run gate, from how the agent ended and what it used."""

from __future__ import annotations

import pytest

from adjudge.gates.run import infrastructure_fault, no_agent_ran, run_gate, trace_given
from adjudge.records.run import AgentOutcome, AgentStatus, TokenUsage
from adjudge.records.score import Verdict
from adjudge.records.task import RunLimits
from adjudge.records.trace import TokenCounts, TraceSummary

pytestmark = pytest.mark.anyone

LIMITS = RunLimits(wall_s=10, tokens=100, cost_usd=1.5, tool_calls=3)


@pytest.mark.parametrize("status", [status for status in AgentStatus if status != "completed"])
def test_a_bad_end_fails(status: AgentStatus) -> None:
    gate = run_gate(AgentOutcome(status=status, reason="why"), RunLimits())
    assert gate.verdict is Verdict.FAIL
    assert gate.reason == f"{status.value.replace('_', ' ')}: why"


@pytest.mark.parametrize(
    ("usage", "wall_s", "said"),
    [
        (TokenUsage(), 10.1, "ran for 10.1 s, limit 10 s"),
        (TokenUsage(input_tokens=60, cache_read_tokens=41), 1, "used 101 tokens, limit 100"),
        (TokenUsage(cost_usd=1.6), 1, "cost 1.6 USD, limit 1.5 USD"),
        (TokenUsage(tool_calls=4), 1, "called tools 4 times, limit 3"),
    ],
)
def test_over_a_limit_fails(usage: TokenUsage, wall_s: float, said: str) -> None:
    gate = run_gate(AgentOutcome(status=AgentStatus.COMPLETED, usage=usage, wall_s=wall_s), LIMITS)
    assert (gate.verdict, gate.reason) == (Verdict.FAIL, said)


def test_at_a_limit_or_unknown_passes() -> None:
    at = TokenUsage(input_tokens=100, cost_usd=1.5, tool_calls=3)
    for usage in (at, TokenUsage()):
        outcome = AgentOutcome(status=AgentStatus.COMPLETED, usage=usage, wall_s=10)
        assert run_gate(outcome, LIMITS).verdict is Verdict.PASS


def test_without_an_agent_and_without_a_run() -> None:
    assert no_agent_ran("patch").verdict is Verdict.NA
    assert infrastructure_fault("no disk") == infrastructure_fault("no disk")
    assert infrastructure_fault("no disk").verdict is Verdict.ERROR


@pytest.mark.parametrize(
    ("summary", "said"),
    [
        (TraceSummary(format="x", duration_s=10.1), "ran for 10.1 s, limit 10 s, by the trace"),
        (TraceSummary(format="x", tokens=TokenCounts(total=101)), "used 101 tokens, limit 100, by the trace"),
        (
            TraceSummary(format="x", tokens=TokenCounts(input=60, output=20, total=101)),
            "used 101 tokens, limit 100, by the trace",
        ),
        (TraceSummary(format="x", cost_usd=2), "cost 2 USD, limit 1.5 USD, by the trace"),
        (TraceSummary(format="x", tool_calls=4), "called tools 4 times, limit 3, by the trace"),
    ],
)
def test_a_trace_over_a_limit_fails_without_an_agent(summary: TraceSummary, said: str) -> None:
    gate = trace_given("workspace", summary, LIMITS)
    assert (gate.verdict, gate.reason) == (Verdict.FAIL, said)


def test_a_trace_within_limits_leaves_the_gate_open_and_says_what_it_does_not_tell() -> None:
    known = TraceSummary(
        format="x", duration_s=10, cost_usd=1.5, tool_calls=3, tokens=TokenCounts(input=100, total=100)
    )
    gate = trace_given("patch", known, LIMITS)
    assert gate.verdict is Verdict.NA
    assert gate.reason == "patch given, no agent ran; within its limits by the trace"
    gate = trace_given("patch", TraceSummary(format="x", tools_known=False), LIMITS)
    assert gate.verdict is Verdict.NA
    assert "does not tell time, tokens, cost, tool calls" in gate.reason
    assert trace_given("patch", known, RunLimits()) == no_agent_ran("patch")
