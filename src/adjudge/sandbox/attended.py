"""One exec as adjudge attends to it: its pipes, its watcher, what ended it; shared by every backend.

The command itself runs below the launcher; how it is started there is the backend's business.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from adjudge.contracts import BlobStore, OutputObserver
from adjudge.errors import SandboxError, SubjectError
from adjudge.records.base import BlobRef
from adjudge.records.sandbox import Ended, ExecResult, Limits, Usage
from adjudge.sandbox.cgroups import CgroupPlaces, breach_of, peak_processes
from adjudge.sandbox.disk import DiskMeter
from adjudge.sandbox.group import read_counters, remove_group
from adjudge.sandbox.launching import Errand, send_errand
from adjudge.sandbox.launchrequest import Counters, Group, Report, Request
from adjudge.sandbox.limits import Breach, output_breach, timeout_breach
from adjudge.sandbox.output import OutputPump, sealed_stdin
from adjudge.sandbox.processes import start_time
from adjudge.sandbox.watcher import Watcher

__all__ = ["AttendedExec", "Conclusion", "LimitMeans"]

Conclusion = Callable[[Report, BlobRef, BlobRef, Usage], ExecResult]
"""How a command ended by itself, from the supervisor's report, its stdout, its stderr and its cost."""


@dataclass(frozen=True)
class LimitMeans:
    """What holds the limits of a sandbox's execs."""

    disk: DiskMeter
    tree: Callable[[int], Sequence[int]]
    """The processes of an exec, from the pid its supervisor told."""
    shared_memory: Callable[[int], int] = lambda _: 0
    """Bytes of memory that belong to the exec but to no process, from the same pid."""
    places: CgroupPlaces | None = None
    """Where control groups are, when they hold memory and processes; else the watcher does."""


class AttendedExec:
    """One exec: its pipes, its watcher and what ended it.

    Args:
        limits: What the tree may use.
        means: What holds the limits.
        blobs: Where output is kept.
        on_output: Sees output as it arrives.
    """

    def __init__(
        self,
        limits: Limits,
        means: LimitMeans,
        blobs: BlobStore | None,
        on_output: OutputObserver | None,
    ) -> None:
        self._limits = limits
        self._means = means
        self._blobs = blobs
        self._group: Group | None = None
        self._counters: Counters | None = None
        self._on_output = on_output
        self._breach: Breach | None = None
        self._errand: Errand | None = None
        self._pump: OutputPump | None = None
        self._watcher: Watcher | None = None
        self._started = time.monotonic()
        self.first: int | None = None
        """The process below which the tree is, once it is known."""
        self.first_started: int | None = None
        """When that one started."""
        self.known = asyncio.Event()
        """Set when it is known."""

    @property
    def group(self) -> Group | None:
        """The control group of the tree."""
        return self._group

    def start(self, request: Request, stdin: bytes | int) -> Errand:
        """Hand the command to the launcher. `stdin` is what it reads, or a descriptor it reads from."""
        errand = request["errand"]
        if errand is not None and errand["op"] == "execute":
            self._group = errand["group"]
        out_read, out_write = os.pipe()
        err_read, err_write = os.pipe()
        source = sealed_stdin(stdin) if isinstance(stdin, bytes) else os.dup(stdin)
        try:
            self._pump = OutputPump(
                out_read,
                err_read,
                limit_bytes=self._limits.output_bytes,
                blobs=self._blobs,
                on_output=self._on_output,
                on_limit=lambda: self._end(output_breach(self._limits)),
                on_failure=lambda: self._end(None),
            )
            self._errand = send_errand(
                request,
                stdin=source,
                stdout=out_write,
                stderr=err_write,
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

    def _watch(self, report: Report) -> None:
        first = self.first = report["started"]
        self.first_started = start_time(first)
        self.known.set()
        places = self._means.places
        self._watcher = Watcher(
            self._limits,
            pids=lambda: self._means.tree(first),
            end=self._end,
            disk=self._means.disk,
            memory=places is None or places.memory is None,
            processes=places is None or places.pids is None,
            counters=self._held_by_kernel,
            extra_memory=lambda: self._means.shared_memory(first),
        )
        self._watcher.start()

    def _held_by_kernel(self) -> Breach | None:
        """What the kernel did about a limit, while the tree runs or from its last counters."""
        if self._group is None or self._means.places is None:
            return None
        counters = self._counters or read_counters(self._group)
        return breach_of(counters, self._limits, self._means.places.name)

    def _end(self, breach: Breach | None) -> None:
        """End the tree for the first breach; from the event loop or the watcher's thread."""
        if self._breach is None:
            self._breach = breach
        if self._errand is not None:
            self._errand.end()

    async def finish(self, errand: Errand, cancelled: Callable[[], bool], conclude: Conclusion) -> ExecResult:
        """Wait for the end and put the result together; `conclude` says how a command ended by itself."""
        assert self._pump is not None
        try:
            report = await errand.wait(command_only=True)
        except BaseException:
            self._pump.abort()
            raise
        finally:
            self.known.set()
            if self._watcher is not None and errand.report.done():
                self._watcher.stop()
        self._counters = report.get("counters")
        if report.get("paused"):
            return self._concluded_so_far(report, conclude)
        if "failed" in report:
            self._pump.abort()
            if self._group is not None:
                # The supervisor removes it, unless it died.
                remove_group(self._group)
            raise SandboxError(f"the sandbox did not start: {report['failed']}")
        if "refused" in report:
            self._pump.abort()
            raise SubjectError(f"the sandbox cannot be set up over this workspace: {report['refused'][1]}")
        stdout, stderr = self._pump.finish()
        breach = self._settle_breach(report)
        if breach is None and self._watcher is not None:
            breach = self._watcher.look_at_disk()
        self._means.disk.rebase()
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
        return conclude(report, stdout, stderr, usage)

    def _concluded_so_far(self, report: Report, conclude: Conclusion) -> ExecResult:
        """How the command ended, of a tree that goes on."""
        assert self._pump is not None
        stdout, stderr = self._pump.detach()
        result = conclude(report, stdout, stderr, self._usage(report))
        # From here on the kernel's counters are read anew.
        self._counters = None
        breach = self._breach
        if breach is None:
            return result
        return result.model_copy(
            update={"ended": breach.ended, "reason": breach.reason, "exit_code": None, "signal": None}
        )

    async def outlive(self, errand: Errand) -> None:
        """Stay with a tree that is kept until it has ended."""
        assert self._pump is not None
        try:
            await errand.wait()
        finally:
            if self._watcher is not None:
                self._watcher.stop()
            self._pump.abort()
            self._means.disk.rebase()

    def _settle_breach(self, report: Report) -> Breach | None:
        if self._breach is not None:
            return self._breach
        if report.get("timed_out"):
            return timeout_breach(self._limits)
        # The kernel may have acted between the watcher's last look and the end.
        return self._held_by_kernel() if self._counters is not None else None

    def _usage(self, report: Report) -> Usage:
        watched = self._watcher.peaks if self._watcher is not None else None
        counted = self._counters
        memory = counted["peak_memory_bytes"] if counted is not None else None
        if memory is None:
            seen = [report.get("max_rss_bytes"), watched.memory_bytes if watched is not None else None]
            memory = max((value for value in seen if value is not None), default=None)
        processes = peak_processes(counted) if counted is not None else None
        if processes is None and watched is not None:
            processes = watched.tasks or None
        return Usage(
            wall_s=report.get("wall_s", time.monotonic() - self._started),
            cpu_s=report.get("cpu_s"),
            peak_memory_bytes=memory,
            peak_processes=processes,
        )
