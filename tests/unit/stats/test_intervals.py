from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.stats.intervals import wilson_interval

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
