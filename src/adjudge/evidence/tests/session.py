"""One run of a suite in one fresh sandbox, watched from outside."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Literal

from adjudge.contracts import SandboxBackend
from adjudge.errors import SandboxError
from adjudge.evidence.tests.channel import Channel
from adjudge.records.evidence import TestCommand
from adjudge.records.sandbox import (
    Ended,
    ExecRequest,
    ExecResult,
    Limits,
    SandboxReport,
    SandboxSpec,
    WorkspaceTree,
)
from adjudge.records.testreport import TestSession

__all__ = ["Order", "Session", "Suites"]

_GRACE_S = 60.0
"""What a sandbox may take beyond its own limits to start, end a tree and clean up."""
_UNCOLLECTED_SHOWN = 20
_HARMLESS_ENV = ("PYTHONHASHSEED",)
_FILE_SHARE = 0.8
"""Of a session's time, what one file of node's may take; results of the others still arrive then."""


@dataclass(frozen=True)
class Order:
    """What a session is to do."""

    command: TestCommand
    plugins: tuple[str, ...] | None
    """None: whatever the environment has, and say what that is."""
    collect_only: bool = False
    quick: bool = False
    """Leave out what only people read; for sessions in which many tests fail on purpose."""
    timeout_s: float = 900.0
    test_timeout_s: float = 60.0

    @property
    def args(self) -> list[str]:
        """The runner's arguments; later ones win over those that a configuration file adds."""
        command = self.command
        if command.runner in ("unittest", "node"):
            return list(command.args)
        args = ["-c", command.config or "/dev/null", "--rootdir=.", "--maxfail=0", "--color=no"]
        if self.collect_only:
            args += ["--collect-only", "-q"]
        if self.quick:
            args += ["--assert=plain", "--tb=no"]
        return [*args, *command.args]


@dataclass(frozen=True)
class Session:
    """What came out of it."""

    result: ExecResult
    channel: Channel
    sandbox: SandboxReport

    @property
    def complete(self) -> bool:
        """Whether the runner said it was done, once, and the process then ended by itself."""
        return self.result.ended is Ended.EXITED and len(self.channel.ends) == 1

    def record(self, *, falsified: int = 0) -> TestSession:
        """For the result."""
        problems = list(self.channel.problems)
        if self.channel.unavailable:
            problems.append(f"the runner is not there: {self.channel.unavailable}")
        if not self.complete:
            how = self.result.reason or self.result.ended.value
            problems.append(f"the session broke off ({how})")
        elif self.result.exit_code != self.channel.ends[0]:
            problems.append(
                f"exit code {self.result.exit_code}, though the runner reported {self.channel.ends[0]}"
            )
        uncollected = [
            f"{id_}: {outcome}: {message[:500]}"
            for id_, outcome, message in self.channel.uncollected[:_UNCOLLECTED_SHOWN]
        ]
        return TestSession(
            result=self.result,
            runner=self.channel.runner,
            complete=self.complete,
            collected=len(self.channel.collected),
            falsified=falsified,
            uncollected=tuple(uncollected),
            problems=tuple(problems),
        )


class Suites:
    """Runs sessions.

    Args:
        backend: Where sandboxes come from.
        base: What every sandbox of the task has in common: mounts, environment, limits.
    """

    def __init__(self, backend: SandboxBackend, base: SandboxSpec) -> None:
        self._backend = backend
        self._base = base
        self.reports: list[SandboxReport] = []
        """How each sandbox came about, for provenance."""

    async def run(self, order: Order, workspace: WorkspaceTree) -> Session:
        """Run one session in a fresh sandbox over a workspace."""
        limits = self._base.limits.model_copy(update={"wall_s": order.timeout_s})
        spec = self._base.model_copy(update={"workspace": workspace, "limits": limits})
        channel = Channel()

        def observe(stream: Literal["stdout", "stderr"], data: bytes) -> None:
            if stream == "stderr":
                channel.feed(data)

        try:
            async with asyncio.timeout(order.timeout_s + _GRACE_S):
                async with await self._backend.start(spec) as sandbox:
                    result = await sandbox.exec(_request(order, limits), on_output=observe)
                    report = sandbox.report
                    self.reports.append(report)
        except TimeoutError as error:
            raise SandboxError(
                f"the {self._backend.name} sandbox did not come back within {_GRACE_S:g} s of the session's "
                f"time limit of {order.timeout_s:g} s"
            ) from error
        if result.ended is Ended.CANCELLED:
            raise SandboxError("the sandbox was ended from outside while the tests ran")
        channel.close()
        return Session(result, channel, report)

    async def run_all(self, order: Order, workspaces: Sequence[WorkspaceTree]) -> list[Session]:
        """Run several sessions side by side."""
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(self.run(order, workspace)) for workspace in workspaces]
        except ExceptionGroup as several:
            # The first that failed; the group has ended the others.
            raise several.exceptions[0] from several
        return [task.result() for task in tasks]


def _request(order: Order, limits: Limits) -> ExecRequest:
    return _node_request(order, limits) if order.command.runner == "node" else _python_request(order, limits)


def _node_request(order: Order, limits: Limits) -> ExecRequest:
    """Finding the tests means running them: node has no other way."""
    command = order.command
    stdin = {
        "files": order.args,
        "file_timeout_s": order.timeout_s * _FILE_SHARE,
        "keep_env": list(command.env),
    }
    return ExecRequest(
        argv=(*command.interpreter, "-e", _text("adjudge_node.js")),
        stdin=json.dumps(stdin).encode("ascii"),
        env=dict(command.env),
        limits=limits,
    )


def _python_request(order: Order, limits: Limits) -> ExecRequest:
    command = order.command
    env = {"PYTHONHASHSEED": "0", **command.env}
    stdin = {
        "reporter": _text(f"adjudge_{command.runner}.py"),
        "limits": _text("adjudge_limits.py"),
        "args": order.args,
        "plugins": order.plugins,
        "path": list(command.path),
        "collect_only": order.collect_only,
        "test_timeout_s": order.test_timeout_s,
        "keep_env": [*_HARMLESS_ENV, *command.env],
    }
    return ExecRequest(
        # Byte code beside a source file may be anybody's: it is believed only if it fits its source, whose
        # time of change nobody could foresee. (Reading none at all costs a quarter more.)
        argv=(*command.interpreter, "-I", "--check-hash-based-pycs", "always", "-c", _text("launch.py")),
        stdin=json.dumps(stdin).encode("ascii"),
        env=env,
        limits=limits,
    )


@cache
def _text(name: str) -> str:
    return (resources.files("adjudge.evidence.tests.inside") / name).read_text(encoding="utf-8")
