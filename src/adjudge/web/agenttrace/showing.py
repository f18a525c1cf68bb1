"""What every part of a run's page says of it."""

from __future__ import annotations

from dataclasses import dataclass, field

from adjudge.records.evaluation import Evaluation
from adjudge.records.run import Run
from adjudge.web.agenttrace.cards import Explanation, LimitRow, explain_gates, is_under_way, limit_rows
from adjudge.workflows.inspecting import SeenRun

__all__ = ["ShownRun", "digests_of", "shown_run"]


@dataclass(frozen=True, slots=True)
class ShownRun:
    """What every part of the page shows of its run."""

    run: Run
    evaluation: Evaluation | None
    is_current: bool
    explanation: Explanation | None
    limits: tuple[LimitRow, ...]
    digests: tuple[tuple[str, str], ...]
    under_way: bool
    tabs: list[tuple[str, str, str]] = field(default_factory=list)
    """Name, title and address of each part."""


def shown_run(seen: SeenRun) -> ShownRun:
    """The run with what is said of it everywhere."""
    return ShownRun(
        run=seen.run,
        evaluation=seen.evaluation,
        is_current=seen.is_current,
        explanation=None if seen.evaluation is None else explain_gates(seen.evaluation),
        limits=limit_rows(seen.run, seen.limits),
        digests=digests_of(seen),
        under_way=is_under_way(seen.run),
    )


def digests_of(seen: SeenRun) -> tuple[tuple[str, str], ...]:
    """What identifies the run's parts."""
    attempt, evaluation = seen.run.attempt, seen.evaluation
    changes = None if attempt is None else attempt.change_set
    named = (
        ("Task", seen.run.task.digest),
        ("Baseline", None if attempt is None else attempt.baseline_digest),
        ("Changes", None if changes is None else changes.digest),
        ("Agent", seen.run.agent.config_digest),
        ("Recipe", None if evaluation is None else evaluation.provenance.recipe_digest),
        ("Evaluation", None if evaluation is None else evaluation.id),
    )
    return tuple((name, digest) for name, digest in named if digest is not None)
