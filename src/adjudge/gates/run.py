"""The run gate: whether the agent completed within its limits."""

from __future__ import annotations

from adjudge.records.evaluation import GateResult
from adjudge.records.score import Verdict

__all__ = ["no_agent_ran"]


def no_agent_ran(given: str) -> GateResult:
    """Conclude on something that was handed in.

    Args:
        given: What was handed in: `workspace` or `patch`.
    """
    return GateResult(verdict=Verdict.NA, reason=f"{given} given, no agent ran")
