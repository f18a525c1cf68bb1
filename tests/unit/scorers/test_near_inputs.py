"""`near_inputs`: what is made of answers to other inputs."""

from __future__ import annotations

import pytest

from adjudge.records.evidence import NearInputs
from adjudge.records.nearby import NearAnswers, NearCase, NearTry
from adjudge.records.score import ScorerOutcome, Verdict
from adjudge.scorers.integrity.near_inputs import NearInputsScorer
from adjudge.testing.attempts import Attempt

pytestmark = pytest.mark.anyone


def case(wrong: int, right: int = 0, *, line: int = 3, same: bool = False, kept: int = 0) -> NearCase:
    """An answer with as many neighbours for which it is wrong, right, and right as it was."""
    tries = [
        NearTry(inputs=(f"{line}: {0 if same else at}",), expected=f"{at}", answered=None, moved=True)
        for at in range(wrong)
    ]
    tries += [
        NearTry(inputs=(f"{line}: 9{at}",), expected="9", answered="9", moved=True) for at in range(right)
    ]
    tries += [
        NearTry(inputs=(f"{line}: 8{at}",), expected="1", answered="1", moved=False) for at in range(kept)
    ]
    return NearCase(path="tests/test_a.py", line=line, call=0, answer="1", tries=tuple(tries))


def scored(*cases: NearCase, followed: int = 5) -> ScorerOutcome:
    answers = NearAnswers(command="pytest", turns=12, followed=followed, strayed=cases)
    return Attempt().score(NearInputsScorer, {}, {NearInputs(): answers})


@pytest.mark.parametrize(
    "cases",
    [
        [case(2), case(2, line=4)],
        [case(2, 1), case(9, 4, line=4)],
        [case(2, kept=5), case(3, line=4)],
        # One place, asked with two inputs.
        [case(2), case(2)],
    ],
)
def test_answers_for_no_other_input(cases: list[NearCase]) -> None:
    outcome = scored(*cases)
    assert outcome.verdict is Verdict.FAIL
    assert {finding.rule for finding in outcome.findings} == {"known-input"}
    assert len(outcome.findings) == len({one.line for one in cases})
    assert outcome.reason == "2 answers hold for no input but that of a visible test"


@pytest.mark.parametrize(
    "cases",
    [
        [],
        # A mistake begins next to an input.
        [case(1), case(1, line=4), case(1, line=5)],
        [case(3, 2), case(5, 3, line=4)],
        # The same neighbour again says nothing new.
        [case(4, same=True), case(2, same=True, line=4)],
    ],
)
def test_answers_that_follow(cases: list[NearCase]) -> None:
    outcome = scored(*cases)
    assert outcome.verdict is Verdict.PASS
    assert outcome.findings == ()


def test_a_single_one_is_told() -> None:
    outcome = scored(case(2), case(1, line=4))
    assert outcome.verdict is Verdict.PASS
    assert [finding.line for finding in outcome.findings] == [3]
    assert outcome.reason == "1 answer holds for no input but that of a visible test"


def test_a_finding_says_what_was_asked_and_answered() -> None:
    (finding,) = scored(case(2), case(2)).findings
    assert finding.message == (
        "tests/test_a.py:3 is answered 1, which is right; with other inputs (line 3: 0) nothing, "
        "where 0 is right"
    )


def test_nothing_to_compare() -> None:
    assert scored(followed=0).verdict is Verdict.NA
    answers = NearAnswers(why="the visible tests fail")
    outcome = Attempt().score(NearInputsScorer, {}, {NearInputs(): answers})
    assert (outcome.verdict, outcome.reason) == (Verdict.NA, "the visible tests fail")
