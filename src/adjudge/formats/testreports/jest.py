"""Jest's `--json` and Vitest's `--reporter=json`, which writes the same document."""

from __future__ import annotations

from typing import Any, ClassVar

from adjudge.errors import ReportUnreadable
from adjudge.formats.testreports.builder import MAX_ID, ReportBuilder, clip, decode, load_json, text_of
from adjudge.records.testreport import TestCounts, TestOutcome, TestReport

__all__ = ["Jest"]

_OUTCOMES = {
    "passed": TestOutcome.PASSED,
    "failed": TestOutcome.FAILED,
    "pending": TestOutcome.SKIPPED,
    "skipped": TestOutcome.SKIPPED,
    "disabled": TestOutcome.SKIPPED,
    "todo": TestOutcome.SKIPPED,
}


class Jest:
    """The result document of Jest and Vitest."""

    name: ClassVar[str] = "jest"

    def recognises(self, data: bytes, filename: str) -> bool:
        """Whether it has the names only this document has."""
        return b'"testResults"' in data and b'"numTotalTests"' in data

    def parse(self, data: bytes) -> TestReport:
        """Read a report."""
        document = load_json(decode(data, self.name), self.name)
        files = document.get("testResults") if isinstance(document, dict) else None
        if not isinstance(files, list):
            raise ReportUnreadable("jest report: testResults: expected a list of test files")
        builder = ReportBuilder(self.name)
        broken_files = sum(_read_file(builder, file, index) for index, file in enumerate(files))
        stated = TestCounts(
            total=builder.count(document.get("numTotalTests"), "numTotalTests"),
            passed=builder.count(document.get("numPassedTests"), "numPassedTests"),
            failed=builder.count(document.get("numFailedTests"), "numFailedTests"),
            skipped=_skipped(builder, document),
        )
        # Files that broke are cases of ours; Jest counts them as suites, not as tests.
        builder.compare("tests", stated.total, len(builder.cases) - broken_files)
        builder.compare("passed tests", stated.passed, builder.count_of(TestOutcome.PASSED))
        builder.compare("failed tests", stated.failed, builder.count_of(TestOutcome.FAILED))
        not_passed = builder.count_of(TestOutcome.FAILED, TestOutcome.ERROR)
        if document.get("success") is True and not_passed:
            builder.problem(f"states success, lists {not_passed:,} that failed")
        return builder.build(stated=stated)


def _skipped(builder: ReportBuilder, document: dict[str, Any]) -> int | None:
    pending = builder.count(document.get("numPendingTests"), "numPendingTests")
    todo = builder.count(document.get("numTodoTests"), "numTodoTests")
    return None if pending is None else pending + (todo or 0)


def _read_file(builder: ReportBuilder, file: object, index: int) -> bool:
    """Read the tests of one file. True when the file itself broke and became a case."""
    where = f"testResults[{index}]"
    tests = file.get("assertionResults") if isinstance(file, dict) else None
    if not isinstance(file, dict) or not isinstance(tests, list):
        raise ReportUnreadable(f"jest report: {where}.assertionResults: expected a list of tests")
    # Clipped here already: it goes into the id of each of its tests.
    name = clip(text_of(file.get("name")) or text_of(file.get("testFilePath")), MAX_ID)
    before = len(builder.cases)
    for number, test in enumerate(tests):
        if not isinstance(test, dict):
            raise ReportUnreadable(f"jest report: {where}.assertionResults[{number}]: expected an object")
        _read_test(builder, test, name)
    explained = any(
        case.outcome in (TestOutcome.FAILED, TestOutcome.ERROR) for case in builder.cases[before:]
    )
    if file.get("status") != "failed" or explained:
        return False
    reason = text_of(file.get("message")) or "the file failed outside of its tests"
    builder.add(name or where, TestOutcome.ERROR, message=reason, file=name)
    return True


def _read_test(builder: ReportBuilder, test: dict[str, Any], file: str) -> None:
    ancestors = test.get("ancestorTitles")
    titles = [text_of(title) for title in ancestors] if isinstance(ancestors, list) else []
    title = " > ".join([*(part for part in titles if part), text_of(test.get("title"))])
    id = f"{file}::{title}" if file and title else title or file
    status = test.get("status")
    outcome = _OUTCOMES.get(status) if isinstance(status, str) else None
    if outcome is None:
        builder.problem(f"{clip(id, 200)}: unknown status {clip(repr(status), 60)}")
        outcome = TestOutcome.ERROR
    messages = test.get("failureMessages")
    location = test.get("location")
    builder.add(
        id,
        outcome,
        duration_s=builder.duration(test.get("duration"), id, per_second=1000.0),
        message="\n".join(text_of(part) for part in messages) if isinstance(messages, list) else "",
        file=file,
        line=builder.line_number(location.get("line")) if isinstance(location, dict) else None,
    )
