"""How reliable verdicts are: Krippendorff's alpha over jurors, Cohen's kappa with its interval."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence

from adjudge.stats.agreement import cohens_kappa

__all__ = ["kappa_interval", "krippendorff_alpha"]

_Z_95 = 1.959963984540054


def krippendorff_alpha(units: Iterable[Sequence[Hashable]]) -> float | None:
    """Krippendorff's alpha for nominal labels; None where it is undefined.

    Args:
        units: What was rated, each with the labels it got, from however many raters; those with fewer than
            two are left out, as missing ratings are.
    """
    pairable = [unit for unit in units if len(unit) > 1]
    total = sum(len(unit) for unit in pairable)
    labels: Counter[Hashable] = Counter()
    disagreeing = 0.0
    for unit in pairable:
        counts = Counter(unit)
        labels.update(counts)
        agreeing_pairs = sum(count * (count - 1) for count in counts.values())
        disagreeing += (len(unit) * (len(unit) - 1) - agreeing_pairs) / (len(unit) - 1)
    by_chance = total * total - sum(count * count for count in labels.values())
    if total < 2 or by_chance == 0:
        return None
    return 1.0 - (total - 1) * disagreeing / by_chance


def kappa_interval(
    first: Sequence[Hashable], second: Sequence[Hashable]
) -> tuple[float, float, float] | None:
    """Cohen's kappa with the ends of its 95 % interval, by its large-sample error; None where undefined."""
    kappa = cohens_kappa(first, second)
    if kappa is None:
        return None
    number = len(first)
    agreed = sum(one == other for one, other in zip(first, second, strict=True)) / number
    counts, others = Counter(first), Counter(second)
    by_chance = sum(counts[label] * others[label] for label in counts) / number**2
    spread = _Z_95 * math.sqrt(agreed * (1 - agreed) / number) / (1 - by_chance)
    return kappa, max(-1.0, kappa - spread), min(1.0, kappa + spread)
