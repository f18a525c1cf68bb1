"""libtest's JSON events: `cargo test -- -Z unstable-options --format json`, and nextest's imitation of them.

One stream holds a suite for each test binary and one or two for doc tests, one after another. A suite does
not say which binary it is, so equal names in two binaries stay equal ids, both listed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, ClassVar

from adjudge.errors import ReportUnreadable
from adjudge.formats.testreports.builder import ReportBuilder, clip, decode, text_of
from adjudge.formats.testreports.json_lines import read_json_lines
from adjudge.records.testreport import TestCounts, TestOutcome, TestReport

__all__ = ["Cargo"]

_EVENT = re.compile(rb'^[ \t]*\{\s*"type"\s*:\s*"(?:suite|test|bench)"', re.MULTILINE)
_OUTCOMES = {"ok": TestOutcome.PASSED, "failed": TestOutcome.FAILED, "ignored": TestOutcome.SKIPPED}


class Cargo:
    """The event stream of Rust's test harness."""

    name: ClassVar[str] = "cargo"

    def recognises(self, data: bytes, filename: str) -> bool:
        """Whether a line near the top is an event."""
        return _EVENT.search(data[:65536]) is not None

    def parse(self, data: bytes) -> TestReport:
        """Read a report."""
        reader = _Reader()
        events = 0
        for number, event, line in read_json_lines(decode(data, self.name)):
            if event is not None and event.get("type") in ("suite", "test", "bench"):
                events += 1
                reader.take(event, number)
            elif event is None and line.startswith("{"):
                reader.cut_off = True
                reader.builder.note(f"line {number} is not an event")
        if not events:
            raise ReportUnreadable("cargo report: line 1: no event of libtest in it")
        return reader.finish()


@dataclass(slots=True)
class _Suite:
    expected: int | None = None
    running: dict[str, int] = field(default_factory=dict)
    """Names that started, with how often."""
    ended: dict[TestOutcome, int] = field(default_factory=dict)


class _Reader:
    def __init__(self) -> None:
        self.builder = ReportBuilder("cargo")
        self.cut_off = False
        self._suite: _Suite | None = None
        self._stated = {"passed": 0, "failed": 0, "ignored": 0}

    def take(self, event: dict[str, Any], number: int) -> None:
        kind, what = event["type"], event.get("event")
        if kind == "suite":
            self._take_suite(event, what, number)
            return
        if self._suite is None:
            self.builder.problem(f"line {number}: a test outside of any suite")
            self._suite = _Suite()
        name = text_of(event.get("name"))
        if kind == "bench":
            self._end_test(event, name, TestOutcome.PASSED)
        elif what == "started":
            self._suite.running[name] = self._suite.running.get(name, 0) + 1
        elif isinstance(what, str) and what in _OUTCOMES:
            self._end_test(event, name, _OUTCOMES[what])
        elif what != "timeout":
            # `timeout` is a warning that a test takes long; its end follows.
            self.builder.problem(f"line {number}: unknown event {clip(repr(what), 60)}")

    def _end_test(self, event: dict[str, Any], name: str, outcome: TestOutcome) -> None:
        suite = self._suite
        assert suite is not None
        if suite.running.get(name, 0) > 0:
            suite.running[name] -= 1
        elif event["type"] == "test" and outcome is not TestOutcome.SKIPPED:
            # nextest announces an ignored test without starting it.
            self.builder.problem(f"{clip(name, 200)} ended without having started")
        suite.ended[outcome] = suite.ended.get(outcome, 0) + 1
        said = [text_of(event.get(key)) for key in ("message", "reason", "stdout")]
        self.builder.add(
            name,
            outcome,
            duration_s=self.builder.duration(event.get("exec_time"), name),
            message="" if outcome is TestOutcome.PASSED else "\n".join(part for part in said if part),
        )

    def _take_suite(self, event: dict[str, Any], what: object, number: int) -> None:
        if what == "started":
            self._leave_suite()
            self._suite = _Suite(self.builder.count(event.get("test_count"), f"line {number}: test_count"))
            return
        if what not in ("ok", "failed"):
            self.builder.problem(f"line {number}: unknown event {clip(repr(what), 60)}")
            return
        suite, self._suite = self._suite, None
        if suite is None:
            self.builder.problem(f"line {number}: a suite ended that had not started")
            return
        self._never_ended(suite)
        for name, outcome in (
            ("passed", TestOutcome.PASSED),
            ("failed", TestOutcome.FAILED),
            ("ignored", TestOutcome.SKIPPED),
        ):
            stated = self.builder.count(event.get(name), f"line {number}: {name}")
            listed = suite.ended.get(outcome, 0)
            if outcome is TestOutcome.PASSED:
                stated = (
                    None if stated is None else stated + (self.builder.count(event.get("measured"), "") or 0)
                )
            if stated is not None and stated != listed:
                self.builder.problem(f"line {number}: the suite states {stated:,} {name}, lists {listed:,}")
            self._stated[name] += stated or 0
        listed = sum(suite.ended.values())
        if suite.expected is not None and suite.expected != listed:
            self.builder.problem(
                f"line {number}: the suite announced {suite.expected:,} tests, lists {listed:,}"
            )
        if what == "ok" and suite.ended.get(TestOutcome.FAILED, 0):
            self.builder.problem(f"line {number}: the suite ended ok, though a test in it failed")

    def _never_ended(self, suite: _Suite) -> None:
        for name, times in suite.running.items():
            for _ in range(times):
                self.builder.add(name, TestOutcome.ERROR, message="it started and never ended")

    def _leave_suite(self) -> None:
        if self._suite is not None:
            self.cut_off = True
            self._never_ended(self._suite)
            self._suite = None

    def finish(self) -> TestReport:
        self._leave_suite()
        stated = TestCounts(
            total=sum(self._stated.values()),
            passed=self._stated["passed"],
            failed=self._stated["failed"],
            skipped=self._stated["ignored"],
        )
        return self.builder.build(stated=stated, complete=not self.cut_off)
