"""The test files an attempt changed: what they check before and after.

Where their language is not read by its syntax, the markers that were added to and removed from their lines.

Shared by `no_new_skips` and `assertions_not_weakened`. What a test checks, and what in a line is a marker, is
the business of `adjudge.syntax`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from adjudge.contracts import Evidence
from adjudge.formats.patterns import PathPatterns
from adjudge.records.change import ChangeKind, FileChange
from adjudge.records.evidence import FileLines, ParsedChange, SuiteScan
from adjudge.records.paths import render_path
from adjudge.records.score import Finding
from adjudge.syntax.languages import Language, default_test_globs, is_third_party, language_of
from adjudge.syntax.lines import Line, Marker
from adjudge.syntax.testcode.compare.matching import SuiteChange, Weakening

__all__ = [
    "ChangedTest",
    "Moves",
    "by_syntax",
    "changed_product",
    "changed_tests",
    "evidence_on_tests",
    "marker_moves",
    "unreadable",
    "weakening_finding",
]

Finder = Callable[[Sequence[Line], Language], list[Marker]]

_SHOWN_CHARACTERS = 240


@dataclass(frozen=True, slots=True)
class ChangedTest:
    """A changed test file with its changed lines, where they could be told."""

    change: FileChange
    language: Language
    lines: FileLines | None
    left: bool
    """Renamed to a path that is no test's."""


@dataclass(frozen=True, slots=True)
class Moves:
    """The markers that came and went, each with its path. Equal lines on both sides cancel out."""

    added: int
    removed: int
    new: tuple[tuple[str, Marker], ...]
    gone: tuple[tuple[str, Marker], ...]


def lines_of_tests(test_globset: Sequence[str] | None) -> ParsedChange:
    """The request for the change set with the changed lines of test files."""
    return ParsedChange(lines_of=tuple(test_globset) if test_globset is not None else default_test_globs())


def evidence_on_tests(test_globset: Sequence[str] | None) -> tuple[ParsedChange, SuiteScan]:
    """What the checks on test files need: changed lines, and both sides as what they check."""
    lines = lines_of_tests(test_globset)
    return lines, SuiteScan(test_globset=lines.lines_of, third_party=test_globset is not None)


def by_syntax(
    tests: Sequence[ChangedTest], test_globset: Sequence[str] | None, evidence: Evidence
) -> tuple[list[SuiteChange], list[ChangedTest]]:
    """The test files that can be compared by what they check, and the others."""
    scanned = {file.path: file for file in evidence[evidence_on_tests(test_globset)[1]].files}
    suites: list[SuiteChange] = []
    others: list[ChangedTest] = []
    for test in tests:
        file = scanned.get(test.change.path)
        if file is None or not file.readable or test.lines is None or test.left:
            others.append(test)
        else:
            suites.append(SuiteChange(file.old_path, file.path, file.before, file.after))
    return suites, others


def changed_product(
    tests: Sequence[ChangedTest], test_globset: Sequence[str] | None, evidence: Evidence
) -> bool:
    """Whether the attempt changed any source that is not a test's."""
    known = {test.change.path for test in tests}
    changes = evidence[lines_of_tests(test_globset)].change_set.work
    return any(change.path not in known and language_of(change.path) is not None for change in changes)


def weakening_finding(weakening: Weakening) -> Finding:
    """The finding for a row."""
    return Finding(
        rule=weakening.rule,
        path=weakening.path,
        line=weakening.line,
        message=f"{render_path(weakening.path)}:{weakening.line} {shown(weakening.message)}",
        before=weakening.before,
        after=weakening.after,
    )


def changed_tests(test_globset: Sequence[str] | None, evidence: Evidence) -> list[ChangedTest]:
    """The changed test files in languages we know; other people's code is left out unless asked for."""
    request = lines_of_tests(test_globset)
    parsed = evidence[request]
    patterns = PathPatterns(request.lines_of)
    lines = {file.path: file for file in parsed.files}
    without = frozenset(parsed.without_lines)

    def is_test(path: str) -> bool:
        return path in patterns and (test_globset is not None or not is_third_party(path))

    found: list[ChangedTest] = []
    for change in parsed.change_set.changes:
        before = change.old_path or change.path
        language = language_of(before) or language_of(change.path)
        if language is None or not (is_test(before) or is_test(change.path)):
            continue
        known = None if change.path in without else lines.get(change.path, _no_lines(change))
        left = change.kind is ChangeKind.RENAMED and is_test(before) and not is_test(change.path)
        found.append(ChangedTest(change, language, known, left))
    return found


def marker_moves(tests: Sequence[ChangedTest], find: Finder) -> Moves:
    """Count markers on added and on removed lines, over all files together."""
    added = [marker for test in tests for marker in _found(test, find, added=True)]
    removed = [marker for test in tests for marker in _found(test, find, added=False)]
    return Moves(len(added), len(removed), _beyond(added, removed), _beyond(removed, added))


def unreadable(tests: Sequence[ChangedTest], rule: str) -> list[Finding]:
    """Test files that changed in a way that shows no lines; nothing good can be said of them."""
    return [
        Finding(
            rule=rule,
            path=test.change.path,
            message=f"{render_path(test.change.path)} changed, but has no lines to compare: "
            f"{test.change.unreadable or ('binary' if test.change.binary else 'too large')}",
        )
        for test in tests
        if test.lines is None
    ]


def shown(text: str) -> str:
    """A line of the attempt's, short enough for a message."""
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…"


def _no_lines(change: FileChange) -> FileLines:
    return FileLines(path=change.path, old_path=change.old_path, lines=())


def _found(test: ChangedTest, find: Finder, *, added: bool) -> Iterator[tuple[str, Marker]]:
    if test.lines is None:
        return
    path = test.change.path if added else (test.change.old_path or test.change.path)
    lines = [Line(line.number, line.text) for line in test.lines.lines if line.added is added]
    for marker in find(lines, test.language):
        yield path, marker


def _beyond(
    these: Sequence[tuple[str, Marker]], those: Sequence[tuple[str, Marker]]
) -> tuple[tuple[str, Marker], ...]:
    """The markers of `these` that no equal line among `those` accounts for."""
    left = Counter(marker.text for _, marker in those)
    beyond: list[tuple[str, Marker]] = []
    for path, marker in these:
        if left[marker.text] > 0:
            left[marker.text] -= 1
        else:
            beyond.append((path, marker))
    return tuple(beyond)
