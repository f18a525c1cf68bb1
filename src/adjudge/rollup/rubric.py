"""Rubrics: several dimensions of an output into one reward.

Meant to be used from inside a verifier too, so it imports next to nothing (no pydantic, no other module of
ours) and costs little more than starting Python:

    from adjudge.rollup.rubric import Criterion, Rubric

    rubric = Rubric([Criterion("drop", weight=2), Criterion("units", max_score=5)])
    scored = rubric.score({"drop": 1.0, "units": (4, "one unit is missing")})
    scored.reward     # 0.9333
    scored.details()  # what details.json holds
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

__all__ = ["STRATEGIES", "Criterion", "Dimension", "Rubric", "RubricScore", "roll_up"]

STRATEGIES = ("weighted_mean", "min")
"""`weighted_mean`: a balance across dimensions. `min`: the worst dimension decides; weights play no part."""

_DECIMALS = 4


class Criterion:
    """A dimension before it is scored: what it is called, how much it counts, what full marks are.

    Args:
        name: What it is called, unique in its rubric.
        weight: How much it counts, finite and not negative.
        max_score: The score that is full marks, finite and above 0.

    Raises:
        ValueError: One of them makes no sense.
    """

    __slots__ = ("max_score", "name", "weight")

    def __init__(self, name: str, *, weight: float = 1.0, max_score: float = 1.0) -> None:
        if not str(name).strip():
            raise ValueError(f"a dimension needs a name, not {name!r}")
        self.name = name
        self.weight = _number(weight, f"weight of {name!r}")
        self.max_score = _number(max_score, f"max_score of {name!r}")
        if self.weight < 0.0:
            raise ValueError(f"weight of {name!r} is negative: {weight}")
        if self.max_score <= 0.0:
            raise ValueError(f"max_score of {name!r} is not above 0: {max_score}")


class Dimension(Criterion):
    """A dimension with its score, and why it has it.

    Args:
        name: What it is called, unique in its rubric.
        score: What was given, finite; below 0 counts as 0, above `max_score` as full marks.
        max_score: The score that is full marks.
        weight: How much it counts.
        evidence: Why, in words.

    Raises:
        ValueError: One of them makes no sense.
    """

    __slots__ = ("evidence", "score")

    def __init__(
        self, name: str, score: float, *, max_score: float = 1.0, weight: float = 1.0, evidence: str = ""
    ) -> None:
        super().__init__(name, weight=weight, max_score=max_score)
        self.score = _number(score, f"score of {name!r}")
        if not isinstance(evidence, str):
            raise ValueError(f"evidence of {name!r} is not text")
        self.evidence = evidence

    @property
    def normalised(self) -> float:
        """The score as a fraction of full marks, from 0 to 1."""
        return min(max(self.score / self.max_score, 0.0), 1.0)


class RubricScore:
    """What a rubric gave: `reward`, `exact` before rounding, and the scored `dimensions`."""

    __slots__ = ("dimensions", "exact", "reward")

    def __init__(self, dimensions: tuple[Dimension, ...], exact: float) -> None:
        self.dimensions = dimensions
        self.exact = exact
        self.reward = round(exact, _DECIMALS)

    def details(self) -> dict[str, dict[str, float | str]]:
        """Every dimension by its name, as `details.json` holds them."""
        return {
            dimension.name: {
                "score": dimension.score,
                "max_score": dimension.max_score,
                "weight": dimension.weight,
                "evidence": dimension.evidence,
            }
            for dimension in self.dimensions
        }


class Rubric:
    """Dimensions with their weights, and how they become one reward.

    Args:
        criteria: At least one, with different names.
        strategy: `weighted_mean` or `min`.

    Raises:
        ValueError: Names repeat, nothing has a weight, or the strategy is unknown.
    """

    __slots__ = ("criteria", "strategy")

    def __init__(self, criteria: Iterable[Criterion], strategy: str = "weighted_mean") -> None:
        self.criteria = tuple(criteria)
        self.strategy = strategy
        _check(self.criteria, strategy)

    def score(self, scores: Mapping[str, float | tuple[float, str]]) -> RubricScore:
        """Roll up scores, given by name: a number, or a number and the evidence for it.

        Raises:
            ValueError: A dimension is missing or unknown, or a score is not a finite number.
        """
        known = {criterion.name for criterion in self.criteria}
        if missing := [criterion.name for criterion in self.criteria if criterion.name not in scores]:
            raise ValueError(f"no score for {_listed(missing)}")
        if unknown := [name for name in scores if name not in known]:
            raise ValueError(f"{_listed(unknown)} not in the rubric; it has {_listed(known)}")
        dimensions = []
        for criterion in self.criteria:
            given = scores[criterion.name]
            score, evidence = given if isinstance(given, tuple) else (given, "")
            dimensions.append(
                Dimension(
                    criterion.name,
                    score,
                    max_score=criterion.max_score,
                    weight=criterion.weight,
                    evidence=evidence,
                )
            )
        return roll_up(dimensions, self.strategy)


def roll_up(dimensions: Iterable[Dimension], strategy: str = "weighted_mean") -> RubricScore:
    """Combine scored dimensions: each as a fraction of its full marks, the whole rounded to 4 decimals.

    Raises:
        ValueError: Names repeat, nothing has a weight, or the strategy is unknown.
    """
    scored = tuple(dimensions)
    _check(scored, strategy)
    fractions = [dimension.normalised for dimension in scored]
    if strategy == "min":
        return RubricScore(scored, min(fractions))
    # Shares of the largest weight, so that no sum of finite weights overflows; fsum ignores their order.
    largest = max(dimension.weight for dimension in scored)
    shares = [dimension.weight / largest for dimension in scored]
    products = [share * fraction for share, fraction in zip(shares, fractions, strict=True)]
    return RubricScore(scored, min(math.fsum(products) / math.fsum(shares), 1.0))


def _check(criteria: tuple[Criterion, ...], strategy: str) -> None:
    if strategy not in STRATEGIES:
        raise ValueError(f"strategy {strategy!r} is unknown; one of {', '.join(STRATEGIES)}")
    if not criteria:
        raise ValueError("a rubric needs at least one dimension")
    names: set[str] = set()
    for criterion in criteria:
        if criterion.name in names:
            raise ValueError(f"dimension {criterion.name!r} is there twice")
        names.add(criterion.name)
    if not any(criterion.weight > 0.0 for criterion in criteria):
        raise ValueError("every weight is 0, so nothing would count")


def _number(value: object, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"{what} is not a number: {value!r}")
    try:
        number = float(value)
    except OverflowError:
        raise ValueError(f"{what} is too large") from None
    if not math.isfinite(number):
        raise ValueError(f"{what} is not finite: {value}")
    return number


def _listed(names: Iterable[str]) -> str:
    return ", ".join(repr(name) for name in sorted(names))
