"""The `oracle` agent: the task's own reference solution. What a recipe must pass."""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath
from typing import ClassVar

from adjudge.agents.applying import apply_files, patched_files
from adjudge.agents.session import KeptOutput, Session, ending, sandbox_of
from adjudge.contracts import AgentConfig, AgentNeeds, AgentPlace
from adjudge.errors import PatchUnreadable, UsageError
from adjudge.formats.patching import TreeFile
from adjudge.formats.scripts import script_argv
from adjudge.records.paths import path_from_bytes
from adjudge.records.sandbox import ExecRequest

__all__ = ["SOLUTION", "Oracle"]

SOLUTION = PurePosixPath("/solution")
"""Where the folder of a reference solution is shown, as task directories expect it."""
_PATCHES = (".patch", ".diff")


class Oracle:
    """Applies the scenario's `solution`: a patch, a folder of files laid over the workspace, or a script.

    Run it to see that a recipe passes a good attempt. A script runs in the workspace, inside the sandbox; the
    folder it lies in is shown at `/solution`.
    """

    name: ClassVar[str] = "oracle"

    class Config(AgentConfig):
        """Nothing to set."""

    def needs(self, config: Config) -> AgentNeeds:
        """The solution."""
        return AgentNeeds(solution=True)

    def start(self, config: Config, place: AgentPlace) -> Session:
        """Begin with the solution that the task was frozen with."""
        solution = place.task.scenario.solution
        if solution is None or place.task_files is None:
            raise UsageError(
                f"task {place.task.name!r} has no reference solution",
                hint="name a patch, a folder or a script with 'solution:' in the scenario",
            )
        return _Solving(place, solution, place.task_files / solution)


class _Solving(Session):
    def __init__(self, place: AgentPlace, path: str, on_host: Path) -> None:
        super().__init__(place)
        self._path = path
        self._on_host = on_host
        self._is_folder = os.path.isdir(on_host)

    async def turn(self, message: str) -> str:
        """Apply the solution, whatever was asked."""
        sandbox = sandbox_of(self.place, Oracle.name)
        self.ended = True
        done = self.outcome.model_copy(update={"turns": 1})
        if self._is_folder:
            await apply_files(sandbox, _files_below(self._on_host))
        elif self._path.endswith(_PATCHES):
            try:
                files = patched_files(self._on_host.read_bytes(), self.place)
            except PatchUnreadable as error:
                raise UsageError(f"the solution {self._path} does not apply: {error.message}") from error
            await apply_files(sandbox, files)
        else:
            output = KeptOutput(self.place.blobs)
            try:
                result = await sandbox.exec(self._script(isolated=sandbox.report.isolated), on_output=output)
            except BaseException:
                output.abort()
                raise
            status, reason = ending(result)
            said = output.take_turn()
            stdout, stderr = output.commit()
            done = done.model_copy(
                update={
                    "status": status,
                    "reason": reason,
                    "exit_code": result.exit_code,
                    "response": said,
                    "stdout": stdout,
                    "stderr": stderr,
                }
            )
        self.outcome = done
        return done.response

    def _script(self, *, isolated: bool) -> ExecRequest:
        folder = SOLUTION if isolated else PurePosixPath(self._on_host.parent)
        place = str(folder / self._on_host.name)
        with self._on_host.open("rb") as file:
            first = file.readline(4096)
        env = {"SOLUTION_DIR": str(folder), **self.place.task.scenario.solution_env}
        return ExecRequest(argv=script_argv(first, place), env=env, keep=True)


def _files_below(folder: Path) -> dict[str, TreeFile | None]:
    """Every file of a folder of ours; a frozen task holds no links."""
    found: dict[str, TreeFile | None] = {}
    top = os.fsencode(folder)
    for here, _, names in os.walk(top):
        for name in names:
            place = os.path.join(here, name)
            mode = 0o100755 if os.stat(place).st_mode & 0o100 else 0o100644
            with open(place, "rb") as file:
                found[path_from_bytes(os.path.relpath(place, top))] = TreeFile(mode, file.read())
    return found
