from __future__ import annotations

import pytest

from adjudge.stats.paired import paired_difference

pytestmark = pytest.mark.anyone


def test_a_clear_difference_is_shown() -> None:
    found = paired_difference(
        [0.0, 0.2, 0.1, 0.0, 0.3, 0.2, 0.0, 0.1], [1.0, 0.9, 1.0, 0.8, 1.0, 0.9, 1.0, 0.7]
    )
    assert found.shown
    assert found.low is not None
    assert found.high is not None
    assert 0 < found.low < found.mean < found.high
    # Every exchange of sides is tried: two of 256 are as extreme.
    assert found.p_value == pytest.approx(2 / 256)
    assert (found.pairs, found.higher, found.lower) == (8, 8, 0)
    assert not paired_difference([0.0, 1.0, 0.5, 0.5], [1.0, 0.0, 0.5, 0.5]).shown


def test_the_sides_can_be_exchanged() -> None:
    first, second = [0.0, 1.0, 0.5, 0.0, 0.2], [1.0, 1.0, 0.0, 0.5, 0.4]
    there, back = paired_difference(first, second), paired_difference(second, first)
    assert there.mean == pytest.approx(-back.mean)
    assert there.low == pytest.approx(-(back.high or 0))
    assert there.p_value == pytest.approx(back.p_value)
    assert (there.higher, there.lower) == (back.lower, back.higher)


@pytest.mark.parametrize("count", [2, 3, 5, 20])
def test_ties_alone_prove_no_tie(count: int) -> None:
    found = paired_difference([1.0] * count, [1.0] * count)
    assert (found.mean, found.p_value) == (0.0, 1.0)
    assert found.low is not None
    assert found.high is not None
    assert found.low < 0 < found.high
    assert found.low == pytest.approx(-found.high)
    assert not found.shown


def test_few_pairs_show_nothing_even_when_all_agree() -> None:
    assert not paired_difference([0.0] * 5, [1.0] * 5).shown
    many = paired_difference([0.0] * 12, [1.0] * 12)
    assert many.shown
    assert many.low is not None
    assert 0.5 < many.low < 1.0
    assert many.high == 1.0
    assert paired_difference([0.0], [1.0]) == (1, 1.0, None, None, None, 1, 0)


def test_many_pairs_give_the_same_answer_each_time() -> None:
    first = [number % 3 / 2 for number in range(200)]
    second = [number % 5 / 4 for number in range(200)]
    assert paired_difference(first, second) == paired_difference(first, second)


def test_what_is_no_pairs_is_refused() -> None:
    for first in ([], [1.0]):
        with pytest.raises(ValueError, match="no pairs"):
            paired_difference(first, [])
