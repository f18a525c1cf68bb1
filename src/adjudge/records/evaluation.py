"""The evaluation: one grading of one run, with everything a reader needs to check it."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Literal, Self, TypeVar

from pydantic import AfterValidator, AwareDatetime, Field, JsonValue, model_validator

from adjudge.errors import UsageError
from adjudge.records.annotation import Annotation, ConfidenceMetadata, ErrorTag, NonBlank
from adjudge.records.base import Digest, Record
from adjudge.records.change import BaselineRef
from adjudge.records.score import ScorerResult, Verdict

__all__ = [
    "Evaluation",
    "EvaluationResult",
    "GateResult",
    "Gates",
    "Integrity",
    "ObjectiveGateResult",
    "Provenance",
    "TaskRef",
    "ValidityCheck",
]


class TaskRef(Record):
    """Which task was graded."""

    name: str
    digest: Digest


class GateResult(Record):
    """One of the three independent conclusions."""

    verdict: Verdict
    reason: str


class ObjectiveGateResult(GateResult):
    """The objective gate, with the unweighted mean over every PASS and FAIL row."""

    mean_score: float | None = None


class Gates(Record):
    """The three gates. No gate subsumes another, so there is no overall one."""

    objective: ObjectiveGateResult
    judge: GateResult
    run: GateResult


class Integrity(Record):
    """Whether the attempt was caught tampering. `unchecked` until a detector has run."""

    outcome: Literal["unchecked", "clean", "suspect", "tampered"] = "unchecked"
    reasons: tuple[str, ...] = ()


class ValidityCheck(Record):
    """Whether the output was fit for scoring."""

    output_parseable: bool = Field(strict=True)
    """Whether the output file parsed as its declared format. When not, a reward above 0 is invalid."""
    schema_valid: bool = Field(strict=True)
    """Whether it had the expected shape. Diagnostic."""
    verifier_completed: bool = Field(strict=True)
    """Whether the verifier came to its end and left a reward file. Diagnostic."""
    errors: list[NonBlank] = Field(default_factory=list)


Item = TypeVar("Item")


def _none_when_empty(items: list[Item] | None) -> list[Item] | None:
    return items or None


class EvaluationResult(Record):
    """What a verifier's artifacts amount to: the reward, how far it can be read, and what was added since.

    None and an empty list say the same, and are kept as None: a result that went into an evaluation document
    comes out equal.
    """

    reward: float = Field(ge=0.0, le=1.0, strict=True)
    validity: ValidityCheck
    breakdown: dict[str, JsonValue] | None = None
    """Per-field scores and evidence, as the verifier wrote them."""
    error_taxonomy: Annotated[list[ErrorTag] | None, AfterValidator(_none_when_empty)] = None
    confidence: ConfidenceMetadata | None = None
    annotations: Annotated[list[Annotation] | None, AfterValidator(_none_when_empty)] = None

    @model_validator(mode="after")
    def _fits(self) -> Self:
        _refuse_reward_of_nothing(self.reward, self.validity)
        return self


def _refuse_reward_of_nothing(reward: float | None, validity: ValidityCheck) -> None:
    if reward and not validity.output_parseable:
        raise ValueError(f"reward {reward} is invalid: the output is not parseable, so it can only be 0")


class Provenance(Record):
    """How the evaluation came about."""

    adjudge: str
    """Version."""
    recipe_digest: Digest
    baseline: BaselineRef | None = None
    change_digest: Digest | None = None
    sandbox: str | None = None
    """The backend that ran code; None when no scorer needed one."""
    sandbox_notes: tuple[str, ...] = ()
    limits_held_by: Mapping[str, str] = Field(default_factory=dict)
    environment: Mapping[str, str] = Field(default_factory=dict)
    """The fingerprint: toolchain versions and system digest under which equal subjects grade equally."""
    started_at: AwareDatetime
    duration_s: float


class Evaluation(Record):
    """The evaluation document: `adjudge grade --json`, the store and the API all give this."""

    schema_: Literal["adjudge.evaluation/1"] = Field(default="adjudge.evaluation/1", alias="schema")
    id: str
    run_id: str
    task: TaskRef
    gates: Gates
    score: float | None
    pass_threshold: float | None
    reward: float | None = Field(ge=0.0, le=1.0)
    """What the verifier said, unrounded, or the combined score where there is none. None when it could not be
    graded."""
    scorers: tuple[ScorerResult, ...]
    judge: JsonValue = None
    integrity: Integrity = Integrity()
    validity: ValidityCheck
    breakdown: Mapping[str, JsonValue] | None = None
    error_taxonomy: tuple[ErrorTag, ...] = ()
    confidence: ConfidenceMetadata | None = None
    annotations: tuple[Annotation, ...] = ()
    warnings: tuple[str, ...] = ()
    provenance: Provenance

    @model_validator(mode="after")
    def _fits(self) -> Self:
        _refuse_reward_of_nothing(self.reward, self.validity)
        verified = any(row.type == "verifier" for row in self.scorers)
        if verified and self.reward is None and self.validity.verifier_completed:
            raise ValueError("a verifier that completed has a reward")
        return self

    def result(self) -> EvaluationResult:
        """The part of the document that a verifier's artifacts, reviewers and judges decide.

        Raises:
            UsageError: It could not be graded, so there is no reward.
        """
        if self.reward is None:
            raise UsageError(
                f"evaluation {self.id} has no reward: {self.gates.objective.reason}",
                hint="what could not be graded has no EvaluationResult; grade it again",
            )
        return EvaluationResult(
            reward=self.reward,
            validity=self.validity,
            breakdown=None if self.breakdown is None else dict(self.breakdown),
            error_taxonomy=list(self.error_taxonomy),
            confidence=self.confidence,
            annotations=list(self.annotations),
        )

    def with_result(self, result: EvaluationResult) -> Self:
        """The same document with these fields; `result()` gives them back."""
        fields = {**dict(self), "schema": self.schema_, **dict(result)}
        del fields["schema_"]
        for name in ("error_taxonomy", "annotations"):
            fields[name] = fields[name] or ()
        return type(self).model_validate(fields)

    def to_json(self, *, indent: int | None = 2) -> str:
        """The document as text."""
        return self.model_dump_json(by_alias=True, indent=indent)

    @property
    def started_at(self) -> datetime:
        """When grading began."""
        return self.provenance.started_at
