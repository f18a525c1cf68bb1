"""What the API answers with, where no record says it already."""

from datetime import datetime

from pydantic import BaseModel

from adjudge.records.listing import RunSummary

__all__ = [
    "ExperimentDetail",
    "ExperimentList",
    "ExperimentRow",
    "ExploreFields",
    "ExploredField",
    "NewView",
    "PlotValues",
    "RunList",
    "RunRow",
    "SheetPage",
    "Values",
    "run_row",
]

Row = dict[str, str | int | float | bool | datetime | None]


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


class SheetPage(BaseModel):
    """Some rows of a table."""

    title: str
    columns: list[str]
    rows: list[Row]
    total: int
    """Rows of all pages."""
    next: str | None
    """The address of the next page; null on the last one."""


class PlotValues(BaseModel):
    """A plot."""

    title: str
    summary: str
    """What it shows, in words."""
    columns: list[str]
    rows: list[Row]
    svg: str


class ExploredField(BaseModel):
    """Something that is known of runs."""

    name: str
    title: str
    kind: str
    choices: list[str]
    """All values it can have; empty where that is not fixed."""


class ExploreFields(BaseModel):
    """What can be asked of many runs."""

    fields: list[ExploredField]
    operators: list[str]
    groups: list[str]
    measures: list[str]
    plots: list[str]


class Values(BaseModel):
    """Values to choose from."""

    values: list[str]


class NewView(BaseModel):
    """A view to be saved."""

    name: str
    page: str = "explore"
    query: str
    """What stands behind the question mark of its address."""


class ExperimentRow(BaseModel):
    """An experiment and how far it is."""

    id: str
    name: str
    created_at: datetime
    max_cost_usd: float | None
    planned: int
    graded: int
    ungraded: int
    running: int
    faults: int
    waiting: int
    complete: bool
    cost_usd: float | None
    """What is known of it."""
    cost_known: int
    """Runs whose cost is known."""


class ExperimentList(BaseModel):
    """A page of experiments."""

    experiments: list[ExperimentRow]
    next: str | None


class ExperimentDetail(ExperimentRow):
    """An experiment, and how its agents and models do."""

    leaderboard: list[Row]
    """The highest pass rate first."""
