"""The `python` agent: a function of yours, called inside the sandbox."""

from __future__ import annotations

import importlib.resources
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import AfterValidator, Field

from adjudge.agents.command import ProgramConfig, command_needs, environment_of
from adjudge.agents.session import MAX_RESPONSE, KeptOutput, Session, ending, sandbox_of
from adjudge.contracts import AgentNeeds, AgentPlace
from adjudge.errors import UsageError
from adjudge.records.run import AgentOutcome, AgentStatus
from adjudge.records.sandbox import ExecRequest

__all__ = ["Python", "PythonConfig"]

_NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*(\.[A-Za-z_]\w*)*\Z")


def _callable(name: str) -> str:
    if not _NAME.match(name):
        raise ValueError(f"{name[:100]!r} is not written as module:function")
    return name


class PythonConfig(ProgramConfig):
    """Which function, and where it is found."""

    callable: Annotated[str, AfterValidator(_callable)]
    """`module:function`. Called with the message, and by name with what it takes of `model`, `workspace` and
    `history` (the exchanges so far, as pairs). What it returns is its reply; it may be a coroutine."""
    path: tuple[str, ...] = ()
    """Folders in which its module is looked for, shown read-only in the sandbox. Not the scenario's own: the
    agent would see how it is graded."""
    python: str = Field(default="python3", min_length=1)
    """The interpreter inside the sandbox."""


class Python:
    """Calls a function with the instruction; the folder it works in is the workspace.

    Each turn is a process of its own; earlier exchanges are handed over.
    """

    name: ClassVar[str] = "python"
    Config = PythonConfig

    def needs(self, config: PythonConfig) -> AgentNeeds:
        """The interpreter, and the folders of its module."""
        folders = [Path(path).resolve() for path in config.path]
        for folder in folders:
            if not folder.is_dir():
                raise UsageError(f"path: {folder} is not a folder")
        needs = command_needs(config, ((config.python,),), continues=True)
        return needs._replace(expose=(*needs.expose, *folders))

    def start(self, config: PythonConfig, place: AgentPlace) -> Session:
        """Begin; the function is called with the first turn."""
        return _Calling(config, place)


class _Calling(Session):
    def __init__(self, config: PythonConfig, place: AgentPlace) -> None:
        super().__init__(place)
        self._config = config
        self._path = [str(Path(path).resolve()) for path in config.path]
        self._output = KeptOutput(place.blobs, hide=place.credentials)
        self._history: list[tuple[str, str]] = []

    async def turn(self, message: str) -> str:
        """Call the function."""
        config, place = self._config, self.place
        sandbox = sandbox_of(place, Python.name)
        runner = importlib.resources.files("adjudge.agents.inside").joinpath("call_function.py").read_text()
        given: Mapping[str, object] = {
            "callable": config.callable,
            "path": self._path,
            "message": message,
            "options": {
                "model": place.model,
                "workspace": str(place.workspace),
                "history": self._history,
            },
        }
        result = await sandbox.exec(
            ExecRequest(
                argv=(config.python, "-c", runner),
                stdin=json.dumps(given).encode(),
                env=environment_of(config, place.credentials),
                keep=True,
            ),
            on_output=self._output,
        )
        status, reason = ending(result)
        said = self._output.take_turn()
        response = ""
        if status is AgentStatus.COMPLETED:
            try:
                response = str(json.loads(said)["response"])[:MAX_RESPONSE]
            except (ValueError, KeyError, TypeError, RecursionError):
                status, reason = AgentStatus.GARBLED, "it returned nothing that can be read"
        elif result.exit_code == _RAISED:
            reason = "it raised an exception"
        self._history.append((message, response))
        self.ended = status is not AgentStatus.COMPLETED
        self.outcome = self.outcome.model_copy(
            update={
                "status": status,
                "reason": reason,
                "exit_code": result.exit_code,
                "response": response,
                "turns": len(self._history),
            }
        )
        return response

    async def finish(self) -> AgentOutcome:
        """What came of it."""
        self.ended = True
        stdout, stderr = self._output.commit()
        self.outcome = self.outcome.model_copy(update={"stdout": stdout, "stderr": stderr})
        return self.outcome

    async def __aexit__(self, *exc: object) -> None:
        self.ended = True
        self._output.abort()


_RAISED = 70
