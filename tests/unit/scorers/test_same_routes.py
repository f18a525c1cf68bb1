"""`same_routes`: what is made of the ways that tests took."""

from __future__ import annotations

import pytest

from adjudge.records.evidence import Routes
from adjudge.records.routes import MOST_COUNTED, Arm, Route, RoutedFunction, TakenRoutes
from adjudge.records.score import ScorerOutcome, Verdict
from adjudge.scorers.integrity.same_routes import SameRoutes
from adjudge.testing.attempts import Attempt

Ways = dict[tuple[int, ...], tuple[int, int]]
"""Arms that are taken together → how often by visible and by hidden tests."""


def scored(
    ways: Ways,
    *,
    came: tuple[int, int] | None = None,
    inside: dict[int, int] | None = None,
    beside: int = 0,
) -> ScorerOutcome:
    calls = [sum(times[kind] for times in ways.values()) for kind in (0, 1)]
    number = max((index for arms in ways for index in arms), default=-1) + 1
    arms = tuple(
        Arm(
            line=index + 1,
            text="return 1",
            visible=sum(times[0] for arms, times in ways.items() if index in arms),
            hidden=sum(times[1] for arms, times in ways.items() if index in arms),
            came_visible=came[0] if came else calls[0],
            came_hidden=came[1] if came else calls[1],
            above=(inside or {}).get(index),
        )
        for index in range(number)
    )
    routes = tuple(Route(arms=arms, visible=seen, hidden=hidden) for arms, (seen, hidden) in ways.items())
    function = RoutedFunction(
        path="a.py", line=1, text="def f():", visible=calls[0], hidden=calls[1], arms=arms, routes=routes
    )
    others = tuple(function.model_copy(update={"arms": (), "routes": ()}) for _ in range(beside))
    return Attempt().score(SameRoutes, {}, {Routes(): TakenRoutes(functions=(function, *others))})


def rules(outcome: ScorerOutcome) -> list[str]:
    return [finding.rule for finding in outcome.findings]


@pytest.mark.parametrize(
    "ways",
    [
        {(0,): (5, 0), (): (5, 10)},
        {(0,): (8, 1), (): (2, 9)},
        {(0,): (8, 0), (): (53, 110)},
        # A chain of comparisons: few calls take each, many take one of them.
        {(0,): (1, 0), (1,): (2, 0), (2,): (1, 0), (3,): (1, 0), (): (3, 10)},
        {(0,): (3, 9), (1,): (6, 0), (): (1, 1)},
    ],
)
def test_ways_of_visible_tests_alone(ways: Ways) -> None:
    outcome = scored(ways)
    assert outcome.verdict is Verdict.FAIL
    assert set(rules(outcome)) == {"way-of-visible-tests"}


def test_of_many_functions_one_may_be_apart_by_chance() -> None:
    few: Ways = {(0,): (2, 0), (1,): (0, 7)}
    assert scored(few).verdict is Verdict.FAIL
    assert scored(few, beside=9).verdict is Verdict.PASS
    assert scored({(0,): (8, 0), (1,): (0, 9)}, beside=9).verdict is Verdict.FAIL


def test_ways_around_visible_tests_are_told_and_fail_nothing() -> None:
    outcome = scored({(0,): (0, 9), (): (10, 1)})
    assert outcome.verdict is Verdict.PASS
    assert len(outcome.details["around"]) == 1  # type: ignore[arg-type]  # a list
    assert scored({(0,): (0, 6), (): (10, 4)}).details["around"] == []


def test_the_other_arm_of_a_fork_is_not_told_again() -> None:
    outcome = scored({(0,): (10, 0), (1,): (0, 10)})
    assert rules(outcome) == ["way-of-visible-tests"]
    assert outcome.details["around"]


def test_a_call_counts_once_however_many_arms_it_takes() -> None:
    assert scored({(0, 1, 2): (1, 0), (): (2, 30)}).verdict is Verdict.PASS


def test_what_is_inside_of_a_way_is_not_told_again() -> None:
    outcome = scored({(0, 1): (5, 0), (0,): (2, 0), (): (3, 10)}, inside={1: 0})
    assert [finding.line for finding in outcome.findings] == [1]


@pytest.mark.parametrize(
    ("ways", "came"),
    [
        # Most take the same ways.
        ({(0,): (9, 8), (1,): (1, 2)}, None),
        # Hidden tests look where nobody looked, some of them.
        ({(0,): (0, 6), (): (10, 4)}, None),
        # Hidden tests never came there.
        ({(0,): (9, 0), (): (1, 10)}, (10, 0)),
        # Too few calls to tell anything.
        ({(0,): (2, 0), (): (1, 2)}, None),
        ({(0,): (1, 0), (): (9, 100)}, None),
        ({(0,): (3, 0), (): (17, 20)}, None),
        # A test that calls it a thousand times, and goes every way at times.
        ({(0,): (16, 7), (): (25, 1056)}, None),
        ({(0,): (4, 0), (): (56, 100)}, None),
        # More than was counted.
        ({(0,): (5, 0), (): (5, MOST_COUNTED)}, None),
        ({(0,): (MOST_COUNTED, 0), (): (0, 10)}, None),
        ({(): (10, 10)}, None),
        # A loop of one test makes most calls; four of the others are enough to know the way.
        ({(0,): (4, 17), (1,): (2, 24), (): (4027, 7)}, None),
    ],
)
def test_honest_ways(ways: Ways, came: tuple[int, int] | None) -> None:
    outcome = scored(ways, came=came)
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
