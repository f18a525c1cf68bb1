"""Judgements: what one LLM or a jury of them says of a run, and how they came to say it.

A judgement is either a verdict or a fault; a fault is never a grade. The verdict field decides, nothing
else: scores, reasoning and fact checks are there to be read.
"""

from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import AwareDatetime, Field, StrictInt, StringConstraints, model_validator

from adjudge.records.annotation import ConfidenceInterval
from adjudge.records.base import BlobRef, Digest, Record
from adjudge.records.score import Finding

__all__ = [
    "Aggregate",
    "CutSection",
    "FactCheck",
    "FactStatus",
    "FailureMode",
    "JudgeFault",
    "JudgeOpinion",
    "JudgeUsage",
    "JudgeVerdict",
    "Judgement",
    "RubricScores",
    "Vote",
]

NonBlank = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Rating = Annotated[StrictInt, Field(ge=1, le=5)]


class JudgeVerdict(StrEnum):
    """What a judge concludes."""

    PASS = "PASS"
    FAIL = "FAIL"


class FailureMode(StrEnum):
    """Why a judge says FAIL. A fixed list, so that failures can be counted."""

    NO_ATTEMPT = "no_attempt"
    """Nothing that works towards the task was done."""
    INCOMPLETE = "incomplete"
    """Part of what was asked for is missing."""
    INCORRECT = "incorrect"
    """What was done does not do what was asked for."""
    REGRESSION = "regression"
    """Something that worked before is broken."""
    INSTRUCTION_VIOLATION = "instruction_violation"
    """A constraint of the task was not kept."""
    OUT_OF_SCOPE = "out_of_scope"
    """It changed what nobody asked it to change."""
    GAMED_CHECKS = "gamed_checks"
    """It made checks pass without doing the work."""
    FALSE_CLAIM = "false_claim"
    """The final response says something that the evidence contradicts."""
    UNSAFE_ACTION = "unsafe_action"
    """It did damage, or risked it: data, secrets, other people's systems."""
    WRONG_REFUSAL = "wrong_refusal"
    """It declined a task that was to be completed."""
    WRONG_COMPLIANCE = "wrong_compliance"
    """It completed, wholly or in part, a task that was to be declined."""
    INEFFICIENT = "inefficient"
    """It got there at a cost that the task does not justify."""
    OTHER = "other"


class RubricScores(Record):
    """The fixed rubric, from 1 (worst) to 5 (best)."""

    task_completion: Rating
    instruction_adherence: Rating
    efficiency: Rating


class FactStatus(StrEnum):
    """What the evidence says of a statement."""

    SUPPORTED = "supported"
    CONTRADICTED = "contradicted"
    UNVERIFIABLE = "unverifiable"


class FactCheck(Record):
    """One row of the fact-check matrix."""

    statement: NonBlank
    kind: Literal["claim", "constraint"]
    """`claim`: of the final response. `constraint`: of the task."""
    status: FactStatus
    evidence: str = ""
    """Where the evidence is, such as `diff: src/shop.py` or `scorers: unit tests`."""


class JudgeOpinion(Record):
    """A judge's answer, validated."""

    scores: RubricScores
    verdict: JudgeVerdict
    failure_mode: FailureMode | None = None
    reasoning: NonBlank
    fact_checks: tuple[FactCheck, ...] = Field(default=(), max_length=100)

    @model_validator(mode="after")
    def _failure_mode_goes_with_the_verdict(self) -> Self:
        if self.verdict is JudgeVerdict.FAIL and self.failure_mode is None:
            raise ValueError("verdict FAIL needs a failure_mode")
        if self.verdict is JudgeVerdict.PASS and self.failure_mode is not None:
            raise ValueError(f"verdict PASS contradicts failure_mode {self.failure_mode.value!r}")
        return self


class JudgeFault(StrEnum):
    """Why there is no verdict."""

    UNPARSEABLE = "unparseable"
    """There was an answer, but none that can be read as a verdict; or too few votes for one."""
    UNAVAILABLE = "unavailable"
    """There was no answer."""


class JudgeUsage(Record):
    """What asking cost, never mixed with the agent's. None: unknown, which is not 0."""

    calls: int = Field(default=0, ge=0)
    input_tokens: int | None = Field(default=None, ge=0)
    output_tokens: int | None = Field(default=None, ge=0)
    cache_read_tokens: int | None = Field(default=None, ge=0)
    cache_write_tokens: int | None = Field(default=None, ge=0)
    cost_usd: float | None = Field(default=None, ge=0)

    def plus(self, other: Self) -> Self:
        """Both together; what either side does not know is unknown, unless that side made no call."""
        if not self.calls:
            return other
        if not other.calls:
            return self

        def add(name: str) -> float | None:
            left, right = getattr(self, name), getattr(other, name)
            return None if left is None or right is None else left + right

        fields = (name for name in type(self).model_fields if name != "calls")
        return self.model_validate({"calls": self.calls + other.calls} | {name: add(name) for name in fields})


class Vote(Record):
    """What one juror said, or why it said nothing that counts."""

    juror: str
    """The model, numbered where it votes more than once: `gpt-5 #2`."""
    model: str
    provider: str
    opinion: JudgeOpinion | None = None
    fault: JudgeFault | None = None
    reason: str = ""
    """Why there is no opinion."""
    raw: BlobRef | None = None
    """The answer as it came; kept for every vote that has one."""
    repaired: bool = False
    """Whether the first answer was not valid and a second one was asked for."""
    cached: bool = False
    """Whether the answer was taken from the cache instead of asked for."""
    usage: JudgeUsage = JudgeUsage()
    duration_s: float = 0.0

    @model_validator(mode="after")
    def _either_an_opinion_or_a_fault(self) -> Self:
        if (self.opinion is None) == (self.fault is None):
            raise ValueError("a vote has an opinion or a fault, not both and not neither")
        return self


class Aggregate(StrEnum):
    """How votes become a verdict."""

    MAJORITY = "majority"
    """More than half say PASS; a tie is a FAIL."""
    UNANIMOUS = "unanimous"
    """All say PASS."""
    MEAN = "mean"
    """The mean of all rubric scores, put on 0 to 1, reaches the threshold."""


class CutSection(Record):
    """A part of the evidence that was too long to be shown whole."""

    section: str
    shown: int
    """Characters."""
    of: int


class Judgement(Record):
    """What the judge, or the jury, concludes on a run."""

    verdict: JudgeVerdict | None = None
    fault: JudgeFault | None = None
    reason: str = ""
    """Why there is no verdict, or how the votes made one; one line."""
    scores: RubricScores | None = None
    """Of a jury, the medians (the lower one of two)."""
    failure_mode: FailureMode | None = None
    reasoning: str = ""
    """Of the juror whose opinion stands for the verdict."""
    fact_checks: tuple[FactCheck, ...] = ()
    votes: tuple[Vote, ...] = ()
    aggregate: Aggregate = Aggregate.MAJORITY
    quorum: int = 1
    agreement: float | None = Field(default=None, ge=0.0, le=1.0)
    """Share of the opinions that agree with the verdict; None with fewer than two."""
    interval: ConfidenceInterval | None = None
    """Of the share that says PASS (Wilson); None with fewer than two."""
    dissent: tuple[str, ...] = ()
    """Reasoning of those who do not agree, each behind the juror's name."""
    findings: tuple[Finding, ...] = ()
    """Text of the attempt's that speaks to the judge."""
    cut: tuple[CutSection, ...] = ()
    config_digest: Digest
    """Of the judge's configuration; the same over a whole experiment."""
    evidence_digest: Digest
    """Of all that was shown."""
    usage: JudgeUsage = JudgeUsage()
    judged_at: AwareDatetime
    duration_s: float = 0.0

    @model_validator(mode="after")
    def _either_a_verdict_or_a_fault(self) -> Self:
        if (self.verdict is None) == (self.fault is None):
            raise ValueError("a judgement has a verdict or a fault, not both and not neither")
        return self

    @property
    def models(self) -> tuple[str, ...]:
        """Who was asked, each once."""
        return tuple(dict.fromkeys(vote.model for vote in self.votes))
