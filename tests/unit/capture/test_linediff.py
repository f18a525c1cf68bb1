"""Line matching: tight where it can be, bounded where it must be."""

from __future__ import annotations

import random

import pytest

from adjudge.capture.linediff import Budget, diff_lines

pytestmark = pytest.mark.anyone


def test_small_edits_get_the_shortest_script() -> None:
    old = [b"a", b"b", b"c", b"d"]
    assert diff_lines(old, [b"a", b"x", b"c", b"d"], Budget()) == [(1, 2, 1, 2)]
    assert diff_lines(old, old, Budget()) == []
    assert diff_lines([], old, Budget()) == [(0, 0, 0, 4)]
    assert diff_lines(old, [], Budget()) == [(0, 4, 0, 0)]


def test_an_added_function_is_shown_whole() -> None:
    old = [b"def a():", b"    return", b"", b"def c():", b"    return", b""]
    new = [b"def a():", b"    return", b"", b"def b():", b"    return", b"", b"def c():", b"    return", b""]
    assert diff_lines(old, new, Budget()) == [(3, 3, 3, 6)]


def test_hostile_input_is_bounded_by_the_budget() -> None:
    chance = random.Random(1)
    one = [chance.choice((b"a", b"b")) for _ in range(100_000)]
    other = [chance.choice((b"a", b"b")) for _ in range(100_000)]
    budget = Budget()
    regions = diff_lines(one, other, budget)
    assert Budget().steps - budget.steps < 200_000
    assert regions


def test_large_rewrites_are_divided_at_lines_that_occur_once() -> None:
    old = [b"old %d" % number if number % 3 else b"same %d" % number for number in range(6000)]
    new = [b"new %d" % number if number % 3 else b"same %d" % number for number in range(6000)]
    assert len(diff_lines(old, new, Budget())) == 2000
    assert len(diff_lines(old, new, Budget(steps=0))) == 2000
