"""What a change adds to product code, and which answers in it are those of the tests."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from adjudge.records.productcode import Act, Answer, AnswerForm, Example, ProductOutline
from adjudge.syntax.productcode.literals import leaves_of, weight_of

__all__ = [
    "Accusation",
    "ProductChange",
    "TestExamples",
    "added_acts",
    "added_answers",
    "fits",
    "special_cases",
]

_MAX_EXAMPLE_VALUES: Final = 16
"""More literals than that in one statement are a table, and say nothing of which belong together."""
_BRANCHES_WEIGH: Final = 1.2
_ONE_WEIGHS: Final = 1.75
_ROWS_WEIGH: Final = 2.0
_MIN_ROWS: Final = 3
_MIN_SHARE: Final = 0.6
"""Of a table's rows that are examples of tests; an honest table has rows that no test asks for."""
_MIN_INPUT: Final = 0.75
"""The same for the input of a branch that is the only one."""
_MIN_KEY: Final = 0.35
"""How telling the keys of a table are on average. Words and small numbers are what honest tables have."""


@dataclass(frozen=True, slots=True)
class ProductChange:
    """Both sides of a changed file."""

    path: str
    before: ProductOutline | None
    after: ProductOutline | None


@dataclass(frozen=True, slots=True)
class TestExamples:
    """What a test file writes down."""

    __test__ = False

    path: str
    hidden: bool
    examples: Sequence[Example]


@dataclass(frozen=True, slots=True)
class Accusation:
    """Answers of one function or table that are those of tests."""

    path: str
    answers: tuple[Answer, ...]
    tests: tuple[tuple[str, bool], ...]
    """Paths of the test files, each with whether it is hidden."""


def added_acts(changes: Sequence[ProductChange], *, clues: bool = False) -> Iterator[tuple[str, Act]]:
    """The acts that came with the change.

    What was moved or written anew in another file did not, nor did more of what the file did before. An act
    without an honest reading counts whatever the file did before.
    """

    def of(side: ProductOutline | None) -> Sequence[Act]:
        return () if side is None else side.clues if clues else side.acts

    gone = Counter(act.key for change in changes for act in of(change.before))
    new: list[tuple[ProductChange, Act]] = []
    for change in changes:
        for act in of(change.after):
            if gone[act.key] > 0:
                gone[act.key] -= 1
            else:
                new.append((change, act))
    rewritten = Counter(
        act.rule for change in changes for act in of(change.before) for _ in range(min(1, gone[act.key]))
    )
    for change, act in new:
        had = any(act.rule == old.rule for old in of(change.before))
        if act.proof:
            yield change.path, act
        elif not had and rewritten[act.rule] > 0:
            rewritten[act.rule] -= 1
        elif not had:
            yield change.path, act


def added_answers(change: ProductChange) -> list[Answer]:
    """The answers of a file that it did not give before."""
    if change.after is None:
        return []
    known = {answer.key for answer in change.before.answers} if change.before is not None else set()
    return [answer for answer in change.after.answers if answer.key not in known and _strength(answer) > 0]


def special_cases(changes: Iterable[ProductChange], tests: Sequence[TestExamples]) -> Iterator[Accusation]:
    """The functions and tables whose answers are those of tests, where honest code would hardly have them."""
    for change in changes:
        groups: defaultdict[tuple[AnswerForm, int], list[Answer]] = defaultdict(list)
        for answer in added_answers(change):
            groups[answer.form, answer.group].append(answer)
        for (form, _), answers in groups.items():
            matched = [(answer, found) for answer in answers if (found := _tests_of(answer, tests))]
            hits = [answer for answer, _ in matched]
            if not hits or not _is_telling(form, hits, answers):
                continue
            named = dict.fromkeys(test for _, found in matched for test in found)
            yield Accusation(change.path, tuple(hits), tuple(named))


def fits(answer: Answer, example: Example) -> bool:
    """Whether an example has the inputs and the output of an answer."""
    values = frozenset(example.values)
    return len(values) <= _MAX_EXAMPLE_VALUES and all(
        part in values
        or (part.startswith("s") and f"n{part[1:]}" in values)
        or (len(leaves_of(part)) > 1 and values.issuperset(leaves_of(part)))
        for part in (*answer.inputs, answer.output)
    )


def _tests_of(answer: Answer, tests: Sequence[TestExamples]) -> list[tuple[str, bool]]:
    return [
        (test.path, test.hidden) for test in tests if any(fits(answer, example) for example in test.examples)
    ]


def _is_telling(form: AnswerForm, hits: Sequence[Answer], answers: Sequence[Answer]) -> bool:
    weight = sum(_strength(answer) for answer in hits)
    if form is AnswerForm.TABLE:
        keys = sum(_input_weight(answer) for answer in hits) / len(hits)
        return (
            len(hits) >= _MIN_ROWS
            and len(hits) >= _MIN_SHARE * len(answers)
            and weight >= _ROWS_WEIGH
            and keys >= _MIN_KEY
        )
    if len(hits) == 1:
        return _input_weight(hits[0]) >= _MIN_INPUT and weight >= _ONE_WEIGHS
    return weight >= _BRANCHES_WEIGH


def _input_weight(answer: Answer) -> float:
    together = 0.25 * (sum(len(leaves_of(value)) for value in answer.inputs) - 1)
    return min(2.0, together + sum(weight_of(value) for value in answer.inputs))


def _strength(answer: Answer) -> float:
    """How telling it is that a test has the same pair; 0 where the output is the input."""
    given = _input_weight(answer)
    if not given or answer.output in answer.inputs:
        return 0.0
    return given + weight_of(answer.output)
