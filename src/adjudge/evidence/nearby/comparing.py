"""Who is right for inputs next to those of visible tests: the answers of two sides, compared. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from adjudge.evidence.nearby.turns import Written
from adjudge.records.nearby import NearAnswers, NearSite, NearTest, NearTry
from adjudge.syntax.nearby.inputs import takes_others

__all__ = ["Answers", "Said", "any_strays", "compare_answers", "parse_answers"]

Answers = Mapping[int, Sequence[str]]
"""By the number of the place that wrote them down, in the order of the calls."""
_MAX_TESTS: Final = 200
_MAX_SHOWN: Final = 200
_NOTHING: Final = frozenset({"?", "!"})
"""Answers that say nothing: an object nobody can look into, an error."""


@dataclass
class Said:
    """What one side answers."""

    first: Answers = field(default_factory=dict)
    """To the tests' own inputs."""
    turns: list[Answers] = field(default_factory=list)
    last: Answers | None = None
    """To the tests' own inputs once more; None where nobody asked yet."""

    def steady(self, site: int) -> Sequence[str]:
        """What a place is answered with the tests' own inputs; nothing where that is not always the same."""
        found = self.first.get(site, ())
        return found if self.last is None or self.last.get(site, ()) == found else ()


def parse_answers(data: bytes) -> Answers:
    """Answers by place, in the order of the calls; lines of others are passed over."""
    found: dict[int, list[str]] = {}
    for line in data.split(b"\n"):
        process, number, answer = (*line.split(b" ", 2), b"", b"")[:3]
        if process.isdigit() and number.isdigit() and len(number) < 9:
            found.setdefault(int(number), []).append(answer.decode("utf-8", "replace"))
    return found


@dataclass(frozen=True)
class _Try:
    """What both sides answer in one run."""

    turn: int
    inputs: tuple[str, ...]
    expected: str
    answered: str
    moved: bool

    @property
    def right(self) -> bool:
        return self.answered == self.expected

    def record(self) -> NearTry:
        return NearTry(
            inputs=self.inputs,
            expected=self.expected[:_MAX_SHOWN],
            answered=_shown(self.answered, self.expected),
            moved=self.moved,
        )


@dataclass(frozen=True)
class _Case:
    """An answer that both give to a test's own inputs, and those to others that say something."""

    path: str
    site: NearSite
    call: int
    answer: str
    tries: tuple[_Try, ...]

    @property
    def test(self) -> tuple[object, ...]:
        """What it belongs together with: answers of its test; none where many tests come there."""
        own = any(one.inputs for one in self.tries)
        return (self.path, self.site.unit) if own else (self.path, self.site.line, self.call)

    @property
    def strays(self) -> bool:
        return any(not one.right for one in self.tries)


def any_strays(written: Written, right: Said, given: Said) -> bool:
    """Whether an answer is wrong so far."""
    return any(case.strays for case in _cases(written, right, given))


def compare_answers(written: Written, right: Said, given: Said, told: NearAnswers) -> NearAnswers:
    """What is said of the attempt's answers.

    Args:
        written: What ran.
        right: What the reference solution answered.
        given: What the attempt did.
        told: What is known of the runs.
    """
    cases = list(_cases(written, right, given))
    tests: dict[tuple[object, ...], list[_Case]] = {}
    for case in cases:
        tests.setdefault(case.test, []).append(case)
    strayed = (test for test in map(_strayed, tests.values()) if test is not None)
    return told.model_copy(
        update={
            "followed": sum(any(one.right and one.moved for one in case.tries) for case in cases),
            "strayed": tuple(islice(strayed, _MAX_TESTS)),
        }
    )


def _strayed(cases: Sequence[_Case]) -> NearTest | None:
    """A test some of whose answers are wrong in runs in which none is right; None where none is."""
    right = {one.turn for case in cases for one in case.tries if one.right and one.moved}
    wrong: dict[int, tuple[_Case, _Try]] = {}
    for case in cases:
        for one in case.tries:
            if not one.right and one.turn not in right:
                wrong.setdefault(one.turn, (case, one))
    if not wrong:
        return None
    first = wrong[min(wrong)][0]
    return NearTest(
        path=first.path,
        line=first.site.line,
        answer=first.answer[:_MAX_SHOWN],
        wrong=tuple(one.record() for _, one in wrong.values()),
        right=len(right),
        answers=sum(case.strays for case in cases),
    )


def _cases(written: Written, right: Said, given: Said) -> Iterator[_Case]:
    for number, (path, site) in written.sites.items():
        expected, answered = right.steady(number), given.steady(number)
        if not expected or len(expected) != len(answered) or _is_unordered(number, right, given):
            continue
        before = written.before.get(number, ())
        for call, (one, other) in enumerate(zip(expected, answered, strict=True)):
            # What was right all along is none of the attempt's: what tests make themselves, and old features.
            old = call < len(before) and before[call] == one
            if one == other and one not in _NOTHING and not old:
                tries = tuple(_tries(number, call, one, written, right, given))
                if tries:
                    yield _Case(path, site, call, one, tries)


def _tries(number: int, call: int, before: str, written: Written, right: Said, given: Said) -> Iterator[_Try]:
    path, site = written.sites[number]
    own = right.steady(number)
    for turn, *sides in zip(written.turns, right.turns, given.turns, strict=False):
        expected, answered = (said.get(number, ()) for said in sides)
        # Where a call of one side gives nothing, nobody knows which of the others is which. An attempt that
        # refuses what the reference solution takes is not told: who reads a rule more strictly does so, too.
        if len(expected) != len(own) or len(answered) != len(own):
            continue
        answer = answered[call]
        if expected[call] in _NOTHING or answer in _NOTHING:
            continue
        moved = expected[call] != before
        # It may be what another test asks.
        if moved and takes_others(turn.number) and expected[call] in own:
            continue
        if moved or answer != before:
            inputs = turn.changed.get((path, site.unit), ())
            yield _Try(turn.number, inputs, expected[call], answer, moved)


def _shown(answer: str, expected: str) -> str:
    """An answer, cut as the right one is, but still another where it is another."""
    cut = answer[:_MAX_SHOWN]
    return cut if answer == expected or cut != expected[:_MAX_SHOWN] else f"{cut} …"


def _is_unordered(number: int, right: Said, given: Said) -> bool:
    """Whether the same answers came in another order: then nobody knows which call is which."""
    return any(
        one.get(number) != other.get(number)
        and Counter(one.get(number, ())) == Counter(other.get(number, ()))
        for one, other in [(right.first, given.first), *zip(right.turns, given.turns, strict=True)]
    )
