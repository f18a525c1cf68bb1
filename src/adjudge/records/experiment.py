"""What an experiment asks for, before any task is frozen: from a file, or from a command line."""

import re
from collections.abc import Mapping

from pydantic import Field, JsonValue

from adjudge.records.base import Record
from adjudge.records.run import AgentRef
from adjudge.records.task import RunLimits

__all__ = ["AGENT_NAME", "ExperimentPlan", "MatrixBlock", "PlannedAgent", "RunOptions"]

AGENT_NAME = re.compile(r"[^\s:][^:\x00-\x1f\x7f]{0,99}\Z")
"""What an agent may be called. A colon would read as the start of a model."""


class PlannedAgent(Record):
    """An agent with the models it is run with."""

    ref: AgentRef
    model: str | None = None
    """The model it names for itself; None: the models of the matrix, or its own default."""


class MatrixBlock(Record):
    """A cross product of runs."""

    tasks: tuple[str, ...] = Field(min_length=1)
    """Scenarios, folders of scenarios, shell patterns, frozen tasks or their digests."""
    agents: tuple[PlannedAgent, ...] = Field(min_length=1)
    models: tuple[str, ...] = ()
    """For agents that name no model of their own."""
    trials: int = Field(default=1, ge=1, le=10_000)


class RunOptions(Record):
    """How a matrix is run. Limits and sandbox are part of an experiment's identity, the rest is not."""

    jobs: int | None = Field(default=None, ge=1)
    limits: RunLimits = RunLimits()
    """For every run; a scenario's own hold where they are tighter."""
    max_cost_usd: float | None = Field(default=None, ge=0)
    fail_under: float | None = Field(default=None, ge=0, le=1)
    sandbox: str | None = None


class ExperimentPlan(Record):
    """What is to be run."""

    name: str
    folder: str = "."
    """What paths of tasks are relative to."""
    blocks: tuple[MatrixBlock, ...] = Field(min_length=1)
    where: Mapping[str, str] = Field(default_factory=dict)
    """Only runs whose task, agent, model, trial or tag is like this; shell patterns."""
    limit: int | None = Field(default=None, ge=1)
    """Only the first tasks."""
    options: RunOptions = RunOptions()
    judge: JsonValue = None
