"""`efficiency`: how cheaply the result was reached, as the trace tells it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self

from pydantic import Field, JsonValue, model_validator

from adjudge.contracts import Evidence
from adjudge.records.evidence import AnyRequest, TraceRead
from adjudge.records.score import Finding, ScorerConfig, ScorerOutcome
from adjudge.scorers.process.tracechecks import (
    Metric,
    broken_note,
    cost_metric,
    no_trace,
    tokens_metric,
    tool_calls_metric,
)

__all__ = ["Efficiency"]


class Efficiency:
    """What the agent spent, against targets.

    Measures:
        Each configured metric on a ramp: 1.0 at or under its target, then target / actual, so twice the
        target is 0.5. The score is the mean over the metrics; PASS when it reaches `pass_threshold`. A metric
        whose actual value the trace does not tell is left out and said; when that is so of all, and when
        there is no trace, the row is N/A. A cost that is not stated is unknown, never 0.

    Evidence:
        The trace in figures: cost, tokens read and written (caches included), tool calls. The details have
        each metric with target, actual value and score.

    How it is fooled:
        A trace is what the agent says about itself: one that states less is believed, and one that states
        nothing of a metric takes it out of the mean. Doing nothing is the cheapest; pair it with a check of
        the result.

    Example:
        ```yaml
        graders:
          - type: efficiency
            weight: 2.0
            target_cost_usd: 0.30
            target_tokens: 2000
            target_tool_calls: 20
            pass_threshold: 0.8
        ```
    """

    name: ClassVar[str] = "efficiency"
    version: ClassVar[str] = "1"
    required_by_default: ClassVar[bool] = False
    advisory_only: ClassVar[bool] = False

    class Config(ScorerConfig):
        """Fields of `efficiency`."""

        target_cost_usd: float | None = Field(default=None, ge=0)
        """Full credit up to this cost, in US dollars."""
        target_tokens: int | None = Field(default=None, ge=0, strict=True)
        """Full credit up to this many tokens, read and written, caches included."""
        target_tool_calls: int | None = Field(default=None, ge=0, strict=True)
        """Full credit up to this many tool calls."""
        pass_threshold: float = Field(default=0.8, ge=0.0, le=1.0)
        """The score from which on it is a PASS."""

        @model_validator(mode="after")
        def _measures_something(self) -> Self:
            if self.target_cost_usd is None and self.target_tokens is None and self.target_tool_calls is None:
                raise ValueError("give at least one of target_cost_usd, target_tokens, target_tool_calls")
            return self

    def needs(self, config: Config) -> Sequence[AnyRequest]:
        """The trace in figures."""
        return (TraceRead(),)

    def score(self, config: Config, evidence: Evidence) -> ScorerOutcome:
        """The mean over the metrics."""
        summary = evidence[TraceRead()].summary
        if summary is None:
            return no_trace()
        asked = [
            (metric, target)
            for metric, target in (
                (cost_metric(summary), config.target_cost_usd),
                (tokens_metric(summary), config.target_tokens),
                (tool_calls_metric(summary), config.target_tool_calls),
            )
            if target is not None
        ]
        metrics: dict[str, JsonValue] = {}
        scores: dict[str, float] = {}
        for metric, target in asked:
            value = None if metric.value is None else _ramp(metric.value, target)
            metrics[metric.name] = {"target": target, "actual": metric.value, "score": value}
            if value is not None:
                scores[metric.name] = value
        details: dict[str, JsonValue] = {
            "format": summary.format,
            "broken": summary.broken,
            "metrics": metrics,
        }
        unknown = [metric.name for metric, _ in asked if metric.value is None]
        if not scores:
            return ScorerOutcome.not_applicable(
                f"the trace does not tell {', '.join(unknown)}", details=details
            )
        said = "; ".join(_said(metric, target) for metric, target in asked if metric.value is not None)
        left_out = f"; left out, for the trace does not tell: {', '.join(unknown)}" if unknown else ""
        return ScorerOutcome.fraction(
            sum(scores.values()) / len(scores),
            config.pass_threshold,
            said + left_out + broken_note(summary),
            findings=tuple(
                Finding(rule="over-target", message=_said(metric, target))
                for metric, target in asked
                if scores.get(metric.name, 1.0) < 1.0
            ),
            details=details,
        )


def _ramp(actual: float, target: float) -> float:
    return 1.0 if actual <= target else target / actual


def _said(metric: Metric, target: float) -> str:
    aim = f"${target:g}" if metric.name == "cost_usd" else f"{target:,}"
    return f"{metric.shown}, target {aim}"
