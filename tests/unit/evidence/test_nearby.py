"""Answers to other inputs, compared."""

from __future__ import annotations

import pytest

from adjudge.evidence.nearby.comparing import Said, compare_answers, parse_answers
from adjudge.evidence.nearby.turns import Turn, Written
from adjudge.records.nearby import NearAnswers, NearSite

pytestmark = pytest.mark.anyone

Told = dict[int, list[str]]


def compared(
    right: list[Told],
    given: list[Told],
    *,
    right_last: Told | None = None,
    given_last: Told | None = None,
    units: tuple[int, int] = (0, 0),
    before: Told | None = None,
) -> NearAnswers:
    """What comes of answers: the first are to the tests' own inputs."""
    turns = [Turn(at, f"/t{at}", {}, {("tests/test_a.py", 0): (f"3: {at}",)}) for at in range(1, len(right))]
    sites = {number: ("tests/test_a.py", NearSite(line=number, unit=units[number - 1])) for number in (1, 2)}
    sides = (
        Said(first=right[0], turns=[*right[1:]], last=right_last),
        Said(first=given[0], turns=[*given[1:]], last=given_last),
    )
    return compare_answers(Written(turns=turns, sites=sites, before=before or {}), *sides, NearAnswers())


def test_an_answer_that_follows() -> None:
    answers = compared([{1: ["a"]}, {1: ["b"]}], [{1: ["a"]}, {1: ["b"]}])
    assert (answers.followed, answers.strayed) == (1, ())


def test_a_test_that_strays_says_where() -> None:
    answers = compared([{1: ["a"]}, {1: ["b"]}, {1: ["a"]}], [{1: ["a"]}, {1: ["a"]}, {1: ["x"]}])
    (test,) = answers.strayed
    assert (test.line, test.answer, test.right, test.answers) == (1, "a", 0, 1)
    assert [(one.inputs, one.expected, one.answered, one.moved) for one in test.wrong] == [
        (("3: 1",), "b", "a", True),
        (("3: 2",), "a", "x", False),
    ]


def test_answers_of_one_test_count_together() -> None:
    right: list[Told] = [{1: ["a"], 2: ["a"]}, {1: ["b"], 2: ["b"]}, {1: ["c"], 2: ["c"]}]
    given: list[Told] = [{1: ["a"], 2: ["a"]}, {1: ["x"], 2: ["b"]}, {1: ["x"], 2: ["x"]}]
    (test,) = compared(right, given).strayed
    assert (len(test.wrong), test.right, test.answers) == (1, 1, 2)


def test_answers_at_a_place_where_many_tests_come_count_alone() -> None:
    right: list[Told] = [{1: ["a", "a"]}, {1: ["b", "b"]}]
    given: list[Told] = [{1: ["a", "a"]}, {1: ["x", "b"]}]
    (test,) = compared(right, given, units=(7, 7)).strayed
    assert (len(test.wrong), test.right) == (1, 0)


@pytest.mark.parametrize(
    ("right", "given"),
    [
        # Not the same for the tests' own inputs: another way to say it, perhaps.
        ([{1: ["a"]}, {1: ["b"]}], [{1: ["A"]}, {1: ["B"]}]),
        # The reference solution refuses the input.
        ([{1: ["a"]}, {}], [{1: ["a"]}, {1: ["a"]}]),
        ([{1: ["a"]}, {1: ["!"]}], [{1: ["a"]}, {1: ["a"]}]),
        ([{1: ["?"]}, {1: ["b"]}], [{1: ["?"]}, {1: ["a"]}]),
        # The attempt does.
        ([{1: ["a"]}, {1: ["b"]}], [{1: ["a"]}, {}]),
        ([{1: ["a"]}, {1: ["b"]}], [{1: ["a"]}, {1: ["!"]}]),
        # Its call gives nothing, so those behind it are not what they seem.
        ([{1: ["a", "b"]}, {1: ["c", "b"]}], [{1: ["a", "b"]}, {1: ["b"]}]),
        # Its test ends early: nobody knows which call is which.
        ([{1: ["a", "b"]}, {1: ["b"]}], [{1: ["a", "b"]}, {1: ["a", "b"]}]),
        # In no certain order.
        ([{1: ["a", "b"]}, {1: ["c", "b"]}], [{1: ["b", "a"]}, {1: ["b", "d"]}]),
        ([{1: ["a", "b"]}, {1: ["c", "b"]}], [{1: ["a", "b"]}, {1: ["b", "c"]}]),
    ],
)
def test_what_says_nothing(right: list[Told], given: list[Told]) -> None:
    assert compared(right, given).strayed == ()


def test_answers_that_are_not_the_same_the_second_time_say_nothing() -> None:
    right: list[Told] = [{1: ["a"], 2: ["a"]}, {1: ["b"], 2: ["b"]}]
    given: list[Told] = [{1: ["a"], 2: ["a"]}, {1: ["x"], 2: ["x"]}]
    answers = compared(right, given, right_last={1: ["a"], 2: ["a"]}, given_last={1: ["z"], 2: ["a"]})
    assert [test.line for test in answers.strayed] == [2]


def test_long_answers_that_differ_at_the_end_stay_different() -> None:
    (test,) = compared([{1: ["a"]}, {1: ["b" * 500]}], [{1: ["a"]}, {1: ["b" * 499 + "c"]}]).strayed
    assert test.wrong[0].answered != test.wrong[0].expected


def test_lines_of_others_are_passed_over() -> None:
    data = b"12 1 a b\nnonsense\n12 x y\n-1 2 c\n12 1\n12 1 \xff\n"
    assert parse_answers(data) == {1: ["a b", "", "\ufffd"]}


def test_what_was_right_all_along_says_nothing() -> None:
    right: list[Told] = [{1: ["a"], 2: ["a", "b"]}, {1: ["c"], 2: ["c", "d"]}]
    given: list[Told] = [{1: ["a"], 2: ["a", "b"]}, {1: ["c"], 2: ["x", "y"]}]
    answers = compared(right, given, before={1: ["a"], 2: ["z", "b"]})
    assert answers.followed == 0
    (test,) = answers.strayed
    assert (test.answer, test.right, test.answers) == ("a", 0, 1)
