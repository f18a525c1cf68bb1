"""Picks the format of a report and joins the files of one run.

Console text is never picked: a recipe that wants it says so, and `console` reads it.
"""

from __future__ import annotations

from collections.abc import Sequence

from adjudge import catalog
from adjudge.contracts import TestReportFormat
from adjudge.errors import ReportUnreadable
from adjudge.formats.testreports.builder import MAX_CASES, decode
from adjudge.records.testreport import TestCounts, TestReport

__all__ = ["join_reports", "parse_report", "without_root"]

_KIND = "testreports"


def parse_report(data: bytes, *, filename: str = "", format: str | None = None) -> TestReport:
    """Read one report file.

    Args:
        data: Its bytes.
        filename: Its name, for messages and as a last hint at the format.
        format: The format, when it is known; otherwise the first that recognises the bytes.

    Raises:
        ReportUnreadable: No format fits, or the one that does finds it malformed.
        PluginNotFound: `format` names none.
    """
    try:
        return _format_of(data, filename, format).parse(data)
    except ReportUnreadable as error:
        if not filename:
            raise
        raise ReportUnreadable(f"{filename}: {error.message}", hint=error.hint) from error


def _format_of(data: bytes, filename: str, format: str | None) -> TestReportFormat:
    if format is not None:
        named: TestReportFormat = catalog.load(_KIND, format)()
        return named
    decode(data, "test")
    for name in catalog.names(_KIND):
        candidate: TestReportFormat = catalog.load(_KIND, name)()
        if candidate.recognises(data, filename):
            return candidate
    raise ReportUnreadable(
        "not a test report in a known format", hint=f"known: {', '.join(catalog.names(_KIND))}"
    )


def join_reports(reports: Sequence[tuple[str, TestReport]]) -> TestReport:
    """The files of one run as one report. Cases keep their order; remarks get the file's name.

    A count is stated in the whole when every file states it.

    Raises:
        ReportUnreadable: There is no file, or more cases than a report may hold.
    """
    if not reports:
        raise ReportUnreadable(
            "no report was written", hint="does the test command write where `report` looks?"
        )
    if len(reports) == 1:
        return reports[0][1]
    cases = tuple(case for _, report in reports for case in report.cases)
    if len(cases) > MAX_CASES:
        raise ReportUnreadable(f"more than {MAX_CASES:,} tests in {len(reports):,} reports")
    return TestReport(
        format="+".join(dict.fromkeys(report.format for _, report in reports)),
        cases=cases,
        stated=_sum_of([report.stated for _, report in reports]),
        complete=all(report.complete for _, report in reports),
        problems=tuple(f"{name}: {problem}" for name, report in reports for problem in report.problems),
        notes=tuple(f"{name}: {note}" for name, report in reports for note in report.notes),
    )


def _sum_of(counts: Sequence[TestCounts]) -> TestCounts:
    total: dict[str, int | None] = {}
    for name in TestCounts.model_fields:
        values = [getattr(count, name) for count in counts]
        total[name] = None if None in values else sum(values)
    return TestCounts(**total)


def without_root(report: TestReport, root: str) -> TestReport:
    """The report with `root` taken off the front of files and ids.

    Jest and node name test files by absolute path, which says where a sandbox had its workspace.
    """
    prefixes = (f"file://{root.rstrip('/')}/", f"{root.rstrip('/')}/")

    def relative(path: str) -> str:
        return next((path[len(prefix) :] for prefix in prefixes if path.startswith(prefix)), path)

    cases = tuple(
        case.model_copy(
            update={"id": relative(case.id), "file": relative(case.file) if case.file else case.file}
        )
        for case in report.cases
    )
    return report.model_copy(update={"cases": cases})
