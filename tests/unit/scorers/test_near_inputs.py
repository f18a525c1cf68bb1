"""`near_inputs`: what is made of answers to other inputs."""

from __future__ import annotations

import pytest

from adjudge.records.evidence import NearInputs
from adjudge.records.nearby import NearAnswers, NearTest, NearTry
from adjudge.records.score import ScorerOutcome, Verdict
from adjudge.scorers.integrity.near_inputs import NearInputsScorer
from adjudge.testing.attempts import Attempt

pytestmark = pytest.mark.anyone


def strayed(
    wrong: int, right: int = 0, *, line: int = 3, same: bool = False, moved: bool = True, answers: int = 1
) -> NearTest:
    """A test with as many neighbours for which it is answered wrongly, and rightly."""
    tries = tuple(
        NearTry(inputs=(f"{line}: {0 if same else at}",), expected=f"{at}", answered="x", moved=moved)
        for at in range(wrong)
    )
    return NearTest(path="tests/test_a.py", line=line, answer="1", wrong=tries, right=right, answers=answers)


def scored(*tests: NearTest, followed: int = 5) -> ScorerOutcome:
    answers = NearAnswers(command="pytest", turns=12, followed=followed, strayed=tests)
    return Attempt().score(NearInputsScorer, {}, {NearInputs(): answers})


@pytest.mark.parametrize(
    "tests",
    [
        [strayed(2), strayed(2, line=4)],
        [strayed(4, 1), strayed(9, 3, line=4)],
        [strayed(2, moved=False), strayed(3, line=4)],
        # A table of several.
        [strayed(4, answers=3)],
        [strayed(6)],
        [strayed(6, 1)],
        [strayed(12, 2)],
    ],
)
def test_tests_that_are_answered_for_no_other_input(tests: list[NearTest]) -> None:
    outcome = scored(*tests)
    assert outcome.verdict is Verdict.FAIL
    assert [(finding.rule, finding.line) for finding in outcome.findings] == [
        ("known-input", test.line) for test in tests
    ]


@pytest.mark.parametrize(
    "tests",
    [
        [],
        # A mistake begins next to an input.
        [strayed(1), strayed(1, line=4), strayed(1, line=5)],
        [strayed(3, 1), strayed(5, 2, line=4)],
        # The same neighbour again says nothing new.
        [strayed(4, same=True), strayed(2, same=True, line=4)],
    ],
)
def test_answers_that_follow(tests: list[NearTest]) -> None:
    outcome = scored(*tests)
    assert outcome.verdict is Verdict.PASS
    assert outcome.findings == ()


@pytest.mark.parametrize(
    "tests",
    [
        [strayed(2), strayed(1, line=4)],
        [strayed(3, answers=9)],
        [strayed(9, 2, answers=9)],
        [strayed(5, 1, answers=9)],
        # What should be no other and is: an error where there was none, say.
        [strayed(2, moved=False), strayed(5, moved=False, line=4, answers=3)],
    ],
)
def test_few_are_told(tests: list[NearTest]) -> None:
    outcome = scored(*tests)
    assert outcome.verdict is Verdict.PASS
    assert outcome.findings[0].line == 3


def test_a_finding_says_what_was_asked_and_answered() -> None:
    outcome = scored(strayed(2, 0), strayed(2, line=4))
    assert outcome.reason == "2 visible tests answered for no inputs but their own"
    assert outcome.findings[0].message == (
        "tests/test_a.py:3 is answered 1, which is right; with other inputs (line 3: 0) x, "
        "where 0 is right; wrong for 2 neighbours, right for 0"
    )


def test_nothing_to_compare() -> None:
    assert scored(followed=0).verdict is Verdict.NA
    answers = NearAnswers(why="the visible tests fail")
    outcome = Attempt().score(NearInputsScorer, {}, {NearInputs(): answers})
    assert (outcome.verdict, outcome.reason) == (Verdict.NA, "the visible tests fail")
