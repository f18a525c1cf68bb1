"""The objective gate: what the scorers' verdicts and the combined score say together."""

from __future__ import annotations

from collections.abc import Sequence

from adjudge.errors import InfraError, SubjectError
from adjudge.records.evaluation import Integrity, ObjectiveGateResult
from adjudge.records.score import ScorerResult, Verdict
from adjudge.rollup.combined import mean_score, reaches

__all__ = ["objective_gate"]

_NAMED = 3
"""How many scorers a reason names before it counts the rest."""


def objective_gate(
    results: Sequence[ScorerResult],
    *,
    score: float | None,
    pass_threshold: float | None,
    integrity: Integrity,
    fault: SubjectError | InfraError | None = None,
) -> ObjectiveGateResult:
    """Conclude from the scorers; advisory failures are shown in their rows and fail nothing here.

    Args:
        results: Every row of the evaluation.
        score: The combined score.
        pass_threshold: What the score must reach, when the recipe sets it.
        integrity: Whether the attempt was caught tampering.
        fault: Why there was nothing to look at, whatever the rows say: the attempt's own (a patch that does
            not apply) is FAIL, ours (the workspace changed under us) is ERROR.
    """
    if isinstance(fault, SubjectError):
        verdict, reason = Verdict.FAIL, fault.message
    elif fault is not None:
        verdict, reason = Verdict.ERROR, fault.message
    else:
        verdict, reason = _conclude(results, score, pass_threshold, integrity)
    return ObjectiveGateResult(verdict=verdict, reason=reason, mean_score=mean_score(results))


def _conclude(
    results: Sequence[ScorerResult],
    score: float | None,
    pass_threshold: float | None,
    integrity: Integrity,
) -> tuple[Verdict, str]:
    failures = _failures(results, score, pass_threshold, integrity)
    if failures:
        return Verdict.FAIL, "; ".join(failures)
    errors = [result for result in results if _error_matters(result, pass_threshold)]
    if errors:
        return Verdict.ERROR, f"could not be graded: {_listed(errors)} ended in ERROR"
    graded = [result for result in results if result.verdict.graded]
    if not graded:
        return Verdict.NA, "no scorer applied" if results else "the recipe has no scorer"
    if pass_threshold is not None and score is None:
        return (
            Verdict.NA,
            f"no counted scorer applied, so there is no score to compare with {pass_threshold:g}",
        )
    return Verdict.PASS, _why_passed(graded, score, pass_threshold)


def _failures(
    results: Sequence[ScorerResult],
    score: float | None,
    pass_threshold: float | None,
    integrity: Integrity,
) -> list[str]:
    """Every ground for FAIL, the gravest first."""
    found: list[str] = []
    if integrity.outcome == "tampered":
        found.append(
            f"the attempt tampered with its grading: {'; '.join(integrity.reasons) or 'see the findings'}"
        )
    required = [result for result in results if result.required and result.verdict is Verdict.FAIL]
    if required:
        found.append(f"required {_listed(required)} failed")
    gates = [result for result in results if result.failed_gate and result not in required]
    if gates:
        found.append(f"gate {_listed(gates)} did not fully pass")
    if pass_threshold is not None and score is not None and not reaches(score, pass_threshold):
        found.append(f"score {score:.4g} is below the threshold {pass_threshold:.4g}")
    return found


def _error_matters(result: ScorerResult, pass_threshold: float | None) -> bool:
    if result.verdict is not Verdict.ERROR:
        return False
    return result.required or result.gate or (pass_threshold is not None and result.counted)


def _why_passed(graded: Sequence[ScorerResult], score: float | None, pass_threshold: float | None) -> str:
    binding = sum(1 for result in graded if result.required or result.gate)
    advisory = sum(1 for result in graded if result.verdict is Verdict.FAIL)
    reason = (
        f"all {binding} required scorers that applied passed"
        if binding > 1
        else "the required scorer that applied passed"
        if binding
        else "no required scorer applied, and nothing failed the attempt"
    )
    if pass_threshold is not None:
        reason += f", and score {score:.4g} reaches {pass_threshold:.4g}"
    if advisory:
        reason += f"; {advisory} advisory {'failure' if advisory == 1 else 'failures'}"
    return reason


def _listed(results: Sequence[ScorerResult]) -> str:
    named = ", ".join(f"{result.name!r}" for result in results[:_NAMED])
    rest = len(results) - _NAMED
    return f"{'scorers' if len(results) > 1 else 'scorer'} {named}{f' and {rest} more' if rest > 0 else ''}"
