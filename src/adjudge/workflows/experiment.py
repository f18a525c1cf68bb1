"""Which experiment a matrix is: a new one, or one that was begun before and not finished.

An experiment's id is worked out from its content (the runs of its matrix, the limits, the judge, the sandbox)
and a number that counts how often such a matrix was started anew. So the same command finds the experiment it
began, on any machine that shares the store, and nothing depends on names.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from pydantic import JsonValue, ValidationError

from adjudge.contracts import RunStore
from adjudge.errors import StoreError, UsageError, boundary
from adjudge.records.base import digest_json
from adjudge.records.experiment import ExperimentPlan
from adjudge.records.listing import RunFilter
from adjudge.records.run import AgentRef, Experiment, RunKey, RunStatus, run_id_of
from adjudge.records.task import RunLimits, Task
from adjudge.tasks.freeze import FrozenTask, load_task
from adjudge.workflows.planning import Cell

__all__ = [
    "Asked",
    "Standing",
    "begin_experiment",
    "find_or_add",
    "held",
    "reopen_experiment",
    "standing_of",
    "tighter",
]


class Standing(NamedTuple):
    """What is stored of an experiment's runs."""

    graded: frozenset[str]
    """Ids of runs that are finished and graded."""
    ungraded: frozenset[str]
    """Ids of runs that are finished, but were not graded any more."""

    def unfinished(self, experiment: Experiment) -> bool:
        """Whether there is anything left to do."""
        return any(run_id_of(experiment.id, key) not in self.graded for key in experiment.matrix)


def standing_of(experiment: Experiment, store: RunStore) -> Standing:
    """How the runs of an experiment stand in the store."""
    graded: set[str] = set()
    ungraded: set[str] = set()
    for row in store.summaries(RunFilter(experiment_id=experiment.id)):
        if row.status == RunStatus.FINISHED:
            (ungraded if row.evaluation_id is None else graded).add(row.id)
    return Standing(frozenset(graded), frozenset(ungraded))


def begin_experiment(
    plan: ExperimentPlan, cells: Sequence[Cell], store: RunStore, *, new: bool
) -> tuple[Experiment, bool]:
    """The unfinished experiment of this content, or a new one, and whether it was there before.

    Args:
        plan: What was asked for.
        cells: Its matrix.
        store: Where experiments are kept.
        new: Whether to start anew even where an unfinished one is there.
    """
    keys = tuple(cell.key for cell in cells)
    asked = Asked(
        name=plan.name,
        keys=keys,
        tasks=tuple({cell.task.task.digest: cell.task.task for cell in cells}.values()),
        conditions={
            "limits": plan.options.limits.model_dump(mode="json"),
            "judge": plan.judge,
            "sandbox": plan.options.sandbox,
        },
        settings=_settings(plan, cells),
        max_cost_usd=plan.options.max_cost_usd,
        judge=plan.judge,
    )
    return find_or_add(asked, store, new=new)


class Asked(NamedTuple):
    """An experiment that is asked for."""

    name: str
    keys: tuple[RunKey, ...]
    tasks: tuple[Task, ...]
    conditions: JsonValue
    """What beside the matrix decides how its runs are made and graded."""
    settings: Mapping[str, JsonValue] = MappingProxyType({})
    max_cost_usd: float | None = None
    judge: JsonValue = None


def find_or_add(
    asked: Asked, store: RunStore, *, new: bool, finished: bool = False
) -> tuple[Experiment, bool]:
    """The unfinished experiment of this content, or a new one that is recorded, and whether it was there.

    Args:
        asked: What it is.
        store: Where experiments are kept.
        new: Whether to start anew even where an unfinished one is there.
        finished: Whether a finished one is good, too.
    """
    matrix = [key.model_dump(mode="json") for key in asked.keys]
    content = digest_json({"matrix": matrix, "conditions": asked.conditions})
    for number in count():
        id_ = digest_json(["adjudge.experiment/1", content, number]).removeprefix("sha256:")[:10]
        found = _find(id_, store)
        if found is None:
            made = Experiment(
                id=id_,
                name=asked.name,
                created_at=datetime.now(UTC),
                matrix=asked.keys,
                max_cost_usd=asked.max_cost_usd,
                judge=asked.judge,
                settings=dict(asked.settings),
            )
            for task in asked.tasks:
                store.keep_task(task)
            store.add_experiment(made)
            return made, False
        if not new and (finished or standing_of(found, store).unfinished(found)):
            return found, True
    raise AssertionError("counting ended")


def _find(id_: str, store: RunStore) -> Experiment | None:
    try:
        found = store.experiment(id_)
    except UsageError:
        return None
    return found if found.id == id_ else None


def _settings(plan: ExperimentPlan, cells: Sequence[Cell]) -> dict[str, Any]:
    """What `--resume` needs beyond the matrix."""
    agents = {cell.agent.config_digest: cell.agent for cell in cells}
    tags = {cell.task.task.digest: dict(cell.tags) for cell in cells if cell.tags}
    return {
        "agents": [agent.model_dump(mode="json") for agent in agents.values()],
        "tags": tags,
        "options": plan.options.model_dump(mode="json"),
    }


def reopen_experiment(id_or_prefix: str, store: RunStore, state_dir: Path) -> tuple[Experiment, list[Cell]]:
    """An experiment of the store with its cells, from what was recorded when it began.

    Raises:
        UsageError: There is none, or a frozen task of it is not on this machine.
    """
    experiment = store.experiment(id_or_prefix)
    with boundary(StoreError, f"experiment {experiment.id} cannot be resumed: its record is damaged"):
        try:
            agents = [AgentRef.model_validate(agent) for agent in _listed(experiment, "agents")]
        except ValidationError as error:
            raise StoreError(
                f"experiment {experiment.id} cannot be resumed: {error.errors()[0]['msg']}"
            ) from error
    by_digest = {agent.config_digest: agent for agent in agents}
    tasks: dict[str, FrozenTask] = {}
    tags = experiment.settings.get("tags")
    cells: list[Cell] = []
    for key in experiment.matrix:
        if key.agent_digest not in by_digest:
            raise UsageError(
                f"experiment {experiment.id} cannot be resumed: it does not say how its agents were set up",
                hint="imported traces are imported again with --from-trace",
            )
        if key.task_digest not in tasks:
            tasks[key.task_digest] = _frozen(experiment, key, state_dir)
        labels = tags.get(key.task_digest, {}) if isinstance(tags, dict) else {}
        cells.append(
            Cell(
                tasks[key.task_digest],
                by_digest[key.agent_digest],
                key.model,
                key.trial,
                labels if isinstance(labels, dict) else {},  # type: ignore[arg-type]  # written by _settings
            )
        )
    return experiment, cells


def _listed(experiment: Experiment, name: str) -> list[Any]:
    found = experiment.settings.get(name)
    return found if isinstance(found, list) else []


def _frozen(experiment: Experiment, key: RunKey, state_dir: Path) -> FrozenTask:
    try:
        return load_task(state_dir / "tasks" / key.task_digest.removeprefix("sha256:"))
    except UsageError as error:
        raise UsageError(
            f"experiment {experiment.id} cannot be resumed: task {key.task_digest[7:19]} is not here",
            hint="start it again from its scenarios: runs that are finished are kept",
        ) from error


@contextlib.contextmanager
def held(experiment: Experiment, state_dir: Path) -> Iterator[None]:
    """Keep a second process of this machine from running the same experiment meanwhile.

    Raises:
        UsageError: One does.
    """
    folder = state_dir / "experiments"
    with boundary(StoreError, f"{folder} cannot be written"):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(folder / f"{experiment.id}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError(
                f"experiment {experiment.id} is being run by another process",
                hint="wait for it, or start the matrix once more beside it with --new",
            ) from None
        yield
    finally:
        os.close(descriptor)


def tighter(one: RunLimits, other: RunLimits) -> RunLimits:
    """Of each limit the tighter one."""
    ours, theirs = one.model_dump(), other.model_dump()
    return RunLimits.model_validate(
        {
            name: min((value for value in (ours[name], theirs[name]) if value is not None), default=None)
            for name in ours
        }
    )
