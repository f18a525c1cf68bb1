"""The evaluation: one grading of one run, with everything a reader needs to check it."""

from collections.abc import Mapping
from datetime import datetime
from typing import Literal

from pydantic import AwareDatetime, Field, JsonValue

from adjudge.records.annotation import Annotation, ConfidenceMetadata, ErrorTag
from adjudge.records.base import Digest, Record
from adjudge.records.change import BaselineRef
from adjudge.records.score import ScorerResult, Verdict

__all__ = [
    "Evaluation",
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

    output_parseable: bool
    schema_valid: bool
    verifier_completed: bool
    errors: list[str] = Field(default_factory=list)


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
    reward: float | None
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

    def to_json(self, *, indent: int | None = 2) -> str:
        """The document as text."""
        return self.model_dump_json(by_alias=True, indent=indent)

    @property
    def started_at(self) -> datetime:
        """When grading began."""
        return self.provenance.started_at
