"""Scenarios and tasks: what an agent is asked to do, on what, and how it will be graded."""

import re
from collections.abc import Mapping
from enum import StrEnum
from pathlib import PurePosixPath
from typing import Annotated

from pydantic import AfterValidator, Field, WithJsonSchema

from adjudge.records.base import Digest, Record
from adjudge.records.paths import RelativePath
from adjudge.records.score import Recipe
from adjudge.records.tree import TreeEntry

__all__ = [
    "ExpectedOutcome",
    "ExposedPath",
    "PlacedFile",
    "RunLimits",
    "SandboxSettings",
    "Scenario",
    "SeedRecord",
    "Setup",
    "SourceKind",
    "Task",
    "Turn",
    "TurnChoice",
    "WorkspaceSource",
]


class SourceKind(StrEnum):
    """Where a workspace comes from."""

    GIT = "git"
    ARCHIVE = "archive"
    DIRECTORY = "directory"
    EMPTY = "empty"
    FILES = "files"


def _check_ref(ref: str) -> str:
    if not ref or ref.startswith("-") or _NOT_IN_REFS.search(ref):
        raise ValueError(f"{ref!r} is not a branch, a tag or a commit id")
    return ref


_NOT_IN_REFS = re.compile(r"[\s\x00-\x1f\x7f:?*~^\\\[]")
GitRef = Annotated[str, AfterValidator(_check_ref), WithJsonSchema({"type": "string", "minLength": 1})]


class PlacedFile(Record):
    """A file or folder of the scenario, and where it goes in the workspace."""

    src: RelativePath
    """A file or folder, relative to the scenario's folder; of a folder, what is in it."""
    dest: RelativePath
    """Its path in the workspace; `.` for a folder's content at the root."""


class WorkspaceSource(Record):
    """The workspace seed of a scenario. Which fields go with which source: `formats.tasks.sections`."""

    source: SourceKind
    """`git`: a repository at a ref. `archive`: a tar or zip file. `directory`: a folder. `files`: several
    files and folders, each with its place. `empty`: nothing."""
    url: str | None = None
    """git: the address of a repository, over https, ssh, http or git."""
    path: RelativePath | None = None
    """The repository, archive or folder, relative to the scenario's folder and inside it."""
    ref: GitRef | None = None
    """git: the branch, tag or commit to seed from; HEAD when left out."""
    subdir: RelativePath | None = None
    """Only this folder of the source becomes the workspace."""
    files: tuple[PlacedFile, ...] = Field(default=(), max_length=1000)
    """files: what the workspace is put together from, in this order; nothing may go where something is."""


class Setup(Record):
    """A command run once in the sandbox at seed time; what it leaves in the workspace is the baseline."""

    command: str = Field(pattern=r"\S")
    """Read by /bin/sh, in the workspace."""
    network: bool = False
    """Whether the command may reach the network (never the machine's own loopback)."""
    timeout_s: float = Field(default=900.0, ge=1, le=3600)
    """Seconds after which the command is ended and seeding fails."""


class ExpectedOutcome(StrEnum):
    """What a correct attempt does."""

    COMPLETION = "completion"
    REFUSAL = "refusal"


class RunLimits(Record):
    """Limits of a run. None: no limit of this kind."""

    wall_s: float | None = Field(default=None, gt=0)
    """Seconds from the agent's start to its end."""
    tokens: int | None = Field(default=None, ge=0)
    """Tokens read and written."""
    cost_usd: float | None = Field(default=None, ge=0)
    """What the run may cost, in US dollars."""
    tool_calls: int | None = Field(default=None, ge=0)
    """How many tools the agent may call."""


class TurnChoice(Record):
    """Something a user may say next. Without a condition it is said whatever the last reply was."""

    contains: str | None = None
    """Said when the last reply has this text in it, upper and lower case told apart."""
    matches: str | None = None
    """Said when this regular expression is found in the last reply."""
    say: str


class Turn(Record):
    """A further message of the user: the first choice that fits the last reply, or none."""

    choices: tuple[TurnChoice, ...] = Field(min_length=1)


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
    also_at: tuple[PurePosixPath, ...] = ()
    """Further places where tasks expect the workspace, beside /workspace."""


class Scenario(Record):
    """A reusable definition, as loaded: validated, defaults filled in, not yet frozen."""

    name: str
    instruction: str = ""
    workspace: WorkspaceSource | None = None
    """None: a recipe for workspaces that exist already or, when an agent is run on it, a run without one."""
    setup: Setup | None = None
    solution: RelativePath | None = None
    """A known good attempt, for the `oracle` agent; kept with the task's files, never shown to an agent."""
    solution_env: Mapping[str, str] = Field(default_factory=dict)
    """Variables for a solution that is a script."""
    turns: tuple[Turn, ...] = ()
    """What the user says after the instruction, each once, in a session."""
    tags: Mapping[str, str] = Field(default_factory=dict)
    """Labels to choose and to group runs by; no part of a task's digest."""
    recipe: Recipe
    expected_outcome: ExpectedOutcome = ExpectedOutcome.COMPLETION
    error_categories: tuple[str, ...] = ()
    """The task's own categories of errors; with none, any category is as good as another."""
    limits: RunLimits = RunLimits()
    sandbox: SandboxSettings = SandboxSettings()


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
