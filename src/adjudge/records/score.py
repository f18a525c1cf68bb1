"""What a scorer concludes, and the recipe line that asked for it."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Self

from pydantic import Field, JsonValue, model_validator

from adjudge.records.base import Digest, Record
from adjudge.records.paths import WorkspacePath

__all__ = [
    "Finding",
    "Recipe",
    "Rollup",
    "ScorerConfig",
    "ScorerOutcome",
    "ScorerResult",
    "ScorerSpec",
    "Verdict",
]


class Verdict(StrEnum):
    """The four conclusions. Only PASS and FAIL have a score."""

    PASS = "PASS"
    FAIL = "FAIL"
    NA = "NA"
    """The check does not apply; it neither passes nor fails."""
    ERROR = "ERROR"
    """We could not run the check; never the attempt's failure."""

    @property
    def graded(self) -> bool:
        """Whether the check was made and has a score."""
        return self in (Verdict.PASS, Verdict.FAIL)


class Finding(Record):
    """One piece of evidence a reader can go and look at."""

    rule: str
    """A stable name for what was found, such as `path-outside-allowed`."""
    message: str
    path: WorkspacePath | None = None
    line: int | None = None
    """1-based line in the final file; for a removed line, in the baseline's."""
    before: str | None = None
    """What stood there in the baseline, in a line or a few; None where nothing did."""
    after: str | None = None
    """What stands there now."""
    proof: bool = False
    """Whether it proves tampering: shown by a run, or an act that has no honest reading. One such
    finding of a scorer that fails makes integrity `tampered`."""


class ScorerOutcome(Record):
    """What a scorer says of the evidence. The engine adds whose line of the recipe it was."""

    verdict: Verdict
    score: float | None = Field(default=None, ge=0.0, le=1.0)
    reason: str
    """One line for the table."""
    findings: tuple[Finding, ...] = ()
    output_tail: str = ""
    """The end of what a command printed; for people."""
    details: Mapping[str, JsonValue] = Field(default_factory=dict)
    """What a type reports beyond the common fields; documented with the type."""
    capped: bool = False
    """Whether a gate inside the type did not pass; it then acts as a failed gate scorer, whatever the recipe
    says."""

    @model_validator(mode="after")
    def _score_goes_with_the_verdict(self) -> Self:
        if self.verdict.graded and self.score is None:
            raise ValueError(f"a {self.verdict} carries a score")
        if not self.verdict.graded and self.score is not None:
            raise ValueError(f"a {self.verdict} has no score")
        if self.capped and self.verdict is not Verdict.FAIL:
            raise ValueError(f"only a FAIL is capped, not a {self.verdict}")
        return self

    @classmethod
    def passed(cls, reason: str, **more: Any) -> Self:
        """A PASS with full score."""
        return cls(verdict=Verdict.PASS, score=1.0, reason=reason, **more)

    @classmethod
    def failed(cls, reason: str, **more: Any) -> Self:
        """A FAIL with score 0."""
        return cls(verdict=Verdict.FAIL, score=0.0, reason=reason, **more)

    @classmethod
    def fraction(cls, score: float, pass_threshold: float, reason: str, **more: Any) -> Self:
        """A PASS when the score reaches the threshold, compared at nine decimals, else a FAIL."""
        reached = round(score, 9) >= round(pass_threshold, 9)
        return cls(verdict=Verdict.PASS if reached else Verdict.FAIL, score=score, reason=reason, **more)

    @classmethod
    def not_applicable(cls, reason: str, **more: Any) -> Self:
        """An NA."""
        return cls(verdict=Verdict.NA, reason=reason, **more)


class ScorerConfig(Record):
    """Base of every scorer's own fields. Each field has a default or is required, and a docstring."""


class ScorerSpec(Record):
    """One line of a recipe, with every default filled in."""

    name: str
    type: str
    required: bool
    weight: float = Field(default=1.0, ge=0.0)
    gate: bool = False
    counted: bool
    """Whether it takes part in the combined score; settled when the recipe is loaded, by its dialect."""
    primary: bool = False
    """Whether its result is the objective test result that the judge is shown."""
    config: Mapping[str, JsonValue] = Field(default_factory=dict)
    """The type's own fields, validated and with defaults filled in."""


class Rollup(StrEnum):
    """How counted scores become one."""

    WEIGHTED_MEAN = "weighted_mean"
    MIN = "min"


class Recipe(Record):
    """How a run is graded. The two ways of writing one in YAML load into this same record."""

    scorers: tuple[ScorerSpec, ...]
    rollup: Rollup = Rollup.WEIGHTED_MEAN
    pass_threshold: float | None = Field(default=None, ge=0.0, le=1.0)

    @property
    def live(self) -> bool:
        """Whether a scorer runs in the sandbox the agent worked in, beside what it left running."""
        return any(spec.config.get("isolation") == "live" for spec in self.scorers)


class ScorerResult(Record):
    """A scorer's row in an evaluation."""

    name: str
    type: str
    verdict: Verdict
    score: float | None
    required: bool
    gate: bool
    weight: float
    counted: bool
    reason: str
    findings: tuple[Finding, ...] = ()
    output_tail: str = ""
    details: Mapping[str, JsonValue] = Field(default_factory=dict)
    capped: bool = False
    duration_s: float = 0.0
    version: str
    """Version of the scorer type: it changes when equal evidence may give another outcome."""
    config_digest: Digest

    @property
    def failed_gate(self) -> bool:
        """Whether it makes the combined score 0: a gate below 1, or a gate inside the type."""
        return self.capped or (self.gate and self.score is not None and self.score < 1.0)
