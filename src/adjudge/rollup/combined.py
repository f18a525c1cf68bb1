"""The combined score of an evaluation, and the mean shown in its header.

Which scorers count is settled when a recipe is loaded (`ScorerSpec.counted`); what a score below the
threshold means is settled by `adjudge.gates`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from adjudge.records.score import Rollup, ScorerResult, Verdict

__all__ = ["combined_score", "mean_score", "reaches"]

_DECIMALS = 9
"""Sums of binary fractions differ in the last digits; nobody means those when writing a threshold."""


def combined_score(
    results: Sequence[ScorerResult], rollup: Rollup, *, tampered: bool = False
) -> float | None:
    """Combine the applicable, counted, non-gate scores; None when there is nothing to combine.

    A gate scorer below 1, or a gate inside a scorer that did not pass, makes it 0, even beside an ERROR;
    otherwise an ERROR in a gate or counted scorer makes it None. An applicable gate never adds credit. Under
    `min`, weights play no part.

    Args:
        results: Every row of the evaluation, in any order.
        rollup: How counted scores become one.
        tampered: Whether the attempt was caught tampering, which makes the score 0.
    """
    if tampered or any(result.failed_gate for result in results):
        return 0.0
    if any(result.verdict is Verdict.ERROR and (result.gate or result.counted) for result in results):
        return None
    rows = [
        (result.weight, result.score)
        for result in results
        if result.counted and not result.gate and result.score is not None
    ]
    if not rows:
        return None
    if rollup is Rollup.MIN:
        return min(score for _, score in rows)
    return _weighted_mean(rows)


def mean_score(results: Iterable[ScorerResult]) -> float | None:
    """The unweighted mean over every PASS and FAIL row; None when there is none."""
    return _weighted_mean([(1.0, result.score) for result in results if result.score is not None])


def reaches(score: float, threshold: float) -> bool:
    """Whether a score is at or above a threshold, compared at 9 decimals."""
    return round(score, _DECIMALS) >= round(threshold, _DECIMALS)


def _weighted_mean(rows: Sequence[tuple[float, float]]) -> float | None:
    """The mean, whatever the order of the rows; None when no weight is positive."""
    # Dividing by the largest weight first keeps the sum finite for any finite weights; fsum is exact, so
    # that the order of the recipe cannot change the last digit.
    largest = max((weight for weight, _ in rows), default=0.0)
    if largest == 0.0:
        return None
    shares = [(weight / largest, score) for weight, score in rows]
    total = math.fsum(share for share, _ in shares)
    mean = math.fsum(share * score for share, score in shares) / total
    weighted = [score for share, score in shares if share > 0.0]
    return min(max(mean, min(weighted)), max(weighted))
