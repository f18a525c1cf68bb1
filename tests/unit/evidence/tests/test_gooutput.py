"""What Go test programs print, and the ids of Go tests."""

from __future__ import annotations

import pytest

from adjudge.evidence.tests.channel import Channel
from adjudge.evidence.tests.gooutput import GoOutput
from adjudge.evidence.tests.outcomes import ended
from adjudge.evidence.tests.twins import TestFiles
from adjudge.records.testreport import TestOutcome

pytestmark = pytest.mark.anyone


def _read(text: str, *, marked: bool = False, at_once: int = 7) -> tuple[Channel, GoOutput]:
    channel = Channel()
    output = GoOutput(channel, lambda test: f"a_test.go::{test}", marked)
    data = text.encode()
    for start in range(0, len(data), at_once):
        output.feed(data[start : start + at_once])
    output.close()
    return channel, output


def _outcomes(channel: Channel) -> dict[str, TestOutcome | None]:
    return {id_.partition("::")[2]: ended(phases).outcome for id_, phases in channel.phases.items()}


PLAIN = """\
=== RUN   TestA
=== PAUSE TestA
=== RUN   TestB
=== RUN   TestB/part
    b_test.go:12: wrong: 3
--- FAIL: TestB (0.01s)
    --- FAIL: TestB/part (0.00s)
=== CONT  TestA
no end of line--- PASS: TestA (0.25s)
=== RUN   ExampleC
--- SKIP: ExampleC (0.00s)
FAIL
"""


def test_results() -> None:
    channel, output = _read(PLAIN)
    assert _outcomes(channel) == {
        "TestB": TestOutcome.FAILED,
        "TestB/part": TestOutcome.FAILED,
        "TestA": TestOutcome.PASSED,
        "ExampleC": TestOutcome.SKIPPED,
    }
    assert ended(channel.phases["a_test.go::TestB/part"]).message == "b_test.go:12: wrong: 3"
    assert ended(channel.phases["a_test.go::TestA"]).duration_s == 0.25
    assert (output.whole, dict(output.running), output.strange) == (True, {}, 0)


def test_marked_lines_are_the_programs_own() -> None:
    text = (
        "\x16=== RUN   TestA\n--- FAIL: TestA (0.00s)\n=== RUN   TestB\nx\x16--- PASS: TestA (0.00s)\nPASS\n"
    )
    channel, output = _read(text, marked=True)
    assert _outcomes(channel) == {"TestA": TestOutcome.PASSED}
    assert output.whole


def test_what_began_and_did_not_end() -> None:
    _, output = _read("=== RUN   TestA\n=== RUN   TestA/b\npanic: no\n")
    assert (list(output.running), output.whole) == (["TestA", "TestA/b"], False)


def test_results_of_tests_that_never_began_count_for_nothing() -> None:
    channel, output = _read("--- PASS: TestA (0.00s)\nPASS\n")
    assert (_outcomes(channel), output.strange) == ({}, 1)


def test_a_test_that_ends_twice_is_an_error() -> None:
    channel, _ = _read("=== RUN   TestA\n--- PASS: TestA (0.00s)\n--- PASS: TestA (0.00s)\n")
    assert _outcomes(channel) == {"TestA": TestOutcome.ERROR}


def test_lines_without_end_are_cut() -> None:
    channel, _ = _read("=== RUN   TestA\n" + "x" * 300_000 + "\n--- PASS: TestA (0.00s)\n", at_once=10_000)
    assert _outcomes(channel) == {"TestA": TestOutcome.PASSED}


_GO = b'package p\nimport "testing"\nfunc Test%s(t *testing.T) { if F() != 12 { t.Error() } }\n'
FILES = TestFiles(
    {
        "a_test.go": _GO % b"A",
        "tax/b_test.go": _GO % b"B",
        "tax/a_test.go": _GO % b"A",
        "x/tax/c_test.go": _GO % b"B",
    },
    "seed",
)


@pytest.mark.parametrize(
    ("written", "full"),
    [
        ("tax/b_test.go::TestB/x", "tax/b_test.go::TestB/x"),
        ("example.com/shop/tax::TestA", "tax/a_test.go::TestA"),
        ("example.com/shop/tax.TestA/some[1]", "tax/a_test.go::TestA/some[1]"),
        ("example.com/shop/tax/TestA", "tax/a_test.go::TestA"),
        ("example.com/shop::TestA", "a_test.go::TestA"),
        ("./tax::TestB", "tax/b_test.go::TestB"),
        ("example.com/shop/x/tax::TestB", "x/tax/c_test.go::TestB"),
        ("TestA", "TestA"),
        ("TestC", "TestC"),
        ("example.com/shop/none::TestB", "example.com/shop/none::TestB"),
    ],
)
def test_ids_as_people_write_them(written: str, full: str) -> None:
    assert FILES.canonical(written) == full


def test_a_name_alone_is_enough_when_one_file_has_it() -> None:
    files = TestFiles({"tax/b_test.go": _GO % b"B"}, "seed")
    assert files.canonical("TestB/x y") == "tax/b_test.go::TestB/x y"
