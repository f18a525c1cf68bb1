"""What a verifier is, and what its artifacts say. They are read in `adjudge.formats.reward`."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Self

from pydantic import Field, JsonValue, model_validator

from adjudge.records.annotation import ErrorTag, NonBlank
from adjudge.records.base import Record

__all__ = ["MechanicalError", "RewardProblem", "RewardReading", "VerifierNotes", "VerifierSpec"]


class VerifierSpec(Record):
    """How a task is verified: an external program that writes a reward file."""

    script: NonBlank
    """The program, relative to the task: `tests/test.sh` or `tests/verify.py`."""
    expected_output_path: NonBlank
    """What the agent is to write, as a path inside, such as `/workspace/result.json`."""
    reward_path: NonBlank
    details_path: NonBlank | None = None


class MechanicalError(StrEnum):
    """Categories of error tags that adjudge itself gives. Tasks define their own beside them."""

    TIMEOUT = "timeout"
    """The verifier took longer than it may."""
    OUTPUT_MISSING = "output missing"
    PARSE_ERROR = "parse error"
    """The output is not what its declared format says."""
    SCHEMA_MISMATCH = "schema mismatch"
    VERIFIER_CRASH = "verifier crash"
    """It was ended by a signal or a limit, or it exited with an error and left no reward."""
    REWARD_MISSING = "reward missing"
    REWARD_INVALID = "reward invalid"
    REWARDS_DISAGREE = "rewards disagree"
    """`reward.json` and `reward.txt` say different things; the former counts."""
    TAMPERING = "tampering"
    """The attempt left something where only the grader writes, or what would steer it."""


class RewardProblem(StrEnum):
    """Why a reward file is no reward. The set is closed, so that reports can count by it."""

    MISSING = "missing"
    EMPTY = "empty"
    NOT_A_FILE = "not_a_file"
    """A symlink, a folder, a fifo or something else lies in its place."""
    TOO_LARGE = "too_large"
    BYTE_ORDER_MARK = "byte_order_mark"
    NOT_UTF8 = "not_utf8"
    MALFORMED = "malformed"
    """Not JSON (or, for `reward.txt`, not a decimal number)."""
    TOO_DEEP = "too_deep"
    DUPLICATE_KEY = "duplicate_key"
    WRONG_TYPE = "wrong_type"
    """JSON, but not an object of numbers: null, a list, a bare number, a string, a boolean."""
    NOT_FINITE = "not_finite"
    OUT_OF_RANGE = "out_of_range"


class RewardReading(Record):
    """What the reward files say."""

    reward: float | None = Field(default=None, ge=0.0, le=1.0)
    """The headline. None exactly when there is a problem."""
    problem: RewardProblem | None = None
    reason: str = ""
    """The problem in words."""
    source: str = ""
    """Which file it was read from; empty when there was none."""
    rewards: Mapping[str, float] = Field(default_factory=dict)
    """Every key of a `reward.json` with several."""
    warnings: tuple[str, ...] = ()
    disagreement: str = ""
    """How `reward.txt` differs from `reward.json`, where it does."""

    @model_validator(mode="after")
    def _reward_or_problem(self) -> Self:
        if (self.reward is None) != (self.problem is not None):
            raise ValueError("a reading has a reward, or a problem")
        return self


class VerifierNotes(Record):
    """What a verifier wrote beside its reward."""

    breakdown: Mapping[str, JsonValue] | None = None
    """`details.json`, untouched."""
    tags: tuple[ErrorTag, ...] = ()
    problems: tuple[str, ...] = ()
    """Why a file that was there is not used. Never costs a reward."""
