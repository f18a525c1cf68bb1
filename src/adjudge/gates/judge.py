"""The judge gate: the judge's own verdict, which neither fails nor saves the objective one."""

from __future__ import annotations

from adjudge.records.evaluation import GateResult
from adjudge.records.score import Verdict

__all__ = ["judge_gate"]


def judge_gate() -> GateResult:
    """Conclude without a judge: NA, since nobody was asked."""
    return GateResult(verdict=Verdict.NA, reason="no judge was asked")
