"""The last resort: what a test run printed, read the way a person would.

Whoever runs in the test process can print every line that is read here. A report made from console text has
the format `console:<runner>`, proves nothing, and counts only where a recipe says that it may.

Summary lines become `stated`; lines about single tests become cases where the runner prints them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final

from adjudge.errors import ReportUnreadable
from adjudge.formats.testreports.builder import ReportBuilder
from adjudge.records.testreport import TestCounts, TestOutcome, TestReport

__all__ = ["parse_console"]

_MAX_TAIL: Final = 1024 * 1024
"""Summaries stand at the end."""
_MAX_LINE: Final = 1_000
_STYLE = re.compile(r"\x1b\[[0-9;]{0,40}[A-Za-z]")


@dataclass(slots=True)
class _Found:
    """What one runner's lines said so far."""

    line: int = 0
    """The last line that was a summary of this runner; 0 when there was none."""
    counts: dict[str, int] = field(default_factory=dict)
    cases: dict[str, TestOutcome] = field(default_factory=dict)


_Reader = Callable[[_Found, str, int], None]


def parse_console(data: bytes) -> TestReport:
    """Read what a test run printed; where several runners ran, the one whose summary is last.

    Raises:
        ReportUnreadable: No known runner's summary is in it.
    """
    found = {name: _Found() for name in _READERS}
    for number, line in enumerate(_lines(data), start=1):
        for name, reader in _READERS.items():
            reader(found[name], line, number)
    runner = max(found, key=lambda name: found[name].line)
    result = found[runner]
    if not result.line:
        raise ReportUnreadable(
            "console: no summary of a known test runner in the output",
            hint=f"known: {', '.join(_READERS)}; a report file is read more exactly",
        )
    builder = ReportBuilder(f"console:{runner}")
    for id, outcome in result.cases.items():
        builder.add(id, outcome)
    counts = result.counts
    return builder.build(
        stated=TestCounts(
            total=counts.get("total"),
            passed=counts.get("passed", 0),
            failed=counts.get("failed", 0),
            errors=counts.get("errors", 0),
            skipped=counts.get("skipped", 0),
        )
    )


def _lines(data: bytes) -> Iterator[str]:
    for line in data[-_MAX_TAIL:].decode("utf-8", "replace").splitlines():
        if 2 <= len(line) <= _MAX_LINE:
            yield _STYLE.sub("", line).rstrip()


_WORDS = {
    "passed": "passed", "passing": "passed", "pass": "passed", "failed": "failed", "failing": "failed",
    "fail": "failed", "failures": "failed", "failure": "failed", "error": "errors", "errors": "errors",
    "skipped": "skipped", "ignored": "skipped", "pending": "skipped", "todo": "skipped", "xfailed": "skipped",
    "xpassed": "skipped", "tests": "total", "total": "total", "examples": "total", "example": "total",
}  # fmt: skip
_NUMBER_WORD = re.compile(r"\b([0-9]{1,9}) ([a-z]+)")


def _counts(text: str) -> dict[str, int]:
    """`2 failed, 7 passed` and its like. An expected failure counts as skipped, not as a pass."""
    counts: dict[str, int] = {}
    for number, word in _NUMBER_WORD.findall(text):
        name = _WORDS.get(word)
        if name is not None:
            counts[name] = counts.get(name, 0) + int(number)
    return counts


_PYTEST_END = re.compile(
    r"(?:=+ )?((?:[0-9]+ [a-z ]+, )*[0-9]+ [a-z ]+|no tests ran) in [0-9.]+s(?: \([0-9:]+\))?(?: =+)?$"
)
_PYTEST_VERBOSE = re.compile(r"(\S[^ ]*::.*) (PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS)\b.*\[ *[0-9]{1,3}%\]$")
_PYTEST_SHORT = re.compile(r"(?:SUB)?(FAILED|ERROR)(?:\([^)]*\)|\[[^\]]*\])? (\S+::.+?)(?: - .*)?$")
_PYTEST_WORDS = {
    "PASSED": TestOutcome.PASSED, "FAILED": TestOutcome.FAILED, "ERROR": TestOutcome.ERROR,
    "SKIPPED": TestOutcome.SKIPPED, "XFAIL": TestOutcome.XFAILED, "XPASS": TestOutcome.XPASSED,
}  # fmt: skip


def _pytest(found: _Found, line: str, number: int) -> None:
    if end := _PYTEST_END.match(line):
        # `2 subtests passed` is about parts of tests that are counted already.
        parts = [part for part in end[1].split(", ") if "subtest" not in part]
        found.line, found.counts = number, _counts(", ".join(parts))
    elif "::" in line and (verbose := _PYTEST_VERBOSE.match(line)):
        found.cases[verbose[1]] = _PYTEST_WORDS[verbose[2]]
    elif "::" in line and (short := _PYTEST_SHORT.match(line)):
        found.cases[short[2]] = _PYTEST_WORDS[short[1]]


_UNITTEST_RAN = re.compile(r"Ran ([0-9]{1,9}) tests? in [0-9.]+s$")
_UNITTEST_END = re.compile(r"(?:OK|FAILED|NO TESTS RAN)(?: \(([a-z =0-9,]+)\))?$")
_UNITTEST_PART = re.compile(r"(failures|errors|skipped|expected failures|unexpected successes)=([0-9]{1,9})")
_UNITTEST_CASE = re.compile(
    r"(\w+) \(([\w.]+)\) \.\.\. (ok|FAIL|ERROR|skipped\b.*|expected failure|unexpected success)$"
)


def _unittest(found: _Found, line: str, number: int) -> None:
    if ran := _UNITTEST_RAN.match(line):
        found.counts = {"total": int(ran[1])}
    elif "total" in found.counts and (end := _UNITTEST_END.match(line)):
        parts = {name: int(count) for name, count in _UNITTEST_PART.findall(end[1] or "")}
        failed = parts.get("failures", 0) + parts.get("unexpected successes", 0)
        skipped = parts.get("skipped", 0) + parts.get("expected failures", 0)
        total, errors = found.counts["total"], parts.get("errors", 0)
        # A test that fails in set-up and tear-down, or in several subtests, is counted more than once.
        passed = max(0, total - failed - errors - skipped)
        found.line = number
        found.counts = {
            "total": total,
            "passed": passed,
            "failed": failed,
            "errors": errors,
            "skipped": skipped,
        }
    elif " ... " in line and (case := _UNITTEST_CASE.match(line)):
        id = case[2] if case[2].endswith(f".{case[1]}") else f"{case[2]}.{case[1]}"
        word = case[3].split(" ")[0]
        found.cases[id] = {
            "ok": TestOutcome.PASSED, "FAIL": TestOutcome.FAILED, "ERROR": TestOutcome.ERROR,
            "skipped": TestOutcome.SKIPPED, "expected": TestOutcome.XFAILED,
        }.get(word, TestOutcome.XPASSED)  # fmt: skip


_GO_CASE = re.compile(r" *--- (PASS|FAIL|SKIP): (\S+) \([0-9.]+s\)$")
_GO_PACKAGE = re.compile(r"(?:ok|FAIL|---) *\t\S+(?:\t(?:[0-9.]+s|\(cached\)).*| \[.*\])$")
_GO_WORDS = {
    "PASS": ("passed", TestOutcome.PASSED),
    "FAIL": ("failed", TestOutcome.FAILED),
    "SKIP": ("skipped", TestOutcome.SKIPPED),
}


def _go(found: _Found, line: str, number: int) -> None:
    if case := _GO_CASE.match(line):
        name, found.cases[case[2]] = _GO_WORDS[case[1]]
        found.counts[name] = found.counts.get(name, 0) + 1
    elif _GO_PACKAGE.match(line):
        found.line = number
        if line.endswith("failed]"):
            found.counts["errors"] = found.counts.get("errors", 0) + 1


_CARGO_CASE = re.compile(r"test (\S.*?)(?: - should panic)? \.\.\. (ok|FAILED|ignored)(?:, .*)?$")
_CARGO_END = re.compile(r"test result: (?:ok|FAILED)\. (.*)$")
_CARGO_WORDS = {"ok": TestOutcome.PASSED, "FAILED": TestOutcome.FAILED, "ignored": TestOutcome.SKIPPED}


def _cargo(found: _Found, line: str, number: int) -> None:
    if end := _CARGO_END.match(line):
        found.line = number
        for name, count in _counts(end[1]).items():
            found.counts[name] = found.counts.get(name, 0) + count
    elif line.startswith("test ") and (case := _CARGO_CASE.match(line)):
        found.cases[case[1]] = _CARGO_WORDS[case[2]]


_SUMMARIES = {
    "jest": re.compile(r"Tests: +((?:[0-9]+ [a-z]+, )*[0-9]+ total)$"),
    "vitest": re.compile(r" *Tests  +((?:[0-9]+ [a-z]+(?: \| )?)+) \(([0-9]+)\)$"),
    "rspec": re.compile(r"([0-9]+ examples?, [0-9]+ failures?.*)$"),
    "gradle": re.compile(r"([0-9]+ tests completed.*)$"),
}
_MAVEN = re.compile(
    r"(?:\[\w+\] )?Tests run: ([0-9]+), Failures: ([0-9]+), Errors: ([0-9]+), Skipped: ([0-9]+)"
    r"(?:, Flakes: [0-9]+)?$"
)
_MOCHA = re.compile(r" +([0-9]+ (?:passing|failing|pending))(?: \([^)]*\))?$")
_NODE = re.compile(r"(?:\u2139|#) (tests|pass|fail|cancelled|skipped|todo) ([0-9]+)$")


def _summary_of(runner: str) -> _Reader:
    pattern = _SUMMARIES[runner]

    def read(found: _Found, line: str, number: int) -> None:
        if end := pattern.match(line):
            found.line, found.counts = number, _counts(end[1])
            if runner == "rspec" or runner == "gradle":
                counts = found.counts
                rest = sum(counts.get(name, 0) for name in ("failed", "errors", "skipped"))
                counts["passed"] = max(0, counts.get("total", int(line.split(" ")[0])) - rest)

    return read


def _maven(found: _Found, line: str, number: int) -> None:
    # The line of a single class has `Time elapsed` at its end and does not match; modules add up.
    if "Tests run:" in line and (end := _MAVEN.match(line)):
        total, failed, errors, skipped = (int(count) for count in end.groups())
        found.line = number
        new = {"total": total, "failed": failed, "errors": errors, "skipped": skipped}
        new["passed"] = max(0, total - failed - errors - skipped)
        for name, count in new.items():
            found.counts[name] = found.counts.get(name, 0) + count


def _mocha(found: _Found, line: str, number: int) -> None:
    if end := _MOCHA.match(line):
        if "passing" in line:
            found.counts = {}
        found.line = number
        found.counts.update(_counts(end[1]))


def _node(found: _Found, line: str, number: int) -> None:
    if end := _NODE.match(line):
        name, count = end[1], int(end[2])
        if name == "tests":
            found.counts = {"total": count}
        else:
            key = {"pass": "passed", "fail": "failed", "cancelled": "errors"}.get(name, "skipped")
            found.counts[key] = found.counts.get(key, 0) + count
        found.line = number


_READERS: dict[str, _Reader] = {
    "pytest": _pytest,
    "unittest": _unittest,
    "go": _go,
    "cargo": _cargo,
    "jest": _summary_of("jest"),
    "vitest": _summary_of("vitest"),
    "mocha": _mocha,
    "node": _node,
    "maven": _maven,
    "gradle": _summary_of("gradle"),
    "rspec": _summary_of("rspec"),
}
