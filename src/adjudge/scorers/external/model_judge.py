"""`model_judge`: open-ended quality, scored by one or more models against a rubric."""

from __future__ import annotations

import re
import statistics
from collections.abc import Sequence
from typing import Annotated, ClassVar, Self

from pydantic import AfterValidator, Field, JsonValue, ValidationInfo, model_validator

from adjudge.contracts import Evidence
from adjudge.errors import JudgeError
from adjudge.records.evidence import AnyRequest, ModelScoring
from adjudge.records.judging import GivenJuror
from adjudge.records.paths import check_relative, look_up
from adjudge.records.score import ScorerConfig, ScorerOutcome

__all__ = ["ModelJudge"]

_FILE = re.compile(r"^[^\n]{1,400}\.(?:md|markdown|txt|rst)$")


def _rubric(value: str, info: ValidationInfo) -> str:
    """A text, or the path of a file of the scenario, which then has to be there."""
    text = value.strip()
    if not text:
        raise ValueError("the rubric is empty")
    if not is_file(text):
        return value
    return look_up(check_relative(text), info)


def is_file(rubric: str) -> bool:
    """Whether a rubric is the name of a file: one line without spaces that ends like a text file's name."""
    return _FILE.match(rubric) is not None and " " not in rubric


class ModelJudge:
    """A model's score of what was produced, by a rubric.

    Measures:
        One model, or each of several, reads the rubric, the instruction, the final response and the diff and
        gives a score from 0 to 1; the scorer's is their mean. PASS when it reaches `pass_threshold`. Unlike
        the judge gate it takes part in the combined score. Without a credential for a model it is N/A, so
        that offline gradings are not penalised; a model that fails to answer is our fault (ERROR), unless
        others of the jury answered: more than half of them have to.

    Evidence:
        `ModelScoring`: each model's score, its reasoning, what was cut and what in the attempt spoke to the
        judge.

    How it is fooled:
        By what persuades a language model. Text that speaks to it is fenced, reported (`judge_injection`) and
        told to it as such, but code that merely looks good still looks good. Give most of the weight to
        tests.

    Example:
        ```yaml
        graders:
          - type: model_judge
            weight: 1.0
            rubric: Names say what things are, and errors are handled where they arise.
            models: [claude-opus-4-5, gpt-4.1]
            pass_threshold: 0.7
        ```
    """

    name: ClassVar[str] = "model_judge"
    version: ClassVar[str] = "1"
    required_by_default: ClassVar[bool] = False
    advisory_only: ClassVar[bool] = False

    class Config(ScorerConfig):
        """Fields of `model_judge`."""

        rubric: Annotated[str, AfterValidator(_rubric)]
        """What to score by: a text, or a file of the scenario (`./graders/rubric.md`)."""
        model: GivenJuror | None = None
        """A single judge: a model's name, or a mapping with `model`, `provider`, `base_url`, …"""
        models: tuple[GivenJuror, ...] = Field(default=(), max_length=25)
        """A jury: several of the same."""
        pass_threshold: float = Field(default=0.8, ge=0.0, le=1.0)
        """The score from which on it is a PASS."""

        @model_validator(mode="after")
        def _somebody_judges(self) -> Self:
            if (self.model is None) == (not self.models):
                raise ValueError("give either 'model' or 'models'")
            return self

    def needs(self, config: Config) -> Sequence[AnyRequest]:
        """Every model's score."""
        return (_request(config),)

    def score(self, config: Config, evidence: Evidence) -> ScorerOutcome:
        """The mean of the scores."""
        found = evidence[_request(config)]
        if found.missing:
            return ScorerOutcome.not_applicable("; ".join(found.missing))
        scores = [vote.score for vote in found.votes if vote.score is not None]
        faults = [f"{vote.model}: {vote.fault}" for vote in found.votes if vote.score is None]
        if len(scores) * 2 <= len(found.votes):
            raise JudgeError("; ".join(faults))
        score = statistics.fmean(scores)
        said = ", ".join(f"{vote.model} {vote.score:.3g}" for vote in found.votes if vote.score is not None)
        left_out = f"; left out: {'; '.join(faults)}" if faults else ""
        cut: list[JsonValue] = list(found.cut)
        return ScorerOutcome.fraction(
            min(1.0, max(0.0, score)),
            config.pass_threshold,
            f"{score:.3g} of 1 ({said}), {config.pass_threshold:g} needed{left_out}",
            findings=found.findings,
            details={"votes": [vote.model_dump(mode="json") for vote in found.votes], "cut": cut},
        )


def _request(config: ModelJudge.Config) -> ModelScoring:
    jurors = config.models if config.model is None else (config.model,)
    if is_file(config.rubric):
        return ModelScoring(rubric_file=config.rubric, jurors=jurors)
    return ModelScoring(rubric=config.rubric, jurors=jurors)
