"""From the phases of a test, as one session reported them, to how it ended there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from adjudge.evidence.tests.channel import Phase
from adjudge.records.testreport import TestOutcome

__all__ = ["Ended", "ended"]


@dataclass(frozen=True, slots=True)
class Ended:
    """How a test ended in one session."""

    outcome: TestOutcome | None
    """None: no whole result arrived."""
    reason: str = ""
    message: str = ""
    duration_s: float = 0.0


def ended(phases: Sequence[Phase]) -> Ended:
    """Any failed phase or subtest fails a test; a pass needs every phase, exactly once."""
    rerun = max((at for at, phase in enumerate(phases) if phase.outcome == "rerun"), default=-1)
    # What a plugin ran again counts from its last try on.
    phases = [phase for phase in phases[rerun + 1 :]] if rerun >= 0 else phases
    if not phases:
        return Ended(None, "no result arrived")
    seconds = sum(phase.duration_s for phase in phases)
    whole = [phase for phase in phases if not phase.sub]

    def said(outcome: TestOutcome | None, reason: str, *which: Phase) -> Ended:
        return Ended(outcome, reason, next((p.message for p in which if p.message), ""), seconds)

    for when in ("setup", "call", "teardown"):
        if sum(phase.when == when for phase in whole) > 1:
            return said(TestOutcome.ERROR, "its id was reported by more than one test")
    failed = [phase for phase in phases if phase.outcome == "failed"]
    if failed:
        calls = [phase for phase in failed if phase.when == "call"]
        if calls:
            reason = "a subtest failed" if all(phase.sub for phase in calls) else "it failed"
            return said(TestOutcome.FAILED, reason, *calls)
        return said(TestOutcome.ERROR, f"its {failed[0].when} failed", *failed)
    skipped = [phase for phase in phases if phase.outcome == "skipped"]
    if any(phase.expected_failure for phase in skipped):
        return said(TestOutcome.XFAILED, "it is expected to fail, and did", *skipped)
    if skipped:
        return said(TestOutcome.SKIPPED, "it was skipped", *skipped)
    if any(phase.expected_failure for phase in phases):
        return said(TestOutcome.XPASSED, "it is expected to fail, and did not")
    if {phase.when for phase in whole} != {"setup", "call", "teardown"}:
        return said(None, "its result is not whole: the session broke off")
    return said(TestOutcome.PASSED, "")
