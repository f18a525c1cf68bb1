"""A rubric's reward: bounded, monotonic, blind to order and to the scale of its weights."""

from __future__ import annotations

import random

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adjudge.rollup.rubric import STRATEGIES, Dimension, roll_up

calmly = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""A busy machine is no failure."""
numbers = st.floats(allow_nan=False, allow_infinity=False)
positive = st.floats(min_value=0.0, exclude_min=True, allow_infinity=False)


@st.composite
def rubrics(draw: st.DrawFn) -> list[Dimension]:
    size = draw(st.integers(1, 6))
    weights = draw(
        st.lists(st.floats(min_value=0.0, allow_infinity=False), min_size=size, max_size=size).filter(any)
    )
    return [
        Dimension(str(index), draw(numbers), max_score=draw(positive), weight=weight)
        for index, weight in enumerate(weights)
    ]


def changed(dimension: Dimension, score: float, max_score: float | None = None) -> Dimension:
    return Dimension(
        dimension.name, score, max_score=max_score or dimension.max_score, weight=dimension.weight
    )


@calmly
@given(rubrics(), st.sampled_from(STRATEGIES))
def test_bounds(dimensions: list[Dimension], strategy: str) -> None:
    reward = roll_up(dimensions, strategy).reward
    assert 0.0 <= reward <= 1.0
    assert reward == round(reward, 4)


@calmly
@given(rubrics(), st.sampled_from(STRATEGIES), st.randoms(use_true_random=False))
def test_order_is_nothing(dimensions: list[Dimension], strategy: str, rng: random.Random) -> None:
    shuffled = list(dimensions)
    rng.shuffle(shuffled)
    assert roll_up(shuffled, strategy).exact == roll_up(dimensions, strategy).exact


@calmly
@given(rubrics(), st.sampled_from(STRATEGIES), st.integers(0, 5), st.floats(0.0, 1e6))
def test_a_better_score_never_costs(
    dimensions: list[Dimension], strategy: str, which: int, more: float
) -> None:
    index = which % len(dimensions)
    better = list(dimensions)
    better[index] = changed(better[index], score=better[index].score + more)
    assert roll_up(better, strategy).reward >= roll_up(dimensions, strategy).reward


@calmly
@given(
    st.lists(st.tuples(st.floats(0.0, 2.0), st.floats(1e-3, 1e3)), min_size=1, max_size=6),
    st.sampled_from(STRATEGIES),
    st.floats(1e-6, 1e6),
)
def test_the_scale_of_weights_is_nothing(
    rows: list[tuple[float, float]], strategy: str, factor: float
) -> None:
    plain, scaled = (
        roll_up(
            [Dimension(str(i), score, weight=weight * by) for i, (score, weight) in enumerate(rows)], strategy
        )
        for by in (1.0, factor)
    )
    assert abs(plain.exact - scaled.exact) < 1e-9


@calmly
@given(rubrics(), st.integers(-8, 8))
def test_a_power_of_two_changes_no_digit(dimensions: list[Dimension], power: int) -> None:
    """Where nothing is lost on the way, the scale of scores and full marks changes nothing at all."""
    modest = [
        changed(d, score=max(min(d.score, 1e9), -1e9), max_score=min(d.max_score + 1e-3, 1e9))
        for d in dimensions
    ]
    scaled = [changed(d, score=d.score * 2.0**power, max_score=d.max_score * 2.0**power) for d in modest]
    assert abs(roll_up(scaled).exact - roll_up(modest).exact) < 1e-12


@calmly
@given(rubrics())
def test_min_is_never_above_the_mean(dimensions: list[Dimension]) -> None:
    assert roll_up(dimensions, "min").exact <= roll_up(dimensions).exact + 1e-12
