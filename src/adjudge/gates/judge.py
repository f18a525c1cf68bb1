"""The judge gate: the judge's own verdict, which neither fails nor saves the objective one."""

from __future__ import annotations

from adjudge.records.evaluation import GateResult
from adjudge.records.judgement import Judgement, JudgeVerdict
from adjudge.records.score import Verdict

__all__ = ["judge_gate"]

_VERDICTS = {JudgeVerdict.PASS: Verdict.PASS, JudgeVerdict.FAIL: Verdict.FAIL}


def judge_gate(judgement: Judgement | None = None) -> GateResult:
    """Conclude: the verdict as it is, ERROR when there is none, NA when nobody was asked."""
    if judgement is None:
        return GateResult(verdict=Verdict.NA, reason="no judge was asked")
    if judgement.verdict is None:
        return GateResult(verdict=Verdict.ERROR, reason=f"{judgement.fault}: {judgement.reason}")
    mode = f" ({judgement.failure_mode})" if judgement.failure_mode is not None else ""
    return GateResult(verdict=_VERDICTS[judgement.verdict], reason=judgement.reason + mode)
