"""What a change did to the tests: which checks were lost or made to say less, which tests no longer run.

Tests are matched across versions by name, then by body, then by the checks they share; so a test that was
renamed, moved, split, given parameters or ported to another runner is compared with itself. A check that
stands in another place afterwards, or in a helper that the test calls, is not lost. Whatever has an innocent
reading is read that way: a wrong "weakened" accuses an honest attempt.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from adjudge.records.testcode import Check, CheckState, SkipCondition, SkipMark, SuiteOutline, WrittenTest
from adjudge.syntax.testcode.nodes import UNKNOWN_CASES

__all__ = ["SuiteChange", "Weakening", "count_checks", "new_skips", "weakenings"]

_STRONGEST: Final = 5
_DROP: Final = 2
"""How much weaker a check on the same thing has to be to count as loosened."""
_STATES = {
    CheckState.DEAD: ("assertion-unreachable", "is never reached"),
    CheckState.SWALLOWED: ("assertion-swallowed", "fails into an except that forgets it"),
    CheckState.UNAWAITED: ("assertion-unawaited", "is a promise that nobody waits for"),
    CheckState.GATED: ("assertion-gated", "now depends on the environment"),
}
_OPPOSITES = frozenset(
    frozenset(pair)
    for pair in (
        ("==", "!="), ("in", "not in"), ("truthy", "falsy"), ("is None", "is not None"),
        ("raises", "no raise"), ("null", "defined"), ("undefined", "defined"), ("nil", "not nil"),
        ("called", "not called"),
        ("<", ">="), (">", "<="), ("<", ">"), ("empty", "not empty"),
    )
)  # fmt: skip
_ASKING = re.compile(r"_*(?:assert|check|verify|expect|require|must|ensure|validate)", re.IGNORECASE)
_LITERAL = re.compile(
    r"""(?:\s|-?\d[\w.]*|"[^"]*"|[\[\](){}:-]|\b(?:None|True|False|true|false|null|nil|undefined)\b)+"""
)
_COMMON_CALLS = frozenset(
    {"len", "str", "int", "list", "dict", "set", "tuple", "sorted", "range", "print", "open", "isinstance",
     "raises", "approx", "expect", "toBe", "toEqual", "Errorf", "Fatalf", "Error", "Fatal", "Run", "Equal",
     "NoError", "append", "make", "Sprintf", "assertEqual", "assertTrue", "toBeTruthy", "fail", "join"}
)  # fmt: skip


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


@dataclass(slots=True)
class _Side:
    """A test with the file it is in, and what is left of its checks to be accounted for."""

    path: str
    test: WrittenTest
    checks: list[Check] = field(default_factory=list)


@dataclass(slots=True)
class _Pool:
    """What came new anywhere, for checks that moved."""

    keys: Counter[tuple[str, ...]] = field(default_factory=Counter)
    rows: Counter[str] = field(default_factory=Counter)
    helpers: dict[str, WrittenTest] = field(default_factory=dict)
    bodies: dict[str, WrittenTest] = field(default_factory=dict)
    """What no runner collects, by body."""


def count_checks(outline: SuiteOutline | None) -> int:
    """How many checks a file has that can fail."""
    if outline is None:
        return 0
    written = (*(test for test in outline.tests if test.collected), *outline.helpers)
    return sum(1 for test in written for check in test.checks if check.effective)


def weakenings(changes: Sequence[SuiteChange]) -> tuple[list[Weakening], list[Weakening]]:
    """What was weakened, and what changed in a way that only the task can call right or wrong."""
    old, new = _collected(changes, before=True), _collected(changes, before=False)
    pairs, gone, come = _match(changes, old, new)
    pool = _pool_of(changes)
    found: list[Weakening] = []
    noted: list[Weakening] = []
    lost: list[tuple[_Side, _Side, list[Check]]] = []
    for before, after in pairs:
        found += _kept(before, after)
        lost.append((before, after, list(before.checks)))
    for _, after in pairs:
        pool.keys.update(check.key for check in after.checks if check.effective)
        pool.rows.update(after.test.cases)
    for side in come:
        pool.keys.update(check.key for check in side.checks if check.effective)
        pool.rows.update(side.test.cases)
    for before, after, checks in lost:
        weak, changed = _replaced(before, after, checks, pool)
        found += weak
        noted += changed
        found += _dropped_cases(before, after, pool)
    found += _deleted(gone, come, pool)
    return found, noted


def new_skips(changes: Sequence[SuiteChange]) -> list[Weakening]:
    """Marks that keep a test from running or from failing and that it did not have before."""
    old = [side for change in changes for side in _sides(change.old_path, change.before)]
    new = [side for change in changes for side in _sides(change.path, change.after)]
    pairs, _, come = _match(changes, old, new)
    found: list[Weakening] = []
    for before, after in pairs:
        found += [_skip(after.path, mark) for mark in _more_skips(before.test.skips, after.test.skips)]
    for side in come:
        found += [
            _skip(side.path, mark)
            for mark in side.test.skips
            if mark.when is SkipCondition.ALWAYS or mark.focus
        ]
    found += _loose_skips(changes, {part for side in old for part in side.test.name.split(".")[:-1]})
    return sorted(found, key=lambda skip: (skip.path, skip.line))


def _skip(path: str, mark: SkipMark) -> Weakening:
    does = "keeps the other tests from running" if mark.focus else "skips"
    return Weakening("new-skip", path, mark.line, f"{does}: {mark.text}")


def _more_skips(before: Sequence[SkipMark], after: Sequence[SkipMark]) -> list[SkipMark]:
    """Marks of a test beyond those it had; one that replaces another of the same force is not new."""
    known = Counter((mark.when, mark.focus) for mark in before)
    always = known[SkipCondition.ALWAYS, False] > 0
    more: list[SkipMark] = []
    for mark in after:
        if known[mark.when, mark.focus] > 0:
            known[mark.when, mark.focus] -= 1
        elif mark.focus or not always:
            more.append(mark)
    return more


def _loose_skips(changes: Sequence[SuiteChange], old_scopes: set[str]) -> Iterator[Weakening]:
    known = Counter(mark.text for change in changes if change.before for mark in change.before.skips)
    for change in changes:
        for mark in change.after.skips if change.after is not None else ():
            if known[mark.text] > 0:
                known[mark.text] -= 1
                continue
            existed = bool(change.before and change.before.tests) and (
                not mark.scope or mark.scope in old_scopes
            )
            if existed or mark.when is SkipCondition.ALWAYS:
                yield _skip(change.path, mark)


def _sides(path: str, outline: SuiteOutline | None) -> Iterator[_Side]:
    for test in outline.tests if outline is not None else ():
        yield _Side(path, test, list(test.checks))


def _collected(changes: Sequence[SuiteChange], *, before: bool) -> list[_Side]:
    return [
        side
        for change in changes
        for side in _sides(
            change.old_path if before else change.path, change.before if before else change.after
        )
        if side.test.collected
    ]


def _match(
    changes: Sequence[SuiteChange], old: list[_Side], new: list[_Side]
) -> tuple[list[tuple[_Side, _Side]], list[_Side], list[_Side]]:
    """Pairs of a test and what became of it, what went, and what came."""
    moved = {change.old_path: change.path for change in changes}
    pairs: list[tuple[_Side, _Side]] = []
    taken: set[int] = set()

    def pass_over(
        left: list[_Side], key_old: Callable[[_Side], object], key_new: Callable[[_Side], object]
    ) -> list[_Side]:
        places: dict[object, list[_Side]] = defaultdict(list)
        for side in reversed(new):
            key = key_new(side)
            if id(side) not in taken and key is not None:
                places[key].append(side)
        unmatched: list[_Side] = []
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
    left = pass_over(left, lambda side: _last_name(side.test), lambda side: _last_name(side.test))
    left = pass_over(left, lambda side: _what_it_asks(side.test), lambda side: _what_it_asks(side.test))
    return pairs, left, [side for side in new if id(side) not in taken]


def _last_name(test: WrittenTest) -> str:
    return re.split(r"\.| > ", test.name)[-1]


def _what_it_asks(test: WrittenTest) -> tuple[tuple[str, ...], ...] | None:
    return tuple(check.key for check in test.checks) or None


def _pool_of(changes: Sequence[SuiteChange]) -> _Pool:
    pool = _Pool()
    for change in changes:
        if change.after is None:
            continue
        for helper in change.after.helpers:
            pool.helpers[_last_name(helper)] = helper
            pool.bodies[helper.body] = helper
            pool.keys.update(check.key for check in helper.checks if check.effective)
        for test in change.after.tests:
            if not test.collected:
                pool.bodies[test.body] = test
    for change in changes:
        for helper in change.before.helpers if change.before is not None else ():
            pool.keys.subtract(check.key for check in helper.checks if check.effective)
    return pool


def _kept(before: _Side, after: _Side) -> Iterator[Weakening]:
    """Take checks that are on both sides off the lists; those that can no longer fail are said."""
    places: dict[tuple[str, ...], list[Check]] = defaultdict(list)
    for check in reversed(after.checks):
        places[check.key].append(check)
    left: list[Check] = []
    for check in before.checks:
        if not check.effective:
            continue
        same = places.get(check.key)
        if not same:
            left.append(check)
            continue
        now = same.pop()
        after.checks.remove(now)
        if now.state is not check.state and now.state in _STATES:
            rule, does = _STATES[now.state]
            yield Weakening(rule, after.path, now.line, f"{does}: {now.text}")
        elif now.strength == 0 < check.strength:
            yield Weakening("assertion-always-holds", after.path, now.line, f"always holds: {now.text}")
        elif _wider(check, now):
            yield Weakening(
                "tolerance-widened", after.path, now.line, f"accepts more than {check.text!r}: {now.text}"
            )
    before.checks = left


def _wider(before: Check, after: Check) -> bool:
    if after.tolerance is None or after.operator != before.operator:
        return False
    if before.tolerance is None:
        # The default of every runner is tighter than this.
        return after.tolerance > 0.01
    return after.tolerance > before.tolerance


def _replaced(
    before: _Side, after: _Side, lost: list[Check], pool: _Pool
) -> tuple[list[Weakening], list[Weakening]]:
    """What stands in the place of checks that went."""
    found: list[Weakening] = []
    noted: list[Weakening] = []
    gained = [check for check in after.checks if check.effective]
    empty = [check for check in after.checks if not check.effective]
    unpaired: list[Check] = []
    for check in lost:
        same = next((other for other in gained if _same_subject(check, other)), None)
        if same is None:
            unpaired.append(check)
            continue
        gained.remove(same)
        judged = _judged(check, same, after.path)
        if judged is not None:
            (noted if judged.rule == "expected-changed" else found).append(judged)
    asks = _asks_elsewhere(before.test, after.test, pool)
    grew = len(after.test.cases) > len(before.test.cases)
    for check in unpaired:
        if pool.keys[check.key] > 0:
            pool.keys[check.key] -= 1
            continue
        if empty:
            found.append(_emptied(check, empty.pop(0), after.path))
        elif gained:
            other = gained.pop(0)
            drop = check.strength - other.strength
            about_it = bool(check.subject) and check.subject in other.subject
            if drop >= _DROP and (other.strength <= 1 or about_it):
                found.append(_loosened(check, other, after.path))
        elif not asks and not grew and not _among(check, after.test):
            found.append(Weakening("assertion-removed", before.path, check.line, f"lost: {check.text}"))
    return found, noted


def _among(lost: Check, test: WrittenTest) -> bool:
    """Whether what a check expected is part of what another of the test expects: two made one."""
    return bool(lost.expected) and any(
        check.effective == _STRONGEST and lost.expected in check.expected and lost.expected != check.expected
        for check in test.checks
    )


def _same_subject(before: Check, after: Check) -> bool:
    if not before.subject:
        return False
    sides = {after.subject, after.expected} if after.operator in ("==", "!=") else {after.subject}
    return before.subject in sides or (
        before.operator in ("==", "!=")
        and before.expected == after.subject
        and not _is_literal(after.subject)
    )


def _is_literal(text: str) -> bool:
    return bool(_LITERAL.fullmatch(text))


def _judged(before: Check, after: Check, path: str) -> Weakening | None:
    if after.state in _STATES and after.state is not before.state:
        rule, does = _STATES[after.state]
        return Weakening(rule, path, after.line, f"{does}: {after.text}")
    if frozenset((before.operator, after.operator)) in _OPPOSITES:
        return Weakening(
            "polarity-flipped", path, after.line, f"asks the opposite of {before.text!r}: {after.text}"
        )
    if before.strength - after.strength >= _DROP:
        return _loosened(before, after, path)
    if _wider(before, after):
        return Weakening(
            "tolerance-widened", path, after.line, f"accepts more than {before.text!r}: {after.text}"
        )
    literals = _is_literal(before.expected) and _is_literal(after.expected)
    if before.operator == after.operator and before.key != after.key and literals:
        return Weakening(
            "expected-changed", path, after.line, f"expects something else than {before.text!r}: {after.text}"
        )
    return None


def _loosened(before: Check, after: Check, path: str) -> Weakening:
    return Weakening("matcher-loosened", path, after.line, f"says less than {before.text!r}: {after.text}")


def _emptied(before: Check, after: Check, path: str) -> Weakening:
    if after.state in _STATES:
        rule, does = _STATES[after.state]
        return Weakening(rule, path, after.line, f"{does}: {after.text}")
    return Weakening(
        "assertion-always-holds", path, after.line, f"always holds, in place of {before.text!r}: {after.text}"
    )


def _asks_elsewhere(before: WrittenTest, after: WrittenTest, pool: _Pool) -> bool:
    """Whether a test now calls a helper that checks, which it did not call before."""
    for name in set(after.calls) - set(before.calls):
        helper = pool.helpers.get(name)
        if helper is not None and any(check.effective for check in helper.checks):
            return True
        if helper is None and _ASKING.match(name) and name not in ("expect", "assert"):
            return True
    return False


def _dropped_cases(before: _Side, after: _Side, pool: _Pool) -> Iterator[Weakening]:
    if UNKNOWN_CASES in (*before.test.cases, *after.test.cases):
        return
    if not before.test.cases or len(after.test.cases) >= len(before.test.cases):
        return
    left = Counter(before.test.cases)
    left.subtract(after.test.cases)
    dropped = [row for row, count in left.items() if count > 0 and pool.rows[row] <= 0]
    more_checks = len(after.test.checks) - len(before.test.checks)
    if dropped and more_checks < len(dropped):
        rows = f"{len(dropped)} of {len(before.test.cases)} cases"
        yield Weakening(
            "cases-dropped", after.path, after.test.line, f"{after.test.name} lost {rows}: {dropped[0][:100]}"
        )


def _times(test: WrittenTest) -> int:
    """For how many values a test makes its checks; for rows that are not known, enough."""
    return 10_000 if UNKNOWN_CASES in test.cases else max(1, len(test.cases))


def _deleted(gone: Iterable[_Side], come: Sequence[_Side], pool: _Pool) -> Iterator[Weakening]:
    """Tests that went, unless what they asked is asked by others."""
    room = {id(side): _times(side.test) * sum(1 for check in side.checks if check.effective) for side in come}
    for side in gone:
        elsewhere = pool.bodies.get(side.test.body)
        if elsewhere is not None and side.test.checks:
            why = elsewhere.why_not or f"is {elsewhere.name} now, which no runner takes for a test"
            yield Weakening("test-not-collected", side.path, side.test.line, f"{side.test.name} {why}")
            continue
        about = set(side.test.calls) - _COMMON_CALLS
        alike = [other for other in come if not about or about & set(other.test.calls)]
        checks = [check for check in side.checks if check.effective]
        if not checks and side.test.calls and not alike:
            yield Weakening("test-removed", side.path, side.test.line, f"{side.test.name} was removed")
        for check in checks:
            if pool.keys[check.key] > 0:
                pool.keys[check.key] -= 1
                continue
            place = next((other for other in alike if room[id(other)] > 0), None)
            if place is not None:
                room[id(place)] -= 1
                continue
            yield Weakening("assertion-removed", side.path, check.line, f"lost: {check.text}")
