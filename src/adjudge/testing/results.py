"""Builders of rows and evaluations, for tests of roll-ups, gates and reports."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from adjudge.records.base import digest_bytes
from adjudge.records.evaluation import (
    Evaluation,
    GateResult,
    Gates,
    Integrity,
    ObjectiveGateResult,
    Provenance,
    TaskRef,
    ValidityCheck,
)
from adjudge.records.score import ScorerResult, Verdict

__all__ = ["evaluation", "scorer_result"]

_SCORES = {Verdict.PASS: 1.0, Verdict.FAIL: 0.0, Verdict.NA: None, Verdict.ERROR: None}


def scorer_result(verdict: Verdict | str = Verdict.PASS, **fields: Any) -> ScorerResult:
    """A row with this verdict: required, counted, weight 1, and the score that goes with the verdict."""
    verdict = Verdict(verdict)
    given: dict[str, Any] = {
        "name": "check",
        "type": "command",
        "verdict": verdict,
        "score": _SCORES[verdict],
        "required": True,
        "gate": False,
        "weight": 1.0,
        "counted": True,
        "reason": "because",
        "version": "1",
        "config_digest": digest_bytes(b""),
    }
    return ScorerResult(**{**given, **fields})


def evaluation(scorers: Sequence[ScorerResult] = (), **fields: Any) -> Evaluation:
    """An evaluation with these rows. Gates and score are given, not computed: PASS and None by default."""
    given: dict[str, Any] = {
        "id": "evaluation",
        "run_id": "run",
        "task": TaskRef(name="task", digest=digest_bytes(b"task")),
        "gates": Gates(
            objective=ObjectiveGateResult(verdict=Verdict.PASS, reason="passed"),
            judge=GateResult(verdict=Verdict.NA, reason="no judge was asked"),
            run=GateResult(verdict=Verdict.NA, reason="workspace given, no agent ran"),
        ),
        "score": None,
        "pass_threshold": None,
        "reward": None,
        "scorers": tuple(scorers),
        "integrity": Integrity(),
        "validity": ValidityCheck(output_parseable=True, schema_valid=True, verifier_completed=True),
        "provenance": Provenance(
            adjudge="0",
            recipe_digest=digest_bytes(b"recipe"),
            started_at=datetime(2026, 1, 1, tzinfo=UTC),
            duration_s=0.5,
        ),
    }
    return Evaluation(**{**given, **fields})
