"""Tests found again in the version afterwards."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from adjudge.records.testcode import Check, SkipCondition, SuiteOutline, WrittenTest

__all__ = [
    "COMMON_CALLS",
    "Side",
    "SuiteChange",
    "Weakening",
    "collected",
    "last_name",
    "match",
    "never_runs",
    "sides_of",
]

COMMON_CALLS: Final = frozenset(
    {"len", "str", "int", "list", "dict", "set", "tuple", "sorted", "range", "print", "open", "isinstance",
     "raises", "approx", "expect", "toBe", "toEqual", "Errorf", "Fatalf", "Error", "Fatal", "Run", "Equal",
     "NoError", "append", "make", "Sprintf", "assertEqual", "assertTrue", "toBeTruthy", "fail", "join",
     "parametrize", "mark", "pytest", "fixture", "assertEquals", "assert_eq", "assert", "vec", "format",
     "to", "eq", "it", "test", "describe", "all", "any", "type", "round", "bool", "float", "iter", "next",
     "get", "items", "keys", "values", "new", "String", "toString", "importorskip", "skip"}
)  # fmt: skip
"""Calls that say nothing of what a test is about."""


@dataclass(frozen=True, slots=True)
class SuiteChange:
    """A test file before and after; None where it was not, or is no test file any more."""

    old_path: str
    path: str
    before: SuiteOutline | None
    after: SuiteOutline | None


@dataclass(frozen=True, slots=True)
class Weakening:
    """One way in which a change made the tests say less."""

    rule: str
    path: str
    line: int
    message: str
    before: str | None = None
    """What stood there, where something did."""
    after: str | None = None
    arguable: bool = False
    """Whether it is what a changed requirement looks like, too."""
    mild: bool = False
    """Whether something is still asked there, and no case that was asked by its values is gone."""
    names: frozenset[str] = frozenset()
    """Names that what was lost is about."""


@dataclass(slots=True)
class Side:
    """A test with the file it is in, and what is left of its checks to be accounted for."""

    path: str
    test: WrittenTest
    checks: list[Check] = field(default_factory=list)


def sides_of(path: str, outline: SuiteOutline | None) -> Iterator[Side]:
    """The tests of a version of a file."""
    for test in outline.tests if outline is not None else ():
        yield Side(path, test, list(test.checks))


def collected(changes: Sequence[SuiteChange], *, before: bool) -> list[Side]:
    """Every test that a runner finds in one of the versions."""
    return [
        side
        for change in changes
        for side in sides_of(
            change.old_path if before else change.path, change.before if before else change.after
        )
        if side.test.collected
    ]


def match(
    changes: Sequence[SuiteChange], old: list[Side], new: list[Side]
) -> tuple[list[tuple[Side, Side]], list[Side], list[Side]]:
    """Pairs of a test and what became of it, what went, and what came."""
    moved = {change.old_path: change.path for change in changes}
    pairs: list[tuple[Side, Side]] = []
    taken: set[int] = set()

    def pass_over(
        left: list[Side], key_old: Callable[[Side], object], key_new: Callable[[Side], object]
    ) -> list[Side]:
        places: dict[object, list[Side]] = defaultdict(list)
        for side in reversed(new):
            key = key_new(side)
            if id(side) not in taken and key is not None:
                places[key].append(side)
        unmatched: list[Side] = []
        for side in left:
            candidates = places.get(key_old(side))
            if candidates:
                match = candidates.pop()
                taken.add(id(match))
                pairs.append((side, match))
            else:
                unmatched.append(side)
        return unmatched

    left = pass_over(
        old,
        lambda side: (moved.get(side.path, side.path), side.test.name),
        lambda side: (side.path, side.test.name),
    )
    left = pass_over(left, lambda side: side.test.body, lambda side: side.test.body)
    left = pass_over(left, lambda side: last_name(side.test), lambda side: last_name(side.test))
    left = pass_over(left, lambda side: _what_it_asks(side.test), lambda side: _what_it_asks(side.test))
    return pairs, left, [side for side in new if id(side) not in taken]


def never_runs(test: WrittenTest) -> bool:
    """Whether a test has a mark that always keeps it from running, or from failing."""
    return any(mark.when is SkipCondition.ALWAYS and not mark.focus for mark in test.skips)


def last_name(test: WrittenTest) -> str:
    """A test's own name, without what it lies in."""
    return re.split(r"\.| > ", test.name)[-1]


def _what_it_asks(test: WrittenTest) -> tuple[tuple[str, ...], ...] | None:
    return tuple(check.key for check in test.checks) or None
