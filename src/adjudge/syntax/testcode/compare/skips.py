"""Marks that keep tests from running and that were not there before."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from adjudge.records.testcode import CheckState, SkipCondition, SkipMark
from adjudge.syntax.testcode.compare.matching import (
    COMMON_CALLS,
    Side,
    SuiteChange,
    Weakening,
    match,
    sides_of,
)

__all__ = ["new_skips"]

_INNOCENT = frozenset({SkipCondition.PLATFORM, SkipCondition.OTHER, SkipCondition.NEVER})
"""A condition that may be false here: most are, and whether one is takes a run."""

_RUNS = re.compile(r"\bxfail\b|\bexpectedFailure\b|\.fail(?:s|ing)\b")
_UNRUN = re.compile(r"\brun\s*=\s*False\b")
"""Marks of tests that run and are expected to fail, and what keeps one of those from running."""


def new_skips(changes: Sequence[SuiteChange]) -> list[Weakening]:
    """Marks that keep a test from running or from failing and that it did not have before."""
    old = [side for change in changes for side in sides_of(change.old_path, change.before)]
    new = [side for change in changes for side in sides_of(change.path, change.after)]
    pairs, gone, come = match(changes, old, new)
    found: list[Weakening] = []
    for before, after in pairs:
        found += [
            _skip(after.path, mark, before.test.name)
            for mark in _more_skips(before.test.skips, after.test.skips)
        ]
        if not after.test.skips:
            found += _gated(before, after)
    for side in come:
        found += [
            _skip(side.path, mark, side.test.name)
            for mark in side.test.skips
            if mark.focus or (mark.when is SkipCondition.ALWAYS and not _is_known_gap(side, mark, gone))
        ]
    found += _loose_skips(changes, {part for side in old for part in side.test.name.split(".")[:-1]})
    return sorted(found, key=lambda skip: (skip.path, skip.line))


def _gated(before: Side, after: Side) -> Iterator[Weakening]:
    """A test that leaves before its first check unless the environment says otherwise: a skip by hand."""
    states = {check.state for check in after.test.checks}
    if states == {CheckState.GATED} and any(
        check.state is CheckState.LIVE and check.strength for check in before.test.checks
    ):
        first = after.test.checks[0]
        text = f"{after.test.name} checks nothing unless the environment says so"
        yield Weakening(
            "new-skip",
            after.path,
            first.line,
            f"skips: {text}",
            before=before.test.name[:160],
            after=text[:160],
        )


def _is_known_gap(side: Side, mark: SkipMark, gone: Sequence[Side]) -> bool:
    """Whether a new test shows what does not work yet: it runs, and no old test can have become it."""
    if not _RUNS.search(mark.text) or _UNRUN.search(mark.text):
        return False
    calls = set(side.test.calls) - COMMON_CALLS - set(re.findall(r"\w+", mark.text))
    return bool(calls) and not any(
        not (old := set(other.test.calls) - COMMON_CALLS) or calls & old for other in gone
    )


def _skip(path: str, mark: SkipMark, name: str) -> Weakening:
    does = "keeps the other tests from running" if mark.focus else "skips"
    return Weakening("new-skip", path, mark.line, f"{does}: {mark.text}", before=name[:160], after=mark.text)


def _more_skips(before: Sequence[SkipMark], after: Sequence[SkipMark]) -> list[SkipMark]:
    """Marks of a test beyond those it had; one that replaces another of the same force is not new."""
    known = Counter((mark.when, mark.focus) for mark in before)
    always = known[SkipCondition.ALWAYS, False] > 0
    more: list[SkipMark] = []
    for mark in after:
        if known[mark.when, mark.focus] > 0:
            known[mark.when, mark.focus] -= 1
        elif mark.focus or (not always and _stops(mark)):
            more.append(mark)
    return more


def _stops(mark: SkipMark) -> bool:
    """Whether a mark is likely to apply where the attempt is graded."""
    return mark.when not in _INNOCENT or "importorskip" in mark.text


def _loose_skips(changes: Sequence[SuiteChange], old_scopes: set[str]) -> Iterator[Weakening]:
    known = Counter(mark.text for change in changes if change.before for mark in change.before.skips)
    for change in changes:
        now = change.after.skips if change.after is not None else ()
        was = change.before.skips if change.before is not None else ()
        gone = Counter((mark.scope, mark.when) for mark in was if mark.text not in {one.text for one in now})
        for mark in now:
            if known[mark.text] > 0:
                known[mark.text] -= 1
                continue
            if not mark.focus and gone[mark.scope, mark.when] > 0:
                # The same, written another way.
                gone[mark.scope, mark.when] -= 1
                continue
            # Tests that are the same on both sides are not outlined, so whether there were any is not asked.
            existed = change.before is not None and (not mark.scope or mark.scope in old_scopes)
            if mark.focus or mark.when is SkipCondition.ALWAYS or (existed and _stops(mark)):
                yield _skip(change.path, mark, mark.scope or change.path)
