"""Two sides that met the same tasks: how far apart are they, and could that be chance.

The task is the unit: trials of one task are averaged first, so that many trials of few tasks do not pass for
much evidence.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from adjudge.errors import UsageError
from adjudge.stats.intervals import wilson_interval

__all__ = ["PairedDifference", "paired_difference"]

_CONFIDENCE = 0.95
_RESAMPLES = 9999
"""Where there are too many tasks to try every exchange of sides: 2 to the power of 13 is still fewer."""


class PairedDifference(NamedTuple):
    """How much larger the second side is, over pairs."""

    pairs: int
    mean: float
    low: float | None
    """The 95 % interval of the mean; None with fewer than two pairs."""
    high: float | None
    p_value: float | None
    """How often a difference as large would come about if the sides were interchangeable."""
    higher: int
    """Pairs in which the second side is larger."""
    lower: int

    @property
    def shown(self) -> bool:
        """Whether the difference is more than chance explains, by the interval and by the test."""
        if self.low is None or self.high is None or self.p_value is None:
            return False
        return self.p_value < 1 - _CONFIDENCE and (self.low > 0 or self.high < 0)


def paired_difference(first: Sequence[float], second: Sequence[float]) -> PairedDifference:
    """Compare two sides pair by pair: a t interval of the mean difference, and an exact permutation test.

    Raises:
        UsageError: scipy is not installed.
        ValueError: There is nothing to compare, or not pair by pair.
    """
    if not first or len(first) != len(second):
        raise ValueError(f"{len(first)} and {len(second)} values are no pairs")
    differences = [after - before for before, after in zip(first, second, strict=True)]
    count = len(differences)
    mean = math.fsum(differences) / count
    higher, lower = sum(value > 0 for value in differences), sum(value < 0 for value in differences)
    if count < 2:
        return PairedDifference(count, mean, None, None, None, higher, lower)
    if max(differences) - min(differences) < 1e-12:
        low, high = _from_shares(mean, higher, lower, count)
        p_value = 1.0 if abs(mean) < 1e-12 else 2.0 ** (1 - count)
        return PairedDifference(count, mean, low, high, p_value, higher, lower)
    stats = _scipy_stats()
    found = stats.ttest_1samp(differences, 0.0).confidence_interval(_CONFIDENCE)
    p_value = float(
        stats.permutation_test(
            (differences,),
            lambda values, axis: values.mean(axis=axis),
            permutation_type="samples",
            vectorized=True,
            n_resamples=_RESAMPLES,
            rng=0,
        ).pvalue
    )
    return PairedDifference(count, mean, float(found.low), float(found.high), p_value, higher, lower)


def _from_shares(mean: float, higher: int, lower: int, count: int) -> tuple[float, float]:
    """An interval where no pair differs from another, so that their spread says nothing.

    By square and add, from Wilson's intervals of the shares of pairs won and lost: three ties in three pairs
    are no proof of a tie.
    """
    won, lost = wilson_interval(higher, count), wilson_interval(lower, count)
    down = math.hypot(higher / count - won[0], lost[1] - lower / count)
    up = math.hypot(won[1] - higher / count, lower / count - lost[0])
    return max(-1.0, mean - down), min(1.0, mean + up)


def _scipy_stats() -> Any:
    try:
        # Loaded here: it takes most of a second, and comes with an extra.
        return importlib.import_module("scipy.stats")
    except ImportError as error:
        raise UsageError(
            "comparisons are computed with scipy, which is not installed",
            hint="pip install 'adjudge[reports]'",
        ) from error
