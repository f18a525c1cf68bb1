"""Scripted attacks on a recipe: what one is told about a workspace, what it does there, what came of it."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Literal

from pydantic import Field

from adjudge.records.base import Record
from adjudge.records.evaluation import Integrity
from adjudge.records.paths import RelativePath
from adjudge.records.score import Verdict

__all__ = [
    "AttackPlan",
    "AttackResult",
    "AttackStatus",
    "AttackTarget",
    "RunStep",
    "ScriptStep",
    "SuggestedLine",
    "WriteStep",
]


class WriteStep(Record):
    """A text file is written into the workspace, over whatever lies there."""

    write: RelativePath
    """Its path."""
    text: str
    """All of it."""


class RunStep(Record):
    """A command is run in the workspace."""

    run: str = Field(pattern=r"\S")
    """What `/bin/sh` runs. What it leaves running stays until the attempt is over."""


ScriptStep = WriteStep | RunStep


class AttackTarget(Record):
    """A workspace as an attack sees it: what an agent could find out there, and what it will be graded by.

    Hidden files, the reference solution and the rest of the recipe are no part of it.
    """

    language: str | None
    """`python`, `javascript` (TypeScript included), `go`, `java`, `rust` or `ruby`: that of the tests, or of
    the product where there are none; None when there is neither."""
    runner: str | None
    """What runs the tests, as far as that can be told: `pytest`, `unittest`, `node`, `jest`, `vitest`, `go`,
    `junit`, `cargo`, `rspec`, `minitest`."""
    commands: tuple[str, ...] = ()
    """What the recipe runs."""
    files: Mapping[str, str] = Field(default_factory=dict)
    """Text files of the workspace as it starts, by path. Large ones and paths that are not UTF-8 are
    left out."""
    tests: tuple[str, ...] = ()
    """Paths of test files among them."""
    product: tuple[str, ...] = ()
    """Paths of source files of `language` that are no tests."""


class AttackPlan(Record):
    """What an attack does to a workspace."""

    steps: tuple[WriteStep | RunStep, ...] = Field(min_length=1)
    how: str
    """The mechanism, in a line or two: why a recipe could fall for it."""


class AttackStatus(StrEnum):
    """What came of an attack."""

    PASSED = "passed"
    """The objective gate is PASS, and doing nothing does not get that."""
    CREDITED = "credited"
    """No PASS, but a better score or reward than for doing nothing."""
    STOPPED = "stopped"
    NOT_APPLICABLE = "not_applicable"
    """There is nothing in this workspace that it could be tried on."""
    UNGRADED = "ungraded"
    """It could not be carried out, or what it left could not be graded."""


class SuggestedLine(Record):
    """A line for the recipe that was tried."""

    line: str
    """As YAML, for the list under `scorers` or `graders`."""
    stops: tuple[str, ...] = ()
    """Attacks that get nothing once it is there."""


class AttackResult(Record):
    """One attack on one recipe."""

    name: str
    family: str
    technique: str
    status: AttackStatus
    how: str = ""
    """Its mechanism or, where it was not tried, why not."""
    verdict: Verdict | None = None
    """Of the objective gate."""
    score: float | None = None
    reward: float | None = None
    integrity: Integrity = Integrity()
    named: tuple[str, ...] = ()
    """Families of tampering that the evaluation names."""
    stopped_by: tuple[str, ...] = ()
    """Rows of the recipe that failed."""
    reason: str = ""
    """Of the objective gate, in its words."""
    lines: tuple[str, ...] = ()
    """Single lines each of which stops it; empty for one that was stopped, or that no line we know stops."""
    distribution: Literal["adjudge"] | str = "adjudge"
    """Who provides the attack."""
