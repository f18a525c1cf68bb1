"""The collector of `ReportRun`: a test command of any language, and what it reported in that very run.

Report files that were there before are taken away first, so whatever is found afterwards was written by the
run. That proves when a report was made, not by whom: candidate code runs beside the runner.
"""

from __future__ import annotations

import asyncio
import os
import re
import secrets
from pathlib import PurePosixPath
from typing import ClassVar, Literal

from adjudge.contracts import BlobStore, Sandbox, SandboxBackend, Subject
from adjudge.errors import ReportUnreadable, SandboxError, SubjectError
from adjudge.evidence.gradedtree import Graded, graded_tree, laid_over
from adjudge.evidence.hiddenfiles import HiddenFiles, baseline_directory
from adjudge.evidence.tests.collectors import TestRunCollector
from adjudge.evidence.tests.suite import content, is_file
from adjudge.formats.patterns import PathPatterns
from adjudge.formats.testcommands.named import is_named, written_command
from adjudge.formats.testcommands.reporters import Reporting, add_reporter
from adjudge.formats.testcommands.suites import parse_suite
from adjudge.formats.testcommands.words import SuiteCommand
from adjudge.formats.testreports.console import parse_console
from adjudge.formats.testreports.detect import join_reports, parse_report, without_root
from adjudge.records.change import EntryType
from adjudge.records.evidence import Isolation, ReportedTests, ReportRun, TestRun
from adjudge.records.paths import path_bytes, path_from_bytes, render_path
from adjudge.records.sandbox import Ended, ExecRequest, ExecResult, SandboxReport, SandboxSpec, WorkspaceTree
from adjudge.records.testreport import TestOutcome, TestReport

__all__ = ["ReportRunCollector"]

_GRACE_S = 60.0
_MAX_REPORT_BYTES = 64 * 1024 * 1024
_MAX_OUTPUT_BYTES = 16 * 1024 * 1024
_MAX_FILES = 2000
_SHOWN = 50
_WORKSPACE = PurePosixPath("/workspace")
_MADE_UP = re.compile(r"(?:^|::)(?:initializationError|executionError|classMethod|\[build failed\])$")
"""Ids under which runners report what broke outside of any test."""


class ReportRunCollector:
    """Runs test commands, each in a sandbox of its own.

    Args:
        backend: Where sandboxes come from.
        base: What every sandbox of the task has in common: mounts, environment, limits.
        blobs: Where output is kept whole, when it is to be kept.
    """

    kind: ClassVar[str] = "report_run"
    cost: ClassVar[int] = 2

    def __init__(self, backend: SandboxBackend, base: SandboxSpec, *, blobs: BlobStore | None = None) -> None:
        self._backend = backend
        self._base = base
        self._blobs = blobs
        self.reports: list[SandboxReport] = []
        """How each sandbox came about, for provenance."""

    async def collect(self, request: ReportRun, subject: Subject) -> ReportedTests:
        """Run the command to its end, one way or another, and read what it reported.

        Over a clean tree it runs once more on the baseline with the hidden files: which tests there are is
        then known from where nothing of the candidate's runs, and none of them can go missing.
        """
        answer = await self._collect(request, subject)
        unstable = subject.unstable.get(request.digest)
        if not unstable or answer.report is None:
            return answer
        there = (*(case.id for case in answer.report.cases), *answer.missing)
        return answer.model_copy(
            update={
                "unstable": tuple(id_ for id_ in dict.fromkeys(there) if id_ in unstable),
                "missing": tuple(id_ for id_ in answer.missing if id_ not in unstable),
            }
        )

    async def _collect(self, request: ReportRun, subject: Subject) -> ReportedTests:
        suite = await self._suite(request, subject)
        if suite is not None:
            return await self._trusted(request, suite, subject)
        async with graded_tree(request.tree, subject) as graded:
            answer = await self._run(request, subject, graded, graded.tree, "graded")
            if answer.report is None or request.tree.isolation is not Isolation.CLEAN:
                return answer
            if answer.source == "console" or (request.tree.protect == ("*",) and not request.tree.allow):
                # Nothing printed is worth a comparison; and a baseline needs none with itself.
                return answer
            report = _without_empty_files(answer.report, subject, graded.hidden)
            baseline = await asyncio.to_thread(baseline_directory, subject)
            before = await self._run(request, subject, graded, baseline, "baseline")
            expected = _decided(before.report, subject, graded.hidden)
            there = _decided(report, subject, graded.hidden)
            missing = tuple(id_ for id_ in expected if id_ not in there)
            return answer.model_copy(update={"report": report, "expected": len(expected), "missing": missing})

    async def _suite(self, request: ReportRun, subject: Subject) -> SuiteCommand | None:
        """The suite that a file of the baseline has behind a command, when it is one we can run."""
        if request.reports or not is_named(request.command):
            return None
        baseline = await asyncio.to_thread(baseline_directory, subject)
        if not baseline.flat:
            return None

        def read(path: str) -> bytes | None:
            return content(baseline.base, path) if is_file(baseline.base, path) else None

        written = await asyncio.to_thread(written_command, request.command, read)
        return parse_suite(written) if written is not None else None

    async def _trusted(self, request: ReportRun, suite: SuiteCommand, subject: Subject) -> ReportedTests:
        asked = TestRun(
            command=suite.command,
            select=suite.select,
            plugins=None,
            find_config=True,
            proof=request.proof,
            timeout_s=request.timeout_s,
            test_timeout_s=request.test_timeout_s,
            tree=request.tree,
        )
        unstable = subject.unstable.get(request.digest, frozenset())
        collector = TestRunCollector(self._backend, self._base)
        try:
            run = await collector.collect(asked, subject._replace(unstable={asked.digest: unstable}))
        finally:
            self.reports += collector.reports
        return ReportedTests(result=run.sessions[0].result, trusted=run)

    async def _run(
        self, request: ReportRun, subject: Subject, graded: Graded, under: WorkspaceTree, name: str
    ) -> ReportedTests:
        """Run the command with a reporter, and without one where that may have been too much for it."""
        reporting = None
        if not request.reports:
            report = PurePosixPath(f"/tmp/report-{secrets.token_hex(8)}")
            reporting = add_reporter(request.command, report)
        answer = await self._run_with(reporting, request, subject, graded, under, name)
        if reporting is None or reporting.certain or answer.source == "reporter":
            return answer
        if answer.result.ended is not Ended.EXITED:
            # It would take all the time that it may once more.
            return answer
        return await self._run_with(None, request, subject, graded, under, f"{name}-plain")

    async def _run_with(
        self,
        reporting: Reporting | None,
        request: ReportRun,
        subject: Subject,
        graded: Graded,
        under: WorkspaceTree,
        name: str,
    ) -> ReportedTests:
        limits = self._base.limits.model_copy(update={"wall_s": request.timeout_s})
        patterns = PathPatterns(request.reports)
        stale = _stale(patterns, subject) if request.reports else []
        output = bytearray()

        def observe(stream: Literal["stdout", "stderr"], data: bytes) -> None:
            if stream == "stdout" or reporting is None or reporting.report is not None:
                output.extend(data)
                # Summaries stand at the end; a report on stdout that long is cut and says so itself.
                del output[: max(0, len(output) - _MAX_OUTPUT_BYTES)]

        tree, mounts = await laid_over(under, graded.place / f"over-{name}", graded.hidden, without=stale)
        spec = self._base.model_copy(
            update={"workspace": tree, "limits": limits, "mounts": (*self._base.mounts, *mounts)}
        )
        try:
            async with asyncio.timeout(request.timeout_s + _GRACE_S):
                async with await self._backend.start(spec, blobs=self._blobs) as sandbox:
                    self.reports.append(sandbox.report)
                    command = reporting.command if reporting is not None else request.command
                    result = await sandbox.exec(ExecRequest(shell=command), on_output=observe)
                    if result.ended is Ended.CANCELLED:
                        raise SandboxError("the sandbox was ended from outside while the tests ran")
                    if request.reports:
                        return await _from_files(result, sandbox, patterns, stale, bytes(output))
                    return await _from_reporter(result, sandbox, reporting, bytes(output))
        except TimeoutError as error:
            raise SandboxError(
                f"the {self._backend.name} sandbox did not come back within {_GRACE_S:g} s of the command's "
                f"time limit of {request.timeout_s:g} s"
            ) from error


def _is_file_of(id_: str, subject: Subject, hidden: HiddenFiles) -> bool:
    """Whether an id is the path of a file: node's runner says so of one that reported no test."""
    if id_ in hidden.files:
        return True
    found = subject.contents.look(id_) if "/" in id_ or "." in id_ else None
    return found is not None and found.type is EntryType.FILE


def _without_empty_files(report: TestReport, subject: Subject, hidden: HiddenFiles) -> TestReport:
    """The report in which a file that ended without reporting a test has not passed."""
    cases = tuple(
        case.model_copy(
            update={"outcome": TestOutcome.ERROR, "message": "the file ended without reporting any test"}
        )
        if case.outcome is TestOutcome.PASSED and _is_file_of(case.id, subject, hidden)
        else case
        for case in report.cases
    )
    return report.model_copy(update={"cases": cases})


def _decided(report: TestReport | None, subject: Subject, hidden: HiddenFiles) -> dict[str, None]:
    """Ids of tests that passed or failed. What broke outside of tests has made-up ids."""
    return {
        case.id: None
        for case in (report.cases if report is not None else ())
        if case.outcome in (TestOutcome.PASSED, TestOutcome.FAILED, TestOutcome.ERROR)
        and not _MADE_UP.search(case.id)
        and not _is_file_of(case.id, subject, hidden)
    }


def _stale(patterns: PathPatterns, subject: Subject) -> list[str]:
    """Report files that lie in the workspace, or in the baseline, already."""
    found = {path for path, _ in subject.contents.walk() if path in patterns}
    for change in subject.change_set.changes:
        found.update(path for path in change.paths if path in patterns)
    return sorted(found, key=path_bytes)


async def _from_files(
    result: ExecResult, sandbox: Sandbox, patterns: PathPatterns, stale: list[str], output: bytes
) -> ReportedTests:
    paths = await asyncio.to_thread(_written, sandbox, patterns)
    reports: list[tuple[str, TestReport]] = []
    problems: list[str] = []
    if len(paths) > _MAX_FILES:
        problems.append(f"more than {_MAX_FILES:,} report files")
    size = 0
    for path in paths[:_MAX_FILES]:
        try:
            data = await sandbox.read_file(_WORKSPACE / path, max_bytes=_MAX_REPORT_BYTES + 1)
            size += len(data)
            if size > _MAX_REPORT_BYTES:
                problems.append(f"reports of more than {_MAX_REPORT_BYTES >> 20} MiB")
                break
            reports.append((render_path(path), parse_report(data, filename=path)))
        except (SubjectError, FileNotFoundError) as error:
            problems.append(error.message if isinstance(error, SubjectError) else f"{path} is gone")
    shown = {"files": tuple(paths[:_SHOWN]), "removed": tuple(stale[:_SHOWN])}
    if not reports and not problems:
        return _from_console(result, output).model_copy(update=shown)
    report = None
    try:
        report = without_root(join_reports(reports), str(_WORKSPACE)) if reports else None
    except ReportUnreadable as error:
        problems.append(error.message)
    return ReportedTests(result=result, report=report, source="files", problems=tuple(problems), **shown)


def _written(sandbox: Sandbox, patterns: PathPatterns) -> list[str]:
    """Files that fit in what the sandbox wrote: its own layer, or all of its own copy."""
    root = os.fsencode(sandbox.tree().layers[-1])
    found: list[str] = []
    for folder, _, names in os.walk(root):
        for name in names:
            full = os.path.join(folder, name)
            path = path_from_bytes(os.path.relpath(full, root))
            if path in patterns and os.path.isfile(full) and not os.path.islink(full):
                found.append(path)
    return sorted(found, key=path_bytes)


async def _from_reporter(
    result: ExecResult, sandbox: Sandbox, reporting: Reporting | None, output: bytes
) -> ReportedTests:
    if reporting is None:
        return _from_console(result, output)
    data = output
    if reporting.report is not None:
        try:
            data = await sandbox.read_file(reporting.report, max_bytes=_MAX_REPORT_BYTES)
        except (FileNotFoundError, SubjectError):
            return _from_console(result, output)
    try:
        report = without_root(parse_report(data, format=reporting.format), str(_WORKSPACE))
    except ReportUnreadable as error:
        return ReportedTests(result=result, source="reporter", problems=(error.message,))
    return ReportedTests(result=result, report=report, source="reporter")


def _from_console(result: ExecResult, output: bytes) -> ReportedTests:
    try:
        return ReportedTests(result=result, report=parse_console(output), source="console")
    except ReportUnreadable as error:
        return ReportedTests(result=result, problems=(error.message,))
