"""Tests that an attempt did not see: whether they fail, for collectors that look closer only then."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from adjudge.contracts import Subject
from adjudge.evidence.differential import ask
from adjudge.records.evidence import AnyRequest, CommandRun, GradedTree, ReportRun, TestRun
from adjudge.records.sandbox import Ended
from adjudge.records.testreport import TestOutcome

__all__ = ["HIDDEN_PASS", "NO_HIDDEN", "failing_runs"]

NO_HIDDEN: Final = "no line of the recipe runs tests that the attempt did not see"
HIDDEN_PASS: Final = "the tests that the attempt did not see pass"
_RED: Final = (TestOutcome.FAILED, TestOutcome.ERROR)


async def failing_runs(unseen: Sequence[CommandRun], subject: Subject) -> list[CommandRun]:
    """Those of some runs whose tests fail, or of which nothing says that they pass."""
    return [run for run in unseen if await _may_fail(subject, run.tree)]


async def _may_fail(subject: Subject, tree: GradedTree) -> bool:
    """Whether tests over a tree fail, as far as lines of the recipe tell that run them anyway."""
    runs = [
        asked
        for asked in subject.planned
        if isinstance(asked, CommandRun | TestRun | ReportRun) and asked.tree == tree
    ]
    return not runs or any([await _fails(subject, run) for run in runs])


async def _fails(subject: Subject, request: AnyRequest) -> bool:
    """Whether tests fail; that they could not be run says nothing."""
    answer = await ask(subject, request)
    if isinstance(request, CommandRun):
        return answer.result.ended is Ended.EXITED and answer.result.exit_code != 0
    trusted = answer if isinstance(request, TestRun) else answer.trusted
    if trusted is not None:
        return any(test.outcome in _RED for test in trusted.tests)
    return answer.report is not None and any(case.outcome in _RED for case in answer.report.cases)
