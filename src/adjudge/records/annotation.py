"""What people and judges add beside an automated result; nothing here overwrites one."""

from enum import StrEnum
from typing import Annotated, Self

from pydantic import AwareDatetime, Field, StringConstraints, model_validator

from adjudge.records.base import Record

__all__ = [
    "Annotation",
    "ConfidenceInterval",
    "ConfidenceMetadata",
    "ErrorSource",
    "ErrorTag",
    "Judgment",
    "NonBlank",
]

NonBlank = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
"""A text that says something; white space around it is taken away."""


class ErrorSource(StrEnum):
    """Who classified a failure."""

    MECHANICAL = "mechanical"
    HUMAN = "human"
    JUDGE = "judge"


class ErrorTag(Record):
    """A failure, classified for grouping. Tasks define their own categories."""

    category: NonBlank
    description: NonBlank | None = None
    source: ErrorSource


class Judgment(StrEnum):
    """A reviewer's verdict."""

    PASS = "pass"
    FAIL = "fail"
    DEFER = "defer"


class Annotation(Record):
    """A human review."""

    reviewer_id: NonBlank
    reviewer_discipline: NonBlank | None = None
    timestamp: AwareDatetime
    judgment: Judgment
    categories: list[NonBlank] = Field(default_factory=list)
    notes: NonBlank | None = None


class ConfidenceInterval(Record):
    """An interval within [0, 1]."""

    low: float = Field(ge=0.0, le=1.0, strict=True)
    high: float = Field(ge=0.0, le=1.0, strict=True)

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.low > self.high:
            raise ValueError(f"low {self.low} is above high {self.high}")
        return self


class ConfidenceMetadata(Record):
    """How sure a result is, where people or judges took part."""

    annotator_count: int = Field(default=0, ge=0, strict=True)
    inter_rater_agreement: float | None = Field(default=None, ge=0.0, le=1.0, strict=True)
    confidence_interval: ConfidenceInterval | None = None
    confidence_method: NonBlank | None = None
