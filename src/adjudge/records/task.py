"""Scenarios and tasks: what an agent is asked to do, on what, and how it will be graded."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import PurePosixPath

from pydantic import Field

from adjudge.records.base import Digest, Record
from adjudge.records.paths import WorkspacePath
from adjudge.records.score import Recipe

__all__ = [
    "ExpectedOutcome",
    "ExposedPath",
    "RunLimits",
    "SandboxSettings",
    "Scenario",
    "SeedRecord",
    "Setup",
    "SourceKind",
    "Task",
    "TreeEntry",
    "WorkspaceSource",
]


class SourceKind(StrEnum):
    """Where a workspace comes from."""

    GIT = "git"
    ARCHIVE = "archive"
    DIRECTORY = "directory"
    EMPTY = "empty"


class WorkspaceSource(Record):
    """The workspace seed of a scenario."""

    source: SourceKind
    url: str | None = None
    """A repository to clone (git) or nothing."""
    path: str | None = None
    """A repository, archive or directory, relative to the scenario's folder."""
    ref: str | None = None
    """git: the branch, tag or commit to seed from."""
    subdir: str | None = None
    """Only this folder of the source becomes the workspace."""


class Setup(Record):
    """A command run once in the sandbox at seed time; what it leaves in the workspace is the baseline."""

    command: str
    network: bool = False
    timeout_s: float = 900.0


class ExpectedOutcome(StrEnum):
    """What a correct attempt does."""

    COMPLETION = "completion"
    REFUSAL = "refusal"


class RunLimits(Record):
    """Limits of a run. None: no limit of this kind."""

    wall_s: float | None = Field(default=None, gt=0)
    tokens: int | None = Field(default=None, ge=0)
    cost_usd: float | None = Field(default=None, ge=0)
    tool_calls: int | None = Field(default=None, ge=0)


class ExposedPath(Record):
    """A host path shown read-only in the sandbox."""

    source: str
    target: PurePosixPath


class SandboxSettings(Record):
    """What a scenario asks of the sandbox."""

    backend: str = "auto"
    expose: tuple[ExposedPath, ...] = ()
    env: Mapping[str, str] = Field(default_factory=dict)
    memory_bytes: int | None = None
    processes: int | None = None


class Scenario(Record):
    """A reusable definition, as loaded: validated, defaults filled in, not yet frozen."""

    name: str
    instruction: str = ""
    workspace: WorkspaceSource | None = None
    """None: a recipe only, for workspaces that exist already."""
    setup: Setup | None = None
    recipe: Recipe
    expected_outcome: ExpectedOutcome = ExpectedOutcome.COMPLETION
    limits: RunLimits = RunLimits()
    sandbox: SandboxSettings = SandboxSettings()


class TreeEntry(Record):
    """One entry of a recorded tree."""

    path: WorkspacePath
    mode: int
    """In git's form."""
    digest: Digest


class Task(Record):
    """A scenario frozen: a deep copy whose digest changes with any byte that matters.

    The digest covers the source tree, the setup command, the instruction, the recipe and every file the
    recipe refers to. Where the copy lies on disk is not part of it.
    """

    name: str
    digest: Digest
    scenario: Scenario
    """With `workspace` resolved: a git ref is a commit id here."""
    source_digest: Digest | None = None
    """Digest of the source tree; None when the scenario has no workspace."""
    files: tuple[TreeEntry, ...] = ()
    """Files of the scenario's folder the recipe refers to, kept with the task."""


class SeedRecord(Record):
    """A workspace made from a task, and where its trusted baseline is kept."""

    task_digest: Digest
    baseline_digest: Digest
    """Digest of the tree after setup, which need not be reproducible."""
    workspace: str
    seeded_at: str
