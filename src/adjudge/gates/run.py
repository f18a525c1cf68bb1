"""The run gate: whether the agent completed within its limits."""

from __future__ import annotations

from adjudge.formats.traces.summary import usage_of
from adjudge.records.evaluation import GateResult
from adjudge.records.run import AgentOutcome, AgentStatus, TokenUsage
from adjudge.records.score import Verdict
from adjudge.records.task import RunLimits
from adjudge.records.trace import TraceSummary

__all__ = ["exceeded", "infrastructure_fault", "no_agent_ran", "run_gate", "trace_given"]


def no_agent_ran(given: str) -> GateResult:
    """Conclude on something that was handed in.

    Args:
        given: What was handed in: `workspace` or `patch`.
    """
    return GateResult(verdict=Verdict.NA, reason=f"{given} given, no agent ran")


def trace_given(given: str, summary: TraceSummary, limits: RunLimits) -> GateResult:
    """Conclude on something that was handed in together with a trace: limits are checked against that.

    Args:
        given: What was handed in: `workspace` or `patch`.
        summary: The trace in figures.
        limits: What the task allows.
    """
    usage = usage_of(summary)
    over = exceeded(usage, limits, wall_s=summary.duration_s)
    if over is not None:
        return GateResult(verdict=Verdict.FAIL, reason=f"{over}, by the trace")
    gate = no_agent_ran(given)
    unknown = [
        name
        for name, limit, actual in (
            ("time", limits.wall_s, summary.duration_s),
            ("tokens", limits.tokens, usage.total_tokens),
            ("cost", limits.cost_usd, usage.cost_usd),
            ("tool calls", limits.tool_calls, usage.tool_calls),
        )
        if limit is not None and actual is None
    ]
    if unknown:
        reason = f"{gate.reason}; the trace does not tell {', '.join(unknown)}, which have a limit"
    elif limits != RunLimits():
        reason = f"{gate.reason}; within its limits by the trace"
    else:
        reason = gate.reason
    return GateResult(verdict=gate.verdict, reason=reason)


def run_gate(outcome: AgentOutcome, limits: RunLimits) -> GateResult:
    """Conclude on how an agent came to its end, and on what it used, whoever noticed."""
    if outcome.status is not AgentStatus.COMPLETED:
        what = outcome.status.value.replace("_", " ")
        reason = f"{what}: {outcome.reason}" if outcome.reason else what
        return GateResult(verdict=Verdict.FAIL, reason=reason)
    over = exceeded(outcome.usage, limits, wall_s=outcome.wall_s)
    if over is not None:
        return GateResult(verdict=Verdict.FAIL, reason=over)
    return GateResult(verdict=Verdict.PASS, reason="completed within its limits")


def infrastructure_fault(reason: str) -> GateResult:
    """Conclude on a run that we could not make."""
    return GateResult(verdict=Verdict.ERROR, reason=reason)


def exceeded(usage: TokenUsage, limits: RunLimits, *, wall_s: float | None = None) -> str | None:
    """Which limit was exceeded, in one line; None when none was. What is unknown exceeds nothing."""
    if limits.wall_s is not None and wall_s is not None and wall_s > limits.wall_s:
        return f"ran for {wall_s:.1f} s, limit {limits.wall_s:g} s"
    if limits.tokens is not None and (usage.total_tokens or 0) > limits.tokens:
        return f"used {usage.total_tokens} tokens, limit {limits.tokens}"
    if limits.cost_usd is not None and (usage.cost_usd or 0.0) > limits.cost_usd:
        return f"cost {usage.cost_usd:.4g} USD, limit {limits.cost_usd:g} USD"
    if limits.tool_calls is not None and (usage.tool_calls or 0) > limits.tool_calls:
        return f"called tools {usage.tool_calls} times, limit {limits.tool_calls}"
    return None
