"""One attempt: an agent at work in a sandbox until it ends or is ended, then all that it left, captured.

Whatever the agent does is data in the `Attempt`; only what keeps us from running it raises, as a `RunFault`.
The sandbox with its copy-on-write layer lives as long as the block, so that grading happens inside it.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from adjudge.capture.changes import capture_changes
from adjudge.capture.fingerprint import StatIndex, record_stat_index
from adjudge.contracts import (
    AgentNeeds,
    AgentPlace,
    AgentSession,
    BlobStore,
    Sandbox,
    SandboxBackend,
    Subject,
)
from adjudge.engine.collectors import sandbox_spec
from adjudge.errors import AdjudgeError, CaptureError, InfraError, RunFault, SubjectError
from adjudge.formats.traces.summary import usage_of
from adjudge.records.run import AgentOutcome, AgentRef, AgentStatus, Attempt
from adjudge.records.sandbox import ExecRequest, Mount, Network, SandboxReport, SandboxSpec
from adjudge.records.task import RunLimits, Task
from adjudge.records.trace import TraceItem
from adjudge.workflows.agents import ReadyAgent, ready_agent, refuse_misfit
from adjudge.workflows.contents import TreeContents
from adjudge.workflows.patched import look_up
from adjudge.workflows.recording import Recording
from adjudge.workflows.startingpoint import StartingPoint
from adjudge.workflows.storedchanges import store_changes

__all__ = ["AttemptOrder", "Attempted", "Exchange", "NextMessage", "run_attempt"]

Exchange = tuple[str, str]
"""A message of the user and the agent's reply."""
NextMessage = Callable[[Sequence[Exchange]], str | None]
"""Given the exchanges so far, the user's next message; None ends the session."""

_WORKSPACE = PurePosixPath("/workspace")
_SOLUTION = PurePosixPath("/solution")
_NO_WALL_S = 7 * 24 * 3600.0
"""Without a limit on time: longer than any run is left alone."""
_GRACE_S = 60.0
"""What a session may take to wind up once its processes were ended; then it is cancelled."""
_OUTPUT_BYTES = 256 << 20
"""What an agent may print: a trace that is read while it comes is held until it was."""
_LEAST_FREE_BYTES = 16 << 20
"""Below this the disk is full, and what an agent did on it says nothing about the agent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptOrder:
    """What to run, where, and who is told about it."""

    start: StartingPoint
    agent: AgentRef
    blobs: BlobStore
    backend: SandboxBackend | None = None
    """None only for a task without a workspace."""
    model: str | None = None
    next_message: NextMessage | None = None
    """None: the task's instruction, and nothing after it."""
    environment: Mapping[str, str] | None = None
    """Where credentials are looked up by name; our own environment when left out."""
    observe: Callable[[TraceItem], None] | None = None
    """Sees each event of the trace as it becomes known, in the event loop."""
    phase: Callable[[str], None] | None = None
    """Told what is going on: `starting`, `working`, `capturing`, `captured`."""


@dataclass(frozen=True, slots=True)
class Attempted:
    """An attempt that was made, with what grading needs of it."""

    attempt: Attempt
    subject: Subject | None
    """What to grade; None without a workspace, or with a `fault`."""
    fault: SubjectError | None = None
    """Why what the attempt left cannot be captured, when that is its own doing."""
    sandbox: SandboxReport | None = None


@contextlib.asynccontextmanager
async def run_attempt(order: AttemptOrder) -> AsyncIterator[Attempted]:
    """Run an agent, stop it, capture what it left; grade inside the block.

    Raises:
        RunFault: It could not be run. Never the agent's failure.
        UsageError: The agent does not fit the task.
    """
    tell = order.phase or (lambda _: None)
    workspace = order.start.tree is not None
    refuse_misfit(order.agent, workspace=workspace, several_turns=False)
    ready = ready_agent(order.agent)
    async with contextlib.AsyncExitStack() as stack:
        with _our_faults("the agent could not be run"):
            tell("starting")
            credentials = _credentials(order, ready.needs)
            sandbox, index = await _start(order, ready, stack)
            place = _place(order, credentials, sandbox)
            tell("working")
            outcome = await _Driver(order, ready, place).drive()
            if sandbox is not None:
                _refuse_full_disk(sandbox, outcome)
            tell("capturing")
            made = await _captured(order, outcome, sandbox, index, stack)
            tell("captured")
        yield made


@contextlib.contextmanager
def _our_faults(doing: str) -> Iterator[None]:
    """Whatever of ours fails on the way keeps an agent from being run."""
    try:
        yield
    except RunFault:
        raise
    except InfraError as error:
        raise RunFault(error.message, hint=error.hint) from error
    except AdjudgeError:
        raise
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        why = "the disk is full" if full else str(error)
        raise RunFault(f"{doing}: {why}", hint="free some space" if full else None) from error


def _credentials(order: AttemptOrder, needs: AgentNeeds) -> dict[str, str]:
    environment = os.environ if order.environment is None else order.environment
    missing = [name for name in needs.credentials if not environment.get(name)]
    if missing:
        raise RunFault(
            f"agent {order.agent.name!r} needs {' and '.join(missing)} in the environment, and there is none",
            hint=f"set {missing[0]} in the environment of adjudge",
        )
    return {name: environment[name] for name in needs.credentials}


async def _start(
    order: AttemptOrder, ready: ReadyAgent, stack: contextlib.AsyncExitStack
) -> tuple[Sandbox | None, StatIndex | None]:
    """The sandbox, with what the agent needs in it, and how a copied workspace looked at the start."""
    if order.start.tree is None:
        return None, None
    if order.backend is None:
        raise RunFault("there is a workspace, but no sandbox to show it in")
    sandbox = await stack.enter_async_context(await order.backend.start(_spec(order, ready.needs)))
    if ready.needs.programs:
        await _refuse_missing_programs(order.agent.name, ready.needs.programs, sandbox)
    tree = sandbox.tree()
    index = await asyncio.to_thread(record_stat_index, tree.base) if tree.flat else None
    return sandbox, index


def _spec(order: AttemptOrder, needs: AgentNeeds) -> SandboxSpec:
    task = order.start.task
    common = sandbox_spec(task.scenario.sandbox)
    mounts = [*common.mounts, *(Mount(source=path, target=PurePosixPath(path)) for path in needs.expose)]
    if needs.solution:
        mounts += _solution(order, task)
    return common.model_copy(
        update={
            "workspace": order.start.tree,
            "exact_renames": True,
            "mounts": tuple(mounts),
            "network": Network.EGRESS if needs.network else Network.NONE,
            "limits": common.limits.model_copy(
                update={
                    # The driver holds the limit; this is for the case that it cannot.
                    "wall_s": (task.scenario.limits.wall_s or _NO_WALL_S) + 2 * _GRACE_S,
                    "output_bytes": _OUTPUT_BYTES,
                }
            ),
        }
    )


def _solution(order: AttemptOrder, task: Task) -> list[Mount]:
    """The reference solution, for the one agent that may see it."""
    path, files = task.scenario.solution, order.start.files
    if path is None or files is None:
        return []
    above = PurePosixPath(path).parent
    # A folder of its own is shown as it is; beside other files of the scenario, only the solution.
    source = files / path if above == PurePosixPath(".") else files / above
    target = _SOLUTION / path if above == PurePosixPath(".") else _SOLUTION
    if order.backend is not None and order.backend.name == "process":
        target = PurePosixPath(source)
    return [Mount(source=source, target=target)]


async def _refuse_missing_programs(name: str, programs: Sequence[str], sandbox: Sandbox) -> None:
    script = 'for p do command -v -- "$p" >/dev/null 2>&1 || { printf %s "$p"; exit 3; }; done'
    found = await sandbox.exec(ExecRequest(argv=("/bin/sh", "-c", script, "sh", *programs)))
    if not found.ok:
        missing = found.stdout.head or programs[0]
        raise RunFault(
            f"agent {name!r} needs the program {missing!r}, which is not in the sandbox",
            hint="install it where the system's programs are, or show its folder with 'expose'",
        )


def _place(order: AttemptOrder, credentials: Mapping[str, str], sandbox: Sandbox | None) -> AgentPlace:
    start = order.start
    baseline = start.baseline.tree.base if start.baseline is not None and start.baseline.tree else None

    def at_start(path: str) -> tuple[int, bytes] | None:
        found = None if baseline is None else look_up(os.fsencode(baseline), path)
        return None if found is None else (found.mode, found.content)

    return AgentPlace(
        instruction=start.task.scenario.instruction,
        model=order.model,
        limits=start.task.scenario.limits,
        sandbox=sandbox,
        workspace=_workspace(sandbox),
        task=start.task,
        task_files=start.files,
        at_start=at_start,
        blobs=order.blobs,
        credentials=credentials,
        observe=lambda _: None,
    )


def _workspace(sandbox: Sandbox | None) -> PurePosixPath:
    """Where the workspace is for whoever is inside."""
    if sandbox is None or sandbox.report.isolated:
        return _WORKSPACE
    return PurePosixPath(sandbox.tree().base)


class _Driver:
    """Takes an agent through its turns under the task's limits."""

    def __init__(self, order: AttemptOrder, ready: ReadyAgent, place: AgentPlace) -> None:
        self._order = order
        self._ready = ready
        self._place = place._replace(observe=self._observe)
        self._limits: RunLimits = place.limits
        self._stopped: tuple[AgentStatus, str] | None = None
        self._loop = asyncio.get_running_loop()
        self._over = asyncio.Event()
        self._recording = Recording(order.blobs, self._limits, self._exceeded)
        self._turns = 0
        self._replied = 0
        self._told = 0
        # As in `Redactor`: what is shorter is no secret.
        self._secrets = {name: value for name, value in place.credentials.items() if len(value) >= 6}

    async def drive(self) -> AgentOutcome:
        """Until it has nothing more to do, or must do nothing more."""
        began = time.monotonic()
        with contextlib.ExitStack() as forgetting:
            forgetting.callback(self._recording.abort)
            session: AgentSession = self._ready.agent.start(self._ready.config, self._place)
            return await self._drive(session, began)

    async def _drive(self, session: AgentSession, began: float) -> AgentOutcome:
        async with session:
            working = asyncio.ensure_future(self._take_turns(session))
            try:
                await self._until_over(working, began)
            finally:
                if not working.done():
                    working.cancel()
                    await asyncio.wait({working})
            outcome = await session.finish()
        return self._concluded(outcome, time.monotonic() - began)

    async def _until_over(self, working: asyncio.Future[None], began: float) -> None:
        wall_s = self._limits.wall_s
        over = asyncio.ensure_future(self._over.wait())
        try:
            left = None if wall_s is None else max(0.0, wall_s - (time.monotonic() - began))
            waited: set[asyncio.Future[Any]] = {working, over}
            await asyncio.wait(waited, timeout=left, return_when=asyncio.FIRST_COMPLETED)
            if not working.done():
                if self._stopped is None:
                    self._stopped = (AgentStatus.TIMED_OUT, f"ran longer than {wall_s:g} s")
                await self._wind_up(working)
        finally:
            over.cancel()
        if working.done() and not working.cancelled():
            error = working.exception()
            # What a session that was stopped says about it is no news.
            if error is not None and self._stopped is None:
                raise error

    async def _wind_up(self, working: asyncio.Future[None]) -> None:
        """End its processes until the session has noticed."""
        deadline = time.monotonic() + _GRACE_S
        while not working.done() and self._place.sandbox is not None and time.monotonic() < deadline:
            # Only the command is ended: what it left is looked at first, and may be kept for `live` scorers.
            await self._place.sandbox.freeze()
            await asyncio.wait({working}, timeout=0.1)

    async def _take_turns(self, session: AgentSession) -> None:
        exchanges: list[Exchange] = []
        following = self._order.next_message or _instruction_only(self._place.instruction)
        while self._stopped is None:
            message = following(exchanges)
            if message is None or (exchanges and session.ended):
                return
            if exchanges and not self._recording.said_something:
                # Agents without a trace of their own still said something; the last reply is its outcome.
                self._recording.answer(self._hide(exchanges[-1][1]))
                self._told += 1
            self._turns += 1
            self._recording.ask(message)
            reply = await session.turn(message)
            exchanges.append((message, reply))
            self._replied += 1

    def _observe(self, item: TraceItem) -> None:
        """Take an event of the agent's, in whatever thread it became known."""
        item = self._without_credentials(item)
        self._recording(item)
        if self._order.observe is not None:
            self._loop.call_soon_threadsafe(self._order.observe, item)

    def _hide(self, text: str) -> str:
        for name, value in self._secrets.items():
            text = text.replace(value, f"[{name}]")
        return text

    def _without_credentials(self, item: TraceItem) -> TraceItem:
        hidden = {
            field: self._hide(value)
            for field, value in item
            if isinstance(value, str) and any(secret in value for secret in self._secrets.values())
        }
        return item.model_copy(update=hidden) if hidden else item

    def _exceeded(self, what: str) -> None:
        if self._stopped is None:
            self._stopped = (AgentStatus.OVER_LIMIT, what)
        self._loop.call_soon_threadsafe(self._over.set)

    def _concluded(self, outcome: AgentOutcome, wall_s: float) -> AgentOutcome:
        update: dict[str, Any] = {"wall_s": round(wall_s, 6), "turns": self._turns}
        update["reason"] = self._hide(outcome.reason)
        update["response"] = self._hide(outcome.response)
        summary = self._recording.summary()
        if self._recording.said_something:
            update["usage"] = usage_of(summary)
            if not outcome.response:
                update["response"] = summary.response
        elif update["response"] and (not self._told or self._replied > self._told):
            self._recording.answer(update["response"])
        update["trace"] = self._recording.commit()
        if self._stopped is not None:
            update["status"], update["reason"] = self._stopped
        return outcome.model_copy(update=update)


def _instruction_only(instruction: str) -> NextMessage:
    return lambda exchanges: None if exchanges else instruction


def _refuse_full_disk(sandbox: Sandbox, outcome: AgentOutcome) -> None:
    """An agent that failed on a full disk did not fail by itself."""
    if outcome.status is AgentStatus.COMPLETED:
        return
    with contextlib.suppress(OSError):
        status = os.statvfs(sandbox.tree().layers[-1])
        if status.f_bavail * status.f_frsize < _LEAST_FREE_BYTES:
            raise RunFault("the disk is full", hint="free some space where temporary files are kept")


async def _captured(
    order: AttemptOrder,
    outcome: AgentOutcome,
    sandbox: Sandbox | None,
    index: StatIndex | None,
    stack: contextlib.AsyncExitStack,
) -> Attempted:
    start = order.start
    if sandbox is None or start.baseline is None:
        return Attempted(Attempt(outcome=outcome), None)
    facts: dict[str, Any] = {
        "baseline_digest": start.baseline.ref.digest,
        "baseline": start.archive,
        "outcome": outcome,
        # Whatever is alive is frozen first, so that what is said of it holds for one moment.
        "left_processes": await sandbox.freeze(),
        "outside_writes": sandbox.outside_writes(),
    }
    if not order.start.task.scenario.recipe.live:
        await sandbox.end_processes()
    try:
        subject = await asyncio.to_thread(_capture, order, sandbox, index, stack)
    except SubjectError as error:
        return Attempted(Attempt(**facts), None, error, sandbox.report)
    subject = subject._replace(outside_writes=facts["outside_writes"], left_processes=facts["left_processes"])
    changes = await asyncio.to_thread(store_changes, subject.change_set, subject.contents, order.blobs)
    attempt = Attempt(**facts, change_set=subject.change_set, changes=changes)
    return Attempted(attempt, subject, None, sandbox.report)


def _capture(
    order: AttemptOrder, sandbox: Sandbox, index: StatIndex | None, stack: contextlib.AsyncExitStack
) -> Subject:
    start = order.start
    assert start.baseline is not None
    tree = sandbox.tree()
    try:
        change_set = capture_changes(start.baseline, tree, blobs=order.blobs, index=index, found=start.tree)
    except CaptureError:
        # Ours, so it is tried once more.
        change_set = capture_changes(start.baseline, tree, blobs=order.blobs, index=index, found=start.tree)
    contents = stack.enter_context(TreeContents(start.baseline, tree))
    return Subject(
        task=start.task,
        change_set=change_set,
        baseline=start.baseline.tree,
        workspace=tree,
        contents=contents,
        scenario_files=start.files,
        live=sandbox if start.task.scenario.recipe.live else None,
    )
