"""What tests are run with: rows that went, strategies that were narrowed, subjects that were replaced."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from adjudge.records.testcode import SuiteOutline, WrittenTest
from adjudge.syntax.testcode.compare.matching import Side, SuiteChange, Weakening
from adjudge.syntax.testcode.nodes import NO_ROWS, UNKNOWN_CASES

__all__ = ["dropped_cases", "narrowed_inputs", "replaced_subjects"]

_BOUNDS = re.compile(
    r"\b(?:min_value|max_value|min_size|max_size|min|max|minLength|maxLength)\b|\. filter \(|\bjust \("
    r"|\bsampled_from \(|\bconstant(?:From)? \("
)
_EXAMPLES = re.compile(r"\b(?:max_examples|numRuns|MaxCount) [=:] (\d+)")
_WORDS = re.compile(r"[A-Za-z_$][\w$]{2,}")


def dropped_cases(before: Side, after: Side, rows: Mapping[str, int]) -> Iterator[Weakening]:
    """Rows of a test's table that are nowhere any more."""
    if UNKNOWN_CASES in (*before.test.cases, *after.test.cases):
        return
    if not before.test.cases or len(after.test.cases) >= len(before.test.cases):
        return
    if not after.test.cases and any(text.startswith(NO_ROWS) for text in after.test.narrowed):
        # What is left of the table says it: there is one, and nothing in it.
        return
    if not after.test.cases and after.test.body == before.test.body and after.path.endswith(".py"):
        # Nothing can run without its parameters: a fixture gives them.
        return
    left = Counter(before.test.cases)
    left.subtract(after.test.cases)
    dropped = [row for row, count in left.items() if count > 0 and rows.get(row, 0) <= 0]
    more_checks = len(after.test.checks) - len(before.test.checks)
    if dropped and more_checks < len(dropped) and not _rewritten(before, after):
        count = f"{len(dropped)} of {len(before.test.cases)} cases"
        yield Weakening(
            "cases-dropped",
            after.path,
            after.test.line,
            f"{after.test.name} lost {count}: {dropped[0][:100]}",
            before=dropped[0][:160],
            arguable=True,
            names=frozenset(_WORDS.findall(" ".join(dropped))),
        )


def _rewritten(before: Side, after: Side) -> bool:
    """Whether a table gave way to something else altogether."""
    return not set(before.test.cases) & set(after.test.cases) and bool(after.test.checks)


def narrowed_inputs(before: Side, after: Side) -> Iterator[Weakening]:
    """Tables that now lose rows on their way, and properties that are tried with less."""
    known = Counter(before.test.narrowed)
    for text in after.test.narrowed:
        if known[text] > 0:
            known[text] -= 1
            continue
        if text.startswith(("given ", "settings ")):
            was = next((one for one in before.test.narrowed if one[:6] == text[:6]), None)
            if was is None or not _tries_less(was, text):
                continue
        else:
            was = None
        yield Weakening(
            "inputs-narrowed",
            after.path,
            after.test.line,
            f"{after.test.name} is tried with less: {text[:120]}",
            before=was and was[:160],
            after=text[:160],
        )


def _tries_less(before: str, after: str) -> bool:
    fewer = [_EXAMPLES.search(text) for text in (before, after)]
    if fewer[1] is not None:
        most = int(fewer[0][1]) if fewer[0] is not None else 100
        return int(fewer[1][1]) < most
    return len(_BOUNDS.findall(after)) > len(_BOUNDS.findall(before))


def replaced_subjects(
    changes: Sequence[SuiteChange], pairs: Sequence[tuple[Side, Side]]
) -> Iterator[Weakening]:
    """Old tests that no longer look at the product: what they call is mocked, or defined in the test file."""
    for before, after in pairs:
        for name in sorted(set(after.test.mocked) - set(before.test.mocked)):
            looked_at = any(
                re.search(rf"(?<![\w$]){re.escape(name)} \(", check.subject) for check in before.test.checks
            )
            if looked_at and name in before.test.calls and name in after.test.calls:
                yield Weakening(
                    "subject-mocked",
                    after.path,
                    after.test.line,
                    f"{after.test.name} puts something else in the place of {name}, which it tests",
                    before=name,
                    after=f"{name} mocked",
                )
    by_path = {change.path: change for change in changes}
    for before, after in pairs:
        change = by_path.get(after.path)
        if change is not None and change.before is not None and change.after is not None:
            yield from _stand_in(before, after, change.before, change.after)
    for change in changes:
        if change.before is None or change.after is None:
            continue
        for name in sorted(set(change.after.rebound) - set(change.before.rebound)):
            users = [test for test in change.after.tests if name in test.calls and test.checks]
            if users and name in change.before.imports:
                said = f"{name} is given something else to stand for beside its tests"
                yield _replaced(change, users[0], name, said, "set")
        own = set(change.after.defined) - set(change.before.defined) - set(change.after.imports)
        for name in sorted(own & set(change.before.imports)):
            users = [test for test in change.after.tests if name in test.calls and test.checks]
            old = {test.name for test in change.before.tests if name in test.calls}
            kept = [test for test in users if test.name in old]
            if kept:
                said = f"{name} is no longer imported but written anew beside its tests"
                yield _replaced(change, kept[0], name, said, "defined")
        gone = set(change.before.lenient)
        for part in change.after.lenient:
            owner = part.partition(".")[0]
            if part not in gone and owner in change.before.defined:
                yield Weakening(
                    "comparison-emptied",
                    change.path,
                    1,
                    f"{part} now holds for anything",
                    before=owner,
                    after=part,
                )


def _replaced(change: SuiteChange, user: WrittenTest, name: str, said: str, how: str) -> Weakening:
    return Weakening(
        "subject-replaced",
        change.path,
        user.line,
        said,
        before=f"import {name}",
        after=f"{name} {how} in {change.path}"[:160],
    )


def _stand_in(before: Side, after: Side, old: SuiteOutline, new: SuiteOutline) -> Iterator[Weakening]:
    """A test whose subject gave way to a function that is new in its file and calls nothing imported."""
    imports = {*old.imports, *new.imports}
    subjects = {
        name
        for name in set(old.imports) & set(before.test.calls)
        if any(re.search(rf"(?<![\w$]){re.escape(name)} \(", check.subject) for check in before.test.checks)
    }
    if not subjects or subjects & set(after.test.calls):
        return
    outlines = {helper.name: helper for helper in new.helpers}
    for name in sorted((set(new.defined) - set(old.defined)) & set(after.test.calls)):
        in_check = any(
            re.search(rf"(?<![\w$]){re.escape(name)} \(", check.subject) for check in after.test.checks
        )
        helper = outlines.get(name)
        if in_check and helper is not None and not set(helper.calls) & imports:
            yield Weakening(
                "subject-replaced",
                after.path,
                after.test.line,
                f"{after.test.name} checks {name}, written beside it, instead of {min(subjects)}",
                before=min(subjects),
                after=name,
            )
            return
