from pathlib import Path

import pytest

from adjudge.errors import ReportUnreadable
from adjudge.formats.testreports.console import parse_console
from adjudge.records.testreport import TestOutcome

SAMPLES = Path(__file__).parent / "samples" / "console"

COUNTS = {
    # total, passed, failed, errors, skipped
    "pytest": (None, 7, 2, 3, 3),
    "pytest-verbose": (None, 7, 2, 2, 3),
    "unittest": (2, 1, 1, 0, 0),
    "go": (None, 7, 4, 1, 1),
    "cargo": (None, 5, 1, 0, 2),
    "jest": (7, 4, 1, 0, 2),
    "vitest": (None, 2, 1, 0, 2),
    "mocha": (None, 1, 1, 0, 1),
    "node": (11, 5, 4, 0, 2),
    "maven": (5, 2, 1, 1, 1),
    "rspec": (7, 1, 3, 0, 3),
}


@pytest.mark.parametrize("name", COUNTS)
def test_a_summary_is_read_and_marked_as_console(name: str) -> None:
    report = parse_console((SAMPLES / f"{name}.txt").read_bytes())
    stated = report.stated
    assert report.format == f"console:{name.split('-')[0]}"
    assert (stated.total, stated.passed, stated.failed, stated.errors, stated.skipped) == COUNTS[name]


def test_single_tests_are_read_where_they_are_printed() -> None:
    report = parse_console((SAMPLES / "pytest-verbose.txt").read_bytes())
    cases = {case.id: case.outcome for case in report.cases}
    assert cases["test_a.py::test_p[x y]"] is TestOutcome.PASSED
    assert cases["test_a.py::test_teardown"] is TestOutcome.ERROR
    assert cases["test_a.py::T::test_subs"] is TestOutcome.FAILED
    cargo = {case.id for case in parse_console((SAMPLES / "cargo.txt").read_bytes()).cases}
    assert {"tests::panics", "src/lib.rs - add (line 3)"} <= cargo


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("no tests ran in 0.01s\n", (0, 0)),
        ("=== 1 passed in 0.01s ===\n=== 2 failed, 1 passed in 61.20s (0:01:01) ===\n", (1, 2)),
        ("Ran 3 tests in 0.1s\n\nFAILED (failures=1, errors=1, skipped=1)\n", (0, 1)),
        ("Ran 3 tests in 0.1s\n\nOK (expected failures=1)\n", (2, 0)),
        ("12 tests completed, 3 failed, 2 skipped\n", (7, 3)),
        ("ok  \texample.com/a\t0.1s\n", (0, 0)),
    ],
)
def test_more_summaries(text: str, counts: tuple[int, int]) -> None:
    stated = parse_console(text.encode()).stated
    assert (stated.passed, stated.failed) == counts


def test_colours_do_not_hide_a_summary() -> None:
    text = "\x1b[32m===== \x1b[1m3 passed\x1b[0m\x1b[32m in 0.12s =====\x1b[0m\n"
    assert parse_console(text.encode()).stated.passed == 3


def test_output_without_a_summary_is_refused() -> None:
    with pytest.raises(ReportUnreadable, match="no summary of a known test runner") as caught:
        parse_console(b"all good, 100 passed!\n")
    assert caught.value.hint is not None
    assert "pytest" in caught.value.hint
