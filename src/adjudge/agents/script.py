"""The `script` agent: fixed steps, always the same. For attacks on recipes, demonstrations and tests."""

from __future__ import annotations

import json
from pathlib import PurePosixPath
from typing import ClassVar

from pydantic import Field

from adjudge.agents.session import KeptOutput, Session, ending, sandbox_of
from adjudge.contracts import AgentConfig, AgentNeeds, AgentPlace
from adjudge.errors import SubjectError
from adjudge.records.attack import RunStep, WriteStep
from adjudge.records.run import AgentOutcome, AgentStatus
from adjudge.records.sandbox import ExecRequest
from adjudge.records.trace import Message, ToolCall, ToolKind, ToolResult

__all__ = ["Script"]

_MAX_SHOWN = 4000
"""Characters of an output that go into the trace."""


class Script:
    """Takes fixed steps: writes files into the workspace and runs commands there, without any model.

    Every step is in its trace as a call of a tool, as other agents' are. A command that fails ends it.
    """

    name: ClassVar[str] = "script"

    class Config(AgentConfig):
        """Which steps."""

        steps: tuple[WriteStep | RunStep, ...] = ()
        """In their order: `{write: PATH, text: TEXT}` or `{run: COMMAND}`."""
        says: str = Field(default="Done.")
        """What it answers at the end."""

    def needs(self, config: Config) -> AgentNeeds:
        """A workspace."""
        return AgentNeeds()

    def start(self, config: Config, place: AgentPlace) -> Session:
        """Begin; the first turn takes all steps."""
        return _Playing(config, place)


class _Playing(Session):
    def __init__(self, config: Script.Config, place: AgentPlace) -> None:
        super().__init__(place)
        self._config = config
        self._output = KeptOutput(place.blobs, hide=place.credentials)

    async def turn(self, message: str) -> str:
        """Take every step, whatever was asked."""
        self.ended = True
        status, reason = AgentStatus.COMPLETED, ""
        exit_code: int | None = 0
        for number, step in enumerate(self._config.steps, start=1):
            if isinstance(step, WriteStep):
                status, reason = await self._write(str(number), step)
            else:
                status, reason, exit_code = await self._run(str(number), step)
            if status is not AgentStatus.COMPLETED:
                break
        response = self._config.says if status is AgentStatus.COMPLETED else ""
        if response:
            self.place.observe(Message(role="assistant", text=response))
        self.outcome = self.outcome.model_copy(
            update={
                "status": status,
                "reason": reason,
                "exit_code": exit_code,
                "response": response,
                "turns": 1,
            }
        )
        return response

    async def _write(self, id_: str, step: WriteStep) -> tuple[AgentStatus, str]:
        sandbox = sandbox_of(self.place, Script.name)
        given = json.dumps({"path": step.write, "content": step.text}, ensure_ascii=False)
        self._call(id_, "write", ToolKind.EDIT, given)
        try:
            await sandbox.write_file(PurePosixPath(step.write), step.text.encode("utf-8", "replace"))
        except SubjectError as error:
            self.place.observe(ToolResult(call_id=id_, text=error.message, is_error=True))
            return AgentStatus.CRASHED, f"{step.write} cannot be written: {error.message}"
        self.place.observe(ToolResult(call_id=id_, is_error=False))
        return AgentStatus.COMPLETED, ""

    async def _run(self, id_: str, step: RunStep) -> tuple[AgentStatus, str, int | None]:
        sandbox = sandbox_of(self.place, Script.name)
        self._call(id_, "bash", ToolKind.EXECUTE, json.dumps({"command": step.run}, ensure_ascii=False))
        request = ExecRequest(argv=("/bin/sh", "-c", step.run), keep=True)
        result = await sandbox.exec(request, on_output=self._output)
        said = self._output.take_turn()
        status, reason = ending(result)
        failed = status is not AgentStatus.COMPLETED
        shown = said[-_MAX_SHOWN:] + (result.stderr.text[-_MAX_SHOWN:] if failed else "")
        self.place.observe(ToolResult(call_id=id_, text=shown, is_error=failed))
        return status, reason and f"{reason}: {_first_line(step.run)}", result.exit_code

    def _call(self, id_: str, name: str, kind: ToolKind, given: str) -> None:
        self.place.observe(ToolCall(id=id_, raw_name=name, name=name, kind=kind, input=given))

    async def finish(self) -> AgentOutcome:
        """What came of it."""
        self.ended = True
        stdout, stderr = self._output.commit()
        self.outcome = self.outcome.model_copy(update={"stdout": stdout, "stderr": stderr})
        return self.outcome

    async def __aexit__(self, *exc: object) -> None:
        self.ended = True
        self._output.abort()


def _first_line(command: str) -> str:
    return command.strip().splitlines()[0][:80]
