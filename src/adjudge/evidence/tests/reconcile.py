"""What several sessions of a suite say together about each test that was expected.

A test counts when it passes wherever it runs as written and fails wherever it is falsified. A guesser inside
cannot tell the two apart, so of the tests it does not really pass it gets right as many as it gets exactly
the wrong way round; those are counted too (`inverted`) and taken from its credit.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from adjudge.evidence.tests.channel import Channel, Phase
from adjudge.evidence.tests.outcomes import Ended, ended
from adjudge.evidence.tests.twins import TestFiles, Twins
from adjudge.records.score import Finding
from adjudge.records.testreport import Proof, TestOutcome, TrustedTest
from adjudge.syntax.python.falsify import Falsification

__all__ = ["Heard", "Reconciled", "reconcile"]

_UNEXPECTED_SHOWN = 50
_FAILED = (TestOutcome.FAILED, TestOutcome.ERROR)
_MISSING = Ended(None, "no result arrived")


@dataclass(frozen=True)
class Heard:
    """What one session reported, and which version of the test files it ran."""

    twins: Twins
    number: int
    """Which of the twins' versions."""
    channel: Channel

    def false(self, definition: tuple[str, str]) -> Falsification | None:
        """What made a definition false in it; None where nothing did."""
        return self.twins.false(definition, self.number)

    def results(self) -> dict[str, Ended]:
        """How each reported test ended, by its real id."""
        phases: dict[str, list[Phase]] = {}
        for id_, seen in self.channel.phases.items():
            phases.setdefault(self.twins.real_id(id_), []).extend(seen)
        return {id_: ended(seen) for id_, seen in phases.items()}


@dataclass(frozen=True)
class Reconciled:
    """The conclusion on every expected test."""

    tests: tuple[TrustedTest, ...]
    unexpected: tuple[str, ...]
    inverted: int
    findings: tuple[Finding, ...]
    unstable: tuple[TrustedTest, ...] = ()
    """Those that were to be left out of all of the above."""


def reconcile(
    expected: Sequence[str], files: TestFiles, heard: Sequence[Heard], unstable: Collection[str] = ()
) -> Reconciled:
    """Conclude.

    An expected id without parameters stands for every parametrisation of that test that is reported, and one
    that was cut off inside them, as ids of public data sets are, for every reported id that starts with it;
    all of them have to pass.
    """
    judge = _Judge(files, [(session, session.results()) for session in heard])
    # A test that fails as written and passes falsified because it is unstable is no sign of guessing.
    aside = _Judge(files, judge.sessions)
    reported = {id_: None for _, results in judge.sessions for id_ in results}
    by_base: dict[str, list[str]] = {}
    for id_ in reported:
        by_base.setdefault(files.base(id_), []).append(id_)
    claimed: set[str] = set()
    wanted = set(expected)
    for id_ in dict.fromkeys(expected):
        canonical = files.canonical(id_)
        members = [canonical]
        base = files.base(canonical)
        if base == canonical:
            members = by_base.get(canonical) or members
        elif not canonical.endswith("]"):
            same = by_base.get(base, ())
            members = [other for other in same if other.startswith(canonical)] or members
        claimed.update(members)
        concluding = aside if id_ in unstable else judge
        concluding.conclude(id_, members)
        if f"{canonical} #2" in reported and f"{canonical} #2" not in wanted:
            concluding.repeated(id_)
    return Reconciled(
        tests=tuple(judge.tests),
        unexpected=tuple(sorted(reported.keys() - claimed)[:_UNEXPECTED_SHOWN]),
        inverted=judge.inverted,
        findings=tuple(judge.findings),
        unstable=tuple(aside.tests),
    )


class _Judge:
    def __init__(self, files: TestFiles, sessions: Sequence[tuple[Heard, Mapping[str, Ended]]]) -> None:
        self._files = files
        self.sessions = sessions
        self.tests: list[TrustedTest] = []
        self.findings: list[Finding] = []
        self.inverted = 0

    def conclude(self, id_: str, members: Sequence[str]) -> None:
        """Conclude on one expected id that stands for one or more reported tests."""
        concluded = [self._one(member) for member in members]
        if len(concluded) == 1:
            self.tests.append(concluded[0].model_copy(update={"id": id_}))
            return
        worst = max(concluded, key=lambda test: _SEVERITY[test.outcome])
        proofs = [test.proof for test in concluded if test.proof is not None]
        reason = worst.reason
        if worst.outcome is not TestOutcome.PASSED:
            reason = f"{worst.id.removeprefix(id_)}: {reason}"
        self.tests.append(
            worst.model_copy(
                update={
                    "id": id_,
                    "reason": reason,
                    "proof": max(proofs, key=_WEAKNESS.__getitem__)
                    if worst.outcome is TestOutcome.PASSED and proofs
                    else None,
                    "duration_s": sum(test.duration_s for test in concluded),
                }
            )
        )

    def repeated(self, id_: str) -> None:
        """The id that was concluded on last is one that a second test claims."""
        reason = "its id was reported by more than one test"
        self.tests[-1] = self.tests[-1].model_copy(
            update={"outcome": TestOutcome.ERROR, "proof": None, "reason": reason}
        )
        self._find("repeated-test", id_, reason)

    def _one(self, id_: str) -> TrustedTest:
        located = self._files.locate(id_)
        definition = self._files.definition(located) if located is not None else None
        written: list[Ended] = []
        falsified: list[Ended] = []
        plans: list[Falsification] = []
        for session, results in self.sessions:
            end = results.get(id_, _MISSING)
            plan = session.false(definition) if definition is not None else None
            if plan is not None:
                falsified.append(end)
                plans.append(plan)
            else:
                written.append(end)
        first = _worst(written)
        false_outcome = _best(falsified)
        outcome, reason = first.outcome, first.reason
        proof: Proof | None = None
        if outcome is None:
            outcome = TestOutcome.ERROR
        elif len({end.outcome for end in written}) > 1:
            outcome, reason = TestOutcome.FAILED, "it does not end the same way each time"
            self._find("unstable-test", id_, reason)
        elif outcome is TestOutcome.SKIPPED and (located is None or not self._files.declares_skip(located)):
            outcome, reason = TestOutcome.FAILED, "it was skipped, though its file declares no skip"
            self._find("undeclared-skip", id_, reason)
        elif outcome is TestOutcome.XPASSED:
            reason = "it is expected to fail, and did not"
        elif outcome is TestOutcome.PASSED:
            if not falsified:
                proof = Proof.UNPROVEN
                reason = self._why_unproven(definition)
            elif all(end.outcome in _FAILED for end in falsified):
                proof = Proof.VALUE if any(plan.strong for plan in plans) else Proof.SENSE
            elif any(end.outcome is TestOutcome.PASSED for end in falsified):
                if any(
                    p.certain and e.outcome is TestOutcome.PASSED
                    for p, e in zip(plans, falsified, strict=True)
                ):
                    outcome, reason = TestOutcome.FAILED, "it passes falsified as well"
                    self._find("passes-when-falsified", id_, reason)
                else:
                    proof = Proof.UNPROVEN
                    reason = "it passes falsified as well, perhaps because what was changed is not reached"
            else:
                outcome, reason = TestOutcome.ERROR, "no result arrived of it falsified"
                self._find("no-result-when-falsified", id_, reason)
        if (
            first.outcome in _FAILED
            and falsified
            and all(end.outcome is TestOutcome.PASSED for end in falsified)
            and any(plan.wide for plan in plans)
        ):
            self.inverted += 1
            self._find("passes-only-when-falsified", id_, "it fails as written and passes falsified")
        return TrustedTest(
            id=id_,
            outcome=outcome,
            proof=proof,
            written=first.outcome,
            falsified=false_outcome,
            reason=reason,
            message=first.message,
            duration_s=first.duration_s,
        )

    def _why_unproven(self, definition: tuple[str, str] | None) -> str:
        if definition is None:
            return "not defined in a trusted test file"
        if len(self.sessions) == 1:
            return "run once, as written"
        return self._files.plan(definition).unproven

    def _find(self, rule: str, id_: str, message: str) -> None:
        located = self._files.locate(id_)
        path = located.path if located is not None else None
        self.findings.append(Finding(rule=rule, message=f"{id_}: {message}", path=path))


_SEVERITY = {
    TestOutcome.SKIPPED: 0,
    TestOutcome.XFAILED: 1,
    TestOutcome.PASSED: 2,
    TestOutcome.XPASSED: 3,
    TestOutcome.FAILED: 4,
    TestOutcome.ERROR: 5,
}
_WEAKNESS = {Proof.VALUE: 0, Proof.SENSE: 1, Proof.UNPROVEN: 2}


def _worst(ends: Sequence[Ended]) -> Ended:
    """The least good of several runs as written; a missing result is the worst."""
    return max(ends, key=lambda end: 9 if end.outcome is None else _SEVERITY[end.outcome], default=_MISSING)


def _best(ends: Sequence[Ended]) -> TestOutcome | None:
    """A pass among several falsified runs, else any outcome."""
    outcomes = [end.outcome for end in ends]
    return TestOutcome.PASSED if TestOutcome.PASSED in outcomes else next(iter(outcomes), None)
