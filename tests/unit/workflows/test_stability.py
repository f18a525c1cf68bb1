from __future__ import annotations

from adjudge.workflows.stability import Seen, conclude_suite


def unstable(*runs: Seen) -> dict[str, dict[str, int]]:
    return {test.id: dict(test.outcomes) for test in conclude_suite("suite", runs).unstable}


def whole(**outcomes: str) -> Seen:
    return Seen(outcomes, whole=True)


def broken_off(**outcomes: str) -> Seen:
    return Seen(outcomes, whole=False)


def test_what_ends_the_same_way_is_stable() -> None:
    runs = [whole(a="passed", b="failed", c="skipped")] * 3
    suite = conclude_suite("suite", runs)
    assert (suite.scorer, suite.tests, suite.unstable, suite.broken_off) == ("suite", 3, (), 0)


def test_passing_and_not_passing_is_unstable() -> None:
    runs = [whole(a="passed"), whole(a="failed"), whole(a="passed"), whole(a="error")]
    assert unstable(*runs) == {"a": {"error": 1, "failed": 1, "passed": 2}}
    assert unstable(whole(a="skipped"), whole(a="passed")) == {"a": {"passed": 1, "skipped": 1}}
    assert unstable(whole(a="skipped"), whole(a="failed")) == {"a": {"failed": 1, "skipped": 1}}


def test_failing_in_another_way_is_stable() -> None:
    assert unstable(whole(a="failed"), whole(a="error"), whole(a="xpassed"), whole()) == {}
    assert unstable(whole(a="skipped"), whole(a="xfailed")) == {}


def test_a_test_that_is_not_always_there_is_unstable() -> None:
    assert unstable(whole(a="passed"), whole()) == {"a": {"missing": 1, "passed": 1}}


def test_a_run_that_broke_off_says_nothing_of_what_it_did_not_reach() -> None:
    runs = [whole(a="passed", b="passed"), broken_off(a="failed")]
    assert unstable(*runs) == {"a": {"failed": 1, "passed": 1}}
    assert conclude_suite("suite", runs).broken_off == 1
