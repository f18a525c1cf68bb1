"""What the API answers with, where no record says it already."""

from datetime import datetime

from pydantic import BaseModel

from adjudge.records.listing import RunSummary

__all__ = ["RunList", "RunRow", "run_row"]


class RunRow(BaseModel):
    """A run and its current evaluation, in short. What only an evaluation has is null without one."""

    id: str
    experiment_id: str | None
    task_name: str
    task_digest: str
    agent: str
    model: str | None
    trial: int
    status: str
    outcome: str | None
    started_at: datetime | None
    ended_at: datetime | None
    wall_s: float | None
    cost_usd: float | None
    total_tokens: int | None
    tool_calls: int | None
    evaluation_id: str | None
    objective: str | None
    judge: str | None
    run_gate: str | None
    score: float | None
    mean_score: float | None
    reward: float | None
    integrity: str | None
    failure_mode: str | None
    evaluated_at: datetime | None


class RunList(BaseModel):
    """A page of runs."""

    runs: list[RunRow]
    next: str | None
    """The address of the next page; null on the last one."""


def run_row(row: RunSummary) -> RunRow:
    """A row of a list."""
    fields = row._asdict()
    del fields["seq"]
    return RunRow(**fields)
