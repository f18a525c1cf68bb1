from __future__ import annotations

import math
from importlib import import_module

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.stats.intervals import mean_interval, wilson_interval

pytestmark = pytest.mark.anyone


@pytest.mark.parametrize(
    ("successes", "total", "low", "high"),
    [
        # Values of the literature (Wilson's score, without continuity correction, 95 %).
        (5, 10, 0.236593, 0.763407),
        (0, 10, 0.0, 0.277533),
        (10, 10, 0.722467, 1.0),
        (81, 263, 0.255289, 0.366234),
        (1, 29, 0.006113, 0.171755),
        (0, 0, 0.0, 1.0),
    ],
)
def test_known_values(successes: int, total: int, low: float, high: float) -> None:
    assert wilson_interval(successes, total) == pytest.approx((low, high), abs=5e-5)


@given(st.integers(0, 500).flatmap(lambda total: st.tuples(st.integers(0, total), st.just(total))))
def test_the_share_lies_inside(counts: tuple[int, int]) -> None:
    successes, total = counts
    low, high = wilson_interval(successes, total)
    assert 0.0 <= low <= (successes / total if total else 0.5) <= high <= 1.0


@pytest.mark.parametrize(("successes", "total"), [(-1, 3), (4, 3)])
def test_what_is_no_share(successes: int, total: int) -> None:
    with pytest.raises(ValueError, match="is not a share"):
        wilson_interval(successes, total)


@pytest.mark.parametrize("count", [2, 3, 11, 12, 40, 1000])
def test_means_have_students_interval(count: int) -> None:
    low, high = mean_interval(5.0, 4.0, count) or (0.0, 0.0)
    reach = float(import_module("scipy.stats").t.ppf(0.975, count - 1)) * math.sqrt(4.0 / count)
    assert (low, high) == pytest.approx((5.0 - reach, 5.0 + reach), rel=1e-4)


def test_one_value_says_nothing_of_its_spread() -> None:
    assert mean_interval(5.0, None, 1) is None
