"""A started bubblewrap sandbox: running commands in it, reading and writing its files, discarding it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import Self

from adjudge.contracts import BlobStore, OutputObserver
from adjudge.errors import SandboxError, SubjectError, UsageError
from adjudge.records.base import BlobRef
from adjudge.records.sandbox import (
    Ended,
    ExecRequest,
    ExecResult,
    Limits,
    SandboxReport,
    SandboxSpec,
    Usage,
    WorkspaceTree,
)
from adjudge.sandbox.bwrap import namespace_options, parse_start_failure
from adjudge.sandbox.cgroups import Cgroup, CgroupPlaces
from adjudge.sandbox.disk import DiskMeter
from adjudge.sandbox.launching import Errand, send_errand
from adjudge.sandbox.launchrequest import (
    CgroupParents,
    Execute,
    Helper,
    Identity,
    Read,
    Report,
    Request,
    Write,
)
from adjudge.sandbox.layers import OwnWorkspace
from adjudge.sandbox.limits import Breach, output_breach, rlimits, timeout_breach
from adjudge.sandbox.output import OutputPump, sealed_stdin
from adjudge.sandbox.processes import descendants
from adjudge.sandbox.removal import remove_tree
from adjudge.sandbox.uids import UidLease
from adjudge.sandbox.visible import WORKSPACE, View, base_environment
from adjudge.sandbox.watcher import Watcher

__all__ = ["BubblewrapSandbox", "Parts"]

_SHM_SHARE = 2
"""/dev/shm holds at most this fraction of the memory limit: 1/2, the kernel's own default."""
_PROCESS_SLACK = 16
"""RLIMIT_NPROC only stops a bomb from growing; the tree is ended by whoever counts exactly."""


@dataclass
class Parts:
    """What a backend has put together for one sandbox."""

    spec: SandboxSpec
    scratch: Path
    workspace: OwnWorkspace
    view: View
    bwrap: str
    helper: Helper | None
    seccomp: str
    lease: UidLease | None
    places: CgroupPlaces | None
    cgroup_parents: CgroupParents | None
    stages: bool
    report: SandboxReport
    blobs: BlobStore | None
    disk: DiskMeter


class BubblewrapSandbox:
    """See `contracts.Sandbox`."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._turn = asyncio.Lock()
        self._running: Errand | None = None
        self._cancelled = False
        self._discarded = False

    @property
    def report(self) -> SandboxReport:
        """How this sandbox came about."""
        return self._parts.report

    def tree(self) -> WorkspaceTree:
        """The workspace on the host's disk."""
        return self._parts.workspace.tree

    async def exec(self, request: ExecRequest, *, on_output: OutputObserver | None = None) -> ExecResult:
        """Run a command to its end."""
        command, environment = _check(request, self._parts.spec)
        limits = request.limits or self._parts.spec.limits
        async with self._turn:
            self._check_alive()
            execution = _Execution(self._parts, limits, on_output)
            self._cancelled = False
            try:
                wanted = self._request(self._execute(command, environment, request, limits))
                self._running = execution.start(wanted, request.stdin)
                return await execution.finish(self._running, lambda: self._cancelled)
            finally:
                self._running = None
                execution.clear()

    def _execute(
        self,
        command: tuple[str, ...],
        environment: dict[str, str],
        request: ExecRequest,
        limits: Limits,
    ) -> Execute:
        parts = self._parts
        cwd = PurePosixPath(WORKSPACE) / request.cwd
        options = namespace_options(parts.spec.network, environment, str(cwd))
        options += parts.view.options
        options += ["--perms", "1777", "--size", str(max(4096, limits.memory_bytes // _SHM_SHARE))]
        options += ["--tmpfs", "/dev/shm", "--remount-ro", "/dev", "--remount-ro", "/"]
        counts = parts.lease is not None or parts.stages
        return {
            "op": "execute",
            "bwrap": parts.bwrap,
            "options": options,
            "command": list(command),
            "cgroup_limits": parts.places.settings(limits) if parts.places is not None else [],
            "rlimits": rlimits(limits),
            "processes": limits.processes + _PROCESS_SLACK if counts else None,
            "wall_s": limits.wall_s,
            "seccomp": parts.seccomp,
            "helper": parts.helper,
        }

    def _request(self, errand: Execute | Read | Write) -> Request:
        parts = self._parts
        return {
            "identity": self._identity,
            "user_namespace": parts.lease is None and parts.stages,
            "staged": [*parts.workspace.staged, *parts.view.staged],
            "overlay": parts.workspace.overlay,
            "mount_points": parts.view.mount_points,
            "errand": errand,
        }

    @property
    def _identity(self) -> Identity | None:
        lease = self._parts.lease
        return None if lease is None else {"uid": lease.uid, "gid": lease.gid}

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
        if not (PurePosixPath(WORKSPACE) / path).is_relative_to(WORKSPACE):
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
        inside = PurePosixPath(WORKSPACE) / path
        if ".." in inside.parts or "\0" in str(inside):
            raise UsageError(f"{str(path)!r} is not a path inside the sandbox")
        found = self._parts.view.find(inside)
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
                await asyncio.to_thread(remove_tree, self._parts.scratch)
            except OSError as error:
                raise SandboxError(f"{self._parts.scratch} cannot be removed: {error}") from error
            finally:
                if self._parts.lease is not None:
                    self._parts.lease.release()

    def _check_alive(self) -> None:
        if self._discarded:
            raise SandboxError("the sandbox was discarded")

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
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


class _Execution:
    """One exec: its pipes, its watcher and what ended it."""

    def __init__(self, parts: Parts, limits: Limits, on_output: OutputObserver | None) -> None:
        self._parts = parts
        self._limits = limits
        self._cgroup: Cgroup | None = None
        self._on_output = on_output
        self._breach: Breach | None = None
        self._errand: Errand | None = None
        self._pump: OutputPump | None = None
        self._watcher: Watcher | None = None
        self._started = time.monotonic()

    def start(self, request: Request, stdin: bytes) -> Errand:
        """Hand the command to the launcher."""
        out_read, out_write = os.pipe()
        err_read, err_write = os.pipe()
        source = sealed_stdin(stdin)
        try:
            self._pump = OutputPump(
                out_read,
                err_read,
                limit_bytes=self._limits.output_bytes,
                blobs=self._parts.blobs,
                on_output=self._on_output,
                on_limit=lambda: self._end(output_breach(self._limits)),
                on_failure=lambda: self._end(None),
            )
            self._errand = send_errand(
                request,
                stdin=source,
                stdout=out_write,
                stderr=err_write,
                cgroups=self._parts.cgroup_parents,
                on_started=self._watch,
            )
        except BaseException:
            if self._pump is not None:
                self._pump.abort()
            raise
        finally:
            for descriptor in (source, out_write, err_write):
                os.close(descriptor)
        return self._errand

    def _enter_group(self, report: Report) -> None:
        name = report.get("cgroup")
        if self._cgroup is None and name is not None and self._parts.places is not None:
            self._cgroup = Cgroup(self._parts.places, name, self._limits)

    def _watch(self, report: Report) -> None:
        self._enter_group(report)
        first = report["started"]
        places = self._parts.places
        self._watcher = Watcher(
            self._limits,
            pids=lambda: descendants(first),
            end=self._end,
            disk=self._parts.disk,
            memory=places is None or places.memory is None,
            processes=places is None or places.pids is None,
            counters=None if self._cgroup is None else self._cgroup.breach,
            extra_memory=_shared_memory_of(first),
        )
        self._watcher.start()

    def _end(self, breach: Breach | None) -> None:
        """End the tree for the first breach; from the event loop or the watcher's thread."""
        if self._breach is None:
            self._breach = breach
        if self._errand is not None:
            self._errand.end()

    async def finish(self, errand: Errand, cancelled: Callable[[], bool]) -> ExecResult:
        """Wait for the end and put the result together."""
        assert self._pump is not None
        try:
            report = await errand.wait()
        except BaseException:
            self._pump.abort()
            raise
        finally:
            if self._watcher is not None:
                self._watcher.stop()
        self._enter_group(report)
        if "failed" in report:
            self._pump.abort()
            raise SandboxError(f"the sandbox did not start: {report['failed']}")
        if "refused" in report:
            self._pump.abort()
            raise SubjectError(f"the sandbox cannot be set up over this workspace: {report['refused'][1]}")
        stdout, stderr = self._pump.finish()
        breach = self._settle_breach(report)
        disk = self._parts.disk
        if breach is None and self._watcher is not None:
            breach = self._watcher.look_at_disk()
        disk.rebase()
        usage = self._usage(report)
        if breach is not None:
            return ExecResult(
                ended=breach.ended, reason=breach.reason, stdout=stdout, stderr=stderr, usage=usage
            )
        if report.get("ended") and cancelled():
            return ExecResult(
                ended=Ended.CANCELLED,
                reason="the sandbox was told to end its processes",
                stdout=stdout,
                stderr=stderr,
                usage=usage,
            )
        return _ended_by_itself(report, stdout, stderr, usage)

    def clear(self) -> None:
        """Remove the control group; the tree is dead."""
        if self._cgroup is not None:
            self._cgroup.remove()

    def _settle_breach(self, report: Report) -> Breach | None:
        if self._breach is not None:
            return self._breach
        if report.get("timed_out"):
            return timeout_breach(self._limits)
        # The kernel may have acted between the watcher's last look and the end.
        return self._cgroup.breach() if self._cgroup is not None else None

    def _usage(self, report: Report) -> Usage:
        watched = self._watcher.peaks if self._watcher is not None else None
        memory = self._cgroup.peak_memory() if self._cgroup is not None else None
        if memory is None:
            seen = [report.get("max_rss_bytes"), watched.memory_bytes if watched is not None else None]
            memory = max((value for value in seen if value is not None), default=None)
        processes = self._cgroup.peak_processes() if self._cgroup is not None else None
        if processes is None and watched is not None:
            processes = watched.tasks or None
        return Usage(
            wall_s=report.get("wall_s", time.monotonic() - self._started),
            cpu_s=report.get("cpu_s"),
            peak_memory_bytes=memory,
            peak_processes=processes,
        )


def _ended_by_itself(report: Report, stdout: BlobRef, stderr: BlobRef, usage: Usage) -> ExecResult:
    code = report.get("exit_code")
    if code is None:
        # The command never ran, so every byte on stderr is bwrap's own.
        failure = parse_start_failure(stderr.text)
        if failure is None:
            said = stderr.text.strip() or "bwrap ended without a word"
            raise SandboxError(f"the sandbox did not start: {said}")
        code = failure[0]
    if code > 128 and _is_deadly(code - 128):
        # bwrap tells a death by signal N as 128 + N, as shells do.
        return ExecResult(ended=Ended.SIGNALLED, signal=code - 128, stdout=stdout, stderr=stderr, usage=usage)
    return ExecResult(ended=Ended.EXITED, exit_code=code, stdout=stdout, stderr=stderr, usage=usage)


_HARMLESS = {signal.SIGCHLD, signal.SIGCONT, signal.SIGURG, signal.SIGWINCH}


def _is_deadly(number: int) -> bool:
    return number in signal.valid_signals() and number not in _HARMLESS


def _shared_memory_of(first: int) -> Callable[[], int]:
    def used() -> int:
        with contextlib.suppress(OSError):
            status = os.statvfs(f"/proc/{first}/root/dev/shm")
            return (status.f_blocks - status.f_bfree) * status.f_frsize
        return 0

    return used


def _check(request: ExecRequest, spec: SandboxSpec) -> tuple[tuple[str, ...], dict[str, str]]:
    command = request.command
    if not command or not command[0]:
        raise UsageError("there is no command to run")
    environment = {**base_environment(), **spec.env, **request.env}
    for name, value in environment.items():
        if not name or "=" in name or "\0" in name or "\0" in value:
            raise UsageError(
                f"environment variable {name!r} cannot be set: a name has no '=' and no NUL, a value no NUL"
            )
    if any("\0" in part for part in command):
        raise UsageError("an argument of the command holds a NUL character")
    if ".." in request.cwd.parts or "\0" in str(request.cwd):
        raise UsageError(f"{str(request.cwd)!r} is not a directory inside the sandbox")
    return command, environment


def _raise_refusal(report: Report, path: PurePosixPath) -> None:
    refusal = report.get("refused")
    if refusal is None:
        return
    name, why = refusal
    if name == "ENOENT":
        raise FileNotFoundError(2, "no such file in the sandbox", str(path))
    raise SubjectError(f"{path} in the sandbox: {why}")
