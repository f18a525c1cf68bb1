"""What the API answers with, where no record says it already."""

from datetime import date, datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from adjudge.records.listing import RunSummary, SortColumn
from adjudge.records.run import RunStatus
from adjudge.records.score import Verdict

__all__ = [
    "ExperimentDetail",
    "ExperimentList",
    "ExperimentRow",
    "ExploreFields",
    "ExploredField",
    "Given",
    "NewView",
    "PlotValues",
    "Problem",
    "RunList",
    "RunParameters",
    "RunRow",
    "SheetPage",
    "Values",
    "run_row",
]

Given = Annotated[str, Field(max_length=500, pattern=r"^[^\x00]*$")]
Row = dict[str, str | int | float | bool | datetime | None]
Number = Annotated[float, Field(allow_inf_nan=False)]
_SORTS = tuple(f"{sign}{column.value}" for column in SortColumn for sign in ("", "-"))


class Problem(BaseModel):
    """Why something was refused."""

    detail: str


class RunParameters(BaseModel):
    """Which runs, in which order, from where on."""

    model_config = ConfigDict(extra="forbid")

    q: Given | None = Field(default=None, description="Words that have to occur, each of them.")
    task: Given | None = Field(default=None, description="A task's name, or the beginning of its digest.")
    agent: Given | None = None
    model: Given | None = None
    experiment: Given | None = Field(default=None, description="An experiment's id.")
    trial: Annotated[int, Field(ge=0, le=999_999)] | None = None
    status: RunStatus | None = None
    objective: Verdict | None = Field(default=None, description="The objective gate.")
    judge: Verdict | None = Field(default=None, description="The judge gate.")
    run: Verdict | None = Field(default=None, description="The run gate.")
    integrity: Literal["unchecked", "clean", "suspect", "tampered"] | None = None
    failure_mode: Given | None = None
    tag: list[Annotated[Given, Field(pattern=r"^[^=\x00]+=[^\x00]*$")]] = Field(
        default=[], description="KEY=VALUE; each has to be there."
    )
    graded: Literal["yes", "no"] | None = Field(default=None, description="Whether it was graded.")
    since: datetime | date | None = Field(default=None, description="Started at that moment or later.")
    until: datetime | date | None = Field(default=None, description="Started before that moment.")
    score_min: Number | None = None
    score_max: Number | None = None
    reward_min: Number | None = None
    reward_max: Number | None = None
    cost_min: Number | None = Field(default=None, description="US dollars.")
    cost_max: Number | None = None
    tokens_min: Number | None = None
    tokens_max: Number | None = None
    time_min: Number | None = Field(default=None, description="Seconds.")
    time_max: Number | None = None
    sort: Given | None = Field(
        default=None,
        description=f"A column, with a minus from large to small: {', '.join(_SORTS)}.",
        json_schema_extra={"enum": list(_SORTS)},
    )
    after: Given | None = Field(default=None, description="A place in the list; `next` has the right one.")
    before: Given | None = Field(default=None, description="A place in the list.")
    limit: Annotated[int, Field(ge=1, le=200)] = 50


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
