"""The `command` agent: any program that takes an instruction and works in the folder it is started in."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import AfterValidator, Field

from adjudge.agents.session import MAX_RESPONSE, KeptOutput, Session, ending, refuse_fault, sandbox_of
from adjudge.agents.tracing import TraceFeed
from adjudge.contracts import AgentConfig, AgentNeeds, AgentPlace
from adjudge.errors import UsageError
from adjudge.records.run import AgentOutcome, AgentStatus
from adjudge.records.sandbox import ExecRequest
from adjudge.records.trace import BrokenLine, Message, Stop, TraceItem

__all__ = [
    "Command",
    "CommandConfig",
    "CommandSession",
    "ProgramConfig",
    "Variable",
    "command_needs",
    "environment_of",
    "model_of",
]

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


class ProgramConfig(AgentConfig):
    """Fields of every agent that is a program in the sandbox."""

    env: Mapping[Variable, str] = Field(default_factory=dict)
    """Environment variables with fixed values. Not for secrets: they would be kept with every run."""
    credentials: tuple[Variable, ...] = ()
    """Names of variables of ours that the program gets, and the only ones. A missing one stops the run."""
    aliases: Mapping[Variable, Variable] = Field(default_factory=dict)
    """Further names under which the program gets a credential: the name it looks for, then ours."""
    network: bool = False
    """Whether it may reach the network (never this machine's own)."""
    expose: tuple[str, ...] = ()
    """Folders of its installation outside the system's own, shown read-only at the same place."""


class CommandConfig(ProgramConfig):
    """How the program is started.

    An argument may hold `{instruction}`, `{instruction_file}`, `{workspace}`, `{model}` and, for further
    turns, `{session}`. With neither of the first two, the instruction is its stdin.
    """

    argv: tuple[str, ...] = Field(min_length=1)
    """The program and its arguments."""
    resume: tuple[str, ...] = ()
    """The same for further turns. Without it the agent takes one turn."""
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
        return command_needs(config, (config.argv, config.resume), continues=bool(config.resume))

    def start(self, config: CommandConfig, place: AgentPlace) -> CommandSession:
        """Begin; the program is started with the first turn."""
        return CommandSession(config, place, name=self.name)


def command_needs(
    config: ProgramConfig, commands: Sequence[tuple[str, ...]], *, continues: bool
) -> AgentNeeds:
    """What a program needs, from how it is started."""
    for path in config.expose:
        if not path.startswith("/"):
            raise UsageError(f"expose: {path!r} is not absolute")
    for name, of in config.aliases.items():
        if of not in config.credentials:
            raise UsageError(f"aliases: {name} stands for {of}, which is not among the credentials")
    return AgentNeeds(
        network=config.network,
        credentials=config.credentials,
        programs=tuple(dict.fromkeys(argv[0] for argv in commands if argv)),
        expose=tuple(Path(path) for path in config.expose),
        continues=continues,
    )


def environment_of(config: ProgramConfig, credentials: Mapping[str, str]) -> dict[str, str]:
    """What a program finds in its environment beside the sandbox's own."""
    aliased = {name: credentials[of] for name, of in config.aliases.items()}
    return {**config.env, **credentials, **aliased}


def model_of(place: AgentPlace, name: str) -> str:
    """The model, for a program whose arguments name one."""
    if place.model is None:
        raise UsageError(f"agent {name!r} needs a model", hint=f"write {name}:MODEL")
    return place.model


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
        self._feed: TraceFeed | None = None
        if config.trace_format is not None:
            self._feed = TraceFeed(config.trace_format, self._take)
        self._output = KeptOutput(place.blobs, self._feed, hide=place.credentials)
        self._turns = 0
        self._said: str | None = None
        self._failure: str | None = None
        self._events = 0

    async def turn(self, message: str) -> str:
        """Run the program on a message."""
        sandbox = sandbox_of(self.place, self._name)
        template = self._config.resume if self._turns else self._config.argv
        request = await self._request(template, message)
        self._turns += 1
        self._said = self._failure = None
        result = await sandbox.exec(request, on_output=self._output)
        status, reason = ending(result)
        self._output.flush()
        if self._feed is not None:
            await asyncio.to_thread(self._feed.settle)
        response = self._reply()
        if status is AgentStatus.COMPLETED:
            status, reason = self._own_word()
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

    def _take(self, item: TraceItem) -> None:
        """An event of its trace, in the reader's thread."""
        if not isinstance(item, BrokenLine):
            self._events += 1
        if isinstance(item, Message) and item.role == "assistant" and item.agent is None:
            self._said = item.text
        elif isinstance(item, Stop) and item.agent is None:
            self._failure = item.text or item.reason if item.is_error else None
            if item.text and not item.is_error:
                self._said = item.text
        self.place.observe(item)

    def _reply(self) -> str:
        """What it said in this turn: as its trace has it, else what it printed."""
        printed = self._output.take_turn()
        return printed if self._said is None else self._said[-MAX_RESPONSE:]

    def _own_word(self) -> tuple[AgentStatus, str]:
        """How a program that exited with 0 says that it ended."""
        if self._feed is not None and not self._events:
            form = self._config.trace_format
            return AgentStatus.GARBLED, f"what it printed is no {form} trace"
        if self._failure is not None:
            return AgentStatus.CRASHED, f"it stopped in error: {self._failure[:200]}"
        return AgentStatus.COMPLETED, ""

    def _session(self) -> str | None:
        """The id under which the program continues, where it has told one."""
        return self._output.session

    async def finish(self) -> AgentOutcome:
        """What came of it."""
        self.ended = True
        if self._feed is not None:
            await asyncio.to_thread(self._feed.close)
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
        if self._feed is not None:
            await asyncio.to_thread(self._feed.close)
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
            values["model"] = model_of(self.place, self._name)
        if "session" in used:
            session = self._session()
            if session is None:
                raise UsageError(f"agent {self._name!r} told no id to continue with")
            values["session"] = session
        if "instruction_file" in used:
            values["instruction_file"] = await self._write_instruction(message)
        argv = tuple(_PLACEHOLDER.sub(lambda found: values[found[1]], part) for part in template)
        stdin = b"" if used & {"instruction", "instruction_file"} else message.encode()
        env = environment_of(self._config, self.place.credentials)
        return ExecRequest(argv=argv, stdin=stdin, env=env, keep=True)

    async def _write_instruction(self, message: str) -> str:
        """Put a message into a file outside the workspace; where that is, inside the sandbox."""
        sandbox = sandbox_of(self.place, self._name)
        result = await sandbox.exec(
            ExecRequest(argv=("/bin/sh", "-c", _WRITE_INSTRUCTION), stdin=message.encode())
        )
        refuse_fault(result, "the instruction cannot be written")
        return result.stdout.head
