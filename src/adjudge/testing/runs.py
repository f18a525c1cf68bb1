"""Builders of tasks, runs and gradings, for tests of stores and reports."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta
from typing import Any

from adjudge.contracts import BlobStore, GradedSubject
from adjudge.records.base import BlobRef, digest_bytes
from adjudge.records.evaluation import GateResult, Gates, ObjectiveGateResult, TaskRef
from adjudge.records.run import AgentOutcome, AgentRef, AgentStatus, Attempt, Run, RunStatus, TokenUsage
from adjudge.records.score import Recipe, Verdict
from adjudge.records.task import Scenario, Task
from adjudge.testing.results import evaluation, scorer_result

__all__ = ["graded_run", "keep_blob", "make_run", "make_task"]


def make_task(name: str = "task") -> Task:
    """A task of that name."""
    return Task(
        name=name,
        digest=digest_bytes(name.encode()),
        scenario=Scenario(name=name, recipe=Recipe(scorers=())),
    )


def make_run(number: int = 1, **fields: Any) -> Run:
    """A finished run; another number makes another id."""
    task = fields.pop("task", None) or make_task()
    began = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=number)
    given: dict[str, Any] = {
        "id": hashlib.sha256(f"run {number}".encode()).hexdigest()[:12],
        "task": TaskRef(name=task.name, digest=task.digest),
        "agent": AgentRef(name="builder", type="command"),
        "model": "m-1",
        "status": RunStatus.FINISHED,
        "attempts": 1,
        "started_at": began,
        "ended_at": began + timedelta(seconds=30),
        "attempt": Attempt(
            outcome=AgentOutcome(
                status=AgentStatus.COMPLETED,
                usage=TokenUsage(input_tokens=100, output_tokens=20, cost_usd=0.25, tool_calls=3),
                wall_s=30.0,
            )
        ),
    }
    return Run(**{**given, **fields})


def graded_run(run: Run, verdict: Verdict | str = Verdict.PASS, **fields: Any) -> GradedSubject:
    """A grading of a run that came to this objective verdict."""
    verdict = Verdict(verdict)
    score = {Verdict.PASS: 1.0, Verdict.FAIL: 0.0}.get(verdict)
    evidence = fields.pop("evidence", ())
    given: dict[str, Any] = {
        "id": hashlib.sha256(f"evaluation {run.id} {verdict} {fields}".encode()).hexdigest()[:32],
        "run_id": run.id,
        "task": run.task,
        "score": score,
        "reward": score,
        "gates": Gates(
            objective=ObjectiveGateResult(verdict=verdict, reason="because", mean_score=score),
            judge=GateResult(verdict=Verdict.NA, reason="no judge was asked"),
            run=GateResult(verdict=Verdict.PASS, reason="completed"),
        ),
        "scorers": (
            scorer_result(verdict, name="unit tests"),
            scorer_result(name="scope", type="allowed_paths"),
        ),
    }
    return GradedSubject(evaluation(**{**given, **fields}), make_task(run.task.name), None, evidence)


def keep_blob(blobs: BlobStore, data: bytes) -> BlobRef:
    """Keep some bytes."""
    writer = blobs.writer()
    writer.write(data)
    return writer.commit()
