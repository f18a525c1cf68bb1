from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.stats.reliability import kappa_interval, krippendorff_alpha

pytestmark = pytest.mark.anyone


def test_alpha_of_the_literature() -> None:
    # Krippendorff (2011), "Computing Krippendorff's Alpha-Reliability", section C: four observers, nominal
    # data with missing values.
    observers = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
        [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
    ]
    units = [[label for label in unit if label is not None] for unit in zip(*observers, strict=True)]
    assert krippendorff_alpha(units) == pytest.approx(0.743, abs=5e-4)


def test_alpha_at_its_ends() -> None:
    assert krippendorff_alpha([["a", "a"], ["b", "b"]]) == 1.0
    assert krippendorff_alpha([["a", "a"], ["a", "a"]]) is None
    assert krippendorff_alpha([["a"], ["b"]]) is None
    assert krippendorff_alpha([]) is None
    worst = krippendorff_alpha([["a", "b"], ["b", "a"]])
    assert worst is not None
    assert worst < 0


@given(st.lists(st.lists(st.sampled_from("ab"), min_size=2, max_size=4), min_size=1, max_size=20))
def test_alpha_is_at_most_one(units: list[list[str]]) -> None:
    alpha = krippendorff_alpha(units)
    assert alpha is None or alpha <= 1.0
    backwards = krippendorff_alpha([list(reversed(unit)) for unit in reversed(units)])
    assert alpha == (None if backwards is None else pytest.approx(backwards))


def test_kappa_with_its_interval() -> None:
    first = ["p"] * 25 + ["f"] * 25
    second = ["p"] * 20 + ["f"] * 5 + ["p"] * 10 + ["f"] * 15
    found = kappa_interval(first, second)
    assert found is not None
    kappa, low, high = found
    assert kappa == pytest.approx(0.4)
    assert (low, high) == pytest.approx((0.146, 0.654), abs=1e-3)
    assert kappa_interval(["p", "p"], ["p", "p"]) is None
