"""`adjudge sandbox exec`: run one command in a sandbox and find out what it changed."""

from __future__ import annotations

import asyncio
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from adjudge.capture.baseline import directory_baseline
from adjudge.capture.changes import capture_changes
from adjudge.contracts import OutputObserver
from adjudge.errors import UsageError
from adjudge.records.change import ChangeSet
from adjudge.records.sandbox import ExecRequest, ExecResult, SandboxReport, SandboxSpec, WorkspaceTree
from adjudge.sandbox.choose import choose_backend

__all__ = ["Ran", "run_sandboxed"]


@dataclass(frozen=True)
class Ran:
    """A command that was run, and everything known about it."""

    chosen: str
    """Which sandbox, and why."""
    report: SandboxReport
    result: ExecResult
    changes: ChangeSet


def run_sandboxed(
    sandbox: str,
    workspace: Path | None,
    spec: SandboxSpec,
    request: ExecRequest,
    *,
    on_output: OutputObserver | None = None,
) -> Ran:
    """Run a command over a private copy of `workspace`; the directory itself is never written.

    Args:
        sandbox: A backend's name, or `auto`.
        workspace: What /workspace starts as; None for an empty one.
        spec: What the sandbox is like, apart from its workspace.
        request: The command.
        on_output: Sees output as it arrives.
    """
    if workspace is not None and not os.path.isdir(workspace):
        raise UsageError(f"workspace {workspace} is not a directory")
    choice = choose_backend(sandbox)

    async def run(baseline: Path) -> Ran:
        tree = None if workspace is None else WorkspaceTree(layers=(baseline,))
        wanted = spec.model_copy(update={"workspace": tree})
        async with await choice.backend.start(wanted) as started:
            result = await started.exec(request, on_output=on_output)
            await started.end_processes()
            changes = await asyncio.to_thread(capture_changes, directory_baseline(baseline), started.tree())
            return Ran(choice.explanation, started.report, result, changes)

    if workspace is not None:
        return asyncio.run(run(workspace.resolve()))
    with tempfile.TemporaryDirectory(prefix="adjudge-empty-") as empty:
        return asyncio.run(run(Path(empty)))
