"""The run gate, from how the agent ended and what it used."""

from __future__ import annotations

import pytest

from adjudge.gates.run import infrastructure_fault, no_agent_ran, run_gate
from adjudge.records.run import AgentOutcome, AgentStatus, TokenUsage
from adjudge.records.score import Verdict
from adjudge.records.task import RunLimits

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
