"""What is asked of a store of runs, and the rows it answers with: enough for lists and reports.

A row is flat and small on purpose: a report reads a hundred thousand of them.
"""

from datetime import datetime
from enum import StrEnum
from typing import Literal, NamedTuple

from pydantic import AwareDatetime, Field

from adjudge.records.base import Record
from adjudge.records.run import RunStatus
from adjudge.records.score import Verdict

__all__ = [
    "Bound",
    "RunCursor",
    "RunFilter",
    "RunSort",
    "RunSummary",
    "ScorerTally",
    "SortColumn",
    "TaskSummary",
]


class Bound(Record):
    """What a number of a run has to lie between, both ends included. A run without the number is outside."""

    column: Literal["score", "mean_score", "reward", "cost_usd", "total_tokens", "tool_calls", "wall_s"]
    at_least: float | None = None
    at_most: float | None = None


class RunFilter(Record):
    """Which runs. Every field that is given has to hold; None: any."""

    experiment_id: str | None = None
    task: str | None = None
    """The task's name, or its digest or the beginning of it."""
    agent: str | None = None
    model: str | None = None
    status: RunStatus | None = None
    objective: Verdict | None = None
    judge: Verdict | None = None
    run_gate: Verdict | None = None
    integrity: str | None = None
    failure_mode: str | None = None
    trial: int | None = None
    tags: tuple[tuple[str, str], ...] = ()
    text: str | None = None
    """Words that have to occur, each of them, whatever their case: in the id, task, agent, model, status,
    failure mode or a tag."""
    bounds: tuple[Bound, ...] = ()
    since: AwareDatetime | None = None
    """Started then or later."""
    until: AwareDatetime | None = None
    """Started before then."""
    graded: bool | None = None
    """Whether it has an evaluation."""
    before: int | None = Field(default=None, ge=0)
    """Only rows recorded before this `RunSummary.seq`: where the last page ended."""


class SortColumn(StrEnum):
    """What lists of runs can be sorted by."""

    RECORDED = "recorded"
    TASK = "task"
    AGENT = "agent"
    MODEL = "model"
    TRIAL = "trial"
    SCORE = "score"
    REWARD = "reward"
    COST = "cost"
    TOKENS = "tokens"
    TIME = "time"


class RunSort(Record):
    """The order of a list of runs. Runs without a value come last, whichever way it goes."""

    column: SortColumn = SortColumn.RECORDED
    descending: bool = True


class RunCursor(Record):
    """A place in a sorted list: the row with this value and this number."""

    value: float | str | None
    seq: int


class RunSummary(NamedTuple):
    """A run and its current evaluation in one row. What only an evaluation has is None without one."""

    seq: int
    """The order of recording."""
    id: str
    experiment_id: str | None
    task_name: str
    task_digest: str
    agent: str
    model: str | None
    trial: int
    status: str
    outcome: str | None
    """How the agent ended (`AgentStatus`); None when none ran, or not yet."""
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


class TaskSummary(NamedTuple):
    """A task in one row."""

    name: str
    digest: str
    recorded_at: datetime


class ScorerTally(NamedTuple):
    """How one scorer of the current evaluations did, over many runs."""

    agent: str
    model: str | None
    task_name: str
    name: str
    type: str
    verdict: str
    runs: int
