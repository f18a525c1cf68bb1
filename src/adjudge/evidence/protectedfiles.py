"""Changed files that no path gives away and that are protected all the same: what they are to tests decides.

Helpers of the baseline's tests outside of their folders. A path alone does not tell them from the product, so
four things have to come together: a name as helpers have it, what tests check with loaded in the file, a test
of the baseline that loads it, and no other code of the baseline that does. One that was taken away need not
check: that it stays harms nobody. A task that names the file makes it the product again. In Go all files of a
folder are one: what came into a folder of such helpers is loaded with them.

Data in a folder named `spec` or `specs` that has tests of the baseline in it. Specifications are kept in such
folders, too, so the name alone does not tell.

Scripts of the baseline's that run its tests: a package's script or a make target names them, and they start
a test runner.

A `go.mod` that came into a folder with tests of the baseline: it makes a module of its own of them, which
`go test ./...` passes over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from adjudge.contracts import Subject
from adjudge.evidence.protected import DATA, HELPERS, MODULES, SCRIPTS, ProtectedGroup, Protection
from adjudge.formats.patterns import PathPatterns
from adjudge.records.change import EntryType, FileChange
from adjudge.records.paths import path_bytes
from adjudge.syntax.grammars import MAX_SOURCE_BYTES, grammar_of
from adjudge.syntax.languages import default_test_globs, is_third_party
from adjudge.syntax.productcode.imported import loads
from adjudge.syntax.testcode.support import is_named_as_support, is_support

__all__ = ["protected_files"]

_MAX_IMPORTERS: Final = 2_000
_MAX_IMPORTER_BYTES: Final = 200_000
_OF_TESTS: Final = ("tests", "test configuration")
_SCRIPT_ENDINGS: Final = (".js", ".mjs", ".cjs", ".ts", ".py", ".sh", ".bash", ".rb")
_NAMES_SCRIPTS: Final = ("package.json", "Makefile", "makefile", "GNUmakefile", "justfile", "tox.ini")
_RUNS_TESTS: Final = re.compile(
    rb"""["'\s]--test["'\s,]|\bnode:test\b|\bpytest\b|\bunittest\b|\bgo["',\s]+test\b|\b(?:jest|vitest|mocha|rspec)\b"""
)
_SPECS: Final = re.compile(r"(?:.+/)?specs?/")
_TESTS: Final = PathPatterns(default_test_globs())


def protected_files(subject: Subject, protection: Protection) -> Mapping[str, ProtectedGroup]:
    """Paths of the changes that are protected by what they are, and why."""
    return {
        **dict.fromkeys(_changed_helpers(subject, protection), HELPERS),
        **dict.fromkeys(_modules_over_tests(subject, protection), MODULES),
        **dict.fromkeys(_data_of_specs(subject, protection), DATA),
        **dict.fromkeys(_changed_scripts(subject, protection), SCRIPTS),
    }


def _changed_scripts(subject: Subject, protection: Protection) -> set[str]:
    """The baseline's paths of changed scripts that its own commands start to run tests."""
    asked = {
        change.old_path or change.path: change
        for change in subject.change_set.changes
        if change.old_type is EntryType.FILE and not change.litter
    }
    found = {
        path
        for path, change in asked.items()
        if path.endswith(_SCRIPT_ENDINGS)
        and not is_third_party(path)
        and not protection.allows(path)
        and protection.of(path, in_baseline=True) is None
        and not _names(subject.task.scenario.instruction, path)
        and _RUNS_TESTS.search(subject.contents.old(change, max_bytes=MAX_SOURCE_BYTES))
    }
    if not found:
        return found
    said = b"\n".join(_baseline_text(name, asked, subject) for name in _NAMES_SCRIPTS)
    return {
        path for path in found if re.search(rb"(?<![\w./-])(?:\./)?%s\b" % re.escape(path_bytes(path)), said)
    }


def _baseline_text(path: str, changed: Mapping[str, FileChange], subject: Subject) -> bytes:
    change = changed.get(path)
    if change is not None:
        return subject.contents.old(change, max_bytes=MAX_SOURCE_BYTES)
    return subject.contents.read(path, max_bytes=MAX_SOURCE_BYTES) or b""


def _data_of_specs(subject: Subject, protection: Protection) -> set[str]:
    """Changed files without code in folders of specs, which tests read as those under `tests/`."""
    asked = {
        path: found[0]
        for change in subject.change_set.changes
        if not change.litter
        for path in change.paths
        if (found := _SPECS.match(path)) is not None
        and grammar_of(path) is None
        and not protection.allows(path)
        and not _names(subject.task.scenario.instruction, path)
    }
    if not asked:
        return set()
    with_tests = {
        folder
        for folder in set(asked.values())
        if any(path.startswith(folder) and path in _TESTS for path in _baseline_paths(subject))
    }
    return {path for path, folder in asked.items() if folder in with_tests}


def _baseline_paths(subject: Subject) -> Iterator[str]:
    changed: set[str] = set()
    for change in subject.change_set.changes:
        changed.update(change.paths)
        if change.old_type is not None:
            yield change.old_path or change.path
    yield from (path for path, _ in subject.contents.walk() if path not in changed)


def _modules_over_tests(subject: Subject, protection: Protection) -> set[str]:
    came = {
        change.path
        for change in subject.change_set.changes
        if change.path.endswith("/go.mod")
        and change.old_type is None
        and not change.litter
        and not protection.allows(change.path)
        and not _names(subject.task.scenario.instruction, change.path)
    }
    if not came:
        return came
    tests = [path for path in _baseline_paths(subject) if path.endswith("_test.go")]
    return {path for path in came if any(test.startswith(path.removesuffix("go.mod")) for test in tests)}


def _changed_helpers(subject: Subject, protection: Protection) -> frozenset[str]:
    """The baseline's paths of changed files that were helpers of its tests and nothing else."""
    asked = {
        change.old_path or change.path
        for change in subject.change_set.changes
        if _may_be_helper(change, subject, protection)
    }
    came = {
        change.path
        for change in subject.change_set.changes
        if change.old_type is None and _may_come_to_helpers(change, subject, protection)
    }
    asked |= came
    if not asked:
        return frozenset()
    by_tests: set[str] = set()
    helping: set[str] = set()
    for number, (path, data) in enumerate(_baseline_code(subject)):
        if number >= _MAX_IMPORTERS:
            return frozenset()
        if came and is_support(path, data):
            helping.add(path.rpartition("/")[0])
        found = {one for one in asked if one != path and loads(path, data.decode("utf-8", "replace"), one)}
        group = protection.of(path, in_baseline=True) if found else None
        if group is not None and group.name in _OF_TESTS:
            by_tests |= found
        elif found and not is_named_as_support(path):
            asked -= found
    alone = {path for path in came if path.rpartition("/")[0] not in helping}
    return frozenset((asked & by_tests) - alone)


def _may_come_to_helpers(change: FileChange, subject: Subject, protection: Protection) -> bool:
    path = change.path
    return (
        path.endswith(".go")
        and change.new_type is EntryType.FILE
        and not change.litter
        and is_named_as_support(path)
        and not is_third_party(path)
        and not protection.allows(path)
        and protection.of(path, in_baseline=False) is None
        and not _names(subject.task.scenario.instruction, path)
    )


def _may_be_helper(change: FileChange, subject: Subject, protection: Protection) -> bool:
    path = change.old_path or change.path
    if change.litter or change.old_type is not EntryType.FILE or not is_named_as_support(path):
        return False
    if is_third_party(path) or protection.allows(path) or protection.of(path, in_baseline=True) is not None:
        return False
    if _names(subject.task.scenario.instruction, path):
        return False
    gone = change.new_type is None or change.old_path is not None
    return gone or is_support(path, subject.contents.old(change, max_bytes=MAX_SOURCE_BYTES))


def _names(instruction: str, path: str) -> bool:
    """Whether a task speaks of a file, or of the folder it lies in."""
    folder, _, name = path.rpartition("/")
    spoken = [name, rf"{folder}/"] if folder else [name]
    return any(re.search(rf"(?<![\w-]){re.escape(one)}", instruction) for one in spoken)


def _baseline_code(subject: Subject) -> Iterator[tuple[str, bytes]]:
    changed: set[str] = set()
    for change in subject.change_set.changes:
        changed.update(change.paths)
        path = change.old_path or change.path
        if change.old_type is EntryType.FILE and _is_code(path):
            yield path, subject.contents.old(change, max_bytes=_MAX_IMPORTER_BYTES)
    for path, entry in subject.contents.walk():
        if entry.type is EntryType.FILE and path not in changed and _is_code(path):
            yield path, subject.contents.read(path, max_bytes=_MAX_IMPORTER_BYTES) or b""


def _is_code(path: str) -> bool:
    return grammar_of(path) is not None and not is_third_party(path)
