"""A started sandbox whose commands run below the launcher; shared by every backend of that kind.

Owns the order of things: one errand at a time, ending, discarding. What a command is wrapped in and where
files lie is left to the backend.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Self

from adjudge.contracts import BlobStore, OutputObserver
from adjudge.errors import SandboxError, SubjectError, UsageError
from adjudge.records.base import BlobRef
from adjudge.records.sandbox import (
    ExecRequest,
    ExecResult,
    LeftProcess,
    Limits,
    OutsideWrite,
    SandboxReport,
    SandboxSpec,
    Usage,
    WorkspaceTree,
)
from adjudge.sandbox.attended import AttendedExec, LimitMeans
from adjudge.sandbox.launching import Errand, send_errand
from adjudge.sandbox.launchrequest import Enter, Execute, Read, Report, Request, Spawn, Write
from adjudge.sandbox.output import sealed_stdin
from adjudge.sandbox.processes import is_dead, start_time
from adjudge.sandbox.removal import remove_tree_at_last

__all__ = ["WORKSPACE", "Kept", "StartedSandbox", "end_namespace", "is_running"]

WORKSPACE = PurePosixPath("/workspace")
"""Where the workspace is, for whoever is inside and in every path given to us."""


@dataclass(frozen=True)
class Kept:
    """A tree that outlived its command."""

    errand: Errand
    attended: AttendedExec
    outliving: asyncio.Task[None]

    @property
    def alive(self) -> bool:
        """Whether it is still there."""
        return not self.errand.report.done()


_DYING_LOOKS = 300


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
        self._attended: AttendedExec | None = None
        self._kept: list[Kept] = []
        self._beside: set[Errand] = set()
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

    async def exec(
        self,
        request: ExecRequest,
        *,
        on_output: OutputObserver | None = None,
        stdin: int | None = None,
    ) -> ExecResult:
        """Run a command to its end."""
        environment = {**self._base_environment(), **self._spec.env, **request.env}
        _check(request, environment)
        limits = request.limits or self._spec.limits
        async with self._turn:
            self._check_alive()
            self._cancelled = False
            while True:
                await self._bury_kept()
                host = self._to_enter()
                try:
                    return await self._run(host, request, environment, limits, on_output, stdin)
                except SandboxError:
                    # What was to be joined has just ended by itself, so nothing was started.
                    if not await self._has_ended(host):
                        self._unattended = True
                        raise

    async def _run(
        self,
        host: AttendedExec | None,
        request: ExecRequest,
        environment: Mapping[str, str],
        limits: Limits,
        on_output: OutputObserver | None,
        stdin: int | None,
    ) -> ExecResult:
        attended = AttendedExec(limits, self._means, self._blobs, on_output)
        errand: Execute | Enter | Spawn
        if host is None:
            errand = self._command_errand(request, environment, limits)
        else:
            errand = self._enter_errand(host, request, environment, limits)
        try:
            running = attended.start(self._request(errand), request.stdin if stdin is None else stdin)
            self._running, self._attended = running, attended
            result = await attended.finish(running, lambda: self._cancelled, self._conclude)
        finally:
            self._running = self._attended = None
        if not running.report.done():
            outliving = asyncio.ensure_future(self._outlive(running, attended))
            self._kept.append(Kept(running, attended, outliving))
        return result

    async def _bury_kept(self) -> None:
        """Wait for the supervisors of kept trees that have ended by themselves: they still tidy up."""
        for kept in list(self._kept):
            if not kept.alive or not is_running(kept.attended):
                await kept.outliving
                self._kept.remove(kept)

    async def _has_ended(self, host: AttendedExec | None) -> bool:
        """Whether a kept tree that was to be joined is there no more; if so, it is forgotten."""
        if host is None or not await _is_gone(host):
            return False
        for kept in self._kept:
            if kept.attended is host:
                kept.errand.end()
                await kept.outliving
                self._kept.remove(kept)
                return True
        return False

    async def enter(
        self, request: ExecRequest, *, on_output: OutputObserver | None = None, stdin: int | None = None
    ) -> ExecResult:
        """Run a command beside what runs or is kept."""
        # What is kept comes first: a command that joined it is not the one whose namespaces they are.
        host = self._to_enter() or self._attended
        if host is not None:
            await host.known.wait()
        if host is None or host.first is None:
            return await self.exec(request, on_output=on_output, stdin=stdin)
        environment = {**self._base_environment(), **self._spec.env, **request.env}
        _check(request, environment)
        limits = request.limits or self._spec.limits
        self._check_alive()
        attended = AttendedExec(limits, self._means, self._blobs, on_output)
        errand = self._enter_errand(host, request, environment, limits)
        running = attended.start(self._request(errand), request.stdin if stdin is None else stdin)
        self._beside.add(running)
        try:
            return await attended.finish(running, lambda: True, self._conclude)
        except SandboxError:
            if not await _is_gone(host):
                raise
        finally:
            self._beside.discard(running)
        # What was to be joined has just ended by itself, so nothing was started.
        return await self.exec(request, on_output=on_output, stdin=stdin)

    async def freeze(self) -> tuple[LeftProcess, ...]:
        """Keep what is kept from running; a command that runs is ended."""
        if self._running is not None:
            self._running.stop()
        await self._end_beside()
        async with self._turn:
            left: list[LeftProcess] = []
            for kept in self._kept:
                report = await kept.errand.ask(b"freeze") if kept.alive else {}
                left += [
                    LeftProcess(command=command, detached=detached)
                    for command, detached in report.get("left", ())
                ]
            return tuple(left)

    async def thaw(self) -> None:
        """Let what is kept run again."""
        async with self._turn:
            for kept in self._kept:
                if kept.alive:
                    await kept.errand.ask(b"thaw")

    async def _end_beside(self) -> None:
        for errand in list(self._beside):
            errand.end()
            await errand.wait()

    async def _outlive(self, errand: Errand, attended: AttendedExec) -> None:
        await attended.outlive(errand)
        if "failed" in errand.report.result():
            # Its supervisor was lost, and what it kept is nobody's now.
            self._unattended = True
            self._end_lost(attended)

    async def read_file(self, path: PurePosixPath, *, max_bytes: int) -> bytes:
        """Read a regular file as the sandbox sees it."""
        below, relative = self._locate(path)
        errand: Read = {"op": "read", "below": below, "path": relative, "max_bytes": max_bytes}
        result = os.memfd_create("read", os.MFD_CLOEXEC)
        try:
            report = await self._file_errand(errand, result, path)
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
            report = await self._file_errand(errand, source, path)
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

    async def _file_errand(self, errand: Read | Write, descriptor: int, path: PurePosixPath) -> Report:
        async with self._turn:
            self._check_alive()
            while True:
                await self._bury_kept()
                host = self._to_enter()
                errand["below"], errand["path"] = self._locate(path)
                wanted = self._request(errand)
                sent = send_errand(wanted, stdin=descriptor, stdout=descriptor, stderr=descriptor)
                report = await sent.wait()
                # What it was looked up through may have ended by itself meanwhile.
                lost = "failed" in report or report.get("refused", ("", ""))[1].startswith("/proc/")
                if not lost or not await self._has_ended(host):
                    break
        if "failed" in report:
            raise SandboxError(f"a file of the sandbox cannot be reached: {report['failed']}")
        return report

    async def end_processes(self) -> None:
        """End every process; a running exec returns `cancelled`."""
        self._cancelled = True
        if self._running is not None:
            self._running.end()
        await self._end_beside()
        async with self._turn:
            for kept in self._kept:
                kept.errand.end()
                await kept.outliving
            self._kept.clear()
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
    def _to_enter(self) -> AttendedExec | None:
        """The kept tree that further commands join, if any."""

    @abstractmethod
    def _enter_errand(
        self, host: AttendedExec, request: ExecRequest, environment: Mapping[str, str], limits: Limits
    ) -> Enter | Spawn:
        """A command beside those of another exec."""

    @abstractmethod
    def _end_lost(self, attended: AttendedExec) -> None:
        """End a tree whose supervisor is gone."""

    @abstractmethod
    def outside_writes(self) -> tuple[OutsideWrite, ...] | None:
        """What was written outside the workspace."""

    @abstractmethod
    def _request(self, errand: Execute | Enter | Spawn | Read | Write) -> Request:
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


def is_running(attended: AttendedExec) -> bool:
    """Whether the first process of a tree is there, and not only waits to be buried."""
    first = attended.first
    return first is not None and start_time(first) == attended.first_started and not is_dead(first)


async def _is_gone(attended: AttendedExec) -> bool:
    """Whether a tree has ended. One that cannot be entered any more may take a moment to be seen dead."""
    for _ in range(_DYING_LOOKS):
        if not is_running(attended):
            return True
        await asyncio.sleep(0.01)
    return False


def end_namespace(attended: AttendedExec) -> None:
    """Kill the first process of a pid namespace, and with it every other, if it is still the same."""
    first = attended.first
    if first is None or start_time(first) != attended.first_started:
        return
    with contextlib.suppress(ProcessLookupError):
        os.kill(first, signal.SIGKILL)


def _raise_refusal(report: Report, path: PurePosixPath) -> None:
    refusal = report.get("refused")
    if refusal is None:
        return
    name, why = refusal
    if name == "ENOENT":
        raise FileNotFoundError(2, "no such file in the sandbox", str(path))
    raise SubjectError(f"{path} in the sandbox: {why}")
