"""A task's reference solution, put into a sandbox: for collectors that ask what the right answer is.

It is shown to nobody but its own sandbox. Code of an attempt never runs where it lies.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from adjudge.contracts import Sandbox, Subject
from adjudge.errors import UsageError
from adjudge.evidence.differential import BASELINE
from adjudge.evidence.hiddenfiles import read_scenario_file
from adjudge.formats.scripts import script_argv
from adjudge.records.evidence import GradedTree
from adjudge.records.hidden import HiddenFile
from adjudge.records.sandbox import Ended, ExecRequest, Mount

__all__ = ["Reference", "find_reference"]

_PATCHES: Final = (".patch", ".diff")
_SOLUTION: Final = PurePosixPath("/solution")


@dataclass(frozen=True)
class Reference:
    """How a reference solution is made out of the baseline."""

    tree: GradedTree
    """The baseline with what a patch or a folder brings."""
    script: Path | None = None
    """On this machine; None where nothing has to be run."""
    env: tuple[tuple[str, str], ...] = ()

    @property
    def mounts(self) -> tuple[Mount, ...]:
        """What its script needs to see."""
        return () if self.script is None else (Mount(source=self.script.parent, target=_SOLUTION),)

    async def solve(self, sandbox: Sandbox) -> None:
        """Run the script, where there is one.

        Raises:
            UsageError: It fails.
        """
        if self.script is None:
            return
        with self.script.open("rb") as file:
            first = file.readline(4096)
        folder = _SOLUTION if sandbox.report.isolated else PurePosixPath(self.script.parent)
        argv = script_argv(first, str(folder / self.script.name))
        env = {"SOLUTION_DIR": str(folder), **dict(self.env)}
        result = await sandbox.exec(ExecRequest(argv=argv, env=env))
        if result.ended is not Ended.EXITED or result.exit_code != 0:
            raise UsageError(f"the reference solution {self.script.name} fails on the baseline")


def find_reference(path: str | None, subject: Subject) -> Reference | None:
    """The reference solution; None where the task has none.

    Args:
        path: Where it lies among the scenario's files. None: the scenario's `solution`.
        subject: What is graded.

    Raises:
        StoreError: A file of it is not what the task was made with.
    """
    scenario = subject.task.scenario
    named = path or scenario.solution
    if named is None or subject.scenario_files is None:
        return None
    if any(entry.path.startswith(f"{named}/") for entry in subject.task.files):
        return Reference(BASELINE.model_copy(update={"inject": (HiddenFile(src=named, dest="."),)}))
    entry = next((entry for entry in subject.task.files if entry.path == named), None)
    if entry is None:
        return None
    if named.endswith(_PATCHES):
        return Reference(BASELINE.model_copy(update={"test_patch": named}))
    read_scenario_file(entry, subject.scenario_files)
    return Reference(BASELINE, subject.scenario_files / named, tuple(scenario.solution_env.items()))
