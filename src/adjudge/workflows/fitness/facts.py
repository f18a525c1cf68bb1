"""What was found out about a task, before anything is concluded from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from adjudge.records.evidence import VerifierOutcome
from adjudge.records.score import ScorerOutcome, Verdict

__all__ = ["Check", "Facts", "Status", "Verified"]


class Status(StrEnum):
    """What a check concludes."""

    OK = "ok"
    WARN = "warn"
    """Worth a look; grading with the task is possible."""
    FAIL = "FAIL"
    """The task is not fit to grade with."""
    SKIPPED = "skipped"


class Check(NamedTuple):
    """One line of the table."""

    name: str
    status: Status
    detail: str


class Verified(NamedTuple):
    """One run of the verifier, and what follows from it."""

    run: VerifierOutcome
    outcome: ScorerOutcome

    @property
    def reward(self) -> float:
        """The reward that counts."""
        return self.outcome.score or 0.0

    @property
    def passed(self) -> bool:
        """Whether the attempt would pass."""
        return self.outcome.verdict is Verdict.PASS

    @property
    def identity(self) -> tuple[float, str]:
        """What has to be the same in every repeat."""
        return self.reward, repr(self.outcome.details.get("breakdown"))


@dataclass
class Facts:
    """All of it."""

    unsupported: str = ""
    max_reward: float = 1.0
    pass_threshold: float = 1.0
    scripts: Mapping[str, str] = field(default_factory=dict)
    """Text files of the verifier, by name."""
    network: bool = False
    """Whether the task asks for it."""
    no_solution: str = ""
    """Why there is no solved workspace: none to be had, or it failed."""
    has_solution: bool = True
    solved: list[Verified] = field(default_factory=list)
    untouched: list[Verified] = field(default_factory=list)
    unusable: Verified | None = None
    """With an output that is not what it should be; None where the task names none."""
    deaf: Verified | None = None
    """Over the solution, with every command failing that it runs with `candidate`."""
    golden: dict[str, Verified | str] = field(default_factory=dict)
    """By name, such as `pass/exact.json`; a text says why it could not be tried."""
    reachable: list[str] = field(default_factory=list)
    """Hidden files that an agent finds in its workspace."""
    answers: list[str] = field(default_factory=list)
    """Files of the solution that lie in the workspace from the start, under another name."""
    history: list[str] = field(default_factory=list)
    """Where a repository in the workspace holds the answer."""
