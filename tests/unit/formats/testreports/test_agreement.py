import pytest

from adjudge.formats.testreports.agreement import contradictions
from adjudge.records.testreport import TestCase, TestCounts, TestOutcome, TestReport

P, F, E, S = TestOutcome.PASSED, TestOutcome.FAILED, TestOutcome.ERROR, TestOutcome.SKIPPED


def rules(exit_code: int | None, *outcomes: TestOutcome, complete: bool = True, **more: object) -> list[str]:
    cases = [TestCase(id=f"t{index}", outcome=outcome) for index, outcome in enumerate(outcomes)]
    report = TestReport.model_validate({"format": "junit", "cases": cases, "complete": complete, **more})
    return [finding.rule for finding in contradictions(report, exit_code)]


@pytest.mark.parametrize(("exit_code", "outcomes"), [(0, (P, P, S)), (1, (P, F)), (101, (P, E)), (2, (E,))])
def test_what_fits_together_is_not_remarked(exit_code: int, outcomes: tuple[TestOutcome, ...]) -> None:
    assert rules(exit_code, *outcomes) == []


@pytest.mark.parametrize(
    ("exit_code", "outcomes", "expected"),
    [
        (1, (P, P), ["report-passed-exit-nonzero"]),
        (0, (P, F), ["report-failed-exit-zero"]),
        (0, (P, E), ["report-failed-exit-zero"]),
        (0, (S, S), ["report-no-test-ran"]),
        (5, (), ["report-no-test-ran"]),
        (None, (P,), ["report-without-exit"]),
        (-9, (P,), ["report-passed-exit-nonzero"]),
    ],
)
def test_what_does_not_is(
    exit_code: int | None, outcomes: tuple[TestOutcome, ...], expected: list[str]
) -> None:
    assert rules(exit_code, *outcomes) == expected


def test_a_report_that_contradicts_itself_or_stops_early_is_remarked() -> None:
    assert rules(0, P, complete=False) == ["report-incomplete"]
    assert rules(0, P, problems=("states 5 tests, lists 1",)) == ["report-inconsistent"]
    assert rules(0, P, notes=("a habit",)) == []


def test_console_counts_stand_in_for_cases() -> None:
    assert rules(0, stated=TestCounts(passed=3)) == []
    assert rules(0, stated=TestCounts(passed=3, failed=1)) == ["report-failed-exit-zero"]
    assert rules(1, stated=TestCounts(passed=3, failed=0)) == ["report-passed-exit-nonzero"]
