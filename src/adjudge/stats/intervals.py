"""Intervals of a share: how sure a pass rate or an agreement is."""

from __future__ import annotations

import math

__all__ = ["wilson_interval"]

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
