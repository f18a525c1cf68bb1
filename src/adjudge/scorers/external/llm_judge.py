"""`llm_judge`: a rubric note handed to the judge."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, ClassVar

from pydantic import StringConstraints

from adjudge.contracts import Evidence
from adjudge.records.evidence import AnyRequest
from adjudge.records.score import ScorerConfig, ScorerOutcome

__all__ = ["LlmJudge"]


class LlmJudge:
    """A note for the judge; no check of its own.

    Measures:
        Nothing by itself. The rubric is passed to the judge as additional context, with whether the recipe
        calls it required. Its row is always N/A: it neither passes nor fails, takes no weight and never
        gates.

    Evidence:
        None.

    How it is fooled:
        It cannot be: it decides nothing. The judge that reads it has a gate of its own.

    Example:
        ```yaml
        scorers:
          - name: readability
            type: llm_judge
            rubric: Names say what things are; no copied blocks.
        ```
    """

    name: ClassVar[str] = "llm_judge"
    version: ClassVar[str] = "1"
    required_by_default: ClassVar[bool] = False
    advisory_only: ClassVar[bool] = True

    class Config(ScorerConfig):
        """Fields of `llm_judge`."""

        rubric: Annotated[str, StringConstraints(pattern=r"\S")]
        """What the judge should look at, in plain language."""

    def needs(self, config: Config) -> Sequence[AnyRequest]:
        """Nothing."""
        return ()

    def score(self, config: Config, evidence: Evidence) -> ScorerOutcome:
        """Always N/A; the rubric is in the details, where the judge's context is put together."""
        return ScorerOutcome.not_applicable("a note for the judge", details={"rubric": config.rubric})
