"""The agent conformance suite: what `contracts.Agent` promises, one check per sentence.

For an agent of your own, in a test module:

    from adjudge.testing.agents import AgentConformance

    class TestMyAgent(AgentConformance):
        agent = MyAgent
        config = {"level": 3}

pytest then runs every check as a test of its own. Nothing is really run: the sandbox is one that answers as
the check wants it to, so that every way a program can end is tried in milliseconds.
"""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
from collections.abc import Awaitable, Callable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar, Self

import pytest

from adjudge.contracts import AgentConfig, AgentNeeds, AgentPlace, OutputObserver
from adjudge.errors import AdjudgeError, InfraError, SandboxError
from adjudge.formats.blobs import BlobDescriber
from adjudge.records.base import BlobRef
from adjudge.records.fielddocs import describe_fields
from adjudge.records.run import AgentOutcome, AgentStatus
from adjudge.records.sandbox import (
    Ended,
    ExecRequest,
    ExecResult,
    LeftProcess,
    Network,
    OutsideWrite,
    SandboxReport,
    Usage,
    WorkspaceTree,
)
from adjudge.records.score import Recipe
from adjudge.records.task import RunLimits, Scenario, Task
from adjudge.records.trace import TraceItem
from adjudge.testing.blobs import MemoryBlobs

__all__ = ["CHECKS", "AgentCheck", "AgentConformance", "ScriptedSandbox", "agent_place"]

_SECRET = "secret-3f8a1c52"
_PATIENCE_S = 120.0


@dataclass
class ScriptedSandbox:
    """A `contracts.Sandbox` in which nothing runs: every command ends the same way.

    Args:
        ended: How commands end.
        exit_code: With `exited`: their exit code.
        stdout: What they print.
        failure: Raised instead, when set.
    """

    ended: Ended = Ended.EXITED
    exit_code: int = 0
    stdout: bytes = b""
    failure: Exception | None = None
    asked: list[ExecRequest] = field(default_factory=list)
    """What was asked for, in order."""
    report: SandboxReport = field(
        default_factory=lambda: SandboxReport(
            backend="scripted", isolated=True, copy_on_write="none", network=Network.NONE, limits_held_by={}
        )
    )

    async def exec(
        self, request: ExecRequest, *, on_output: OutputObserver | None = None, stdin: int | None = None
    ) -> ExecResult:
        """Say how the command ended."""
        self.asked.append(request)
        await asyncio.sleep(0)
        if self.failure is not None:
            raise self.failure
        if on_output is not None and self.stdout:
            on_output("stdout", self.stdout)
        return ExecResult(
            ended=self.ended,
            exit_code=self.exit_code if self.ended is Ended.EXITED else None,
            signal=9 if self.ended is Ended.SIGNALLED else None,
            stdout=_described(self.stdout),
            stderr=_described(b""),
            usage=Usage(wall_s=0.0),
        )

    async def enter(
        self, request: ExecRequest, *, on_output: OutputObserver | None = None, stdin: int | None = None
    ) -> ExecResult:
        """The same as `exec`."""
        return await self.exec(request, on_output=on_output, stdin=stdin)

    async def freeze(self) -> tuple[LeftProcess, ...]:
        """There is nothing to freeze."""
        return ()

    async def thaw(self) -> None:
        """There is nothing to thaw."""

    def outside_writes(self) -> tuple[OutsideWrite, ...] | None:
        """Nothing is written."""
        return ()

    async def read_file(self, path: PurePosixPath, *, max_bytes: int) -> bytes:
        """There are no files."""
        raise FileNotFoundError(2, "no such file in the sandbox", str(path))

    async def write_file(self, path: PurePosixPath, data: bytes, *, mode: int = 0o644) -> None:
        """Nothing is written."""

    async def end_processes(self) -> None:
        """There are none."""

    def tree(self) -> WorkspaceTree:
        """There is none."""
        return WorkspaceTree(layers=(Path("/nonexistent"),))

    async def discard(self) -> None:
        """There is nothing to discard."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        """Nothing is left."""


def _described(data: bytes) -> BlobRef:
    describer = BlobDescriber()
    describer.update(data)
    return describer.describe(stored=False)


@dataclass
class _Bench:
    agent: Any
    config: AgentConfig
    files: Path
    solution: str
    seen: list[TraceItem] = field(default_factory=list)

    def place(self, sandbox: ScriptedSandbox) -> AgentPlace:
        return agent_place(
            sandbox,
            credentials=dict.fromkeys(self.agent.needs(self.config).credentials, _SECRET),
            files=self.files,
            solution=self.solution,
            observe=self.seen.append,
        )

    async def attempt(self, sandbox: ScriptedSandbox) -> AgentOutcome:
        """One turn, from start to end."""
        async with asyncio.timeout(_PATIENCE_S):
            async with self.agent.start(self.config, self.place(sandbox)) as session:
                reply = await session.turn("Do it.")
                assert isinstance(reply, str), f"turn() returned {type(reply).__name__}, expected a text"
                outcome = await session.finish()
                assert session.ended, "a session that is finished takes further turns"
        assert isinstance(outcome, AgentOutcome), f"finish() returned {type(outcome).__name__}"
        return outcome


def agent_place(
    sandbox: ScriptedSandbox | None,
    *,
    credentials: Mapping[str, str] | None = None,
    files: Path | None = None,
    solution: str | None = None,
    observe: Callable[[TraceItem], None] = lambda _: None,
) -> AgentPlace:
    """A place for an agent under test."""
    scenario = Scenario(name="task", instruction="Do it.", recipe=Recipe(scorers=()), solution=solution)
    task = Task(name="task", digest=f"sha256:{'0' * 64}", scenario=scenario)
    return AgentPlace(
        instruction=scenario.instruction,
        model="some-model",
        limits=RunLimits(wall_s=30),
        sandbox=sandbox,
        workspace=PurePosixPath("/workspace"),
        task=task,
        task_files=files,
        at_start=lambda _: None,
        blobs=MemoryBlobs(),
        credentials=credentials or {},
        observe=observe,
    )


@dataclass(frozen=True, slots=True)
class AgentCheck:
    """One promise of the agent contract. `run` raises `AssertionError` when it is not kept."""

    name: str
    promise: str
    run: Callable[[_Bench], Awaitable[None]]


CHECKS: list[AgentCheck] = []
"""Every check."""


def _check(body: Callable[[_Bench], Awaitable[None]]) -> Callable[[_Bench], Awaitable[None]]:
    promise = (body.__doc__ or "").strip().splitlines()[0]
    CHECKS.append(AgentCheck(body.__name__, promise, body))
    return body


@_check
async def it_has_a_name_and_says_what_it_is(bench: _Bench) -> None:
    """An agent has a name and a docstring."""
    assert isinstance(bench.agent.name, str)
    assert bench.agent.name
    assert (type(bench.agent).__doc__ or "").strip(), "the class has no docstring"


@_check
async def its_fields_are_strict_and_documented(bench: _Bench) -> None:
    """Its fields refuse what they do not know, cannot be changed, and each says what it is for."""
    config = type(bench.config)
    assert issubclass(config, AgentConfig)
    with pytest.raises(ValueError, match="no_such_field"):
        config.model_validate({**bench.config.model_dump(), "no_such_field": 1})
    properties = config.model_json_schema().get("properties", {})
    describe_fields(config, {"properties": properties})
    undocumented = [name for name, schema in properties.items() if not schema.get("description")]
    assert not undocumented, f"fields without a docstring: {', '.join(undocumented)}"


@_check
async def its_set_up_survives_being_kept(bench: _Bench) -> None:
    """What is kept of its fields makes the same set-up again."""
    kept = json.loads(json.dumps(bench.config.model_dump(mode="json")))
    assert type(bench.config).model_validate(kept) == bench.config


@_check
async def its_needs_are_the_same_each_time(bench: _Bench) -> None:
    """What it needs follows from its fields alone."""
    first, second = bench.agent.needs(bench.config), type(bench.agent)().needs(bench.config)
    assert isinstance(first, AgentNeeds)
    assert first == second


@_check
async def nothing_runs_before_the_first_turn(bench: _Bench) -> None:
    """Starting it runs nothing, and a session without a turn can be finished."""
    sandbox = ScriptedSandbox()
    async with bench.agent.start(bench.config, bench.place(sandbox)) as session:
        await asyncio.sleep(0)
        assert not sandbox.asked, "something was run before the first turn"
        outcome = await session.finish()
    assert isinstance(outcome, AgentOutcome)


@_check
async def however_its_program_ends_is_data(bench: _Bench) -> None:
    """A program that fails, is killed or prints garbage makes an outcome, never an exception."""
    for ended in Ended:
        for stdout in (b"", os.urandom(3000), b'{"type": 7}\n[[[\n' * 50):
            sandbox = ScriptedSandbox(ended=ended, exit_code=3, stdout=stdout)
            try:
                outcome = await bench.attempt(sandbox)
            except InfraError:
                # Its own errands in the sandbox may have to work.
                continue
            if sandbox.asked:
                assert outcome.status is not AgentStatus.COMPLETED, f"{ended} is told as completed"
                assert outcome.reason, f"{ended} is told without a reason"


@_check
async def an_outcome_can_be_kept(bench: _Bench) -> None:
    """An outcome survives being written and read, whatever was printed."""
    sandbox = ScriptedSandbox(stdout=b"said \xff\xfe\x00 \xed\xa0\x80 something\n")
    try:
        outcome = await bench.attempt(sandbox)
    except InfraError:
        return
    assert AgentOutcome.model_validate_json(outcome.model_dump_json()) == outcome


@_check
async def our_failures_are_not_its_own(bench: _Bench) -> None:
    """A sandbox that fails is no outcome: the error reaches the caller."""
    sandbox = ScriptedSandbox(failure=SandboxError("the sandbox failed"))
    told: AdjudgeError | None = None
    try:
        await bench.attempt(sandbox)
    except AdjudgeError as error:
        told = error
    if told is None:
        assert not sandbox.asked, "the sandbox failed, and nobody was told"
    else:
        assert isinstance(told, InfraError), f"{told!r} blames the caller"


@_check
async def credentials_are_named_and_never_kept(bench: _Bench) -> None:
    """The value of a credential is in no outcome, no event and no command line."""
    sandbox = ScriptedSandbox(stdout=b"done\n")
    try:
        outcome = await bench.attempt(sandbox)
    except InfraError:
        return
    told = outcome.model_dump_json() + "".join(item.model_dump_json() for item in bench.seen)
    assert _SECRET not in told, "a credential is in what is kept"
    assert not any(_SECRET in part for request in sandbox.asked for part in request.command)


class AgentConformance:
    """Subclass it in a test module as `Test…` and set `agent`; pytest does the rest."""

    agent: ClassVar[Any]
    """The class of the agent."""
    config: ClassVar[Mapping[str, Any]] = {}
    """A set-up of it that works."""
    files: ClassVar[Mapping[str, str]] = {}
    """Files of the task, for an agent that is shown them."""
    solution: ClassVar[str] = "fix.sh"

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """One test for each check."""
        if "agent_check" in metafunc.fixturenames:
            metafunc.parametrize("agent_check", CHECKS, ids=[check.name for check in CHECKS])

    def test_promise(self, agent_check: AgentCheck) -> None:
        """Try one promise on the agent."""
        with _folder({"fix.sh": "true\n", **self.files}) as files:
            config = type(self).agent.Config.model_validate(dict(self.config))
            bench = _Bench(type(self).agent(), config, files, self.solution)
            asyncio.run(_run(agent_check, bench))


async def _run(check: AgentCheck, bench: _Bench) -> None:
    await check.run(bench)


@contextmanager
def _folder(files: Mapping[str, str]) -> Any:
    with tempfile.TemporaryDirectory(prefix="adjudge-agent-") as place:
        for path, text in files.items():
            (Path(place) / path).parent.mkdir(parents=True, exist_ok=True)
            (Path(place) / path).write_text(text)
        yield Path(place)
