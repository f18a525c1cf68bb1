"""The `command` agent: any program that takes an instruction and works in the folder it is started in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import AfterValidator, Field

from adjudge.agents.session import KeptOutput, Session, ending, refuse_fault, sandbox_of
from adjudge.contracts import AgentConfig, AgentNeeds, AgentPlace
from adjudge.errors import UsageError
from adjudge.records.run import AgentOutcome, AgentStatus
from adjudge.records.sandbox import ExecRequest

__all__ = ["Command", "CommandConfig", "CommandSession", "Variable", "command_needs"]

_PLACEHOLDER = re.compile(r"\{(instruction|instruction_file|workspace|model|session)\}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_MAX_ARGUMENT_BYTES = 128 * 1024 - 1
"""What the kernel takes as one argument."""
_WRITE_INSTRUCTION = 'f="${TMPDIR:-/tmp}/instruction.md" && cat > "$f" && printf %s "$f"'


def _variable(name: str) -> str:
    if not _VARIABLE.match(name):
        raise ValueError(f"{name[:60]!r} is not a name for an environment variable")
    return name


Variable = Annotated[str, AfterValidator(_variable)]


class CommandConfig(AgentConfig):
    """How the program is started.

    An argument may hold `{instruction}`, `{instruction_file}`, `{workspace}`, `{model}` and, for further
    turns, `{session}`. With neither of the first two, the instruction is its stdin.
    """

    argv: tuple[str, ...] = Field(min_length=1)
    """The program and its arguments."""
    resume: tuple[str, ...] = ()
    """The same for further turns. Without it the agent takes one turn."""
    env: Mapping[Variable, str] = Field(default_factory=dict)
    """Environment variables with fixed values. Not for secrets: they would be kept with every run."""
    credentials: tuple[Variable, ...] = ()
    """Names of variables of ours that the program gets, and the only ones. A missing one stops the run."""
    network: bool = False
    """Whether it may reach the network (never this machine's own)."""
    expose: tuple[str, ...] = ()
    """Folders of its installation outside the system's own, shown read-only at the same place."""
    trace_format: str | None = None
    """What it prints: the name of a trace format. Without one, its output is its reply."""


class Command:
    """Runs a program in the workspace, once for each turn.

    The program is found inside the sandbox. Its exit code, its output and whatever it left in the workspace
    are taken as they are.
    """

    name: ClassVar[str] = "command"
    Config = CommandConfig

    def needs(self, config: CommandConfig) -> AgentNeeds:
        """The program, and what was declared for it."""
        return command_needs(config)

    def start(self, config: CommandConfig, place: AgentPlace) -> CommandSession:
        """Begin; the program is started with the first turn."""
        return CommandSession(config, place, name=self.name)


def command_needs(config: CommandConfig) -> AgentNeeds:
    """What a program needs, from how it is started."""
    for path in config.expose:
        if not path.startswith("/"):
            raise UsageError(f"expose: {path!r} is not absolute")
    return AgentNeeds(
        network=config.network,
        credentials=config.credentials,
        programs=tuple(dict.fromkeys(argv[0] for argv in (config.argv, config.resume) if argv)),
        expose=tuple(Path(path) for path in config.expose),
        continues=bool(config.resume),
    )


class CommandSession(Session):
    """A program, started anew for each turn.

    Args:
        config: How.
        place: Where.
        name: What messages call the agent.
    """

    def __init__(self, config: CommandConfig, place: AgentPlace, *, name: str) -> None:
        super().__init__(place)
        self._config = config
        self._name = name
        self._output = KeptOutput(place.blobs)
        self._turns = 0

    async def turn(self, message: str) -> str:
        """Run the program on a message."""
        sandbox = sandbox_of(self.place, self._name)
        template = self._config.resume if self._turns else self._config.argv
        request = await self._request(template, message)
        self._turns += 1
        result = await sandbox.exec(request, on_output=self._output)
        status, reason = ending(result)
        response = self._reply()
        self.outcome = self.outcome.model_copy(
            update={
                "status": status,
                "reason": reason,
                "exit_code": result.exit_code,
                "response": response,
                "turns": self._turns,
            }
        )
        self.ended = status is not AgentStatus.COMPLETED or not self._config.resume
        return response

    def _reply(self) -> str:
        """What it said in this turn."""
        return self._output.take_turn()

    def _session(self) -> str | None:
        """The id under which the program continues, where it has told one."""
        return None

    async def finish(self) -> AgentOutcome:
        """What came of it."""
        self.ended = True
        stdout, stderr = self._output.commit()
        traced = {} if self._config.trace_format is None else {"raw_trace": stdout}
        self.outcome = self.outcome.model_copy(
            update={
                "stdout": stdout,
                "stderr": stderr,
                "trace_format": self._config.trace_format,
                **traced,
            }
        )
        return self.outcome

    async def __aexit__(self, *exc: object) -> None:
        self.ended = True
        self._output.abort()

    async def _request(self, template: tuple[str, ...], message: str) -> ExecRequest:
        used = {name for part in template for name in _PLACEHOLDER.findall(part)}
        values = {"instruction": message, "workspace": str(self.place.workspace)}
        if "instruction" in used and len(message.encode()) > _MAX_ARGUMENT_BYTES:
            raise UsageError(
                f"the instruction is too long to be an argument of {template[0]}",
                hint="use {instruction_file} in argv, or let the program read its stdin",
            )
        if "model" in used:
            if self.place.model is None:
                raise UsageError(f"agent {self._name!r} needs a model", hint=f"write {self._name}:MODEL")
            values["model"] = self.place.model
        if "session" in used:
            session = self._session()
            if session is None:
                raise UsageError(f"agent {self._name!r} told no id to continue with")
            values["session"] = session
        if "instruction_file" in used:
            values["instruction_file"] = await self._write_instruction(message)
        argv = tuple(_PLACEHOLDER.sub(lambda found: values[found[1]], part) for part in template)
        stdin = b"" if used & {"instruction", "instruction_file"} else message.encode()
        return ExecRequest(argv=argv, stdin=stdin, env={**self._config.env, **self.place.credentials})

    async def _write_instruction(self, message: str) -> str:
        """Put a message into a file outside the workspace; where that is, inside the sandbox."""
        sandbox = sandbox_of(self.place, self._name)
        result = await sandbox.exec(
            ExecRequest(argv=("/bin/sh", "-c", _WRITE_INSTRUCTION), stdin=message.encode())
        )
        refuse_fault(result, "the instruction cannot be written")
        return result.stdout.head
