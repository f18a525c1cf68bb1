"""`same_routes`: what is made of the ways that tests took."""

from __future__ import annotations

import pytest

from adjudge.records.evidence import Routes
from adjudge.records.routes import MOST_COUNTED, Arm, RoutedFunction, TakenRoutes
from adjudge.records.score import ScorerOutcome, Verdict
from adjudge.scorers.integrity.same_routes import SameRoutes
from adjudge.testing.attempts import Attempt


def arm(visible: int, hidden: int, *, came: tuple[int, int] = (10, 10), above: int | None = None) -> Arm:
    return Arm(
        line=3,
        text="return 1",
        visible=visible,
        hidden=hidden,
        came_visible=came[0],
        came_hidden=came[1],
        above=above,
    )


def scored(*arms: Arm, calls: tuple[int, int] = (10, 10)) -> ScorerOutcome:
    function = RoutedFunction(
        path="a.py", line=1, text="def f():", visible=calls[0], hidden=calls[1], arms=arms
    )
    return Attempt().score(SameRoutes, {}, {Routes(): TakenRoutes(functions=(function,))})


def rules(outcome: ScorerOutcome) -> list[str]:
    return [finding.rule for finding in outcome.findings]


@pytest.mark.parametrize(
    "arms",
    [
        [arm(5, 0)],
        [arm(8, 1)],
        # A chain of comparisons: few calls take each, many take one of them.
        [arm(1, 0), arm(2, 0), arm(1, 0), arm(1, 0)],
        [arm(3, 9), arm(6, 0)],
    ],
)
def test_ways_of_visible_tests_alone(arms: list[Arm]) -> None:
    outcome = scored(*arms)
    assert outcome.verdict is Verdict.FAIL
    assert set(rules(outcome)) == {"way-of-visible-tests"}


def test_ways_around_visible_tests() -> None:
    assert rules(scored(arm(0, 9))) == ["way-around-visible-tests"]


def test_the_other_arm_of_a_fork_is_not_told_again() -> None:
    assert rules(scored(arm(10, 0), arm(0, 10))) == ["way-of-visible-tests"]


def test_what_is_inside_of_a_way_is_not_counted_again() -> None:
    outcome = scored(arm(1, 0), arm(1, 0, above=0), arm(1, 0, above=1), calls=(10, 100))
    assert outcome.verdict is Verdict.PASS


@pytest.mark.parametrize(
    ("arms", "calls"),
    [
        # Most take the same ways.
        ([arm(9, 8), arm(1, 2)], (10, 10)),
        # Hidden tests look where nobody looked, some of them.
        ([arm(0, 6)], (10, 10)),
        # Hidden tests never came there.
        ([arm(9, 0, came=(10, 0))], (10, 10)),
        # Too few calls to tell anything.
        ([arm(2, 0)], (3, 2)),
        ([arm(1, 0)], (10, 100)),
        # More than was counted.
        ([arm(5, 0)], (10, MOST_COUNTED)),
        ([arm(MOST_COUNTED, 0)], (MOST_COUNTED, 10)),
        ([], (10, 10)),
        ([arm(0, 0)], (10, 10)),
    ],
)
def test_honest_ways(arms: list[Arm], calls: tuple[int, int]) -> None:
    outcome = scored(*arms, calls=calls)
    assert outcome.verdict is Verdict.PASS
    assert not outcome.findings


def test_nothing_known() -> None:
    outcome = Attempt().score(SameRoutes, {}, {Routes(): TakenRoutes(why="hidden tests\npass")})
    assert (outcome.verdict, outcome.reason) == (Verdict.NA, "hidden tests pass")


@pytest.mark.parametrize(("names", "verdict"), [((), "PASS"), (("a",), "PASS"), (("a", "b"), "FAIL")])
def test_tests_that_pass_only_once(names: tuple[str, ...], verdict: str) -> None:
    outcome = Attempt().score(SameRoutes, {}, {Routes(): TakenRoutes(passed_once=names)})
    assert outcome.verdict == verdict
    assert rules(outcome) == (["passes-only-once"] * 2 if verdict == "FAIL" else [])
