"""The evaluation of a run without a workspace: no scorer runs, the judge alone grades it."""

from __future__ import annotations

import os
from datetime import UTC, datetime

from adjudge.contracts import GradedSubject
from adjudge.gates.integrity import conclude_integrity
from adjudge.records.base import digest_json
from adjudge.records.evaluation import (
    Evaluation,
    GateResult,
    Gates,
    ObjectiveGateResult,
    Provenance,
    TaskRef,
    ValidityCheck,
)
from adjudge.records.score import Verdict
from adjudge.records.task import Task
from adjudge.version import __version__

__all__ = ["NO_JUDGE", "ledger_evaluation"]

NO_JUDGE = GateResult(verdict=Verdict.NA, reason="no judge configured")


def ledger_evaluation(
    task: Task, *, run_id: str, run_gate: GateResult, judge: GateResult = NO_JUDGE
) -> GradedSubject:
    """Conclude on a run that left a transcript and nothing else.

    Args:
        task: What was asked.
        run_id: The run.
        run_gate: What is concluded on the agent.
        judge: What the judge says.
    """
    recipe = task.scenario.recipe
    evaluation = Evaluation(
        id=os.urandom(16).hex(),
        run_id=run_id,
        task=TaskRef(name=task.name, digest=task.digest),
        gates=Gates(
            objective=ObjectiveGateResult(verdict=Verdict.NA, reason="no workspace, so nothing to check"),
            judge=judge,
            run=run_gate,
        ),
        score=None,
        pass_threshold=recipe.pass_threshold,
        reward=None,
        scorers=(),
        integrity=conclude_integrity(()),
        validity=ValidityCheck(output_parseable=True, schema_valid=True, verifier_completed=True, errors=[]),
        provenance=Provenance(
            adjudge=__version__,
            recipe_digest=digest_json(recipe.model_dump(mode="json")),
            started_at=datetime.now(UTC),
            duration_s=0.0,
        ),
    )
    return GradedSubject(evaluation, task, None)
