"""Intervals of a share and of a mean: how sure a pass rate, an agreement or a score is."""

from __future__ import annotations

import math

__all__ = ["mean_interval", "wilson_interval"]

_Z_95 = 1.959963984540054
"""Of the normal distribution, for 95 %."""


def wilson_interval(successes: int, total: int, z: float = _Z_95) -> tuple[float, float]:
    """Wilson's score interval of a share, within [0, 1]; with nothing counted, all of it.

    Raises:
        ValueError: There are more successes than cases, or fewer than none.
    """
    if not 0 <= successes <= total:
        raise ValueError(f"{successes} of {total} is not a share")
    if total == 0:
        return 0.0, 1.0
    share = successes / total
    squared = z * z
    centre = share + squared / (2 * total)
    spread = z * math.sqrt(share * (1 - share) / total + squared / (4 * total * total))
    scale = 1 + squared / total
    # At the ends the exact value is 0 or 1; rounding must not leave the share outside its interval.
    low = 0.0 if successes == 0 else (centre - spread) / scale
    high = 1.0 if successes == total else (centre + spread) / scale
    return max(0.0, low), min(1.0, high)


def mean_interval(mean: float, variance: float | None, count: int) -> tuple[float, float] | None:
    """Student's 95 % interval of a mean; None where fewer than two values say nothing of their spread."""
    if variance is None or count < 2:
        return None
    reach = _t_95(count - 1) * math.sqrt(variance / count)
    return mean - reach, mean + reach


def _t_95(freedom: int) -> float:
    """The quantile of Student's distribution, two-sided 95 %; beyond the table by Fisher's expansion."""
    if freedom <= len(_T_95):
        return _T_95[freedom - 1]
    z = _Z_95
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + first / freedom + second / freedom**2 + third / freedom**3


_T_95 = (
    12.706204736, 4.302652730, 3.182446305, 2.776445105, 2.570581836, 2.446911851, 2.364624252, 2.306004135,
    2.262157163, 2.228138852,
)  # fmt: skip
