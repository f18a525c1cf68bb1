"""Marks that keep tests from running and that were not there before."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence, Set

from adjudge.records.testcode import ELSEWHERE, CheckState, SkipCondition, SkipMark
from adjudge.syntax.testcode.compare.matching import (
    COMMON_CALLS,
    Side,
    SuiteChange,
    Weakening,
    match,
    never_runs,
    sides_of,
)

__all__ = ["new_skips"]

_INNOCENT = frozenset({SkipCondition.PLATFORM, SkipCondition.OTHER, SkipCondition.NEVER})
"""A condition that may be false here: most are, and whether one is takes a run."""

_REQUIRED = re.compile(r"""importorskip\(\s*["'](\w+)""")
"""The package that a test cannot do without."""


def new_skips(changes: Sequence[SuiteChange]) -> list[Weakening]:
    """Marks that keep a test from running or from failing and that it did not have before.

    A new test that is skipped takes nothing away, unless it stands where an old one stood: its mark is found
    under a rule of its own (`new-test-skipped`).
    """
    old = [side for change in changes for side in sides_of(change.old_path, change.before)]
    new = [side for change in changes for side in sides_of(change.path, change.after)]
    pairs, gone, come = match(changes, old, new)
    stand_ins = _stand_ins(old, new, gone, come)
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
            _skip(side.path, mark, side.test.name, new=not mark.focus and id(side) not in stand_ins)
            for mark in side.test.skips
            if mark.focus or mark.when is SkipCondition.ALWAYS
        ]
    found += _loose_skips(changes, pairs, come, stand_ins)
    return sorted(found, key=lambda skip: (skip.path, skip.line))


def _stand_ins(
    old: Sequence[Side], new: Sequence[Side], gone: Sequence[Side], come: Sequence[Side]
) -> set[int]:
    """New tests that stand where an old one stood: they call what it called, or ask what nobody asks now."""
    asked = Counter(check.key for side in old if not never_runs(side.test) for check in side.test.checks)
    asked.subtract(check.key for side in new if not never_runs(side.test) for check in side.test.checks)
    lost = {key for key, count in asked.items() if count > 0}
    left = [side for side in gone if not never_runs(side.test)]
    return {id(side) for side in come if _stands_in(side, left, lost)}


def _stands_in(side: Side, gone: Sequence[Side], lost: Set[tuple[str, ...]]) -> bool:
    if any(check.key in lost for check in side.test.checks):
        return True
    marks = {word for mark in side.test.skips for word in re.findall(r"\w+", mark.text)}
    calls = set(side.test.calls) - COMMON_CALLS - marks
    return any(
        calls & set(other.test.calls) or not (calls and set(other.test.calls) - COMMON_CALLS)
        for other in gone
        if calls or other.path == side.path
    )


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


def _skip(path: str, mark: SkipMark, name: str, *, new: bool = False) -> Weakening:
    does = "keeps the other tests from running" if mark.focus else "skips a new test" if new else "skips"
    rule = "new-test-skipped" if new else "new-skip"
    return Weakening(rule, path, mark.line, f"{does}: {mark.text}", before=name[:160], after=mark.text)


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


def _loose_skips(
    changes: Sequence[SuiteChange],
    pairs: Sequence[tuple[Side, Side]],
    come: Sequence[Side],
    stand_ins: Set[int],
) -> Iterator[Weakening]:
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
            kept = [pair for pair in pairs if pair[1].path == change.path and _covers(mark, pair[1])]
            fresh = [side for side in come if side.path == change.path and _covers(mark, side)]
            if not mark.focus and _says_nothing_new(mark, change, kept):
                continue
            # Tests that are the same on both sides are outlined, too, where what surrounds them changed.
            only_fresh = bool(fresh) and not kept and not any(id(side) in stand_ins for side in fresh)
            existed = bool(kept) or (change.before is not None and mark.scope in ("", ELSEWHERE))
            stops = mark.when is SkipCondition.ALWAYS or (existed and _stops(mark))
            if mark.focus or stops:
                new = only_fresh and not mark.focus
                yield _skip(change.path, mark, mark.scope or change.path, new=new)


def _covers(mark: SkipMark, side: Side) -> bool:
    """Whether a mark on a class, a suite or a file is on a test of that file."""
    name = side.test.name
    return not mark.scope or name.startswith(f"{mark.scope} > ") or mark.scope in name.split(".")[:-1]


def _says_nothing_new(mark: SkipMark, change: SuiteChange, kept: Sequence[tuple[Side, Side]]) -> bool:
    """Whether a condition was on the tests before: on each of them, or on another part of a package."""
    if mark.when is SkipCondition.ALWAYS:
        return False
    before = (
        (*change.before.skips, *(one for test in change.before.tests for one in test.skips))
        if (change.before is not None)
        else ()
    )
    if set(_REQUIRED.findall(mark.text)) & {name for one in before for name in _REQUIRED.findall(one.text)}:
        return True
    lifted = [1 for old, new in kept if len(old.test.skips) > len(new.test.skips)]
    return bool(lifted) and len(lifted) * 2 >= len(kept)
