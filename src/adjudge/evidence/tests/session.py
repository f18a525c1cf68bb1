"""One run of a suite in one fresh sandbox, watched from outside."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from adjudge.contracts import Sandbox, SandboxBackend
from adjudge.errors import SandboxError
from adjudge.evidence.tests.channel import Channel
from adjudge.evidence.tests.order import Order
from adjudge.evidence.tests.runners.golang import drive_go
from adjudge.evidence.tests.runners.javascript import javascript_request
from adjudge.evidence.tests.runners.node import node_request
from adjudge.evidence.tests.runners.python import python_request
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

__all__ = ["Session", "Suites"]

_GRACE_S = 60.0
"""What a sandbox may take beyond its own limits to start, end a tree and clean up."""
_UNCOLLECTED_SHOWN = 20
_STARTS: Mapping[str, Callable[[Order, Limits], ExecRequest]] = {
    "pytest": python_request,
    "unittest": python_request,
    "node": node_request,
    "jest": javascript_request,
    "vitest": javascript_request,
}
"""How each runner is started that reports by itself."""
_DRIVES: Mapping[str, Callable[[Sandbox, Order, Limits, Channel], Awaitable[ExecResult]]] = {"go": drive_go}
"""How the others are taken through a session step by step."""


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
        mounts = (*self._base.mounts, *order.mounts)
        spec = self._base.model_copy(update={"workspace": workspace, "limits": limits, "mounts": mounts})
        channel = Channel()

        def observe(stream: Literal["stdout", "stderr"], data: bytes) -> None:
            if stream == "stderr":
                channel.feed(data)

        try:
            async with asyncio.timeout(order.timeout_s + _GRACE_S):
                async with await self._backend.start(spec) as sandbox:
                    if drive := _DRIVES.get(order.command.runner):
                        result = await drive(sandbox, order, limits, channel)
                    else:
                        start = _STARTS[order.command.runner]
                        result = await sandbox.exec(start(order, limits), on_output=observe)
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
