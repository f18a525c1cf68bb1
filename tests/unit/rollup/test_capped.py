"""A gate inside a scorer acts as a failed gate scorer."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from adjudge.gates.objective import objective_gate
from adjudge.records.base import digest_bytes
from adjudge.records.evaluation import Integrity
from adjudge.records.score import Rollup, ScorerOutcome, ScorerResult, Verdict
from adjudge.rollup.combined import combined_score

pytestmark = pytest.mark.anyone


def row(name: str, verdict: Verdict, score: float | None, *, capped: bool = False) -> ScorerResult:
    return ScorerResult(
        name=name, type="x", verdict=verdict, score=score, required=False, gate=False, weight=1.0,
        counted=True, reason="r", capped=capped, version="1", config_digest=digest_bytes(b""),
    )  # fmt: skip


ROWS = [row("good", Verdict.PASS, 1.0), row("bad", Verdict.FAIL, 0.0, capped=True)]


@pytest.mark.parametrize("rollup", Rollup)
def test_the_combined_score_is_0(rollup: Rollup) -> None:
    assert combined_score(ROWS, rollup) == 0.0
    assert combined_score([*ROWS, row("broken", Verdict.ERROR, None)], rollup) == 0.0


def test_the_objective_gate_fails_and_names_it() -> None:
    gate = objective_gate(
        ROWS, score=0.0, pass_threshold=None, integrity=Integrity(outcome="unchecked", reasons=())
    )
    assert gate.verdict is Verdict.FAIL
    assert "'bad'" in gate.reason


def test_only_a_failure_is_capped() -> None:
    with pytest.raises(ValidationError, match="only a FAIL is capped"):
        ScorerOutcome.passed("fine", capped=True)
