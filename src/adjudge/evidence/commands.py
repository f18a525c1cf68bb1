"""The collector of `CommandRun`: a command in a fresh sandbox over the tree it asks for."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import ClassVar

from adjudge.contracts import BlobStore, Sandbox, SandboxBackend, Subject
from adjudge.errors import SandboxError
from adjudge.evidence.gradedtree import graded_tree, laid_over
from adjudge.records.evidence import CommandOutcome, CommandRun, Isolation
from adjudge.records.sandbox import Ended, ExecRequest, Limits, SandboxReport, SandboxSpec

__all__ = ["CommandCollector"]

_GRACE_S = 60.0
"""What a sandbox may take beyond its own limits to start, end a tree and clean up; then it is ours that
hangs, not the command."""


class CommandCollector:
    """Runs commands, each in a sandbox of its own.

    A command that times out, is killed for memory or exits wrongly is an answer; only a sandbox that could
    not do its part raises.

    Args:
        backend: Where sandboxes come from.
        base: What every sandbox of the task has in common: mounts, environment, limits.
        blobs: Where output is kept whole, when it is to be kept.
    """

    kind: ClassVar[str] = "command_run"
    cost: ClassVar[int] = 2

    def __init__(self, backend: SandboxBackend, base: SandboxSpec, *, blobs: BlobStore | None = None) -> None:
        self._backend = backend
        self._base = base
        self._blobs = blobs
        self.reports: list[SandboxReport] = []
        """How each sandbox came about, for provenance."""

    async def collect(self, request: CommandRun, subject: Subject) -> CommandOutcome:
        """Run the command to its end, one way or another."""
        return await self.run(request, subject)

    async def run(
        self,
        request: CommandRun,
        subject: Subject,
        over: Mapping[str, bytes] = MappingProxyType({}),
        *,
        then: Callable[[Sandbox], Awaitable[None]] | None = None,
    ) -> CommandOutcome:
        """Run it.

        Args:
            request: The command, and over what.
            subject: What is graded.
            over: Further files that are laid over the tree, read-only.
            then: Looks at the sandbox when the command has ended.
        """
        limits = self._base.limits.model_copy(update={"wall_s": request.timeout_s})
        if request.tree.isolation is Isolation.LIVE and subject.live is not None:
            return await self._beside_the_agent(request, subject.live, limits)
        try:
            async with graded_tree(request.tree, subject) as graded:
                hidden = replace(graded.hidden, files={**graded.hidden.files, **over})
                tree, mounts = await laid_over(graded.tree, graded.place / "hidden", hidden)
                spec = self._base.model_copy(
                    update={"workspace": tree, "limits": limits, "mounts": (*self._base.mounts, *mounts)}
                )
                async with asyncio.timeout(request.timeout_s + _GRACE_S):
                    async with await self._backend.start(spec, blobs=self._blobs) as sandbox:
                        self.reports.append(sandbox.report)
                        result = await sandbox.exec(ExecRequest(shell=request.command))
                        if then is not None:
                            await then(sandbox)
        except TimeoutError as error:
            raise SandboxError(
                f"the {self._backend.name} sandbox did not come back within {_GRACE_S:g} s of the command's "
                f"time limit of {request.timeout_s:g} s"
            ) from error
        if result.ended is Ended.CANCELLED:
            raise SandboxError("the sandbox was ended from outside while the command ran")
        return CommandOutcome(result=result)

    async def _beside_the_agent(
        self, request: CommandRun, sandbox: Sandbox, limits: Limits
    ) -> CommandOutcome:
        """Run the command where the agent worked, beside what it left running: thawed for this alone."""
        await sandbox.thaw()
        try:
            async with asyncio.timeout(request.timeout_s + _GRACE_S):
                result = await sandbox.enter(ExecRequest(shell=request.command, limits=limits))
        except TimeoutError as error:
            raise SandboxError("the agent's sandbox did not come back") from error
        finally:
            await sandbox.freeze()
        self.reports.append(sandbox.report)
        return CommandOutcome(result=result)
