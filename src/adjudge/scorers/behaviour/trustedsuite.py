"""How a trusted run of a suite is asked for and scored; `pytest` and `tests` share it."""

from __future__ import annotations

from pydantic import JsonValue

from adjudge.contracts import Evidence
from adjudge.records.evidence import GradedTree, TestRun
from adjudge.records.score import Finding, ScorerOutcome
from adjudge.records.testreport import TrustedTestRun
from adjudge.scorers.behaviour.coderun import left_out
from adjudge.scorers.behaviour.suiterun import (
    NO_TEST,
    describe_counts,
    failing,
    output_of,
    shown_command,
    suite_details,
    unstable_finding,
    unstable_note,
)
from adjudge.scorers.wording import first_findings

__all__ = ["score_run", "score_suite"]


def score_suite(request: TestRun, pass_threshold: float, evidence: Evidence) -> ScorerOutcome:
    """Passed tests over those that passed, failed or broke."""
    run = evidence[request]
    details = suite_details(shown_command(request.command), request.proof, run)
    return score_run(run, details, request.tree, pass_threshold, evidence)


def score_run(
    run: TrustedTestRun,
    details: dict[str, JsonValue],
    tree: GradedTree,
    pass_threshold: float,
    evidence: Evidence,
) -> ScorerOutcome:
    """The same of a run that has been asked for by another way."""
    findings = [
        *failing(run.tests),
        *run.findings,
        *(unstable_finding(test.id, test.outcome) for test in run.unstable),
        *left_out(tree, evidence),
    ]
    if not run.decided:
        why = f"no test passed or failed{unstable_note(len(run.unstable))}"
        first = Finding(rule=NO_TEST, message=f"`{details['command']}`: {why}")
        return ScorerOutcome.failed(
            why,
            findings=first_findings((first, *findings)),
            output_tail=output_of(run) or _said(run),
            details=details,
        )
    return ScorerOutcome.fraction(
        run.credited / run.decided,
        pass_threshold,
        describe_counts(run),
        findings=first_findings(findings),
        output_tail=output_of(run),
        details=details,
    )


def _said(run: TrustedTestRun) -> str:
    return run.sessions[0].result.stdout.text if run.sessions else ""
