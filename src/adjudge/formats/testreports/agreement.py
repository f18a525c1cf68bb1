"""Whether a report agrees with itself and with how its run ended. Disagreement is a finding.

Agreement proves little: whoever forges a report can forge a consistent one. Disagreement proves that
something is wrong, and costs nothing to look for.
"""

from __future__ import annotations

from adjudge.records.score import Finding
from adjudge.records.testreport import TestOutcome, TestReport

__all__ = ["contradictions"]


def contradictions(report: TestReport, exit_code: int | None) -> tuple[Finding, ...]:
    """What does not fit together.

    Args:
        report: What the run reported, all its files together.
        exit_code: How the test command ended; None when it did not end by itself (a limit, a signal).
    """
    found = [Finding(rule="report-inconsistent", message=problem) for problem in report.problems]
    if not report.complete:
        found.append(Finding(rule="report-incomplete", message="the report stops before its end"))
    not_passed = report.count(TestOutcome.FAILED, TestOutcome.ERROR) or _stated_failures(report)
    ran = report.count(TestOutcome.PASSED) + not_passed or (report.stated.passed or 0)
    if not ran:
        found.append(Finding(rule="report-no-test-ran", message="no test passed or failed"))
    if exit_code is None:
        message = "the report is there, but the test command did not end by itself"
        found.append(Finding(rule="report-without-exit", message=message))
    elif exit_code == 0 and not_passed:
        message = f"{not_passed:,} failed, yet the test command exited with 0"
        found.append(Finding(rule="report-failed-exit-zero", message=message))
    elif exit_code != 0 and ran and not not_passed:
        message = f"no test failed, yet the test command exited with {exit_code}"
        found.append(Finding(rule="report-passed-exit-nonzero", message=message))
    return tuple(found)


def _stated_failures(report: TestReport) -> int:
    """For console text, which may give counts and no cases."""
    return (report.stated.failed or 0) + (report.stated.errors or 0) if not report.cases else 0
