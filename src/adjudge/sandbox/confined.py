"""A started bubblewrap sandbox: what its commands are wrapped in, and how bwrap's answers are read."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from adjudge.contracts import BlobStore
from adjudge.errors import SandboxError
from adjudge.records.base import BlobRef
from adjudge.records.sandbox import (
    Ended,
    ExecRequest,
    ExecResult,
    Limits,
    OutsideWrite,
    SandboxReport,
    SandboxSpec,
    Usage,
)
from adjudge.sandbox.attended import AttendedExec, LimitMeans
from adjudge.sandbox.bwrap import namespace_options, parse_start_failure
from adjudge.sandbox.cgroups import CgroupPlaces
from adjudge.sandbox.disk import DiskMeter
from adjudge.sandbox.launchrequest import (
    Enter,
    Execute,
    Helper,
    Identity,
    Read,
    Report,
    Request,
    Spawn,
    Write,
)
from adjudge.sandbox.layers import OwnWorkspace
from adjudge.sandbox.limits import rlimits
from adjudge.sandbox.outside import list_written
from adjudge.sandbox.processes import descendants
from adjudge.sandbox.skeleton import HOME
from adjudge.sandbox.started import StartedSandbox, end_namespace, is_running
from adjudge.sandbox.uids import UidLease
from adjudge.sandbox.visible import WORKSPACE, View, base_environment

__all__ = ["BubblewrapSandbox", "Parts"]

_SHM_SHARE = 2
"""/dev/shm holds at most this fraction of the memory limit: 1/2, the kernel's own default."""
_PROCESS_SLACK = 512
"""RLIMIT_NPROC only stops a bomb from growing without end. A lower one would make commands fail for want
of processes before the watcher, which ends the tree and says why, has seen them."""


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
    group_names: Iterator[str]
    """Names for control groups, unique on this machine."""
    stages: bool
    report: SandboxReport
    blobs: BlobStore | None
    disk: DiskMeter


class BubblewrapSandbox(StartedSandbox):
    """See `contracts.Sandbox`."""

    def __init__(self, parts: Parts) -> None:
        super().__init__(
            spec=parts.spec,
            scratch=parts.scratch,
            tree=parts.workspace.tree,
            report=parts.report,
            means=LimitMeans(parts.disk, descendants, _shared_memory_of, parts.places),
            blobs=parts.blobs,
        )
        self._parts = parts

    def _base_environment(self) -> Mapping[str, str]:
        return base_environment()

    def _command_errand(
        self, request: ExecRequest, environment: Mapping[str, str], limits: Limits
    ) -> Execute:
        parts = self._parts
        cwd = PurePosixPath(WORKSPACE) / request.cwd
        options = namespace_options(parts.spec.network, environment, str(cwd), keep=request.keep)
        options += parts.view.options
        options += ["--perms", "1777", "--size", str(max(4096, limits.memory_bytes // _SHM_SHARE))]
        options += ["--tmpfs", "/dev/shm", "--remount-ro", "/dev", "--remount-ro", "/"]
        group = None
        if parts.places is not None:
            group = parts.places.group(next(parts.group_names), limits, keep=request.keep)
        return {
            "op": "execute",
            "bwrap": parts.bwrap,
            "options": options,
            "command": list(request.command),
            "group": group,
            "rlimits": rlimits(limits),
            "processes": self._process_limit(limits),
            "wall_s": limits.wall_s,
            "seccomp": parts.seccomp,
            "helper": parts.helper,
            "keep": request.keep,
        }

    def _process_limit(self, limits: Limits) -> int | None:
        counts = self._parts.lease is not None or self._parts.stages
        return limits.processes + _PROCESS_SLACK if counts else None

    def _to_enter(self) -> AttendedExec | None:
        return next((kept.attended for kept in self._kept if kept.alive and is_running(kept.attended)), None)

    def _enter_errand(
        self, host: AttendedExec, request: ExecRequest, environment: Mapping[str, str], limits: Limits
    ) -> Enter:
        assert host.first is not None
        return {
            "op": "enter",
            "first": host.first,
            "started": host.first_started or 0,
            "identity": self._identity,
            "command": list(request.command),
            "environment": dict(environment),
            "cwd": str(PurePosixPath(WORKSPACE) / request.cwd),
            "group": host.group,
            "rlimits": rlimits(limits),
            "processes": self._process_limit(limits),
            "wall_s": limits.wall_s,
            "seccomp": self._parts.seccomp,
        }

    def _end_lost(self, attended: AttendedExec) -> None:
        end_namespace(attended)

    def outside_writes(self) -> tuple[OutsideWrite, ...] | None:
        """What lies in HOME and /tmp and, as long as something runs there, in shared memory."""
        places = [(self._scratch / "tmp", "/tmp"), (self._scratch / "home", HOME)]
        host = self._to_enter()
        if host is not None:
            places.append((Path(f"/proc/{host.first}/root/dev/shm"), "/dev/shm"))
        return list_written(places)

    def _request(self, errand: Execute | Enter | Spawn | Read | Write) -> Request:
        parts = self._parts
        if errand["op"] == "enter" or (errand["op"] in ("read", "write") and self._to_enter() is not None):
            # Everything is mounted already, where the tree is that runs.
            if errand["op"] != "enter":
                errand["owner"] = self._identity
            return {
                "identity": None,
                "user_namespace": False,
                "staged": [],
                "overlay": None,
                "mount_points": [],
                "errand": errand,
            }
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

    def _find(self, inside: PurePosixPath) -> tuple[str, str] | None:
        host = self._to_enter()
        if host is None:
            return self._parts.view.find(inside)
        for root in map(PurePosixPath, (WORKSPACE, "/tmp", HOME)):
            if inside != root and inside.is_relative_to(root):
                return f"/proc/{host.first}/root{root}", str(inside.relative_to(root))
        return None

    def _conclude(self, report: Report, stdout: BlobRef, stderr: BlobRef, usage: Usage) -> ExecResult:
        return _ended_by_itself(report, stdout, stderr, usage)

    def _release(self) -> None:
        if self._parts.lease is not None:
            self._parts.lease.release(clean=not self._unattended)


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


def _shared_memory_of(first: int) -> int:
    with contextlib.suppress(OSError):
        status = os.statvfs(f"/proc/{first}/root/dev/shm")
        return (status.f_blocks - status.f_bfree) * status.f_frsize
    return 0
