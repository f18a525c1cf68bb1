"""`adjudge seed`: from a scenario or task to a workspace an agent can start in, with its baseline recorded.

Freeze, run setup, record the tree as the trusted baseline outside the workspace, then write the workspace and
commit the same tree in it for the agent's convenience.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from adjudge.contracts import SandboxBackend
from adjudge.errors import Problem, StoreError, UsageError
from adjudge.records.sandbox import SandboxReport
from adjudge.records.task import SeedRecord, Task
from adjudge.records.tree import digest_tree
from adjudge.tasks.freeze import FrozenTask, freeze
from adjudge.tasks.lookup import find_task
from adjudge.tasks.seeds import Baseline, keep_baseline, keep_seed, new_workspace, refuse_unless_new
from adjudge.tasks.trees import PlainFolder, read_entries, remove_tree, write_folder

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


def seed(task: str, directory: Path, *, state_dir: Path, backend: Callable[[Task], SandboxBackend]) -> Seeded:
    """Make a workspace.

    Args:
        task: A scenario's path, a frozen task's folder, or its digest.
        directory: Where the workspace goes: a folder that does not exist yet, or is empty.
        state_dir: Where tasks and baselines are kept.
        backend: Chooses the sandbox that runs setup; called only when there is something to run.

    Raises:
        UsageError: The task is not valid, its source cannot be had, setup failed, or the folder is taken.
    """
    place = refuse_unless_new(directory, state_dir)
    found = find_task(task, state_dir)
    warnings: tuple[Problem, ...] = ()
    if isinstance(found, FrozenTask):
        frozen = found
    else:
        _refuse_without_workspace(found.scenario.workspace is not None, task)
        warnings = found.warnings
        frozen = freeze(found, state_dir)
    _refuse_without_workspace(frozen.task.source_digest is not None, task)
    source = read_entries(frozen.source)
    if digest_tree(source) != frozen.task.source_digest:
        raise StoreError(
            f"{frozen.source} is not the tree that was frozen", hint="remove the task and seed again"
        )
    baseline, report = _baseline(frozen, state_dir, backend)
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
    )


def _baseline(
    frozen: FrozenTask, state_dir: Path, backend: Callable[[Task], SandboxBackend]
) -> tuple[Baseline, SandboxReport | None]:
    """The source after setup, recorded."""
    if frozen.task.scenario.setup is None:
        folder = PlainFolder(os.fsencode(frozen.source))
        return keep_baseline(
            lambda writer: write_folder(folder, writer, leave_out_git=False), state_dir
        ), None
    # Loaded here: asyncio, and what it takes to read copy-on-write layers.
    run_setup = importlib.import_module("adjudge.workflows.setup").run_setup
    baseline, report = run_setup(frozen.task.scenario, frozen.source, backend(frozen.task), state_dir)
    return baseline, report


def _refuse_without_workspace(given: bool, task: str) -> None:
    if not given:
        raise UsageError(
            f"{task} says nothing about a workspace, so there is nothing to seed",
            hint="add 'workspace:', or grade a folder that exists with adjudge grade",
        )
