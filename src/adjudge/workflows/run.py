"""`adjudge run`: an experiment from its plan to its last run, or from where it was left."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from adjudge.contracts import BlobStore, RunStore, SandboxBackend
from adjudge.records.experiment import ExperimentPlan, RunOptions
from adjudge.records.run import Experiment
from adjudge.records.task import Task
from adjudge.workflows.experiment import begin_experiment, held, reopen_experiment, standing_of
from adjudge.workflows.interrupts import interruptible
from adjudge.workflows.judging import parse_judge
from adjudge.workflows.planning import Cell, plan_matrix
from adjudge.workflows.runevents import EventKind, Observe, RunEvent, Tally
from adjudge.workflows.running import ExperimentRunner, RunnerSettings

__all__ = ["RunMeans", "RunResult", "resume_experiment", "run_experiment"]


@dataclass(frozen=True, slots=True)
class RunMeans:
    """What running takes, whatever is run."""

    store: RunStore
    blobs: BlobStore
    state_dir: Path
    jobs: int
    backend: Callable[[str | None], Callable[[Task], SandboxBackend]]
    """From the sandbox an experiment asks for to the choice for each task."""
    observe: Observe
    store_folder: Path | None = None
    """Where the store's files lie, if anywhere on this machine."""


class RunResult(NamedTuple):
    """How an experiment stands after a start."""

    experiment: Experiment
    tally: Tally
    drained: bool
    capped: bool
    fail_under: float | None


def run_experiment(plan: ExperimentPlan, means: RunMeans, *, new: bool = False) -> RunResult:
    """Run a plan: what is left of the unfinished experiment it is, or all of a new one.

    Raises:
        UsageError: It cannot be run as it is; nothing was started.
        InfraError: The store failed; what is recorded holds.
        KeyboardInterrupt: It was stopped; runs that were under way start over next time.
    """
    if plan.judge is not None:
        # Before anything is spent: a judge that cannot be is found out after the first agent otherwise.
        parse_judge(plan.judge, where=f"{plan.name}: judge")
    matrix = plan_matrix(plan, means.state_dir, store_folder=means.store_folder)
    for warning in matrix.warnings:
        means.observe(RunEvent(EventKind.NOTE, message=warning))
    experiment, resumed = begin_experiment(plan, matrix.cells, means.store, new=new)
    return _run(experiment, matrix.cells, plan.options, means, resumed=resumed)


def resume_experiment(id_or_prefix: str, means: RunMeans, given: RunOptions) -> RunResult:
    """Run what is left of an experiment of the store.

    Args:
        id_or_prefix: Which.
        means: What running takes.
        given: Another number of jobs, cost cap or threshold than it began with; what else it says is ignored.

    Raises:
        UsageError: There is none, or its tasks are not on this machine.
    """
    experiment, cells = reopen_experiment(id_or_prefix, means.store, means.state_dir)
    options = RunOptions.model_validate(experiment.settings.get("options") or {})
    overriding = given.model_dump(include={"jobs", "max_cost_usd", "fail_under"}, exclude_none=True)
    return _run(experiment, cells, options.model_copy(update=overriding), means, resumed=True)


def _run(
    experiment: Experiment, cells: list[Cell], options: RunOptions, means: RunMeans, *, resumed: bool
) -> RunResult:
    with held(experiment, means.state_dir):
        standing = standing_of(experiment, means.store)
        message = f"experiment {experiment.id}: {len(cells)} runs"
        if resumed:
            message = (
                f"resumes experiment {experiment.id} of {experiment.created_at:%Y-%m-%d %H:%M} UTC: "
                f"{len(standing.graded)} of {len(cells)} runs are finished and kept"
            )
        means.observe(RunEvent(EventKind.BEGUN, message=message, experiment=experiment))
        settings = RunnerSettings(
            state_dir=means.state_dir,
            jobs=options.jobs or means.jobs,
            backend=means.backend(options.sandbox),
            limits=options.limits,
            max_cost_usd=options.max_cost_usd,
            judge=None if experiment.judge is None else parse_judge(experiment.judge, where="judge"),
        )
        runner = ExperimentRunner(
            experiment, cells, standing, means.store, means.blobs, settings, means.observe
        )
        try:
            asyncio.run(_until_done(runner))
        except asyncio.CancelledError:
            raise KeyboardInterrupt from None
    means.observe(RunEvent(EventKind.ENDED))
    return RunResult(experiment, runner.tally, runner.drained, runner.capped, options.fail_under)


async def _until_done(runner: ExperimentRunner) -> None:
    task = asyncio.current_task()
    assert task is not None
    with interruptible(runner.drain, task.cancel):
        await runner.run()
