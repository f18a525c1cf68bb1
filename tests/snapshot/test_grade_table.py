"""The table `adjudge grade` prints, whole, at three widths."""

from __future__ import annotations

from pathlib import Path

import pytest

from adjudge.records.change import BaselineOrigin, BaselineRef
from adjudge.records.evaluation import GateResult, Gates, ObjectiveGateResult
from adjudge.records.score import Finding, Verdict
from adjudge.reports.table import render_table
from adjudge.testing.results import evaluation, scorer_result

HERE = Path(__file__).parent / "tables"


@pytest.mark.parametrize("width", [60, 100, 160])
def test_the_table(width: int) -> None:
    rows = [
        scorer_result(
            "FAIL",
            name="unit tests",
            reason="exit 1, expected 0",
            findings=(Finding(rule="command-exit-code", message="`pytest -q`: exit 1, expected 0"),),
            output_tail="[stdout]\nF              [100%]\n\x1b[31mFAILED\x1b[0m tests/test_a.py\n",
        ),
        scorer_result("PASS", name="scope", type="allowed_paths", reason="2 changed paths, all allowed"),
        scorer_result(
            "FAIL",
            name="no new skips",
            type="no_new_skips",
            required=False,
            counted=False,
            reason="1 net new skip marker",
            findings=(
                Finding(
                    rule="new-skip", path="tests/test_a.py", line=7, message="@pytest.mark.skip was added"
                ),
            ),
        ),
        scorer_result("NA", name="notes", type="llm_judge", required=False, reason="passed on to the judge"),
        scorer_result("ERROR", name="lint", gate=True, reason="the sandbox died before the command began"),
    ]
    shown = evaluation(
        rows,
        gates=Gates(
            objective=ObjectiveGateResult(
                verdict=Verdict.FAIL, reason="required scorer 'unit tests' failed", mean_score=1 / 3
            ),
            judge=GateResult(verdict=Verdict.NA, reason="no judge was asked"),
            run=GateResult(verdict=Verdict.NA, reason="workspace given, no agent ran"),
        ),
        score=None,
        pass_threshold=0.8,
        warnings=("baseline: unverified",),
    )
    provenance = shown.provenance.model_copy(
        update={
            "sandbox": "bubblewrap",
            "baseline": BaselineRef(
                origin=BaselineOrigin.UNVERIFIED, description="merge base with main (1a2b3c4)"
            ),
        }
    )
    text = render_table(shown.model_copy(update={"provenance": provenance}), width=width)
    expected = HERE / f"{width}.txt"
    assert text == expected.read_text(encoding="utf-8"), (
        f"if that is meant, write this to {expected}:\n{text}"
    )
