"""What a test suite reported, whatever runner and format it came from."""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar

from pydantic import Field

from adjudge.records.base import Record

__all__ = ["TestCase", "TestCounts", "TestOutcome", "TestReport"]


class TestOutcome(StrEnum):
    """How one test ended. Only `passed` is a pass."""

    __test__ = False

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    """Broke outside the test itself: set-up, tear-down, collection, a crash."""
    SKIPPED = "skipped"
    XFAILED = "xfailed"
    """Expected to fail, and did."""
    XPASSED = "xpassed"
    """Expected to fail, and did not."""


class TestCase(Record):
    """One test, by the id its runner gives it."""

    __test__: ClassVar[bool] = False

    id: str
    """Unique within the report for an honest suite; duplicates are kept as they came."""
    outcome: TestOutcome
    duration_s: float | None = Field(default=None, ge=0.0)
    message: str = ""
    """Why it did not pass; capped, decoded with replacement."""
    file: str | None = None
    line: int | None = None


class TestCounts(Record):
    """Counts as a report states them, which need not agree with its cases. None: not stated."""

    __test__: ClassVar[bool] = False

    total: int | None = None
    passed: int | None = None
    failed: int | None = None
    errors: int | None = None
    skipped: int | None = None


class TestReport(Record):
    """A parsed report: its cases, the counts it claims, and what does not add up."""

    __test__: ClassVar[bool] = False

    format: str
    """The parser's name, such as `junit` or `go-json`."""
    cases: tuple[TestCase, ...]
    stated: TestCounts = TestCounts()
    complete: bool = True
    """Whether the report has its own end (a TAP plan, a closing tag, a final event)."""
    problems: tuple[str, ...] = ()
    """Contradictions inside the report: negative counts, more passed than listed, unknown outcomes."""
    notes: tuple[str, ...] = ()
    """What a reader should know though it contradicts nothing, such as a habit of the runner's."""

    def count(self, *outcomes: TestOutcome) -> int:
        """How many cases ended in one of `outcomes`."""
        return sum(case.outcome in outcomes for case in self.cases)
