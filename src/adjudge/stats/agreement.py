"""Agreement between raters: percent, Cohen's kappa for two, Fleiss' kappa for more.

Ratings are items in rows: each item is what the raters said of it, one label each. Kappa corrects for the
agreement that chance would give; where chance alone explains everything (one item, or one label throughout)
it is undefined and None is returned.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import NamedTuple

__all__ = ["Agreement", "agreement", "cohens_kappa", "fleiss_kappa", "percent_agreement"]


class Agreement(NamedTuple):
    """How far raters agree, and how that was measured."""

    value: float
    """At most 1. Kappa is below 0 where raters agree less than chance would make them."""
    method: str


def percent_agreement(items: Sequence[Sequence[Hashable]]) -> float:
    """The share of pairs of ratings of the same item that agree.

    Raises:
        ValueError: No item has two ratings.
    """
    agreeing = pairs = 0
    for item in items:
        agreeing += sum(math.comb(count, 2) for count in Counter(item).values())
        pairs += math.comb(len(item), 2)
    if not pairs:
        raise ValueError("agreement takes two ratings of the same item")
    return agreeing / pairs


def cohens_kappa(first: Sequence[Hashable], second: Sequence[Hashable]) -> float | None:
    """Cohen's kappa of two raters who rated the same items, in the same order; None where undefined.

    Raises:
        ValueError: They did not rate the same number of items, or none.
    """
    if len(first) != len(second) or not first:
        raise ValueError("both raters rate the same items, at least one")
    number = len(first)
    agreed = sum(one == other for one, other in zip(first, second, strict=True))
    counts, others = Counter(first), Counter(second)
    by_chance = sum(counts[label] * others[label] for label in counts)
    if by_chance == number * number:
        return None
    # Kept in whole numbers up to the division: (po - pe) / (1 - pe).
    return (agreed * number - by_chance) / (number * number - by_chance)


def fleiss_kappa(items: Sequence[Sequence[Hashable]]) -> float | None:
    """Fleiss' kappa of items that were each rated by the same number of raters; None where undefined.

    Raises:
        ValueError: There are no items, fewer than two ratings, or not the same number everywhere.
    """
    raters = len(items[0]) if items else 0
    if raters < 2 or any(len(item) != raters for item in items):
        raise ValueError("every item is rated by the same number of raters, at least two")
    labels: Counter[Hashable] = Counter()
    agreeing = 0
    for item in items:
        counts = Counter(item)
        labels.update(counts)
        agreeing += sum(count * (count - 1) for count in counts.values())
    total = len(items) * raters
    by_chance = sum(count * count for count in labels.values())
    if by_chance == total * total:
        return None
    observed = agreeing / (len(items) * raters * (raters - 1))
    expected = by_chance / (total * total)
    return (observed - expected) / (1.0 - expected)


def agreement(items: Sequence[Sequence[Hashable]]) -> Agreement:
    """The fitting measure: Cohen's kappa for two raters, Fleiss' for more, percent where kappa is undefined.

    With a single item kappa is undefined, whatever was said of it.

    Args:
        items: Each rated by the same raters, in the same order.

    Raises:
        ValueError: There is nothing to compare.
    """
    raters = len(items[0]) if items else 0
    if len(items) > 1 and raters >= 2 and all(len(item) == raters for item in items):
        if raters == 2:
            kappa = cohens_kappa([item[0] for item in items], [item[1] for item in items])
            name = "Cohen's kappa"
        else:
            kappa = fleiss_kappa(items)
            name = "Fleiss' kappa"
        if kappa is not None:
            return Agreement(kappa, name)
    return Agreement(percent_agreement(items), "percent agreement")
