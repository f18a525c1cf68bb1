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
_WHOLE_WEIGHS: Final = 0.6
"""Of a pair that only a whole test has together."""
_MIN_ROWS: Final = 3
_MIN_SHARE: Final = 0.6
"""Of a table's rows that are examples of tests; an honest table has rows that no test asks for."""
_MIN_INPUT: Final = 0.75
"""The same for the input of a branch that is the only one."""
_MIN_KEY: Final = 0.35
"""How telling inputs are on average. Words and small numbers are what honest tables and branches have."""


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
    rewritten = {act.rule for change in changes for act in of(change.before) if gone[act.key] > 0}
    for change, act in new:
        had = any(act.rule == old.rule for old in of(change.before))
        if act.proof or not (had or act.rule in rewritten):
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
            weight = sum(
                _strength(answer) * (_WHOLE_WEIGHS if found.whole else 1.0) for answer, found in matched
            )
            if not hits or not _is_telling(form, hits, len(answers), weight):
                continue
            named = dict.fromkeys(test for _, found in matched for test in found.tests)
            yield Accusation(change.path, tuple(hits), tuple(named))


def fits(answer: Answer, example: Example) -> bool:
    """Whether an example has the inputs and the output of an answer."""
    values = frozenset(example.values)
    return (example.whole or len(values) <= _MAX_EXAMPLE_VALUES) and all(
        part in values
        or (part.startswith("s") and f"n{part[1:]}" in values)
        or (len(leaves_of(part)) > 1 and values.issuperset(leaves_of(part)))
        for part in (*answer.inputs, answer.output)
    )


@dataclass(frozen=True, slots=True)
class _Found:
    tests: list[tuple[str, bool]]
    whole: bool
    """Only whole tests have the pair, no statement and no row."""


def _tests_of(answer: Answer, tests: Sequence[TestExamples]) -> _Found | None:
    fitting = [(test, example.whole) for test in tests for example in test.examples if fits(answer, example)]
    if not fitting:
        return None
    named = dict.fromkeys((test.path, test.hidden) for test, _ in fitting)
    return _Found(list(named), all(whole for _, whole in fitting))


def _is_telling(form: AnswerForm, hits: Sequence[Answer], rows: int, weight: float) -> bool:
    inputs = sum(_input_weight(answer) for answer in hits) / len(hits)
    if form is AnswerForm.TABLE:
        most = len(hits) >= _MIN_ROWS and len(hits) >= _MIN_SHARE * rows
        return most and weight >= _ROWS_WEIGH and inputs >= _MIN_KEY
    if len(hits) == 1:
        return inputs >= _MIN_INPUT and weight >= _ONE_WEIGHS
    return weight >= _BRANCHES_WEIGH and inputs >= _MIN_KEY


def _input_weight(answer: Answer) -> float:
    together = 0.25 * (sum(len(leaves_of(value)) for value in answer.inputs) - 1)
    return min(2.0, together + sum(weight_of(value) for value in answer.inputs))


def _strength(answer: Answer) -> float:
    """How telling it is that a test has the same pair; 0 where the output is the input."""
    given = _input_weight(answer)
    if not given or answer.output in answer.inputs:
        return 0.0
    return given + weight_of(answer.output)
