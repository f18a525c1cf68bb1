"""What there is to review: current evaluations, with what was said of each already."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import ColumnElement, Connection, ScalarSelect, func, select

from adjudge.records.annotation import Judgment
from adjudge.records.listing import RunFilter
from adjudge.store import schema
from adjudge.store.listing import narrowed

__all__ = ["Candidate", "read_candidates"]


class Candidate(NamedTuple):
    """An evaluation that somebody could review."""

    evaluation_id: str
    run_id: str
    task_name: str
    agent: str
    model: str | None
    objective: str
    judge: str
    run_gate: str
    mine: int
    """How often this reviewer said something of it."""
    passes: int
    fails: int
    """How often somebody said so; a second word of the same person counts once more."""


def read_candidates(connection: Connection, wanted: RunFilter, reviewer: str, limit: int) -> list[Candidate]:
    """The newest current evaluations of the runs that are wanted."""
    runs, evaluations, said = schema.runs, schema.evaluations, schema.annotations

    def times(condition: ColumnElement[bool]) -> ScalarSelect[int]:
        counted = select(func.count()).where(said.c.evaluation_seq == evaluations.c.seq, condition)
        return counted.correlate(evaluations).scalar_subquery()

    columns = (
        evaluations.c.id,
        runs.c.id,
        runs.c.task_name,
        runs.c.agent,
        runs.c.model,
        evaluations.c.objective,
        evaluations.c.judge,
        evaluations.c.run_gate,
        times(said.c.reviewer_id == reviewer),
        times(said.c.judgment == Judgment.PASS.value),
        times(said.c.judgment == Judgment.FAIL.value),
    )
    statement = narrowed(select(*columns), wanted.model_copy(update={"graded": True}))
    statement = statement.order_by(runs.c.seq.desc()).limit(limit)
    return [Candidate(*row) for row in connection.execute(statement)]
