"""A started sandbox whose commands run below the launcher; shared by every backend of that kind.

Owns the order of things: one errand at a time, ending, discarding. What a command is wrapped in and where
files lie is left to the backend.
"""

from __future__ import annotations

import asyncio
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Self

from adjudge.contracts import BlobStore, OutputObserver
from adjudge.errors import SandboxError, SubjectError, UsageError
from adjudge.records.base import BlobRef
from adjudge.records.sandbox import (
    ExecRequest,
    ExecResult,
    Limits,
    SandboxReport,
    SandboxSpec,
    Usage,
    WorkspaceTree,
)
from adjudge.sandbox.attended import AttendedExec, LimitMeans
from adjudge.sandbox.launching import Errand, send_errand
from adjudge.sandbox.launchrequest import Execute, Read, Report, Request, Spawn, Write
from adjudge.sandbox.output import sealed_stdin
from adjudge.sandbox.removal import remove_tree_at_last

__all__ = ["WORKSPACE", "StartedSandbox"]

WORKSPACE = PurePosixPath("/workspace")
"""Where the workspace is, for whoever is inside and in every path given to us."""


class StartedSandbox(ABC):
    """See `contracts.Sandbox`. What differs between backends is below, abstract.

    Args:
        spec: What was asked for.
        scratch: Its directory, removed when it is discarded.
        tree: Its workspace.
        report: How it came about.
        means: What holds its limits.
        blobs: Where output is kept.
    """

    def __init__(
        self,
        *,
        spec: SandboxSpec,
        scratch: Path,
        tree: WorkspaceTree,
        report: SandboxReport,
        means: LimitMeans,
        blobs: BlobStore | None,
    ) -> None:
        self._spec = spec
        self._scratch = scratch
        self._tree = tree
        self._report = report
        self._means = means
        self._blobs = blobs
        self._turn = asyncio.Lock()
        self._running: Errand | None = None
        self._cancelled = False
        self._discarded = False
        self._unattended = False
        """Whether a supervisor was lost, so that nobody has seen its processes die."""

    @property
    def report(self) -> SandboxReport:
        """How this sandbox came about."""
        return self._report

    def tree(self) -> WorkspaceTree:
        """The workspace on the host's disk."""
        return self._tree

    async def exec(self, request: ExecRequest, *, on_output: OutputObserver | None = None) -> ExecResult:
        """Run a command to its end."""
        environment = {**self._base_environment(), **self._spec.env, **request.env}
        _check(request, environment)
        limits = request.limits or self._spec.limits
        async with self._turn:
            self._check_alive()
            attended = AttendedExec(limits, self._means, self._blobs, on_output)
            self._cancelled = False
            try:
                wanted = self._request(self._command_errand(request, environment, limits))
                self._running = attended.start(wanted, request.stdin)
                return await attended.finish(self._running, lambda: self._cancelled, self._conclude)
            except SandboxError:
                self._unattended = True
                raise
            finally:
                self._running = None

    async def read_file(self, path: PurePosixPath, *, max_bytes: int) -> bytes:
        """Read a regular file as the sandbox sees it."""
        below, relative = self._locate(path)
        errand: Read = {"op": "read", "below": below, "path": relative, "max_bytes": max_bytes}
        result = os.memfd_create("read", os.MFD_CLOEXEC)
        try:
            report = await self._file_errand(errand, result)
            _raise_refusal(report, path)
            return os.pread(result, max_bytes, 0)
        finally:
            os.close(result)

    async def write_file(self, path: PurePosixPath, data: bytes, *, mode: int = 0o644) -> None:
        """Write a regular file in the workspace, replacing whatever lies there."""
        if not (WORKSPACE / path).is_relative_to(WORKSPACE):
            raise UsageError(f"{path} is not in the workspace, where files can be written")
        below, relative = self._locate(path)
        errand: Write = {"op": "write", "below": below, "path": relative, "mode": mode}
        source = sealed_stdin(data)
        try:
            report = await self._file_errand(errand, source)
        finally:
            os.close(source)
        _raise_refusal(report, path)

    def _locate(self, path: PurePosixPath) -> tuple[str, str]:
        inside = WORKSPACE / path
        if ".." in inside.parts or "\0" in str(inside):
            raise UsageError(f"{str(path)!r} is not a path inside the sandbox")
        found = self._find(inside)
        if found is None:
            raise SubjectError(f"{inside} is not a file of the sandbox")
        return found

    async def _file_errand(self, errand: Read | Write, descriptor: int) -> Report:
        async with self._turn:
            self._check_alive()
            sent = send_errand(self._request(errand), stdin=descriptor, stdout=descriptor, stderr=descriptor)
            report = await sent.wait()
        if "failed" in report:
            raise SandboxError(f"a file of the sandbox cannot be reached: {report['failed']}")
        return report

    async def end_processes(self) -> None:
        """End every process; a running exec returns `cancelled`."""
        self._cancelled = True
        if self._running is not None:
            self._running.end()
        async with self._turn:
            self._cancelled = False

    async def discard(self) -> None:
        """End every process and remove everything the sandbox left."""
        if self._discarded:
            return
        await self.end_processes()
        async with self._turn:
            if self._discarded:
                return
            self._discarded = True
            try:
                await asyncio.to_thread(remove_tree_at_last, self._scratch)
            except OSError as error:
                raise SandboxError(f"{self._scratch} cannot be removed: {error}") from error
            finally:
                self._release()

    def _check_alive(self) -> None:
        if self._discarded:
            raise SandboxError("the sandbox was discarded")

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        # Finished even when the task is cancelled meanwhile: nothing may be left behind.
        discarding = asyncio.ensure_future(self.discard())
        cancelled: asyncio.CancelledError | None = None
        while not discarding.done():
            try:
                await asyncio.shield(discarding)
            except asyncio.CancelledError as again:
                cancelled = again
        discarding.result()
        if cancelled is not None:
            raise cancelled

    @abstractmethod
    def _base_environment(self) -> Mapping[str, str]:
        """What every command finds in its environment."""

    @abstractmethod
    def _command_errand(
        self, request: ExecRequest, environment: Mapping[str, str], limits: Limits
    ) -> Execute | Spawn:
        """A command for the launcher."""

    @abstractmethod
    def _request(self, errand: Execute | Spawn | Read | Write) -> Request:
        """An errand with the mounts it needs."""

    @abstractmethod
    def _find(self, inside: PurePosixPath) -> tuple[str, str] | None:
        """The directory in which an errand finds a path of the sandbox, and the path below it."""

    @abstractmethod
    def _conclude(self, report: Report, stdout: BlobRef, stderr: BlobRef, usage: Usage) -> ExecResult:
        """How a command ended by itself."""

    @abstractmethod
    def _release(self) -> None:
        """Give back what was leased; the sandbox's files and processes are gone."""


def _check(request: ExecRequest, environment: Mapping[str, str]) -> None:
    command = request.command
    if not command or not command[0]:
        raise UsageError("there is no command to run")
    for name, value in environment.items():
        if not name or "=" in name or "\0" in name or "\0" in value:
            raise UsageError(
                f"environment variable {name!r} cannot be set: a name has no '=' and no NUL, a value no NUL"
            )
    if any("\0" in part for part in command):
        raise UsageError("an argument of the command holds a NUL character")
    if ".." in request.cwd.parts or "\0" in str(request.cwd):
        raise UsageError(f"{str(request.cwd)!r} is not a directory inside the sandbox")


def _raise_refusal(report: Report, path: PurePosixPath) -> None:
    refusal = report.get("refused")
    if refusal is None:
        return
    name, why = refusal
    if name == "ENOENT":
        raise FileNotFoundError(2, "no such file in the sandbox", str(path))
    raise SubjectError(f"{path} in the sandbox: {why}")
