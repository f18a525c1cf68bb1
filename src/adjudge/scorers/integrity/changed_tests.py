"""The test files an attempt changed: what they check before and after.

Where their language is not read by its syntax, the markers that were added to and removed from their lines.

Shared by `no_new_skips` and `assertions_not_weakened`. What a test checks, and what in a line is a marker, is
the business of `adjudge.syntax`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from adjudge.contracts import Evidence
from adjudge.formats.patterns import PathPatterns
from adjudge.records.change import ChangeKind, FileChange
from adjudge.records.evidence import FileLines, ParsedChange, ScannedSuite, SuiteScan
from adjudge.records.paths import render_path
from adjudge.records.score import Finding
from adjudge.syntax.languages import Language, default_test_globs, is_third_party, language_of, source_globs
from adjudge.syntax.lines import Line, Marker
from adjudge.syntax.testcode.compare.matching import SuiteChange, Weakening
from adjudge.syntax.testcode.support import with_checking_helpers

__all__ = [
    "ChangedTest",
    "Moves",
    "ProductChange",
    "by_syntax",
    "changed_tests",
    "evidence_on_tests",
    "is_test_path",
    "lines_of_sources",
    "marker_moves",
    "product_change",
    "shown",
    "unreadable",
    "weakening_finding",
]

Finder = Callable[[Sequence[Line], Language], list[Marker]]

_SHOWN_CHARACTERS = 240
_TEST_NAME = re.compile(r"(?:.*/)?(?:tests?(?:_[^/]*)?|[^/]*_tests?)\.py")
"""What files of tests are called in Python, wherever they lie."""
_TESTS_INSIDE = ("**/*.rs",)
"""Files that are no tests by their name but may hold some."""
_WORD = re.compile(r"[A-Za-z_]\w{2,}")
_DATA = re.compile(
    r"(?:^|/)testdata/"
    r"|(?:^|/)(?:__tests__|tests?|specs?)/(?:.*/)?(?:fixtures|__fixtures__|__testfixtures__)/"
    r"(?:.*/)?(?![^/]+\.(?:test|spec)\.)[^/]+\.[cm]?[jt]sx?$"
)
"""Where no runner looks for tests, for what lies there is what tests are run on."""
_OTHER_SOURCE = re.compile(
    r"^(?!(?:.*/)?(?:tests?|specs?|__tests__|testing|fixtures|testdata)/).*\.(?:[ch]|cc|cpp|cxx|hh|hpp|cs|kt|kts|scala|swift|php|lua|exs?|erl|hs|ml|clj|dart|zig|nim|jl|pl|pm|r|m|mm"
    r"|sh|bash|zsh|fish|ps1|bat|vue|svelte|astro|sql|proto|graphql|g4|pyx|pxd|pyi|vim)$",
    re.IGNORECASE,
)
"""Sources in languages whose tests are not read."""
_BUILT_WHEN = re.compile(
    r"\s*(?://go:build|// \+build|#!?\[cfg\()(?!.*\b(?:ignore|never|none|disabled|any\(\))\b)"
)
_MANIFEST = re.compile(
    r"(?:^|/)(?:package(?:-lock)?\.json|yarn\.lock|pnpm-lock\.yaml|go\.(?:mod|sum)|Cargo\.(?:toml|lock)"
    r"|pyproject\.toml|setup\.(?:py|cfg)|requirements[^/]*\.txt|poetry\.lock|uv\.lock|Gemfile(?:\.lock)?"
    r"|[^/]*\.gemspec|pom\.xml|build\.gradle(?:\.kts)?|tox\.ini)$"
)
"""What says which versions of others' code a project is built on."""


@dataclass(frozen=True, slots=True)
class ChangedTest:
    """A changed test file with its changed lines, where they could be told."""

    change: FileChange
    language: Language
    lines: FileLines | None
    left: bool
    """Renamed to a path that is no test's."""
    inside: bool = False
    """A source that holds tests beside what they test."""


@dataclass(frozen=True, slots=True)
class Moves:
    """The markers that came and went, each with its path. Equal lines on both sides cancel out."""

    added: int
    removed: int
    new: tuple[tuple[str, Marker], ...]
    gone: tuple[tuple[str, Marker], ...]


def lines_of_sources(test_globset: Sequence[str] | None) -> ParsedChange:
    """The request for the change set with the changed lines of tests and of what they test."""
    return ParsedChange(lines_of=(*_test_globs(test_globset), *source_globs()))


def evidence_on_tests(test_globset: Sequence[str] | None) -> tuple[ParsedChange, SuiteScan]:
    """What the checks on test files need: changed lines, and both sides as what they check."""
    globs = _test_globs(test_globset)
    if test_globset is None:
        globs += _TESTS_INSIDE
    named = test_globset is not None
    return lines_of_sources(test_globset), SuiteScan(test_globset=globs, third_party=named, support=not named)


def _test_globs(test_globset: Sequence[str] | None) -> tuple[str, ...]:
    return tuple(test_globset) if test_globset is not None else default_test_globs()


def by_syntax(
    tests: Sequence[ChangedTest], test_globset: Sequence[str] | None, evidence: Evidence
) -> tuple[list[SuiteChange], list[ChangedTest]]:
    """The test files that can be compared by what they check, and the others."""
    scanned = _scanned(test_globset, evidence)
    suites: list[SuiteChange] = []
    others: list[ChangedTest] = []
    for test in tests:
        file = scanned.get(test.change.path)
        if file is None or not file.readable or test.lines is None or test.left or _says_nothing(file):
            others.append(test)
        else:
            before, after = with_checking_helpers(file.before, file.after)
            suites.append(SuiteChange(file.old_path, file.path, before, after))
    return suites, others


def _says_nothing(file: ScannedSuite) -> bool:
    """Whether a file has no function on either side that could be a test or a helper of one.

    Python has no other way to write one.
    """
    return not file.path.endswith(".py") and not any(
        outline is not None and (outline.tests or outline.helpers or outline.skips or outline.unchanged)
        for outline in (file.before, file.after)
    )


def _scanned(test_globset: Sequence[str] | None, evidence: Evidence) -> dict[str, ScannedSuite]:
    return {file.path: file for file in evidence[evidence_on_tests(test_globset)[1]].files}


@dataclass(frozen=True, slots=True)
class ProductChange:
    """What an attempt did besides changing tests."""

    changed: bool
    """Whether it changed sources, or what they are built on."""
    vanished: frozenset[str]
    """Names that changed sources no longer mention."""
    conditions: frozenset[str]
    """Conditions of building that were put on sources that were there."""


def product_change(
    tests: Sequence[ChangedTest], test_globset: Sequence[str] | None, evidence: Evidence
) -> ProductChange:
    """What the attempt changed that is not a test's."""
    known = {test.change.path for test in tests if not test.inside}
    parsed = evidence[lines_of_sources(test_globset)]
    changes = [
        change
        for change in parsed.change_set.work
        if change.path not in known and not _DATA.search(change.path)
    ]
    changed = any(
        language_of(change.path) is not None
        or _OTHER_SOURCE.search(change.path) is not None
        or _MANIFEST.search(change.path) is not None
        for change in changes
        if not _only_tests_changed(change.path, tests, test_globset, evidence)
    )
    gone: set[str] = set()
    come: set[str] = set()
    for file in parsed.files:
        if file.path not in known and not _DATA.search(file.path):
            for line in file.lines:
                (come if line.added else gone).update(_WORD.findall(line.text))
    there = {change.path for change in changes if change.kind is not ChangeKind.ADDED}
    conditions = frozenset(
        line.text.strip()
        for file in parsed.files
        if file.path in there
        for line in file.lines
        if line.added and _BUILT_WHEN.match(line.text)
    )
    return ProductChange(changed, frozenset(gone - come), conditions)


def _only_tests_changed(
    path: str, tests: Sequence[ChangedTest], test_globset: Sequence[str] | None, evidence: Evidence
) -> bool:
    """Whether a source that holds tests differs in nothing else."""
    if not any(test.inside and test.change.path == path for test in tests):
        return False
    file = _scanned(test_globset, evidence).get(path)
    if file is None or file.before is None or file.after is None:
        return False
    sides = [
        sorted((helper.name, helper.body) for helper in outline.helpers)
        for outline in (file.before, file.after)
    ]
    return sides[0] == sides[1]


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
    """The changed test files in languages we know; other people's code is left out unless asked for.

    Sources that hold tests themselves are among them, where their language has that.
    """
    parsed = evidence[lines_of_sources(test_globset)]
    patterns = PathPatterns(_test_globs(test_globset))
    lines = {file.path: file for file in parsed.files}
    without = frozenset(parsed.without_lines)
    scanned = _scanned(test_globset, evidence)

    def is_test(path: str) -> bool:
        return path in patterns and (
            test_globset is not None or not (is_third_party(path) or _DATA.search(path))
        )

    found: list[ChangedTest] = []
    for change in parsed.change_set.changes:
        before = change.old_path or change.path
        language = language_of(before) or language_of(change.path)
        if language is None:
            continue
        file = scanned.get(change.path)
        support = file is not None and file.support
        inside = not support and not is_test(before) and not is_test(change.path)
        if inside and not (_may_hold(change.path, test_globset) and _holds_tests(file)):
            continue
        known = None if change.path in without else lines.get(change.path, _no_lines(change))
        left = change.kind is ChangeKind.RENAMED and is_test(before) and not is_test(change.path)
        if left and not _held_tests(file):
            continue
        found.append(ChangedTest(change, language, known, left, inside))
    return found


def _may_hold(path: str, test_globset: Sequence[str] | None) -> bool:
    """Whether a file that is no test by its name can hold some."""
    return test_globset is None and path in PathPatterns(_TESTS_INSIDE) and not is_third_party(path)


def _holds_tests(file: ScannedSuite | None) -> bool:
    sides = (file.before, file.after) if file is not None and file.readable else ()
    return any(outline is not None and outline.tests for outline in sides)


def _held_tests(file: ScannedSuite | None) -> bool:
    """Whether there were tests in a file, as far as is known.

    Examples for type checkers have functions that are called as tests are; they ask nothing, and their files
    are called otherwise.
    """
    if file is None or file.before is None or any(test.checks for test in file.before.tests):
        return True
    named = not file.old_path.endswith(".py") or _TEST_NAME.fullmatch(file.old_path) is not None
    return named and bool(file.before.tests or file.before.unchanged)


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


def is_test_path(path: str) -> bool:
    """Whether a path is one of tests by its name, or lies among them."""
    return path in _AMONG_TESTS


_AMONG_TESTS: Final = PathPatterns((*default_test_globs(), "**/tests/*", "**/test/*"))
