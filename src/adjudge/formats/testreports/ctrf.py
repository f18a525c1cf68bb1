"""CTRF, the common test report format: one JSON document that reporters of many runners can write."""

from __future__ import annotations

from typing import Any, ClassVar

from adjudge.errors import ReportUnreadable
from adjudge.formats.testreports.builder import ReportBuilder, clip, decode, load_json, text_of
from adjudge.records.testreport import TestCounts, TestOutcome, TestReport

__all__ = ["Ctrf"]

_OUTCOMES = {
    "passed": TestOutcome.PASSED,
    "failed": TestOutcome.FAILED,
    "skipped": TestOutcome.SKIPPED,
    "pending": TestOutcome.SKIPPED,
    "other": TestOutcome.SKIPPED,
}
"""`other` is whatever the runner knows and the format does not, such as a todo: not a pass, not a failure."""


class Ctrf:
    """The common test report format."""

    name: ClassVar[str] = "ctrf"

    def recognises(self, data: bytes, filename: str) -> bool:
        """Whether it has the names the format requires."""
        named = b'"CTRF"' in data or (b'"tool"' in data and b'"summary"' in data)
        return named and b'"results"' in data and b'"tests"' in data

    def parse(self, data: bytes) -> TestReport:
        """Read a report."""
        document = load_json(decode(data, self.name), self.name)
        results = document.get("results") if isinstance(document, dict) else None
        tests = results.get("tests") if isinstance(results, dict) else None
        if not isinstance(results, dict) or not isinstance(tests, list):
            raise ReportUnreadable("ctrf report: results.tests: expected a list of tests")
        builder = ReportBuilder(self.name)
        for index, test in enumerate(tests):
            if not isinstance(test, dict):
                raise ReportUnreadable(f"ctrf report: results.tests[{index}]: expected an object")
            _read_test(builder, test)
        summary = results.get("summary")
        if not isinstance(summary, dict):
            builder.problem("results.summary is missing")
            return builder.build()
        return builder.build(stated=_compare_with_summary(builder, summary))


def _read_test(builder: ReportBuilder, test: dict[str, Any]) -> None:
    name, file = text_of(test.get("name")), text_of(test.get("filePath"))
    suite = test.get("suite")
    suites = [text_of(part) for part in suite] if isinstance(suite, list) else [text_of(suite)]
    owner = file or " > ".join(part for part in suites if part)
    id = f"{owner}::{name}" if owner and name else name
    status = test.get("status")
    outcome = _OUTCOMES.get(status) if isinstance(status, str) else None
    message = "\n".join(part for part in (text_of(test.get("message")), text_of(test.get("trace"))) if part)
    if outcome is None:
        builder.problem(f"{clip(id, 200)}: unknown status {clip(repr(status), 60)}")
        outcome = TestOutcome.ERROR
    elif status == "other":
        message = message or f"reported as {text_of(test.get('rawStatus')) or 'other'}"
    if test.get("flaky") is True and outcome is TestOutcome.PASSED:
        builder.note(f"{clip(id, 200)} passed only when it was run again")
    builder.add(
        id,
        outcome,
        duration_s=builder.duration(test.get("duration"), id, per_second=1000.0),
        message=message,
        file=file,
        line=builder.line_number(test.get("line")),
    )


def _compare_with_summary(builder: ReportBuilder, summary: dict[str, Any]) -> TestCounts:
    named = {name: builder.count(summary.get(name), f"summary.{name}") for name in ("tests", *_OUTCOMES)}
    not_run = [named[name] for name in ("skipped", "pending", "other")]
    stated = TestCounts(
        total=named["tests"],
        passed=named["passed"],
        failed=named["failed"],
        skipped=None if None in not_run else sum(count or 0 for count in not_run),
    )
    builder.compare("tests", stated.total, len(builder.cases))
    builder.compare("passed tests", stated.passed, builder.count_of(TestOutcome.PASSED))
    builder.compare("failed tests", stated.failed, builder.count_of(TestOutcome.FAILED))
    return stated
