"""The state a task starts in: frozen, set up, and recorded as a baseline."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from pathlib import Path

from adjudge.contracts import SandboxBackend
from adjudge.errors import Problem, UsageError
from adjudge.records.sandbox import SandboxReport
from adjudge.records.task import Task
from adjudge.tasks.freeze import FrozenTask, freeze
from adjudge.tasks.lookup import find_task
from adjudge.tasks.seeds import Baseline, keep_baseline
from adjudge.tasks.trees import PlainFolder, write_folder

__all__ = ["freeze_to_start", "make_baseline"]


def freeze_to_start(task: str, state_dir: Path, keep_in: Path) -> tuple[FrozenTask, tuple[Problem, ...]]:
    """The frozen task that a text means, frozen into `keep_in` when it is not yet, with warnings on it.

    Raises:
        UsageError: It is not valid, or says nothing about a workspace.
    """
    found = find_task(task, state_dir)
    warnings: tuple[Problem, ...] = ()
    if isinstance(found, FrozenTask):
        frozen = found
    else:
        _refuse_without_workspace(found.scenario.workspace is not None, task)
        warnings = found.warnings
        frozen = freeze(found, keep_in)
    _refuse_without_workspace(frozen.task.source_digest is not None, task)
    return frozen, warnings


def make_baseline(
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
