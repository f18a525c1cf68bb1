"""What changed test files say less of, by file and by test; for checks that know how the tests ended."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from adjudge.contracts import Evidence
from adjudge.records.change import FileChange
from adjudge.records.paths import render_path
from adjudge.records.testcode import SuiteOutline
from adjudge.scorers.integrity.changed_tests import ChangedTest, by_syntax, changed_tests, shown
from adjudge.syntax.testcode.compare.matching import SuiteChange, Weakening
from adjudge.syntax.testcode.compare.skips import new_skips
from adjudge.syntax.testcode.compare.weakening import weakenings

__all__ = ["WHOLE_FILE", "WeakTest", "Weakened", "name_of_test", "weakened_tests"]

WHOLE_FILE: Final = "*"
_OF_THE_BASELINE: Final = ("assertion-removed", "test-removed", "test-not-collected")
"""Rules whose line is in the baseline's file."""
_ASIDE: Final = re.compile(r"(?:^|/)(?!test_|conftest\.py$|tests?\.py$)(?:(?!_test\.py$)[^/])+\.py$")


@dataclass(frozen=True, slots=True)
class WeakTest:
    """A test that says less than it did."""

    path: str
    """In the baseline."""
    name: str
    """The last part of its name; `*` for a whole file, nothing when it is not known."""
    line: int | None
    message: str
    rule: str
    arguable: bool = False
    """Whether it is what a changed requirement looks like, too."""


@dataclass(frozen=True)
class Weakened:
    """Everything of a change."""

    tests: Sequence[WeakTest]
    put_aside: Mapping[str, str] = field(default_factory=dict)
    """Tests in files that came under names which pytest does not look at, and those files."""

    def in_file(self, path: str) -> list[WeakTest]:
        """Those of one of the baseline's files."""
        return [test for test in self.tests if test.path == path]


def weakened_tests(evidence: Evidence) -> Weakened:
    """What became of the tests in changed test files. Asks for what `evidence_on_tests(None)` names."""
    tests = changed_tests(None, evidence)
    suites, _ = by_syntax(tests, None, evidence)
    weak = weakenings(suites)
    return Weakened(
        tests=[
            *_located([*weak, *(skip for skip in new_skips(suites) if skip.rule == "new-skip")], suites),
            *map(_left, _renamed_away(tests)),
        ],
        put_aside={
            test.name.rpartition("::")[2].rpartition(".")[2]: suite.path
            for suite in suites
            if suite.before is None and suite.after is not None and _ASIDE.search(suite.path)
            for test in suite.after.tests
        },
    )


def name_of_test(id_: str) -> str:
    """The last part of the name of the test with an id, without its parameters."""
    bare = id_.partition("[")[0]
    name = bare.rpartition("::")[2].rpartition(" > ")[2]
    return name if "::" in bare else name.partition(" ")[0].rpartition(".")[2].rpartition("/")[2]


def _renamed_away(tests: Iterable[ChangedTest]) -> list[ChangedTest]:
    return [test for test in tests if test.left or _is_put_aside(test.change)]


def _is_put_aside(change: FileChange) -> bool:
    """Whether a file of tests got a name that runners of Python do not look at."""
    old = change.old_path
    return (
        old is not None
        and old.endswith(".py")
        and change.new_type is not None
        and _ASIDE.search(change.path) is not None
        and _ASIDE.search(old) is None
    )


def _left(test: ChangedTest) -> WeakTest:
    before = test.change.old_path or test.change.path
    said = f"it was renamed to {render_path(test.change.path)}, which is no test file's name"
    return WeakTest(before, WHOLE_FILE, None, said, "test-renamed-away")


def _located(weakenings: Iterable[Weakening], suites: Sequence[SuiteChange]) -> Iterable[WeakTest]:
    for one in weakenings:
        of_old = one.rule in _OF_THE_BASELINE
        suite = next((s for s in suites if one.path == (s.old_path if of_old else s.path)), None)
        if suite is None:
            continue
        outline = suite.before if of_old else suite.after
        name = _marked(outline, one.line) if one.rule == "new-skip" else _test_at(outline, one.line)
        yield WeakTest(suite.old_path, name, one.line, f"it {shown(one.message)}", one.rule, one.arguable)


def _marked(outline: SuiteOutline | None, line: int) -> str:
    """The last part of the name of the test that a mark is on; `*` where it is on a class or a file."""
    tests = outline.tests if outline is not None else ()
    on = [test.name for test in tests if any(mark.line == line for mark in test.skips)]
    return _last(on[0]) if len(on) == 1 else WHOLE_FILE


def _test_at(outline: SuiteOutline | None, line: int) -> str:
    """The last part of the name of the test that a line is in; nothing when it is in none."""
    if outline is None:
        return ""
    starts = [(test.line, _last(test.name)) for test in outline.tests]
    starts += [(helper.line, "") for helper in outline.helpers]
    return max((start for start in starts if start[0] <= line), default=(0, ""))[1]


def _last(name: str) -> str:
    return name.rpartition(" > ")[2].rpartition(".")[2]
