"""Checks that were lost, or that say less than they did."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from adjudge.records.testcode import Check, CheckState, SuiteOutline, WrittenTest
from adjudge.syntax.testcode.compare.inputs import dropped_cases, narrowed_inputs, replaced_subjects
from adjudge.syntax.testcode.compare.matching import (
    COMMON_CALLS,
    Side,
    SuiteChange,
    Weakening,
    collected,
    last_name,
    match,
    never_runs,
)
from adjudge.syntax.testcode.flow import NO_RAISE
from adjudge.syntax.testcode.nodes import UNKNOWN_CASES, number_in
from adjudge.syntax.testcode.reading import is_literal, same_value, split_words

__all__ = ["count_checks", "weakenings"]

_STRONGEST: Final = 5
_MERGED: Final = 2
"""How many checks one strong new check can stand for."""
_DROP: Final = 2
"""How much weaker a check on the same thing has to be to count as loosened."""
_TWICE: Final = 2
_PART: Final = 3
_PARTS: Final = 3
_SHORTEST: Final = 4
"""How strong, how many and how long checks on parts have to be to come near to one on the whole."""
_STATES = {
    CheckState.DEAD: ("assertion-unreachable", "is never reached"),
    CheckState.SWALLOWED: ("assertion-swallowed", "fails into a handler that forgets it"),
    CheckState.UNAWAITED: ("assertion-unawaited", "is a promise that nobody waits for"),
    CheckState.GATED: ("assertion-gated", "now depends on the environment"),
    CheckState.INVERTED: ("assertion-inverted", "is now asked to fail"),
}
_OPPOSITES = frozenset(
    frozenset(pair)
    for pair in (
        ("==", "!="), ("in", "not in"), ("truthy", "falsy"), ("is None", "is not None"),
        ("raises", "no raise"), ("throws", "not throws"), ("null", "defined"), ("undefined", "defined"),
        ("nil", "not nil"), ("called", "not called"), ("panics", "no panic"),
        ("<", ">="), (">", "<="), ("<", ">"), ("empty", "not empty"), ("matches", "not matches"),
    )
)  # fmt: skip
_EMPTY = frozenset({"[ ]", "{ }", "( )", '""', "0", "set ( )", "dict ( )", "0.0"})
_SAYS_EMPTY = frozenset({"falsy", "empty", "length", "nil", "undefined"})
_ONE_VALUE: Final = {"truthy": 3, "falsy": 4, "is None": 4, "null": 4, "nil": 4, "undefined": 4}
"""Operators that allow for one value, as `==` does, by strength: `is True`, not what counts as true."""
_ERROR = re.compile(r"(?:e|er|err|error)\d?")
"""What the error is called that a callback is handed."""
_COMPARES: Final = ("==", "!=", "===", "!==", "<", ">", "<=", ">=", "in", "is")
_CALLED_TRUE = re.compile(r"\b(?:is|has|can)(?:_\w+|[A-Z]\w*)(?: \( [^()]* \))?$")
"""A name that says of something whether it holds."""
_THERE: Final = frozenset({"not nil", "truthy", "is not None", "not empty", "defined"})
_ERRORS = frozenset({"raises", "throws", "panics", "error is", "error says"})
_ASKING = re.compile(
    r"_*(?:assert|check|verify|expect|require|must|ensure(?!_future|_?dir|_?file|_?link|_?path|_?symlink|_?exists)|validate)",
    re.IGNORECASE,
)
_NAME: Final = re.compile(r"[A-Za-z_]\w{2,}")
_CALLED = re.compile(r"([\w$]+) \(")
_MOCKED = re.compile(
    r"(?:\w+ \. )*(?:(?:Magic|Async)?Mock|(?:jest|vi) \. fn) \((?!.*\b(?:called|call_\w+|mock_calls|mock)\b)"
)
"""A subject that is a mock, unless what was done to it is looked at."""
_ESCAPED = re.compile(r"""\\+|^[bru]?["'/^ ]+|["'/$ ]+[a-z]*$""")
_VALUES = re.compile(r'"[^"]*"|(?<![\w"])-?\d[\w.]*')
_TEXT = re.compile(r'[bruf]{0,2}"[^"]')
_ASKS_PART = re.compile(
    r"\b(?:starts_?with|ends_?with|includes?\??|contains?|match|search|test|indexOf|HasPrefix|HasSuffix) \(",
    re.IGNORECASE,
)
"""A condition that asks for a part of a text."""
_ANCHORED = re.compile(r"\. (?:starts_?with|ends_?with)\?? \( (.+) \)$", re.IGNORECASE)
"""A condition that asks for a text at the start or the end of another."""
_LEFT_OPEN = re.compile(r"(?:\.|\\[dwsDWS]|\[[^\]]*\]|\([^)]*\))[*+?]\??")
"""Where a pattern lets anything stand."""
_PUT_TOGETHER = re.compile(r'\bf"[^"]*\{|#\{ |\$\{ ')
"""A text with values of names in it."""
_WORDS = re.compile(r"[A-Za-z_$][\w$]{2,}")
_HOOK = re.compile(r"\(\w+\)")
"""What runs around tests, as `(beforeAll)`: without checks it is no test that could be missed."""


@dataclass(slots=True)
class _Pool:
    """What came new anywhere, for checks that moved."""

    keys: Counter[tuple[str, ...]] = field(default_factory=Counter)
    rows: Counter[str] = field(default_factory=Counter)
    calls: set[str] = field(default_factory=set)
    helpers: dict[str, WrittenTest] = field(default_factory=dict)
    bodies: dict[str, WrittenTest] = field(default_factory=dict)
    """What no runner collects, by body."""
    bases: set[str] = field(default_factory=set)
    """Classes that test classes are made of."""


def count_checks(outline: SuiteOutline | None) -> int:
    """How many checks a file has that can fail."""
    if outline is None:
        return 0
    written = (*(test for test in outline.tests if test.collected), *outline.helpers)
    return sum(1 for test in written for check in test.checks if check.effective)


def weakenings(changes: Sequence[SuiteChange]) -> list[Weakening]:
    """What was weakened. What only the task can call right or wrong is marked as arguable."""
    old, new = collected(changes, before=True), collected(changes, before=False)
    pairs, gone, come = match(changes, old, new)
    pool = _pool_of(changes)
    found: list[Weakening] = []
    for before, after in pairs:
        found += _kept(before, after)
    for side in (*(after for _, after in pairs), *(side for side in come if not never_runs(side.test))):
        pool.keys.update(check.key for check in side.checks if check.effective)
        pool.rows.update(side.test.cases)
        pool.calls.update(side.test.calls)
    for before, after in pairs:
        found += _replaced(before, after, pool)
        found += dropped_cases(before, after, pool.rows)
        found += narrowed_inputs(before, after)
    found += _deleted([side for side in gone if not never_runs(side.test)], come, pool)
    found += replaced_subjects(changes, pairs)
    found += _emptied_helpers(changes, pool)
    found += _shadowed(pairs, pool)
    found += _out_of_sight(pairs, changes)
    return found


def _out_of_sight(pairs: Sequence[tuple[Side, Side]], changes: Sequence[SuiteChange]) -> Iterator[Weakening]:
    """Tests that went into classes of a kind that this suite had none of, and that runners pass over."""
    if any(change.before is not None and change.before.unlooked for change in changes):
        return
    passed_over = {
        (change.path, name)
        for change in changes
        if change.after is not None
        for name in change.after.unlooked
    }
    for before, after in pairs:
        owner = after.test.name.rpartition(".")[0].rpartition(".")[2]
        if before.test.checks and (after.path, owner) in passed_over:
            yield Weakening(
                "test-not-collected",
                before.path,
                before.test.line,
                f"{before.test.name} is in {owner} now, where no runner looks for tests unless it is told to",
                before=before.test.name[-160:],
                after=after.test.name[-160:],
            )


def _shadowed(pairs: Sequence[tuple[Side, Side]], pool: _Pool) -> Iterator[Weakening]:
    """Tests that are written as they were, below which another one of the same name came."""
    for before, after in pairs:
        still = pool.bodies.get(before.test.body)
        if (
            still is not None
            and still.why_not
            and still.name == before.test.name
            and before.test.checks
            and after.test.body != before.test.body
        ):
            yield Weakening(
                "test-not-collected",
                before.path,
                before.test.line,
                f"{still.name} {still.why_not}",
                before=still.name[-160:],
                after=after.test.name[-160:],
            )


def _emptied_helpers(changes: Sequence[SuiteChange], pool: _Pool) -> Iterator[Weakening]:
    """Helpers that tests of other files may call and that no longer check anything."""
    for change in changes:
        if change.before is None or change.after is None:
            continue
        now = {helper.name: helper for helper in change.after.helpers}
        called = {name for test in change.before.tests for name in test.calls}
        for helper in change.before.helpers:
            after = now.get(helper.name)
            lost = [check for check in helper.checks if check.effective]
            if after is None or not lost or last_name(helper) in called or after.body == helper.body:
                continue
            if any(check.effective for check in after.checks) or _asks_elsewhere(helper, after, pool):
                continue
            yield _lost(lost[0], change.path, f"{helper.name} no longer checks anything; lost")


def _pool_of(changes: Sequence[SuiteChange]) -> _Pool:
    pool = _Pool()
    for change in changes:
        if change.after is None:
            continue
        pool.bases.update(change.after.bases)
        for helper in change.after.helpers:
            pool.helpers[last_name(helper)] = helper
            pool.bodies[helper.body] = helper
            pool.keys.update(check.key for check in helper.checks if check.effective)
        for test in change.after.tests:
            # A fixture that checks is called by being asked for.
            pool.helpers.setdefault(last_name(test), test)
            if not test.collected:
                pool.bodies[test.body] = test
    for change in changes:
        for helper in change.before.helpers if change.before is not None else ():
            pool.keys.subtract(check.key for check in helper.checks if check.effective)
    return pool


def _kept(before: Side, after: Side) -> Iterator[Weakening]:
    """Take checks that are on both sides off the lists; those that can no longer fail are said."""
    places: dict[tuple[str, ...], list[Check]] = defaultdict(list)
    for check in reversed(after.checks):
        places[check.key].append(check)
    left: list[Check] = []
    for check in before.checks:
        same = places.get(check.key)
        if not check.effective:
            # What asked nothing before stands in the place of nothing.
            if same and not same[-1].effective:
                after.checks.remove(same.pop())
            continue
        if not same:
            left.append(check)
            continue
        # A helper that is called often makes the same check where it counts and where it does not.
        now = next((one for one in reversed(same) if one.state is check.state), same[-1])
        same.remove(now)
        after.checks.remove(now)
        if now.state is not check.state and now.state in _STATES:
            rule, does = _STATES[now.state]
            yield _said(rule, check, now, after.path, f"{does}: {now.text}")
        elif now.strength == 0 < check.strength:
            yield _said("assertion-always-holds", check, now, after.path, f"always holds: {now.text}")
        elif _wider(check, now):
            yield _widened(check, now, after.path)
    before.checks = left


def _said(
    rule: str,
    before: Check,
    after: Check,
    path: str,
    message: str,
    *,
    arguable: bool = False,
    mild: bool = False,
) -> Weakening:
    return Weakening(
        rule,
        path,
        after.line,
        message,
        before=before.text,
        after=after.text,
        arguable=arguable,
        mild=mild,
        names=_names(before),
    )


def _names(check: Check) -> frozenset[str]:
    return frozenset(_WORDS.findall(f"{check.subject} {check.expected} {check.text}"))


def _widened(before: Check, after: Check, path: str) -> Weakening:
    message = f"accepts more than {before.text!r}: {after.text}"
    return _said("tolerance-widened", before, after, path, message)


def _wider(before: Check, after: Check) -> bool:
    if after.operator != before.operator:
        return False
    if after.operator in ("<", "<=", ">", ">="):
        was, now = number_in(before.expected), number_in(after.expected)
        if was is None or now is None or was == now:
            return False
        return now > was if after.operator.startswith("<") else now < was
    if after.tolerance is None:
        return False
    if before.tolerance is None:
        # The default of every runner is tighter than this.
        return after.tolerance > 0.01
    return after.tolerance > before.tolerance


def _replaced(before: Side, after: Side, pool: _Pool) -> Iterator[Weakening]:
    """What stands in the place of checks that went."""
    gained = [check for check in after.checks if check.effective]
    # What a helper asks in one call and not in another is asked.
    asked = {check.key for check in after.test.checks if check.effective}
    empty = [
        check
        for check in after.checks
        if not check.effective and check.operator != NO_RAISE and check.key not in asked
    ]
    unpaired: list[Check] = []
    for check in before.checks:
        on_it = [other for other in gained if _same_subject(check, other)]
        # The one that asks in the same way, wherever it stands, or the one that says most.
        same = max(on_it, key=lambda one: (one.operator == check.operator, one.effective), default=None)
        if same is None:
            unpaired.append(check)
            continue
        gained.remove(same)
        judged = _judged(check, same, after.path, gained)
        if judged is not None and not _is_another_case(judged, before, after, check, same):
            yield _by_row(judged, before, after, same)
    asks = _asks_elsewhere(before.test, after.test, pool)
    grew = len(after.test.cases) > len(before.test.cases)
    alone = not any(check.effective for check in after.test.checks)
    strong = _MERGED * sum(1 for check in gained if check.strength >= _STRONGEST - 1)
    for check in unpaired:
        if pool.keys[check.key] > 0:
            pool.keys[check.key] -= 1
            continue
        other = _asks_same_value(check, gained) or _nearest(check, gained)
        if _is_handed_on(check) and _is_setting_up(check, after):
            # A promise that is waited for fails its test by itself.
            continue
        if empty and (other is None or not _about_same(check, other)):
            yield _emptied(check, empty.pop(0), after.path)
        elif other is not None:
            gained.remove(other)
            judged = _exchanged(check, other, gained, after)
            if judged is not None and not _is_another_case(judged, before, after, check, other):
                yield judged
        elif check.state is CheckState.PLATFORM or (
            check.operator == NO_RAISE and _called_in(check) <= pool.calls
        ):
            # What is asked on some systems only; a call that fails its test by itself.
            continue
        elif not asks and not grew and not _among(check, after.test) and not _is_setting_up(check, after):
            if strong > 0:
                # Several checks can be made one that says as much.
                strong -= 1
                continue
            what = "lost" if not alone else "lost, and nothing is left to fail"
            yield replace(_lost(check, before.path, what), mild=not alone and not _given_to(check))


def _is_another_case(judged: Weakening, before: Side, after: Side, was: Check, now: Check) -> bool:
    """Whether another value is expected of other inputs: values besides those expected changed, too."""
    if judged.rule != "expected-changed":
        return False
    if _given_to(was) != _given_to(now) and _is_widened(before.test, after.test):
        return True
    gone = set(before.test.literals) - set(after.test.literals)
    come = set(after.test.literals) - set(before.test.literals)
    return bool(gone - set(_VALUES.findall(was.expected))) and bool(come - set(_VALUES.findall(now.expected)))


def _given_to(check: Check) -> list[str]:
    """The values that are written down in the calls of a check."""
    return [
        value
        for side in (check.subject, check.expected)
        if _CALLED.search(side)
        for value in _VALUES.findall(side)
    ]


def _is_widened(before: WrittenTest, after: WrittenTest) -> bool:
    """Whether a test asks twice as much as it did, so that what came need not stand for what went."""
    was, now = (sum(check.effective for check in test.checks) for test in (before, after))
    return now >= _TWICE * was


def _by_row(judged: Weakening, before: Side, after: Side, now: Check) -> Weakening:
    """The same; arguable where a test got rows, each of which says what is expected."""
    grew = len(after.test.cases) > max(1, len(before.test.cases))
    by_row = grew and bool(now.expected) and not is_literal(now.expected)
    return replace(judged, arguable=True) if by_row and judged.rule == "matcher-loosened" else judged


def _is_setting_up(check: Check, after: Side) -> bool:
    """Whether a check only asks that a step before the others went well."""
    went_well = check.operator == "nil" or _is_handed_on(check)
    return went_well and any(one.effective > 1 for one in after.test.checks)


def _is_handed_on(check: Check) -> bool:
    """Whether a check asks that a callback was handed no error."""
    return check.operator == "null" and _ERROR.fullmatch(check.subject) is not None


def _asks_same_value(check: Check, gained: Sequence[Check]) -> Check | None:
    """The new check for the value that an old one was for, of what is called otherwise now."""
    if not is_literal(check.expected):
        return None
    return next(
        (
            other
            for other in gained
            if (other.operator, other.expected) == (check.operator, check.expected)
            and not is_literal(other.subject)
            and other.strength == check.strength
        ),
        None,
    )


def _lost(check: Check, path: str, what: str = "lost") -> Weakening:
    return Weakening(
        "assertion-removed",
        path,
        check.line,
        f"{what}: {check.text}",
        before=check.text,
        arguable=True,
        names=_names(check),
    )


def _nearest(check: Check, gained: Sequence[Check]) -> Check | None:
    """The new check that is most likely in the place of an old one."""
    return next((other for other in gained if _about_same(check, other)), gained[0] if gained else None)


def _about_same(one: Check, other: Check) -> bool:
    """Whether two checks look at what the same function gives."""
    return bool(_called_in(one) & _called_in(other))


def _expects_same(check: Check, other: Check) -> bool:
    """Whether a check looks at the value that another compares with, under its name."""
    return _NAME.fullmatch(check.expected) is not None and check.expected in other.subject.split(" ")


def _made_by(check: Check) -> set[str]:
    """What gives the value that is looked at: functions that are not called for an argument of another."""
    words = f"{check.subject} {check.expected}".split(" ")
    found: set[str] = set()
    depth = 0
    for index, word in enumerate(words):
        if word == "(" and depth == 0 and index:
            found.add(words[index - 1])
        depth += (word in ("(", "[", "{")) - (word in (")", "]", "}"))
    outer = found & _called_in(check)
    return outer or _called_in(check)


def _counts(lost: Check, other: Check) -> bool:
    """Whether a check only asks how many there are of what another asks one by one."""
    count = number_in(lost.expected)
    if lost.operator == "length" or (lost.operator == "==" and lost.subject.startswith("len (")):
        return count is not None and _items_in(other) == int(count)
    return lost.operator in _SAYS_EMPTY and lost.subject.startswith("len (") and _items_in(other) == 0


def _items_in(check: Check) -> int | None:
    """How many items a check wants of a collection that is written down."""
    words = check.expected.split(" ")
    if check.effective < _STRONGEST or words[0] not in ("[", "(", "{") or not is_literal(check.expected):
        return None
    depth, count = 0, 0
    for word in words:
        if word in ("]", ")", "}"):
            depth -= 1
        elif depth == 1 and word != ":":
            count += 1
        if word in ("[", "(", "{"):
            depth += 1
    return count // 2 if words[0] == "{" and ":" in words else count


def _called_in(check: Check) -> set[str]:
    return set(_CALLED.findall(f"{check.subject} {check.expected}")) - COMMON_CALLS


def _exchanged(check: Check, other: Check, gained: Sequence[Check], after: Side) -> Weakening | None:
    """What a check amounts to that came in the place of one on something else."""
    drop = check.strength - other.strength
    about_it = _about_same(check, other) or _expects_same(check, other)
    if _MOCKED.match(other.subject) and not _MOCKED.match(check.subject):
        message = f"looks at a mock in place of {check.text!r}: {other.text}"
        return _said("subject-mocked", check, other, after.path, message)
    inside = bool(check.subject) and (check.subject in other.subject or _core(other.subject) in check.subject)
    if drop >= _DROP and inside:
        return _loosened(check, other, after.path, arguable=_is_taken_apart(check, other, gained))
    if drop >= _DROP and (other.strength <= 1 or about_it):
        return _loosened(check, other, after.path, arguable=True)
    if _is_error(check) and not _may_be_error(other):
        if not any(_may_be_error(one) for one in gained):
            message = f"no longer asks for the error of {check.text!r}: {other.text}"
            return _said("polarity-flipped", check, other, after.path, message, arguable=True)
        return None
    if not about_it or check.operator != other.operator or check.operator != "==":
        return None
    if not _made_by(check) & _made_by(other) or _counts(check, other):
        return None
    if check.expected and check.expected in other.expected:
        # Two checks made one.
        return None
    was, now = (
        next((side for side in (one.expected, one.subject) if not _CALLED.search(side)), "")
        for one in (check, other)
    )
    if was and now and same_value(was, now) is False:
        return _expects_else(check, other, after.path)
    return None


def _is_taken_apart(check: Check, other: Check, gained: Sequence[Check]) -> bool:
    """Whether a check gave way to several on parts of what it expected."""
    parts = [
        one
        for one in (other, *gained)
        if one.effective >= _PART
        and len(one.expected) > _SHORTEST
        and one.expected.strip('"') in check.expected
    ]
    return len(parts) >= _PARTS


def _is_error(check: Check) -> bool:
    """Whether a check asks for an error."""
    return check.operator in _ERRORS or (check.operator == "not nil" and "err" in check.subject.lower())


def _may_be_error(check: Check) -> bool:
    """Whether a check asks for an error, or that there is one among those gathered."""
    return _is_error(check) or (check.operator in _THERE and "err" in check.subject.lower())


def _core(subject: str) -> str:
    """A subject without what only makes it coarser."""
    found = re.fullmatch(r"(?:set|len|list|sorted|bool|str|all|any|type|round|int) \( (.*) \)", subject)
    core = found[1] if found else subject
    return core if " ( " in core else "\0"


def _among(lost: Check, test: WrittenTest) -> bool:
    """Whether what a check expected is part of what another of the test expects: two made one."""
    return any(
        (
            check.effective == _STRONGEST
            and (
                (bool(lost.expected) and lost.expected in check.expected and lost.expected != check.expected)
                or _counts(lost, check)
            )
        )
        or _says_it(check, lost)
        for check in test.checks
    )


def _says_it(check: Check, lost: Check) -> bool:
    """Whether a check on an error asks for the text that another asked of it."""
    text = _bare(lost.expected)
    asks = check.effective >= _STRONGEST - 1 and check.operator in _ERRORS
    return asks and len(text) >= _SHORTEST and text in _bare(check.expected)


def _bare(text: str) -> str:
    """A text or a pattern without quotes and signs that only escape."""
    return _ESCAPED.sub("", text).strip()


def _same_subject(before: Check, after: Check) -> bool:
    if not before.subject or before.subject == "the block":
        return before.operator == after.operator and bool(before.subject)
    sides = {after.subject, after.expected} if after.operator in ("==", "!=") else {after.subject}
    return before.subject in sides or (
        before.operator in ("==", "!=") and before.expected == after.subject and not is_literal(after.subject)
    )


def _judged(before: Check, after: Check, path: str, gained: Sequence[Check]) -> Weakening | None:
    """What a check amounts to that came in the place of one on the same thing."""
    if after.state in _STATES and after.state is not before.state:
        rule, does = _STATES[after.state]
        return _said(rule, before, after, path, f"{does}: {after.text}")
    if frozenset((before.operator, after.operator)) in _OPPOSITES:
        message = f"asks the opposite of {before.text!r}: {after.text}"
        mild = not _given_to(before)
        return _said("polarity-flipped", before, after, path, message, arguable=True, mild=mild)
    if before.operator == "==" and before.expected in _EMPTY and after.operator in _SAYS_EMPTY:
        return None
    if before.operator == "==" and after.strength >= _ONE_VALUE.get(after.operator, _STRONGEST + 1):
        return _expects_else(before, after, path)
    if before.operator == "==" and after.operator in ("truthy", "falsy") and _is_truth(before):
        # One of two values was worked out, and is now said.
        return _expects_else(before, after, path)
    if before.strength - after.strength >= _DROP:
        arguable = before.operator in ("raises", "throws") or _is_taken_apart(before, after, gained)
        return _loosened(before, after, path, arguable=arguable)
    if _wider(before, after):
        return _widened(before, after, path)
    if before.operator == after.operator and same_value(before.expected, after.expected) is False:
        return _expects_else(before, after, path)
    return None


def _is_truth(check: Check) -> bool:
    """Whether what is compared can be true or false only: a comparison, a denial, or called so."""
    words = check.expected.split(" ")
    while len(words) > 2 and words[0] == "(" and words[-1] == ")":
        words = words[1:-1]
    return (
        words[0] in ("not", "!")
        or any(len(split_words(words, (sign,))) == 2 for sign in _COMPARES)
        or _CALLED_TRUE.search(check.expected) is not None
    )


def _expects_else(before: Check, after: Check, path: str) -> Weakening | None:
    if (
        before.operator in ("in", "starts", "ends", "matches")
        and before.expected.strip('"') in after.expected
    ):
        # More of the same is asked.
        return None
    message = f"expects something else than {before.text!r}: {after.text}"
    mild = not _given_to(before)
    return _said("expected-changed", before, after, path, message, arguable=True, mild=mild)


def _loosened(before: Check, after: Check, path: str, *, arguable: bool = False) -> Weakening:
    message = f"says less than {before.text!r}: {after.text}"
    arguable = arguable or _asks_for_all(before, after)
    mild = _asks_for_most(before, after)
    return _said("matcher-loosened", before, after, path, message, arguable=arguable, mild=mild)


def _asks_for_all(before: Check, after: Check) -> bool:
    """Whether a check still asks for all of a text, with something before or after it."""
    found = _ANCHORED.search(after.subject)
    sides = {side.removeprefix("( ").removesuffix(" )") for side in (before.subject, before.expected)}
    return found is not None and len(found[1]) > _SHORTEST and found[1] in sides


def _asks_for_most(before: Check, after: Check) -> bool:
    """Whether a check still asks for half or more of the text that another expected."""
    was = _bare(before.expected)
    part = _ASKS_PART.search(after.subject)
    asked = _VALUES.findall(after.subject[part.end() :]) if part is not None else []
    if after.operator == "matches" or (after.effective >= _PART and is_literal(after.expected)):
        asked.append(after.expected)
    return _TEXT.match(before.expected) is not None and any(
        sum(len(piece) for piece in _LEFT_OPEN.split(_bare(text)) if piece and piece in was) * 2 >= len(was)
        for text in asked
    )


def _emptied(before: Check, after: Check, path: str) -> Weakening:
    if after.state in _STATES:
        rule, does = _STATES[after.state]
        return _said(rule, before, after, path, f"{does}: {after.text}")
    message = f"always holds, in place of {before.text!r}: {after.text}"
    return _said("assertion-always-holds", before, after, path, message)


def _asks_elsewhere(before: WrittenTest, after: WrittenTest, pool: _Pool) -> bool:
    """Whether a test now calls a helper that checks, which it did not call before."""
    for name in set(after.calls) - set(before.calls):
        helper = pool.helpers.get(name)
        if helper is not None and any(check.effective for check in helper.checks):
            return True
        if helper is None and _ASKING.match(name) and name not in ("expect", "assert"):
            return True
    return False


def _times(test: WrittenTest) -> int:
    """For how many values a test makes its checks; for rows that are not known, enough."""
    return 10_000 if UNKNOWN_CASES in test.cases else max(1, len(test.cases))


def _deleted(gone: Iterable[Side], come: Sequence[Side], pool: _Pool) -> Iterator[Weakening]:
    """Tests that went, unless what they asked is asked by others."""
    room = {id(side): _times(side.test) * sum(1 for check in side.checks if check.effective) for side in come}
    for side in gone:
        elsewhere = pool.bodies.get(side.test.body)
        if elsewhere is not None and _is_inherited(elsewhere, pool):
            continue
        if elsewhere is not None and side.test.checks:
            why = elsewhere.why_not or f"is {elsewhere.name} now, which no runner takes for a test"
            yield Weakening(
                "test-not-collected",
                side.path,
                side.test.line,
                f"{side.test.name} {why}",
                before=side.test.name[-160:],
                after=elsewhere.name[-160:],
            )
            continue
        about = set(side.test.calls) - COMMON_CALLS
        alike = [other for other in come if not about or about & set(other.test.calls)]
        checks = [check for check in side.checks if check.effective]
        if not checks and about and not alike and not _HOOK.fullmatch(last_name(side.test)):
            yield Weakening(
                "test-removed",
                side.path,
                side.test.line,
                f"{side.test.name} was removed",
                before=side.test.name[-160:],
                arguable=True,
                names=frozenset((*side.test.calls, *_WORDS.findall(side.test.name))),
            )
        for check in checks:
            if pool.keys[check.key] > 0:
                pool.keys[check.key] -= 1
                continue
            if any(_among(check, other.test) for other in alike):
                continue
            place = next((other for other in alike if room[id(other)] > 0 and _may_ask(other, check)), None)
            if place is not None:
                room[id(place)] -= 1
                continue
            lost = _lost(check, side.path, f"lost with {side.test.name[-160:]}")
            names = lost.names | frozenset((*side.test.calls, *_WORDS.findall(side.test.name)))
            yield replace(lost, mild=bool(about and alike) and not _given_to(check), names=names)


def _is_inherited(test: WrittenTest, pool: _Pool) -> bool:
    """Whether a test lies in a class that test classes are made of: it runs with each of them."""
    owner = test.name.rpartition(".")[0].rpartition(".")[2]
    return not test.why_not and last_name(test).startswith("test") and owner in pool.bases


def _may_ask(side: Side, check: Check) -> bool:
    """Whether a new test can ask what an old check asked: its values are written somewhere in it."""
    values = {
        value for side in (check.subject, check.expected) if not _PUT_TOGETHER.search(side)
        for value in _VALUES.findall(side)
    }  # fmt: skip
    return UNKNOWN_CASES in side.test.cases or values <= set(side.test.literals) or not side.test.literals
