"""The `process` backend: no isolation, for machines that can offer none. It says so in every report.

What can be had without isolation is kept: a private copy of the workspace, a private HOME and TMPDIR, a
scrubbed environment, no new privileges, every limit, and the end of the whole tree with each exec. What
cannot: a command may read and change whatever its caller may, and reach the host's network and processes.

There is no mount namespace, so the workspace is not at /workspace. `cwd` and the paths of `read_file` and
`write_file` are given as if it were and are mapped; commands find the true place in `ADJUDGE_WORKSPACE`.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import platform
import pwd
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import ClassVar

from adjudge.contracts import BlobStore, OutputObserver
from adjudge.errors import SandboxError, SandboxUnavailable
from adjudge.records.base import BlobRef
from adjudge.records.sandbox import (
    Ended,
    ExecRequest,
    ExecResult,
    Limits,
    Network,
    OutsideWrite,
    SandboxReport,
    SandboxSpec,
    SandboxSupport,
    Usage,
)
from adjudge.sandbox.attended import AttendedExec, LimitMeans
from adjudge.sandbox.cgroups import find_places, remove_cgroups_of
from adjudge.sandbox.covers import Covers
from adjudge.sandbox.disk import DiskMeter, disk_usage
from adjudge.sandbox.launchrequest import (
    STAGE,
    Enter,
    Execute,
    Identity,
    Read,
    Report,
    Request,
    Spawn,
    Write,
)
from adjudge.sandbox.layers import OwnWorkspace, copy_workspace, empty_workspace, stages_by_user_namespace
from adjudge.sandbox.limits import rlimits
from adjudge.sandbox.marking import MARK, end_marked
from adjudge.sandbox.processes import descendants
from adjudge.sandbox.removal import remove_tree
from adjudge.sandbox.scratch import own_scratch
from adjudge.sandbox.started import WORKSPACE, StartedSandbox
from adjudge.sandbox.visible import base_environment

__all__ = ["ProcessBackend", "ProcessSandbox"]

_NO_ISOLATION = "no isolation: commands can do whatever this user can, on the host and its network"
_ELSEWHERE = "no mount namespace: the workspace is not at /workspace but where ADJUDGE_WORKSPACE says"

_LIMITS_HELD_BY = {
    "wall": "supervisor",
    "memory": "watcher",
    "processes": "watcher",
    "disk": "watcher",
    "output": "reader",
}
"""No control group: what is in it may leave it again where nothing is isolated."""


class ProcessBackend:
    """See `contracts.SandboxBackend`."""

    name: ClassVar[str] = "process"

    def probe(self) -> SandboxSupport:
        """Always there on Linux; the reason says what it lacks."""
        available = platform.system() == "Linux"
        return SandboxSupport(
            backend=self.name,
            available=available,
            reason=_NO_ISOLATION if available else "needs Linux",
            hint="prefer bubblewrap wherever it works" if available else None,
            facts={"isolation": "none", **{f"{name} limit": by for name, by in _LIMITS_HELD_BY.items()}},
        )

    async def start(self, spec: SandboxSpec, *, blobs: BlobStore | None = None) -> ProcessSandbox:
        """Copy the workspace and be ready."""
        if platform.system() != "Linux":
            raise SandboxUnavailable("the process backend needs Linux")
        if spec.also_at or spec.folders:
            places = ", ".join(map(str, (*spec.also_at, *spec.folders)))
            raise SandboxUnavailable(
                f"the process backend has no mounts of its own, and {places} would have to be one",
                hint="use a sandbox that isolates: adjudge doctor says which ones work here",
            )
        own, swept = await asyncio.to_thread(own_scratch)
        groups = find_places()
        if swept and groups is not None:
            # Whoever sweeps up after a dead adjudge is the last to know of its control groups.
            remove_cgroups_of(swept, groups)
        scratch = own.new()
        try:
            for name in ("tmp", "home", "covered"):
                (scratch / name).mkdir(mode=0o700)
            reachable = os.geteuid() == 0 or await stages_by_user_namespace()
            workspace = await _own_workspace(spec, scratch / "workspace", reachable=reachable)
            covers = Covers(scratch / "workspace", scratch / "covered", spec.mounts)
            directories = [scratch / "workspace", scratch / "tmp", scratch / "home"]
            disk = DiskMeter(directories, already_bytes=await asyncio.to_thread(disk_usage, directories))
        except BaseException as error:
            remove_tree(scratch)
            if isinstance(error, OSError):
                raise SandboxError(f"the workspace could not be copied: {error}") from error
            raise
        return ProcessSandbox(
            spec=spec,
            name=f"{own.id}-{scratch.name}",
            scratch=scratch,
            workspace=workspace,
            covers=covers,
            reachable=reachable,
            means=LimitMeans(disk, tree=lambda supervisor: descendants(supervisor)[1:]),
            blobs=blobs,
        )


class ProcessSandbox(StartedSandbox):
    """See `contracts.Sandbox`."""

    def __init__(
        self,
        *,
        spec: SandboxSpec,
        name: str,
        scratch: Path,
        workspace: OwnWorkspace,
        covers: Covers,
        reachable: bool,
        means: LimitMeans,
        blobs: BlobStore | None,
    ) -> None:
        super().__init__(
            spec=spec,
            scratch=scratch,
            tree=workspace.tree,
            report=_report(spec, workspace),
            means=means,
            blobs=blobs,
        )
        self._name = name
        self._covers = covers
        self._covering = asyncio.Lock()
        self._reachable = reachable

    async def exec(
        self,
        request: ExecRequest,
        *,
        on_output: OutputObserver | None = None,
        stdin: int | None = None,
    ) -> ExecResult:
        """Run a command to its end, the spec's mounts laid over the workspace meanwhile."""
        async with self._covering:
            await asyncio.to_thread(self._covers.lay)
            try:
                return await super().exec(request, on_output=on_output, stdin=stdin)
            except SandboxError:
                # Nothing keeps a command from killing its own supervisor; what it started has no parent then.
                await asyncio.to_thread(end_marked, self._name)
                raise
            finally:
                self._covers.lift()

    def _base_environment(self) -> Mapping[str, str]:
        user = _user_name()
        return {
            **base_environment(),
            "HOME": str(self._scratch / "home"),
            "TMPDIR": str(self._scratch / "tmp"),
            "USER": user,
            "LOGNAME": user,
            "ADJUDGE_WORKSPACE": str(self._tree.base),
            MARK: self._name,
        }

    def _command_errand(self, request: ExecRequest, environment: Mapping[str, str], limits: Limits) -> Spawn:
        return {
            "op": "spawn",
            "command": list(request.command),
            "environment": {**environment, MARK: self._name},
            "cwd": str(self._on_host(WORKSPACE / request.cwd)),
            "rlimits": rlimits(limits),
            "wall_s": limits.wall_s,
            "keep": request.keep,
        }

    def _to_enter(self) -> AttendedExec | None:
        """None: without namespaces there is nothing to join."""
        return None

    def _enter_errand(
        self, host: AttendedExec, request: ExecRequest, environment: Mapping[str, str], limits: Limits
    ) -> Spawn:
        return {**self._command_errand(request, environment, limits), "keep": False}

    def _end_lost(self, attended: AttendedExec) -> None:
        end_marked(self._name)

    def outside_writes(self) -> tuple[OutsideWrite, ...] | None:
        """None: commands may write wherever this user may."""
        return None

    def _on_host(self, inside: PurePosixPath) -> Path:
        """Where a path as a sandbox would have it is here."""
        for root, place in ((WORKSPACE, "workspace"), (PurePosixPath("/tmp"), "tmp")):
            if inside.is_relative_to(root):
                return self._scratch / place / inside.relative_to(root)
        return Path(inside)

    def _request(self, errand: Execute | Enter | Spawn | Read | Write) -> Request:
        # Files without permission bits are read with the rights a user namespace gives over one's own.
        staging = errand["op"] in ("read", "write") and self._reachable and os.geteuid() != 0
        return {
            "identity": None,
            "user_namespace": staging,
            "staged": [{"source": str(self._scratch), "name": "s", "read_only": False}] if staging else [],
            "overlay": None,
            "mount_points": [],
            "errand": errand,
        }

    def _find(self, inside: PurePosixPath) -> tuple[str, str] | None:
        staged = self._reachable and os.geteuid() != 0
        top = f"{STAGE}/s" if staged else str(self._scratch)
        for root, place in ((WORKSPACE, "workspace"), (PurePosixPath("/tmp"), "tmp")):
            if inside != root and inside.is_relative_to(root):
                return f"{top}/{place}", str(inside.relative_to(root))
        return None

    def _conclude(self, report: Report, stdout: BlobRef, stderr: BlobRef, usage: Usage) -> ExecResult:
        signal = report.get("signal")
        return ExecResult(
            ended=Ended.EXITED if signal is None else Ended.SIGNALLED,
            exit_code=report.get("exit_code"),
            signal=signal,
            stdout=stdout,
            stderr=stderr,
            usage=usage,
        )

    def _release(self) -> None:
        """Nothing was leased."""


async def _own_workspace(spec: SandboxSpec, place: Path, *, reachable: bool) -> OwnWorkspace:
    if spec.workspace is None:
        return empty_workspace(place, None)
    if os.geteuid() != 0:
        return await copy_workspace(spec.workspace, place, None, stages=reachable)
    # Root reads a plain directory as it is; layers have to be mounted for it.
    identity: Identity | None = None if spec.workspace.flat else {"uid": os.getuid(), "gid": os.getgid()}
    return await copy_workspace(spec.workspace, place, identity, stages=identity is not None)


def _report(spec: SandboxSpec, workspace: OwnWorkspace) -> SandboxReport:
    notes = [_NO_ISOLATION, _ELSEWHERE, *workspace.notes]
    if spec.network is not Network.HOST:
        notes.append(f"network: the host's own, although `{spec.network}` was asked for")
    return SandboxReport(
        backend=ProcessBackend.name,
        isolated=False,
        copy_on_write=workspace.copy_on_write,
        network=Network.HOST,
        limits_held_by=_LIMITS_HELD_BY,
        notes=tuple(notes),
    )


def _user_name() -> str:
    with contextlib.suppress(KeyError):
        return pwd.getpwuid(os.getuid()).pw_name
    return str(os.getuid())
