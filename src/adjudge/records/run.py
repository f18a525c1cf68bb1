"""A run: one attempt by one agent (and model) at one task, and all that is kept of it.

What is here suffices to grade the run again anywhere without the agent: the baseline by digest, what the
attempt left (`StoredChanges`), its trace and response, and the facts that only the moment of the stop had.
"""

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated

from pydantic import AwareDatetime, Field, JsonValue, StringConstraints

from adjudge.records.base import BlobRef, Digest, Record, digest_json
from adjudge.records.change import ChangeSet
from adjudge.records.evaluation import TaskRef
from adjudge.records.paths import WorkspacePath
from adjudge.records.sandbox import LeftProcess, OutsideWrite

__all__ = [
    "NO_AGENT",
    "AgentOutcome",
    "AgentRef",
    "AgentStatus",
    "Attempt",
    "Experiment",
    "LeftProcess",
    "OutsideWrite",
    "Run",
    "RunKey",
    "RunStatus",
    "StoredChanges",
    "TokenUsage",
    "run_id_of",
]

RunId = Annotated[str, StringConstraints(pattern=r"^[0-9a-z]{6,40}$")]
"""Short enough to type; unambiguous prefixes work wherever an id is asked for."""


class TokenUsage(Record):
    """What a run used. None: unknown, which is never the same as 0."""

    input_tokens: int | None = Field(default=None, ge=0)
    """Read by the model, tokens that came from or went into a cache left out."""
    output_tokens: int | None = Field(default=None, ge=0)
    cache_read_tokens: int | None = Field(default=None, ge=0)
    cache_write_tokens: int | None = Field(default=None, ge=0)
    cost_usd: float | None = Field(default=None, ge=0)
    tool_calls: int | None = Field(default=None, ge=0)

    @property
    def total_tokens(self) -> int | None:
        """All tokens that are known; None when none is."""
        known = [
            count
            for count in (
                self.input_tokens,
                self.output_tokens,
                self.cache_read_tokens,
                self.cache_write_tokens,
            )
            if count is not None
        ]
        return sum(known) if known else None


class AgentRef(Record):
    """Which agent made an attempt, and how it was set up."""

    name: str
    """The name in the catalogue or, for an entry of an experiment that has one, the name given there."""
    type: str
    """The name in the catalogue."""
    config: Mapping[str, JsonValue] = Field(default_factory=dict)
    """The agent's own fields, with defaults filled in. Never a credential: those are named, not held."""

    @property
    def config_digest(self) -> str:
        """Identity of the set-up."""
        return digest_json([self.type, dict(self.config)])


NO_AGENT = AgentRef(name="none", type="none")
"""Of a run that was made elsewhere and only graded here."""


class RunKey(Record):
    """What makes a run the one it is. Equal keys of one experiment are the same cell of its matrix.

    Identity is by content, so names that differ only in `/`, space or case never collide.
    """

    task_digest: Digest
    agent_digest: Digest
    model: str | None = None
    trial: int = Field(default=1, ge=1)

    @property
    def digest(self) -> str:
        """The key as one value."""
        return digest_json(self.model_dump(mode="json"))


class AgentStatus(StrEnum):
    """How an agent came to its end, as seen from outside."""

    COMPLETED = "completed"
    CRASHED = "crashed"
    """It exited with another code than 0, or a signal ended it."""
    TIMED_OUT = "timed_out"
    OVER_LIMIT = "over_limit"
    """It used more tokens, money, tool calls, memory, disk or processes than it may."""
    GARBLED = "garbled"
    """It ended by itself, but what it said cannot be understood."""


class AgentOutcome(Record):
    """What an agent did with its turns. A bad attempt is data, not an exception."""

    status: AgentStatus
    reason: str = ""
    """One line for people; empty when it completed."""
    exit_code: int | None = None
    response: str = ""
    """What it said last, decoded with replacement and capped."""
    trace: BlobRef | None = None
    """The normalised trace (`adjudge.trace/1`)."""
    raw_trace: BlobRef | None = None
    """What the agent wrote, byte for byte."""
    trace_format: str | None = None
    stdout: BlobRef | None = None
    stderr: BlobRef | None = None
    usage: TokenUsage = TokenUsage()
    turns: int = 1
    wall_s: float = 0.0


class RunStatus(StrEnum):
    """Where a run stands. Only `finished` and `infrastructure_fault` are ends."""

    PENDING = "pending"
    RUNNING = "running"
    FINISHED = "finished"
    """The agent came to some end, and what it left was captured."""
    INFRASTRUCTURE_FAULT = "infrastructure_fault"
    """We could not run it: never the agent's failure, never a zero, and tried again on resume."""


class StoredChanges(Record):
    """What the attempt left, kept so that the final workspace can be made again from the baseline.

    `archive` is a tar of every path that is new or changed, litter included, owners and times dropped;
    `deleted` names what the baseline had and the final workspace has not.
    """

    archive: BlobRef
    deleted: tuple[WorkspacePath, ...] = ()
    unreadable: tuple[WorkspacePath, ...] = ()
    """Paths whose content could not be read, so that they are missing in `archive`."""


class Attempt(Record):
    """The facts of the stop: all that grading needs beside the task."""

    baseline_digest: Digest | None = None
    """None for a run without a workspace."""
    baseline: BlobRef | None = None
    """The baseline as an archive of the same form, for stores that are moved elsewhere."""
    task_files: BlobRef | None = None
    """The files that the task's recipe refers to, as such an archive; None when there are none."""
    change_set: ChangeSet | None = None
    changes: StoredChanges | None = None
    left_processes: tuple[LeftProcess, ...] = ()
    outside_writes: tuple[OutsideWrite, ...] | None = None
    """None where the sandbox cannot tell."""
    outcome: AgentOutcome | None = None
    """None when no agent ran (`adjudge grade --save`)."""
    given_trace: BlobRef | None = None
    """The normalised trace that was handed in beside a workspace (`adjudge grade --trace --save`)."""
    given_response: str | None = None
    """The response that was handed in."""
    transcript: BlobRef | None = None
    """What user and agent said to each other, turn by turn, a JSON object on each line."""

    @property
    def trace(self) -> BlobRef | None:
        """The normalised trace, wherever it came from."""
        return self.given_trace if self.outcome is None else self.outcome.trace

    @property
    def response(self) -> str | None:
        """What the agent said last, wherever that came from."""
        return self.given_response if self.outcome is None else self.outcome.response or None


class Run(Record):
    """One attempt."""

    id: RunId
    task: TaskRef
    agent: AgentRef
    model: str | None = None
    trial: int = Field(default=1, ge=1)
    experiment_id: str | None = None
    status: RunStatus = RunStatus.PENDING
    fault: str | None = None
    """Why it is an infrastructure fault."""
    attempts: int = Field(default=0, ge=0)
    """How often it was started; more than once only after infrastructure faults or an interruption."""
    started_at: AwareDatetime | None = None
    ended_at: AwareDatetime | None = None
    attempt: Attempt | None = None
    tags: Mapping[str, str] = Field(default_factory=dict)
    """What `--where` and reports can filter by."""

    @property
    def key(self) -> RunKey:
        """Which cell of the matrix it is."""
        return RunKey(
            task_digest=self.task.digest,
            agent_digest=self.agent.config_digest,
            model=self.model,
            trial=self.trial,
        )


class Experiment(Record):
    """A matrix of runs: tasks by agents by models by trials."""

    id: RunId
    name: str
    created_at: AwareDatetime
    matrix: tuple[RunKey, ...] = ()
    """Every run it has, in the order they start in."""
    max_cost_usd: float | None = Field(default=None, ge=0)
    judge: JsonValue = None
    """The one judge configuration of the whole experiment, outside every task's digest."""
    settings: Mapping[str, JsonValue] = Field(default_factory=dict)
    """What it was started with, for `--resume`."""


def run_id_of(experiment_id: str, key: RunKey) -> str:
    """The id of a run of an experiment: the same on every resume."""
    return re.sub(r"^sha256:", "", digest_json([experiment_id, key.digest]))[:12]
