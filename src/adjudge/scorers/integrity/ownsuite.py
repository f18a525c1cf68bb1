"""Fields of the detectors that run the project's own tests."""

from __future__ import annotations

from typing import ClassVar

from pydantic import AliasChoices, Field

from adjudge.records.evidence import CommandRun
from adjudge.records.paths import RelativePath
from adjudge.records.score import ScorerConfig
from adjudge.scorers.behaviour.coderun import ShellCommand, TimeLimit

__all__ = ["OwnSuiteConfig", "UnseenSuiteConfig"]


class OwnSuiteConfig(ScorerConfig):
    """How the tests are run."""

    takes_command: ClassVar[bool] = True
    """A recipe fills `command` in from a line that has one."""

    command: ShellCommand | None = Field(default=None, validation_alias=AliasChoices("command", "cmd"))
    """What runs the tests, in the root of the workspace. Left out: the recipe's first line that runs
    tests, else what the baseline's files say. `cmd` is another name of it."""
    pythonpath: tuple[RelativePath, ...] = Field(default=(), max_length=20)
    """Folders of the workspace in which imports are looked for, as in `pytest`."""
    timeout_s: TimeLimit = 900.0
    """Seconds for one run, from 1 to 3600."""
    test_timeout_s: float = Field(default=60.0, ge=0, le=3600)
    """Seconds for a single test."""


class UnseenSuiteConfig(OwnSuiteConfig):
    """How they are run, with tests beside them that the attempt does not see."""

    takes_unseen: ClassVar[bool] = True
    """A recipe fills `unseen` in from its lines with hidden tests."""

    unseen: tuple[CommandRun, ...] = Field(default=(), max_length=100)
    """Runs of tests that the attempt does not see. Left out: those of the recipe's lines of the types
    `tests`, `pytest` and `command`."""
