"""Reports that real runners wrote of tiny projects with one test of each kind, trimmed by hand."""

from pathlib import Path

import pytest

from adjudge.formats.testreports.detect import parse_report, without_root
from adjudge.records.testreport import TestReport

SAMPLES = Path(__file__).parent / "samples"


def read(name: str) -> TestReport:
    return without_root(parse_report((SAMPLES / name).read_bytes(), filename=name), "/workspace")


def outcomes(report: TestReport) -> list[str]:
    return [f"{case.outcome} {case.id}" for case in report.cases]


GO = [
    "passed example.com/gop/bye::TestFine",
    "failed example.com/gop/bye::TestLeaves",
    "passed example.com/gop/broken::TestFine",
    "failed example.com/gop/broken::TestPanics",
    "passed example.com/gop/calc::TestAdd",
    "passed example.com/gop/calc::TestTable/small",
    "failed example.com/gop/calc::TestTable/with_space",
    "failed example.com/gop/calc::TestTable",
    "skipped example.com/gop/calc::TestSkip",
    "passed example.com/gop/calc::TestPrints",
    "passed example.com/gop/calc::ExampleAdd",
    "error example.com/gop/nobuild",
]
JEST = [
    "passed a.test::calc > adds",
    "failed a.test::calc > is wrong",
    "skipped a.test::calc > is skipped",
    "skipped a.test::calc > is to be written",
]
EXPECTED: dict[str, tuple[str, list[str]]] = {
    "pytest.xml": (
        "junit",
        [
            "error test_b",
            "passed test_a::test_ok",
            "failed test_a::test_wrong",
            "skipped test_a::test_skip",
            "xfailed test_a::test_xf",
            "passed test_a::test_xp",
            "passed test_a::test_p[x y]",
            "passed test_a::test_p[\\xfc::]",
            "passed test_a::test_p[<&>]",
            "error test_a::test_setup",
            "error test_a::test_teardown",
            "failed test_a.T::test_subs",
            "passed test_a.T::test_u",
        ],
    ),
    "pytest-failed-twice.xml": (
        "junit",
        ["failed test_d::test_a", "error test_d::test_a", "failed test_d::test_b"],
    ),
    "surefire.xml": (
        "junit",
        [
            "error tiny.CalcTest::breaks",
            "passed tiny.CalcTest::adds",
            "passed tiny.CalcTest::flaky",
            "skipped tiny.CalcTest::isSkipped",
            "failed tiny.CalcTest::isWrong",
        ],
    ),
    "node-junit.xml": (
        "junit",
        [
            "passed adds",
            "failed is wrong # really",
            "skipped is skipped",
            "xfailed is todo",
            "passed parent::child one",
            "failed parent::child two",
            "passed suite::inside",
            "passed suite::deeper::deep",
            "failed nt/b.test.mjs",
            "passed nt/c.test.mjs",
        ],
    ),
    "vitest-junit.xml": (
        "junit",
        [
            *(line.replace("a.test", "a.test.ts") for line in JEST),
            "passed a.test.ts::calc > known wrong",
            "failed b.test.ts",
        ],
    ),
    "go-1.27.json": ("go-json", [*GO[2:4], *GO[:2], GO[-1], *GO[4:-1]]),
    "go-1.19-no-build.json": ("go-json", [GO[-1]]),
    "jest.json": (
        "jest",
        [
            *(line.replace("a.test", "jt/a.test.js") for line in JEST),
            "passed jt/a.test.js::calc > each 1",
            "passed jt/a.test.js::calc > each 3",
            "passed jt/a.test.js::calc > is known to be wrong",
            "error jt/broken.test.js",
        ],
    ),
    "vitest.json": (
        "jest",
        [
            *(line.replace("a.test", "vt/a.test.ts") for line in JEST),
            "passed vt/a.test.ts::calc > known wrong",
            "error vt/b.test.ts",
        ],
    ),
    "ctrf.json": (
        "ctrf",
        [
            *(line.replace("a.test", "jt/a.test.js").replace("calc > ", "calc ") for line in JEST),
            "passed jt/a.test.js::calc each 1",
            "passed jt/a.test.js::calc each 3",
            "passed jt/a.test.js::calc is known to be wrong",
        ],
    ),
    "rspec.json": (
        "rspec",
        [
            "passed spec/calc_spec.rb::Calc adds",
            "failed spec/calc_spec.rb::Calc is wrong",
            "failed spec/calc_spec.rb::Calc breaks",
            "skipped spec/calc_spec.rb::Calc is pending with a body",
            "skipped spec/calc_spec.rb::Calc has no body",
            "skipped spec/calc_spec.rb::Calc is skipped",
            "failed spec/calc_spec.rb::Calc is pending but fixed",
        ],
    ),
    "rspec-load-error.json": ("rspec", ["error errors outside of examples"]),
    "node.tap": (
        "tap",
        [
            "passed adds",
            "failed is wrong # really",
            "skipped is skipped",
            "xfailed is todo",
            "passed parent::child one",
            "failed parent::child two",
            "failed parent",
            "passed suite::inside",
            "passed suite::deeper::deep",
            "failed nt/b.test.mjs",
            "passed nt/c.test.mjs",
        ],
    ),
    "vitest.tap": (
        "tap",
        [
            "passed a.test.ts::calc::adds",
            "failed a.test.ts::calc::is wrong",
            "skipped a.test.ts::calc::is skipped",
            "xpassed a.test.ts::calc::is to be written",
            "passed a.test.ts::calc::known wrong",
            "failed b.test.ts",
        ],
    ),
    "cargo.json": (
        "cargo",
        [
            "skipped tests::is_slow",
            "passed tests::adds",
            "failed tests::is_wrong",
            "passed tests::panics",
            "passed adds_from_outside",
            "passed leaves",
            "skipped src/lib.rs - add (line 7)",
            "passed src/lib.rs - add (line 3)",
        ],
    ),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_an_honest_report_is_read_whole_and_without_reproach(name: str) -> None:
    format, cases = EXPECTED[name]
    report = read(name)
    assert report.format == format
    assert outcomes(report) == cases
    assert report.problems == ()
    assert report.complete


def test_pytest_counts_subtests_it_does_not_list() -> None:
    report = read("pytest-subtests.xml")
    assert outcomes(report) == ["passed test_c.T::test_subs", "passed test_c::test_native"]
    assert report.problems == ()
    assert report.notes == ("pytest counts 5 subtests that it does not list",)


def test_a_pass_after_a_rerun_is_told() -> None:
    report = read("surefire.xml")
    flaky = report.cases[2]
    assert flaky.message.startswith("passed after failing: java.lang.AssertionError: first time")
    assert report.notes == ("tiny.CalcTest::flaky passed only when it was run again",)


def test_jest_junit_lists_a_todo_as_a_pass_and_does_not_count_it() -> None:
    report = read("jest-junit.xml")
    assert "passed calc is to be written" in outcomes(report)
    assert report.problems == (
        "suite 'calc' states 6 tests, lists 7",
        "suite 'jest tests' states 6 tests, lists 7",
    )


def test_a_pass_that_a_test_printed_is_found_out() -> None:
    report = read("go-1.19.json")
    assert [line for line in outcomes(report) if "Forged" not in line] == GO
    assert report.problems == ("example.com/gop/calc::TestForged ended without having started",)


def test_a_test_binary_that_left_early_shows() -> None:
    report = read("cargo-left-early.json")
    assert outcomes(report) == ["passed adds_from_outside", "error leaves"]
    assert not report.complete


def test_messages_and_durations_come_along() -> None:
    go = {case.id: case for case in read("go-1.27.json").cases}
    assert go["example.com/gop/calc::TestTable/with_space"].message.startswith(
        "calc_test.go:6: got 2, want 3"
    )
    assert "undefined: undefined" in go["example.com/gop/nobuild"].message
    jest = read("jest.json").cases[1]
    assert jest.message.startswith("Error: expect(received).toBe(expected)")
    assert jest.duration_s == pytest.approx(0.003)
    rspec = read("rspec.json").cases[2]
    assert (rspec.message, rspec.file, rspec.line) == ("ArgumentError: broken", "spec/calc_spec.rb", 8)
    tap = read("node.tap").cases[1]
    assert "error: '2 == 3'" in tap.message
    assert tap.duration_s == pytest.approx(0.001285476)
    assert read("cargo.json").cases[0].message == "slow"


def test_stated_counts_are_kept_beside_the_cases() -> None:
    assert read("jest.json").stated.model_dump() == {
        "total": 7, "passed": 4, "failed": 1, "errors": None, "skipped": 2
    }  # fmt: skip
    assert read("node.tap").stated.total == 11
    assert read("node-junit.xml").stated.total is None
    assert read("vitest.tap").stated.total is None
    assert read("surefire.xml").stated.total == 8
