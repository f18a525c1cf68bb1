"""Looking at one stored run: with one of its evaluations, its task, and the limits it ran under."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import NamedTuple

from adjudge.contracts import RunStore
from adjudge.errors import UsageError
from adjudge.records.evaluation import Evaluation
from adjudge.records.run import Run
from adjudge.records.task import RunLimits, Task
from adjudge.store.runs import RunDatabase
from adjudge.workflows.experiment import tighter

__all__ = ["SeenRun", "inspect_run", "limits_of_experiment"]


class SeenRun(NamedTuple):
    """A run as one looks at it."""

    run: Run
    evaluations: tuple[Evaluation, ...]
    """Every one, oldest first."""
    current: Evaluation | None
    """The one that counts."""
    evaluation: Evaluation | None
    """The one that is looked at."""
    task: Task | None
    """What it was graded by; None when that is not stored."""
    limits: RunLimits

    @property
    def is_current(self) -> bool:
        """Whether the evaluation that is looked at is the one that counts."""
        return self.evaluation is None or (self.current is not None and self.evaluation.id == self.current.id)


def inspect_run(store: RunDatabase, given: str, evaluation: str | None = None) -> SeenRun:
    """A run by its id or the beginning of it.

    Args:
        store: Where it is kept.
        given: The run.
        evaluation: One of its evaluations, or the beginning of its id; None: the current one.

    Raises:
        UsageError: There is no such run, or it has no such evaluation.
    """
    run = store.run(given)
    evaluations = store.evaluations(run.id)
    current = store.current_evaluation(run.id)
    looked_at = current
    if evaluation is not None:
        found = [item for item in evaluations if evaluation and item.id.startswith(evaluation)]
        if len(found) != 1:
            raise UsageError(f"run {run.id} has {'several' if found else 'no'} evaluations {evaluation!r}")
        looked_at = found[0]
    task = _task(store, run.task.digest if looked_at is None else looked_at.task.digest)
    limits = RunLimits() if task is None else task.scenario.limits
    if run.experiment_id is not None:
        # A run may be stored without its experiment; then its task's limits are all that is known.
        with suppress(UsageError):
            limits = tighter(limits, limits_of_experiment(store, run.experiment_id))
    return SeenRun(run, evaluations, current, looked_at, task, limits)


def limits_of_experiment(store: RunStore, experiment_id: str) -> RunLimits:
    """The limits that an experiment was started with.

    Raises:
        UsageError: There is no such experiment.
    """
    options = store.experiment(experiment_id).settings.get("options")
    limits = options.get("limits") if isinstance(options, Mapping) else None
    return RunLimits.model_validate(limits or {})


def _task(store: RunDatabase, digest: str) -> Task | None:
    try:
        return store.task(digest)
    except UsageError:
        return None
