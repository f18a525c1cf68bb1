"""What is asked of many runs at once: which of them, put together by what, and the sums that come back.

The fields are every column of runs and of their current evaluations, and what the judge and single scorers
said; `tag:KEY` is the value of a tag.
"""

import difflib
import math
from datetime import UTC, datetime
from enum import StrEnum
from typing import NamedTuple, Self

from pydantic import Field, JsonValue, model_validator

from adjudge.records.base import Record
from adjudge.records.judgement import FailureMode
from adjudge.records.run import AgentStatus, RunStatus
from adjudge.records.score import Verdict

__all__ = [
    "BINS",
    "DEFAULT_COLUMNS",
    "FIELDS",
    "GROUPS",
    "MEASURES",
    "SCORED",
    "Bucket",
    "Condition",
    "ExperimentSummary",
    "Exploration",
    "GroupRow",
    "Kind",
    "Moments",
    "Operator",
    "Progress",
    "RowOrder",
    "RunField",
    "field_of",
    "known_groups",
    "moment_of",
]


class Kind(StrEnum):
    """What the values of a field are."""

    TEXT = "text"
    CHOICE = "choice"
    NUMBER = "number"
    MOMENT = "moment"


class RunField(NamedTuple):
    """Something that is known of a run."""

    name: str
    title: str
    kind: Kind = Kind.TEXT
    choices: tuple[str, ...] = ()
    of_scorer: bool = False
    """Whether a run has one per scorer: such a field can be filtered and grouped by, and is no column."""


_VERDICTS = tuple(verdict.value for verdict in Verdict)

_ALL = (
    RunField("run", "Run"),
    RunField("experiment", "Experiment"),
    RunField("task", "Task"),
    RunField("task_digest", "Task digest"),
    RunField("agent", "Agent"),
    RunField("agent_type", "Agent type"),
    RunField("model", "Model"),
    RunField("trial", "Trial", Kind.NUMBER),
    RunField("status", "Status", Kind.CHOICE, tuple(status.value for status in RunStatus)),
    RunField("outcome", "Outcome", Kind.CHOICE, tuple(status.value for status in AgentStatus)),
    RunField("objective", "Objective gate", Kind.CHOICE, _VERDICTS),
    RunField("judge", "Judge gate", Kind.CHOICE, _VERDICTS),
    RunField("run_gate", "Run gate", Kind.CHOICE, _VERDICTS),
    RunField("score", "Score", Kind.NUMBER),
    RunField("mean_score", "Mean of scorers", Kind.NUMBER),
    RunField("reward", "Reward", Kind.NUMBER),
    RunField("integrity", "Integrity", Kind.CHOICE, ("unchecked", "clean", "suspect", "tampered")),
    RunField("failure_mode", "Failure mode"),
    RunField("judge_verdict", "Judge verdict"),
    RunField("judge_model", "Judge model"),
    RunField(
        "judge_failure_mode", "Judge's failure mode", Kind.CHOICE, tuple(mode.value for mode in FailureMode)
    ),
    RunField("cost_usd", "Cost in US$", Kind.NUMBER),
    RunField("total_tokens", "Tokens", Kind.NUMBER),
    RunField("input_tokens", "Input tokens", Kind.NUMBER),
    RunField("output_tokens", "Output tokens", Kind.NUMBER),
    RunField("cache_read_tokens", "Tokens read from a cache", Kind.NUMBER),
    RunField("cache_write_tokens", "Tokens written to a cache", Kind.NUMBER),
    RunField("tool_calls", "Tool calls", Kind.NUMBER),
    RunField("wall_s", "Time in seconds", Kind.NUMBER),
    RunField("grading_s", "Grading time in seconds", Kind.NUMBER),
    RunField("starts", "Starts", Kind.NUMBER),
    RunField("started_at", "Started", Kind.MOMENT),
    RunField("ended_at", "Ended", Kind.MOMENT),
    RunField("graded_at", "Graded", Kind.MOMENT),
    RunField("evaluation", "Evaluation"),
    RunField("recipe_digest", "Recipe digest"),
    RunField("change_digest", "Change digest"),
    RunField("scorer", "Scorer", of_scorer=True),
    RunField("scorer_type", "Scorer type", of_scorer=True),
    RunField("scorer_verdict", "Scorer verdict", Kind.CHOICE, _VERDICTS, of_scorer=True),
    RunField("scorer_score", "Scorer score", Kind.NUMBER, of_scorer=True),
)
FIELDS = {field.name: field for field in _ALL}
"""By name, in the order they are offered in."""

GROUPS = {
    **{
        name: FIELDS[name].title
        for name in (
            "agent", "model", "task", "experiment", "scorer", "scorer_type", "failure_mode", "objective",
            "judge", "run_gate", "integrity", "status", "outcome", "judge_verdict", "judge_model",
            "agent_type", "trial",
        )
    },
    "week": "Week",
    "day": "Day",
}  # fmt: skip
"""What runs can be put together by, beside `tag:KEY`, and its title. Weeks begin on Monday, in UTC."""

MEASURES = {
    "score": "Score",
    "reward": "Reward",
    "mean_score": "Mean of scorers",
    "cost_usd": "Cost",
    "total_tokens": "Tokens",
    "tool_calls": "Tool calls",
    "wall_s": "Time",
}
"""What means are taken of."""

SCORED = ("score", "reward", "mean_score")
"""Measures from 0 to 1, whose distribution can be drawn."""

BINS = 20
"""Spans that scores are counted in."""

DEFAULT_COLUMNS = (
    "run", "task", "agent", "model", "objective", "judge", "run_gate", "score", "cost_usd", "failure_mode",
)  # fmt: skip

_TAG = "tag:"


def field_of(name: str) -> RunField:
    """A field by its name.

    Raises:
        ValueError: There is none.
    """
    if name.startswith(_TAG) and len(name) > len(_TAG):
        return RunField(name, f"Tag {name.removeprefix(_TAG)}")
    if name in FIELDS:
        return FIELDS[name]
    raise ValueError(f"{name!r} is no field{_near(name, FIELDS)}")


def known_groups(names: tuple[str, ...]) -> tuple[str, ...]:
    """The same names.

    Raises:
        ValueError: Runs cannot be put together by one of them.
    """
    for name in names:
        if name not in GROUPS and not (name.startswith(_TAG) and len(name) > len(_TAG)):
            raise ValueError(f"runs cannot be grouped by {name!r}{_near(name, GROUPS)}")
    return names


def _near(name: str, known: dict[str, str] | dict[str, RunField]) -> str:
    near = difflib.get_close_matches(name, known, n=2)
    return f"; did you mean {' or '.join(near)}?" if near else f"; known: {', '.join(known)} and tag:KEY"


def moment_of(text: str) -> datetime:
    """A moment as people write it; without a time zone it is in UTC.

    Raises:
        ValueError: It is none.
    """
    try:
        found = datetime.fromisoformat(text)
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError(f"{text!r} is no date such as 2026-01-31") from None


class Operator(StrEnum):
    """How a field is compared with a value."""

    IS = "is"
    IS_NOT = "is-not"
    CONTAINS = "contains"
    AT_LEAST = "at-least"
    AT_MOST = "at-most"
    KNOWN = "known"
    UNKNOWN = "unknown"


_WITHOUT_VALUE = (Operator.KNOWN, Operator.UNKNOWN)
_ORDERED = (Operator.AT_LEAST, Operator.AT_MOST)


class Condition(Record):
    """What a run has to fulfil. Of several that say what a field is, one is enough; all else has to hold."""

    field: str
    operator: Operator = Operator.IS
    value: str = Field(default="", max_length=500)

    @model_validator(mode="after")
    def _fits(self) -> Self:
        field = field_of(self.field)
        if "\0" in self.value:
            raise ValueError(f"{field.title}: the value has characters that no database keeps")
        if self.operator in _WITHOUT_VALUE:
            return self
        if self.operator in _ORDERED and field.kind not in (Kind.NUMBER, Kind.MOMENT):
            raise ValueError(f"{field.title} has no order: compare it with is, is-not or contains")
        if self.operator is Operator.CONTAINS:
            if field.kind in (Kind.NUMBER, Kind.MOMENT):
                raise ValueError(f"{field.title} is no text: compare it with is, at-least or at-most")
        elif field.kind is Kind.NUMBER:
            self.number()
        elif field.kind is Kind.MOMENT:
            moment_of(self.value)
        elif field.kind is Kind.CHOICE and self.value not in field.choices:
            raise ValueError(f"{field.title}: {self.value!r} is none of {', '.join(field.choices)}")
        return self

    def number(self) -> float:
        """The value as a number."""
        try:
            found = float(self.value)
        except ValueError:
            found = math.nan
        if not math.isfinite(found) or abs(found) > 1e15:
            raise ValueError(f"{field_of(self.field).title}: {self.value!r} is no number")
        return found


class Exploration(Record):
    """Which runs, put together by what, and what means are taken of."""

    where: tuple[Condition, ...] = Field(default=(), max_length=40)
    by: tuple[str, ...] = Field(default=("agent", "model"), min_length=1, max_length=3)
    measures: tuple[str, ...] = Field(default=("score", "cost_usd"), max_length=len(MEASURES))

    @model_validator(mode="after")
    def _known(self) -> Self:
        known_groups(self.by)
        if len(set(self.by)) < len(self.by):
            raise ValueError("runs are grouped by the same thing twice")
        for name in self.measures:
            if name not in MEASURES:
                raise ValueError(f"{name!r} is no measure; known: {', '.join(MEASURES)}")
        return self

    @property
    def of_scorers(self) -> bool:
        """Whether results of single scorers are counted, not runs."""
        return any(name in FIELDS and FIELDS[name].of_scorer for name in self.by)


class Moments(NamedTuple):
    """What a mean and its interval are worked out from."""

    known: int
    total: float
    squares: float

    @property
    def mean(self) -> float | None:
        """Over those that are known."""
        return self.total / self.known if self.known else None

    @property
    def variance(self) -> float | None:
        """Of a single value; None with fewer than two."""
        if self.known < 2:
            return None
        return max(self.squares - self.total * self.total / self.known, 0.0) / (self.known - 1)


class GroupRow(NamedTuple):
    """Runs that were put together, or results of scorers."""

    key: tuple[str | None, ...]
    """One value for each of `Exploration.by`; None: unknown."""
    runs: int
    passed: int
    failed: int
    errors: int
    """Infrastructure faults, and gradings that ended in ERROR: in no rate and no mean."""
    not_applicable: int
    judge_passed: int
    judge_failed: int
    judge_errors: int
    moments: tuple[Moments, ...]
    """In the order of `Exploration.measures`."""

    @property
    def graded(self) -> int:
        """Those that passed or failed."""
        return self.passed + self.failed

    @property
    def unfinished(self) -> int:
        """Not at their end, or not graded yet."""
        return self.runs - self.graded - self.errors - self.not_applicable

    @property
    def missing(self) -> int:
        """Without an opinion of the objective gate, and not by an error."""
        return self.runs - self.graded - self.errors


class Bucket(NamedTuple):
    """How many runs have a value in one of `BINS` spans from 0 to 1."""

    number: int
    objective: str | None
    runs: int


class ExperimentSummary(NamedTuple):
    """An experiment without its matrix."""

    seq: int
    id: str
    name: str
    created_at: datetime
    planned: int
    """Runs of its matrix."""
    max_cost_usd: float | None
    judge: JsonValue


class Progress(NamedTuple):
    """How far an experiment has come."""

    planned: int
    graded: int
    """Finished and graded, whatever came of it."""
    ungraded: int
    """Finished, and not graded yet."""
    running: int
    faults: int
    """Could not be run."""
    cost_usd: float | None
    """What is known of it."""
    cost_known: int
    """Runs whose cost is known."""

    @property
    def waiting(self) -> int:
        """Not begun."""
        return max(self.planned - self.graded - self.ungraded - self.running - self.faults, 0)

    @property
    def complete(self) -> bool:
        """Whether nothing is left to do."""
        return self.graded >= self.planned

    @property
    def words(self) -> str:
        """In a sentence."""
        if self.complete:
            return f"All {self.planned:,} runs are graded."
        rest = [
            f"{count:,} {what}"
            for count, what in (
                (self.running, "running"),
                (self.ungraded, "to be graded"),
                (self.faults, "could not be run"),
                (self.waiting, "not begun"),
            )
            if count
        ]
        return f"{self.graded:,} of {self.planned:,} runs are graded; {', '.join(rest)}."


class RowOrder(Record):
    """The order of single runs; those without a value come last. Without a field: newest first."""

    field: str | None = None
    descending: bool = True

    @model_validator(mode="after")
    def _known(self) -> Self:
        if self.field is not None and field_of(self.field).of_scorer:
            raise ValueError(f"runs cannot be sorted by {self.field!r}: a run has several")
        return self
