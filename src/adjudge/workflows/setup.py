"""Running a task's setup command in a sandbox, and taking over what it left in the workspace."""

from __future__ import annotations

import asyncio
from pathlib import Path

from adjudge.capture.layers import DiskTree, LayerPool
from adjudge.contracts import SandboxBackend
from adjudge.engine.collectors import sandbox_spec
from adjudge.errors import SandboxError, SandboxUnavailable, UsageError
from adjudge.records.sandbox import Ended, ExecRequest, ExecResult, Network, SandboxReport, WorkspaceTree
from adjudge.records.task import Scenario
from adjudge.tasks.seeds import Baseline, keep_baseline
from adjudge.tasks.trees import write_folder

__all__ = ["run_setup"]

_TAIL_CHARACTERS = 2000


def run_setup(
    scenario: Scenario, source: Path, backend: SandboxBackend, state_dir: Path
) -> tuple[Baseline, SandboxReport]:
    """Run the setup command over a source tree; what it leaves in the workspace is the baseline.

    Raises:
        UsageError: The command failed; the end of its output is in the message.
        SandboxError: The sandbox failed, twice.
    """
    try:
        return asyncio.run(_run_setup(scenario, source, backend, state_dir))
    except SandboxUnavailable:
        raise
    except SandboxError:
        return asyncio.run(_run_setup(scenario, source, backend, state_dir))


async def _run_setup(
    scenario: Scenario, source: Path, backend: SandboxBackend, state_dir: Path
) -> tuple[Baseline, SandboxReport]:
    setup = scenario.setup
    assert setup is not None
    common = sandbox_spec(scenario.sandbox)
    spec = common.model_copy(
        update={
            "workspace": WorkspaceTree(layers=(source,)),
            # Installers move whole directories about.
            "exact_renames": True,
            "network": Network.EGRESS if setup.network else Network.NONE,
            "limits": common.limits.model_copy(update={"wall_s": setup.timeout_s}),
        }
    )
    async with await backend.start(spec) as sandbox:
        result = await sandbox.exec(ExecRequest(shell=setup.command))
        if not result.ok:
            raise UsageError(f"setup failed: {_how_it_ended(result, setup.timeout_s)}{_tail(result)}")
        await sandbox.end_processes()
        with LayerPool() as pool:
            root = DiskTree(sandbox.tree(), pool).root
            baseline = keep_baseline(
                lambda writer: write_folder(root, writer, leave_out_git=False, drop_special=True), state_dir
            )
        return baseline, sandbox.report


def _how_it_ended(result: ExecResult, timeout_s: float) -> str:
    match result.ended:
        case Ended.EXITED:
            return f"exit {result.exit_code}"
        case Ended.SIGNALLED:
            return f"ended by signal {result.signal}"
        case Ended.TIMED_OUT:
            return f"timed out after {timeout_s:g} s"
    return f"{result.ended.value.replace('_', ' ')}{f' ({result.reason})' if result.reason else ''}"


def _tail(result: ExecResult) -> str:
    """The end of what the command printed, stderr last, indented below the message."""
    said = "\n".join(text.strip("\n") for text in (result.stdout.text, result.stderr.text) if text.strip())
    lines = said[-_TAIL_CHARACTERS:].splitlines()
    return "".join(f"\n  | {line}" for line in lines)
