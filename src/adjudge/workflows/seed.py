"""`adjudge seed`: from a scenario or task to a workspace an agent can start in, with its baseline recorded.

Freeze, run setup, record the tree as the trusted baseline outside the workspace, then write the workspace and
commit the same tree in it for the agent's convenience.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from adjudge.contracts import SandboxBackend
from adjudge.errors import Problem, StoreError
from adjudge.records.sandbox import SandboxReport
from adjudge.records.task import SeedRecord, Task
from adjudge.records.tree import digest_tree
from adjudge.tasks.seeds import keep_seed, new_workspace, refuse_unless_new
from adjudge.tasks.stability import Measured
from adjudge.tasks.trees import read_entries, remove_tree
from adjudge.workflows.starting import freeze_to_start, make_baseline

__all__ = ["Seeded", "seed"]


@dataclass(frozen=True, slots=True)
class Seeded:
    """A workspace that was made."""

    task: Task
    task_directory: Path
    record: SeedRecord
    workspace: Path
    baseline: Path
    commit: str
    """The one commit in the workspace's own git; nothing trusted rests on it."""
    sandbox: SandboxReport | None
    """How setup was run; None when there is no setup command."""
    warnings: tuple[Problem, ...]
    notes: tuple[str, ...]
    stability: Measured | None = None
    """What repeated runs of the tests showed; None when none were asked for."""


def seed(
    task: str,
    directory: Path,
    *,
    state_dir: Path,
    backend: Callable[[Task], SandboxBackend],
    repeats: int | None = None,
) -> Seeded:
    """Make a workspace.

    Args:
        task: A scenario's path, a frozen task's folder, or its digest.
        directory: Where the workspace goes: a folder that does not exist yet, or is empty.
        state_dir: Where tasks and baselines are kept.
        backend: Chooses the sandbox that runs code; called only when there is something to run.
        repeats: How often to run the task's tests on the baseline, to find those that are unstable; None to
            run none.

    Raises:
        UsageError: The task is not valid, its source cannot be had, setup failed, or the folder is taken; or
            there are no tests to repeat.
    """
    place = refuse_unless_new(directory, state_dir)
    frozen, warnings = freeze_to_start(task, state_dir, state_dir)
    stability = None
    if repeats is not None:
        # Loaded here, as below: seeding runs no tests unless it is asked to.
        stability = importlib.import_module("adjudge.workflows.stability")
        stability.refuse_without_tests(frozen.task)
    source = read_entries(frozen.source)
    if digest_tree(source) != frozen.task.source_digest:
        raise StoreError(
            f"{frozen.source} is not the tree that was frozen", hint="remove the task and seed again"
        )
    baseline, report = make_baseline(frozen, state_dir, backend)
    measured: Measured | None = None
    if stability is not None:
        measured = stability.measure(frozen, baseline, backend(frozen.task), repeats, state_dir)
    with new_workspace(place, baseline) as copy:
        # Loaded here: libgit2 takes 100 ms, which a scenario that is refused should not pay.
        commit_baseline = importlib.import_module("adjudge.tasks.gitobjects").commit_baseline
        commit, skipped = commit_baseline(copy, baseline.entries, frozenset(entry.path for entry in source))
    try:
        record = keep_seed(place, frozen.task.digest, baseline.digest, state_dir)
    except BaseException:
        remove_tree(place)
        raise
    return Seeded(
        task=frozen.task,
        task_directory=frozen.directory,
        record=record,
        workspace=place,
        baseline=baseline.tree,
        commit=commit,
        sandbox=report,
        warnings=warnings,
        notes=(*frozen.notes, *baseline.notes, *skipped),
        stability=measured,
    )
