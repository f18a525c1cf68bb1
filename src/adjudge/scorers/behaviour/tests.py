"""`tests`: the fraction of tests that pass, in any language."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar

from pydantic import AliasChoices, Field, JsonValue

from adjudge.contracts import Evidence
from adjudge.formats.patterns import PathPattern
from adjudge.formats.testcommands.named import is_named
from adjudge.formats.testcommands.suites import parse_suite
from adjudge.formats.testreports.agreement import contradictions
from adjudge.records.evidence import AnyRequest, ReportedTests, ReportRun, TestRun
from adjudge.records.score import Finding, ScorerOutcome
from adjudge.records.testreport import TestCase, TestOutcome, TestReport
from adjudge.scorers.behaviour.coderun import ShellCommand, clean_needs, left_out, tree_of
from adjudge.scorers.behaviour.suiterun import (
    NO_TEST,
    PYTHON,
    PythonConfig,
    suite_details,
    unstable_finding,
    unstable_note,
    with_path,
)
from adjudge.scorers.behaviour.trustedsuite import score_run, score_suite
from adjudge.scorers.wording import counted, first_findings

__all__ = ["Tests"]

_MAX_MESSAGE = 600
_MAX_TESTS = 20_000


class Tests:
    """The fraction of tests that pass, in any language, from structured results of the very run.

    Measures:
        passed / (passed + failed + errors); PASS when that reaches `pass_threshold`. A `cmd` that plainly
        runs pytest, unittest, `node --test`, Jest, Vitest or `go test` goes through the same trusted run as
        `pytest`, and so do `npm test` and `make test` where the baseline's `package.json` or makefile has
        one of them, and nothing else, behind it. Any other one runs once in a sandbox, over the baseline
        with the attempt's changes to unprotected paths (`isolation: clean`), and its results are read from
        the report files that `junit_xml` names (JUnit XML, TAP, CTRF, and the JSON of go test, Jest, Vitest,
        cargo and RSpec are recognised), or from a reporter that is added to `jest`, `vitest`, `go test` and
        `node --test` with options of their own.

        Report files that lay there before the run are taken away. Over a clean tree the command also runs on
        the baseline with the hidden files, where nothing of the attempt's runs; a test that had a result
        there and has none here counts as an error. A report that contradicts itself or the
        exit code is a FAIL with 0, and so is a run in which no test passed or failed. What is only printed is
        read as a last resort: it is marked as unproven and never passes, unless `trust_console` is set.

    Evidence:
        A trusted run, with the details of `pytest`; or one run of the command, with the details `command`,
        `source` (`files`, `reporter`, `console` or `none`), `format`, `proven`, `counts`, `exit_code`,
        `expected`, `missing`, `files`, `removed` and `tests` with every id, its outcome, duration and
        message. Tests that are recorded as unstable on the baseline (`adjudge doctor SCENARIO`) do not count
        and are in `unstable`.

    How it is fooled:
        Outside of trusted runs the runner and the candidate's code are one process, or processes of one
        user: code that is graded can write the report itself, agreeing with the exit code it chooses. Such
        results have `proven: false`. Hidden tests of pytest, unittest, node:test, Jest, Vitest and Go are
        proven as `pytest` says, and those in which nothing can be falsified are counted as unproven.

    Example:
        ```yaml
        graders:
          - type: tests
            weight: 4.0
            cmd: "node --test x.test.js"
            inject: ["./hidden/x.test.js"]
          - {type: tests, gate: true, cmd: "mvn -q test", junit_xml: "target/surefire-reports/TEST-*.xml"}
        ```
    """

    __test__: ClassVar[bool] = False
    name: ClassVar[str] = "tests"
    version: ClassVar[str] = "1"
    required_by_default: ClassVar[bool] = True
    advisory_only: ClassVar[bool] = False

    class Config(PythonConfig):
        """Fields of `tests`."""

        cmd: ShellCommand = Field(validation_alias=AliasChoices("cmd", "command"))
        """What runs the tests, in the root of the workspace. `command` is another name of it."""
        junit_xml: PathPattern | Annotated[tuple[PathPattern, ...], Field(max_length=100)] = ()
        """Patterns of the report files that the command writes in the workspace."""
        trust_console: bool = False
        """Whether results that are only printed may pass. Whatever is graded can print them."""

    def needs(self, config: Config) -> Sequence[AnyRequest]:
        """A trusted run or a reported one, and what its tree leaves out."""
        request = _request(config)
        return (request, *clean_needs(request.tree))

    def score(self, config: Config, evidence: Evidence) -> ScorerOutcome:
        """The fraction that passed."""
        request = _request(config)
        if isinstance(request, TestRun):
            return score_suite(request, config.pass_threshold, evidence)
        return _score_report(config, request, evidence)


def _request(config: Tests.Config) -> TestRun | ReportRun:
    tree = tree_of(config, config.cmd)
    reports = (config.junit_xml,) if isinstance(config.junit_xml, str) else config.junit_xml
    suite = parse_suite(config.cmd)
    if suite is None or (reports and suite.command.runner not in PYTHON):
        plain = ReportRun(command=config.cmd, timeout_s=config.timeout_s, reports=reports, tree=tree)
        if reports or not is_named(config.cmd):
            return plain
        return plain.model_copy(update={"proof": config.proof, "test_timeout_s": config.test_timeout_s})
    return TestRun(
        command=with_path(suite.command, config),
        select=suite.select,
        plugins=None,
        find_config=True,
        proof=config.proof,
        timeout_s=config.timeout_s,
        test_timeout_s=config.test_timeout_s,
        tree=tree,
    )


def _score_report(config: Tests.Config, request: ReportRun, evidence: Evidence) -> ScorerOutcome:
    reported = evidence[request]
    if reported.trusted is not None:
        details = suite_details(config.cmd.strip(), config.proof, reported.trusted)
        return score_run(reported.trusted, details, request.tree, config.pass_threshold, evidence)
    report = reported.report
    informed = left_out(request.tree, evidence)
    unreadable = [Finding(rule="report-unreadable", message=problem) for problem in reported.problems]
    details = _details(config, reported)
    more: dict[str, Any] = {"output_tail": _output(reported), "details": details}
    if report is None:
        why = f"no test result could be read ({_ended(reported)})"
        first = unreadable or [Finding(rule=NO_TEST, message=f"`{config.cmd.strip()}`: {why}")]
        return ScorerOutcome.failed(why, findings=first_findings((*first, *informed)), **more)
    disagreements = [*unreadable, *contradictions(report, reported.result.exit_code)]
    failures = [_failure(case) for case in report.cases if _counts_as_failed(case, reported)]
    informed = (*_left(reported), *informed)
    if disagreements:
        return ScorerOutcome.failed(
            f"the results do not fit together: {disagreements[0].message}",
            findings=first_findings((*disagreements, *failures, *informed)),
            **more,
        )
    passed, decided = _counts(report, reported.unstable)
    decided += len(reported.missing)
    failures += [
        Finding(rule="test-missing", message=f"{id_}: no result, though the baseline's run had one")
        for id_ in reported.missing
    ]
    left = unstable_note(len(reported.unstable))
    if not decided:
        why = f"no test passed or failed{left}"
        first = [Finding(rule=NO_TEST, message=f"`{config.cmd.strip()}`: {why}")]
        return ScorerOutcome.failed(why, findings=first_findings((*first, *informed)), **more)
    reason = f"{passed:,} of {counted(decided, 'test')} passed{left}"
    findings = first_findings((*failures, *informed))
    if reported.source == "console" and not config.trust_console:
        unproven = Finding(
            rule="console-unproven",
            message="the results were only printed, which proves nothing; name report files with junit_xml, "
            "or set trust_console",
        )
        return ScorerOutcome.failed(
            f"{reason}, as it printed: unproven", findings=first_findings((unproven, *findings)), **more
        )
    note = ", as it printed: unproven" if reported.source == "console" else ""
    return ScorerOutcome.fraction(
        passed / decided, config.pass_threshold, reason + note, findings=findings, **more
    )


_NOT_PASSED = (TestOutcome.FAILED, TestOutcome.ERROR)


def _counts_as_failed(case: TestCase, reported: ReportedTests) -> bool:
    return case.outcome in _NOT_PASSED and case.id not in reported.unstable


def _left(reported: ReportedTests) -> list[Finding]:
    """Tests that do not count."""
    if reported.report is None:
        return []
    ended = {case.id: case.outcome for case in reported.report.cases}
    return [unstable_finding(id_, ended.get(id_, TestOutcome.ERROR)) for id_ in reported.unstable]


def _counts(report: TestReport, unstable: Sequence[str]) -> tuple[int, int]:
    """How many passed, and how many passed, failed or broke."""
    left = [case.outcome for case in report.cases if case.id in unstable]
    passed = report.count(TestOutcome.PASSED)
    decided = passed + report.count(*_NOT_PASSED)
    stated = report.stated
    if report.format.startswith("console") and stated.passed is not None:
        # A summary may say more than the lines about single tests.
        passed = stated.passed
        decided = passed + (stated.failed or 0) + (stated.errors or 0)
    left_passed = left.count(TestOutcome.PASSED)
    left_failed = sum(outcome in _NOT_PASSED for outcome in left)
    return passed - left_passed, decided - left_passed - left_failed


def _failure(case: TestCase) -> Finding:
    said = case.message.strip().splitlines()[0][:_MAX_MESSAGE] if case.message.strip() else case.outcome.value
    return Finding(rule="test-failed", message=f"{case.id}: {said}", path=case.file, line=_line(case))


def _line(case: TestCase) -> int | None:
    return case.line if case.line is not None and case.line >= 1 and case.file else None


def _ended(reported: ReportedTests) -> str:
    result = reported.result
    code = f"exit {result.exit_code}" if result.exit_code is not None else result.ended.value
    return f"{code}: {result.reason}" if result.reason else code


def _output(reported: ReportedTests) -> str:
    result = reported.result
    parts = [("stdout", result.stdout), ("stderr", result.stderr)]
    shown = [(name, blob.tail if len(blob.tail) >= 1024 else blob.text) for name, blob in parts]
    return "\n".join(f"[{name}]\n{text}".rstrip("\n") for name, text in shown if text)


def _details(config: Tests.Config, reported: ReportedTests) -> dict[str, JsonValue]:
    report = reported.report
    cases = () if report is None else report.cases
    counts: dict[str, JsonValue] = {
        outcome.value: 0 if report is None else report.count(outcome) for outcome in TestOutcome
    }
    tests: list[JsonValue] = []
    for case in cases[:_MAX_TESTS]:
        shown: dict[str, JsonValue] = {"id": case.id, "outcome": case.outcome.value}
        if case.duration_s is not None:
            shown["duration_s"] = case.duration_s
        if case.message and case.outcome is not TestOutcome.PASSED:
            shown["message"] = case.message[:_MAX_MESSAGE]
        tests.append(shown)
    return {
        "command": config.cmd,
        "source": reported.source,
        "format": None if report is None else report.format,
        "proven": False,
        "counts": counts,
        "ended": reported.result.ended.value,
        "exit_code": reported.result.exit_code,
        "expected": reported.expected,
        "missing": list(reported.missing[:_MAX_TESTS]),
        "files": list(reported.files),
        "removed": list(reported.removed),
        "tests": tests,
        "tests_left_out": max(0, len(cases) - _MAX_TESTS),
        "unstable": list(reported.unstable),
    }
