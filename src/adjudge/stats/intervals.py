"""Intervals for a share that was counted."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import NamedTuple

__all__ = ["Interval", "wilson_interval"]


class Interval(NamedTuple):
    """Where a share lies, within [0, 1]."""

    low: float
    high: float


def wilson_interval(successes: int, trials: int, *, confidence: float = 0.95) -> Interval:
    """Wilson's score interval for a share, without continuity correction.

    Unlike the textbook interval it stays within [0, 1] and says something for 0 of 2 and 2 of 2.

    Raises:
        ValueError: There are no trials, more successes than trials, or the confidence is not in (0, 1).
    """
    if trials < 1 or not 0 <= successes <= trials:
        raise ValueError(f"{successes} of {trials} is not a share")
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"a confidence of {confidence} is not between 0 and 1")
    z = NormalDist().inv_cdf(0.5 + confidence / 2.0)
    share = successes / trials
    scale = 1.0 + z * z / trials
    centre = (share + z * z / (2.0 * trials)) / scale
    half = z / scale * math.sqrt(share * (1.0 - share) / trials + z * z / (4.0 * trials * trials))
    # At the ends rounding would leave 1e-17 where the formula gives 0 and 1 exactly.
    low = 0.0 if successes == 0 else max(0.0, centre - half)
    high = 1.0 if successes == trials else min(1.0, centre + half)
    return Interval(low, high)
