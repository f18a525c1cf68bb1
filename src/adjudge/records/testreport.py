"""What a test suite reported, whatever runner and format it came from."""

from collections.abc import Mapping
from enum import StrEnum
from typing import ClassVar

from pydantic import Field

from adjudge.records.base import Record
from adjudge.records.sandbox import ExecResult
from adjudge.records.score import Finding

__all__ = [
    "CollectedTests",
    "Proof",
    "TestCase",
    "TestCounts",
    "TestOutcome",
    "TestReport",
    "TestSession",
    "TrustedTest",
    "TrustedTestRun",
]


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


class Proof(StrEnum):
    """What stands behind a test that passed."""

    VALUE = "value"
    """It passed as written and failed with another expected value."""
    SENSE = "sense"
    """It passed as written and failed with its comparison turned round; no value was written down."""
    UNPROVEN = "unproven"
    """It passed, and nothing shows that the code under test was what decided it."""


class TrustedTest(Record):
    """One test of a trusted run, by the id it has as written."""

    __test__: ClassVar[bool] = False

    id: str
    outcome: TestOutcome
    """What the run concludes. A test that was expected and of which nothing arrived is an `error`."""
    proof: Proof | None = None
    """Set when it passed."""
    written: TestOutcome | None = None
    """As written; None when no whole result arrived."""
    falsified: TestOutcome | None = None
    """With its expectation falsified; None when it was not, or when no whole result arrived."""
    reason: str = ""
    """Why it does not count as passed, or why it is unproven."""
    message: str = ""
    """What the test said where it failed as written; capped, decoded with replacement."""
    duration_s: float = Field(default=0.0, ge=0.0)


class TestSession(Record):
    """One run of a suite, as seen from outside."""

    __test__: ClassVar[bool] = False

    result: ExecResult
    runner: str = ""
    """What ran, as it says: `pytest 9.0.1`."""
    complete: bool
    """Whether the runner reported its own end, and the process then ended by itself."""
    collected: int
    """How many ids it says it found."""
    falsified: int = 0
    """How many definitions were falsified in it."""
    uncollected: tuple[str, ...] = ()
    """Files and classes it could not load, and why; capped."""
    problems: tuple[str, ...] = ()
    """What was wrong with its reports: unreadable lines, too many of them, contradictions."""


class TrustedTestRun(Record):
    """A suite whose results were proven as far as they can be."""

    __test__: ClassVar[bool] = False

    tests: tuple[TrustedTest, ...]
    """Every expected test, and none that was not, in the order of their ids."""
    sessions: tuple[TestSession, ...]
    seed: str
    """Which test was falsified in which session, and how, follows from it."""
    unexpected: tuple[str, ...] = ()
    """Reported ids that nothing trusted defines; they count for nothing. Capped."""
    inverted: int = 0
    """How many tests fail as written and pass falsified. No honest test does; guessing does, as often as it
    passes, so each one takes a proven pass away (see `credited`)."""
    findings: tuple[Finding, ...] = ()
    again: tuple[TrustedTest, ...] = ()
    """How tests ended that did not pass and were run once more in a fresh copy."""
    unstable: tuple[TrustedTest, ...] = ()
    """Expected tests that are recorded as unstable on the baseline, and how they ended here. They are not
    among `tests`, and nothing they did is in `inverted` or `findings`."""
    collected: int | None = None
    """How many tests there are in the baseline with the hidden files; None when nobody asked."""
    plugins: tuple[str, ...] = ()
    """Plugins of pytest that were loaded, by entry-point name."""
    ran: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)
    """In which files of the workspace each test ran functions, by id; for those that were watched."""
    modules: Mapping[str, str] = Field(default_factory=dict)
    """Where the modules came from that the tests loaded: a path in the workspace, an absolute one, or nothing
    where there was no file; empty when nobody watched."""

    def count(self, *outcomes: TestOutcome) -> int:
        """How many tests ended in one of `outcomes`."""
        return sum(test.outcome in outcomes for test in self.tests)

    @property
    def passed(self) -> int:
        """How many passed, proven or not."""
        return self.count(TestOutcome.PASSED)

    @property
    def unproven(self) -> int:
        """How many of those that passed are unproven."""
        return sum(test.proof is Proof.UNPROVEN for test in self.tests)

    @property
    def credited(self) -> int:
        """How many passes remain when what guessing explains is taken away."""
        return max(0, self.passed - self.inverted)

    @property
    def decided(self) -> int:
        """How many tests passed or did not; declared skips and expected failures are neither."""
        return self.count(TestOutcome.PASSED, TestOutcome.FAILED, TestOutcome.ERROR)


class CollectedTests(Record):
    """What a runner finds in a tree that holds nothing of the candidate's."""

    __test__: ClassVar[bool] = False

    session: TestSession
    ids: tuple[str, ...]
    plugins: tuple[str, ...] = ()
    """pytest plugins that the environment installs, by entry-point name."""
