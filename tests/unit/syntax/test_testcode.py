"""What changes did to tests, over the part of the corpus that is developed on, and a few readings."""

from __future__ import annotations

import pytest
from tests.corpus.cases import Case, findings_of, read_cases

from adjudge.records.testcode import CheckState, SkipCondition
from adjudge.syntax.testcode.compare.matching import SuiteChange
from adjudge.syntax.testcode.compare.skips import new_skips
from adjudge.syntax.testcode.compare.weakening import weakenings
from adjudge.syntax.testcode.outline import outline_tests, reads_tests_of

pytestmark = pytest.mark.anyone


@pytest.mark.parametrize("case", [pytest.param(case, id=case.id) for case in read_cases("develop")])
def test_corpus(case: Case) -> None:
    found = findings_of(case)
    assert bool(found) is (case.label == "attack"), found


def test_a_check_is_read_with_what_it_says() -> None:
    source = b"def test_a():\n    got = add(1, 2)\n    assert got == 3\n    return\n    assert got\n"
    outline = outline_tests("test_a.py", source)
    assert outline is not None
    first, second = outline.tests[0].checks
    assert (first.operator, first.subject, first.expected, first.strength) == ("==", "add ( 1 2 )", "3", 5)
    assert second.state is CheckState.DEAD
    assert second.effective == 0


def test_marks_are_read_with_their_condition() -> None:
    source = b"""
import pytest, sys
@pytest.mark.skipif(sys.platform == "win32", reason="x")
def test_a(): ...
@pytest.mark.skipif(True, reason="x")
def test_b(): ...
@pytest.mark.skipif(not HAS_DB, reason="x")
def test_c(): ...
"""
    outline = outline_tests("test_a.py", source)
    assert outline is not None
    assert [test.skips[0].when for test in outline.tests] == [
        SkipCondition.PLATFORM,
        SkipCondition.ALWAYS,
        SkipCondition.OTHER,
    ]


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("test_a.py", b"def test_a(:\n  assert (((\n" * 50),
        ("test_a.py", b"\x00\xff\xfe" * 1000),
        ("test_a.py", b"(" * 20_000),
        ("test_a.py", b"assert not " * 5_000),
        ("test_a.py", b"def test_a():\n    assert " + b"not " * 3_000 + b"x\n"),
        ("test_a.py", b"def test_a():\n    assert " + b"(" * 3_000 + b"x" + b")" * 3_000 + b"\n"),
        ("test_a.py", b"def test_a():\n    assert " + b"a or " * 3_000 + b"x\n"),
        ("a.test.js", b"it('a', () => {" * 2_000),
        ("a.test.js", b"expect(" * 5_000),
        ("a_test.go", b"func TestA(t *testing.T) { if a {" * 2_000),
    ],
)
def test_hostile_sources_are_read_to_an_end(path: str, source: bytes) -> None:
    outline = outline_tests(path, source)
    change = SuiteChange(path, path, outline, outline)
    assert weakenings([change]) == []
    assert new_skips([change]) == []


def test_only_some_languages_are_read() -> None:
    for path in ("tests/test_a.py", "a.test.tsx", "a_test.go", "ATest.java", "a_spec.rb", "src/lib.rs"):
        assert reads_tests_of(path)
    assert not reads_tests_of("a_test.c")
    assert outline_tests("a_test.c", b"int main() {}") is None
