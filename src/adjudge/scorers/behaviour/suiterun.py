"""What the scorers of test suites have in common: their fields, and how a trusted run becomes a row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from pydantic import Field, JsonValue

from adjudge.records.evidence import Isolation, TestCommand, TestProof
from adjudge.records.paths import RelativePath
from adjudge.records.score import Finding
from adjudge.records.testreport import Proof, TestOutcome, TestSession, TrustedTest, TrustedTestRun
from adjudge.scorers.behaviour.coderun import CodeConfig, TimeLimit
from adjudge.scorers.wording import counted

__all__ = [
    "NO_TEST",
    "PYTHON",
    "UNSTABLE",
    "PythonConfig",
    "SuiteConfig",
    "counts_of",
    "describe_counts",
    "failing",
    "output_of",
    "shown_command",
    "suite_details",
    "unproven_note",
    "unstable_finding",
    "unstable_note",
    "with_path",
]

NO_TEST = "tests-none-ran"
"""The rule of a run in which no test passed or failed."""

UNSTABLE = "unstable-on-baseline"
"""The rule that informs of a test which does not count."""

PYTHON = ("pytest", "unittest")
"""Runners with an import path."""

_MAX_MESSAGE = 600
_MAX_TESTS = 20_000
"""A row with more would be of use to no one; the counts are exact."""


class SuiteConfig(CodeConfig):
    """Fields of every scorer that runs tests."""

    isolation: Isolation = Isolation.CLEAN
    """`clean`: the baseline with the attempt's changes to unprotected paths; tests, test configuration and
    runner files are the baseline's or hidden. `snapshot`: the final workspace as it is."""
    pass_threshold: float = Field(default=1.0, ge=0.0, le=1.0)
    """The score from which on it is a PASS."""
    timeout_s: TimeLimit = 900.0
    """Seconds until a run of the tests and all it started are ended, from 1 to 3600."""


class PythonConfig(SuiteConfig):
    """Fields of scorers whose tests always run in a trusted session."""

    proof: TestProof = TestProof.TWIN
    """`twin`: run twice, each test falsified once, so that a pass is proven. `single`: run once; every pass
    is shown as unproven."""
    test_timeout_s: float = Field(default=60.0, ge=0, le=3600)
    """Seconds for a single test; 0 for no limit but `timeout_s`."""
    pythonpath: tuple[RelativePath, ...] = Field(default=(), max_length=20)
    """Folders of the workspace, such as `src`, in which imports are looked for before its root."""


def with_path(command: TestCommand, config: PythonConfig) -> TestCommand:
    """The command with the recipe's import path in front, where its runner has one."""
    if command.runner not in PYTHON:
        return command
    return command.model_copy(update={"path": tuple(dict.fromkeys((*config.pythonpath, *command.path)))})


def failing(tests: Iterable[TrustedTest], rule: str = "test-failed") -> list[Finding]:
    """A finding for each test that did not pass but should have."""
    found = []
    for test in tests:
        if test.outcome in (TestOutcome.FAILED, TestOutcome.ERROR, TestOutcome.XPASSED):
            said = ": ".join(part for part in (test.reason, _line(test.message)) if part)
            path = test.id.partition("::")[0] if "::" in test.id else None
            found.append(Finding(rule=rule, path=path, message=f"{test.id}: {said or test.outcome}"))
    return found


def unstable_finding(id_: str, outcome: TestOutcome) -> Finding:
    """Says of a test that it does not count."""
    return Finding(
        rule=UNSTABLE,
        message=f"{id_}: not counted, because on the baseline it does not end the same way each time; "
        f"this time: {outcome}",
    )


def unstable_note(number: int) -> str:
    """What a reason says about tests that are left out."""
    return f", {counted(number, 'unstable one')} left out" if number else ""


def counts_of(tests: Sequence[TrustedTest]) -> dict[str, JsonValue]:
    """How many tests ended in which way."""
    ended = Counter(test.outcome for test in tests)
    return {outcome.value: ended[outcome] for outcome in TestOutcome}


def unproven_note(run: TrustedTestRun) -> str:
    """What a reason says about passes that nothing proves."""
    return f" ({run.unproven:,} unproven)" if run.unproven else ""


def suite_details(command: str, proof: TestProof, run: TrustedTestRun) -> dict[str, JsonValue]:
    """Every test, the counts, the command, and which protections fired."""
    fired = Counter(finding.rule for finding in run.findings)
    return {
        "command": command,
        "proof": proof.value,
        "counts": counts_of(run.tests),
        "expected": len(run.tests),
        "collected": run.collected,
        "unproven": run.unproven,
        "inverted": run.inverted,
        "unexpected": list(run.unexpected),
        "protections": dict(fired),
        "seed": run.seed,
        "sessions": [_session(session) for session in run.sessions],
        "tests": [_test(test) for test in run.tests[:_MAX_TESTS]],
        "tests_left_out": max(0, len(run.tests) - _MAX_TESTS),
        "unstable": [_test(test) for test in run.unstable[:_MAX_TESTS]],
    }


def shown_command(command: TestCommand) -> str:
    """The command for people."""
    program = command.interpreter if command.runner not in _STARTED else ("npx",)
    how = _SHOWN.get(command.runner, ("-m", command.runner))
    return " ".join((*program, *how, *command.args))


_SHOWN = {"node": ("--test",), "jest": ("jest",), "vitest": ("vitest", "run"), "go": ("test",)}
"""What stands between the program and its arguments, where that is not `-m RUNNER`."""
_STARTED = ("jest", "vitest")
"""Runners that are not part of their interpreter."""


def output_of(run: TrustedTestRun) -> str:
    """The end of what the first session printed, when it says more than the tests do."""
    broken = [session for session in run.sessions if not session.complete or session.uncollected]
    if not broken:
        return ""
    said = "\n".join(broken[0].uncollected)
    return "\n".join(part for part in (said, broken[0].result.stdout.text) if part)


def _session(session: TestSession) -> dict[str, JsonValue]:
    return {
        "runner": session.runner,
        "ended": session.result.ended.value,
        "exit_code": session.result.exit_code,
        "complete": session.complete,
        "collected": session.collected,
        "falsified": session.falsified,
        "uncollected": list(session.uncollected),
        "problems": list(session.problems),
        "duration_s": session.result.usage.wall_s,
    }


def _test(test: TrustedTest) -> dict[str, JsonValue]:
    shown: dict[str, JsonValue] = {
        "id": test.id,
        "outcome": test.outcome.value,
        "duration_s": round(test.duration_s, 4),
    }
    if test.proof is not None:
        shown["proof"] = test.proof.value
    if test.reason and (test.outcome is not TestOutcome.PASSED or test.proof is Proof.UNPROVEN):
        shown["reason"] = test.reason
    if test.message and test.outcome is not TestOutcome.PASSED:
        shown["message"] = test.message[:_MAX_MESSAGE]
    return shown


def _line(message: str) -> str:
    first = message.strip().splitlines()[0] if message.strip() else ""
    return first[:_MAX_MESSAGE]


def describe_counts(run: TrustedTestRun) -> str:
    """How many of how many tests passed, in words."""
    passed = f"{run.credited:,} of {counted(run.decided, 'test')} passed{unproven_note(run)}"
    return passed + unstable_note(len(run.unstable))
