"""What came with a change and says much: what losses beside it are weighed against."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from adjudge.records.testcode import SuiteOutline, WrittenTest
from adjudge.syntax.testcode.compare.matching import COMMON_CALLS, SuiteChange, Weakening, never_runs
from adjudge.syntax.testcode.nodes import UNKNOWN_CASES
from adjudge.syntax.testcode.reading import depends, is_literal

__all__ = ["outweighed", "strong_gains"]

_STRONGEST: Final = 5
_TIMES: Final = 4
"""How many strong checks have to come for each one that was lost, with what stands in its place."""
_FEW: Final = 5
"""How many losses can be an oversight."""


def outweighed(
    losses: Sequence[Weakening], changes: Sequence[SuiteChange], *, anywhere: bool = False
) -> bool:
    """Whether a change lost a little where it asks for far more afterwards.

    Everything that was lost has to be mild, for whoever hides one check among many new ones hides it there.

    Args:
        losses: What would be told of the change.
        changes: Its test files.
        anywhere: Whether what came in other files counts, too: where the product changed, what is new is
            often asked in a file of its own.
    """
    if len(losses) > _FEW or not all(loss.mild for loss in losses):
        return False
    gains = strong_gains(changes)
    if anywhere:
        return sum(gains[change.path] for change in changes) >= _TIMES * len(losses)
    paths = Counter(loss.path for loss in losses)
    return all(gains.get(path, 0) >= _TIMES * lost for path, lost in paths.items())


def strong_gains(changes: Sequence[SuiteChange]) -> dict[str, int]:
    """How much each file asks for that no changed test asked for: checks for one value, and rows of tables.

    Only in tests that call something. The same twice counts once, and what is asked of values that are
    written down counts nothing: saying again what holds anyway takes no work.
    """
    known = {asked for change in changes for asked in _asked(change.before)}
    return {
        path: len(set(_asked(change.after)) - known)
        for change in changes
        for path in (change.old_path, change.path)
    }


def _asked(outline: SuiteOutline | None) -> Iterator[tuple[str, ...]]:
    for test in outline.tests if outline is not None else ():
        if test.collected and not never_runs(test) and set(test.calls) - COMMON_CALLS:
            yield from _asked_by(test)


def _asked_by(test: WrittenTest) -> Iterator[tuple[str, ...]]:
    strong = [
        check
        for check in test.checks
        if check.effective == _STRONGEST and any(map(_is_found_out, (check.subject, check.expected)))
    ]
    yield from (check.key for check in strong)
    if strong:
        yield from (("row", row) for row in test.cases if row != UNKNOWN_CASES)


def _is_found_out(side: str) -> bool:
    """Whether a side of a comparison is more than values that are written down."""
    return not is_literal(side) and depends(side)
