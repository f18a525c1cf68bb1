"""Watching a running process tree and ending it when it exceeds a limit; shared by every backend.

A thread of its own, so that a busy event loop delays nothing: it samples every 100 ms at the latest and
ends the tree within 200 ms of a breach. What the kernel already holds (cgroups) is left to it, by leaving
the matching switch off.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from adjudge.records.sandbox import Limits
from adjudge.sandbox.disk import DiskMeter
from adjudge.sandbox.limits import Breach, disk_breach, memory_breach, process_breach
from adjudge.sandbox.processes import proportional_memory, sample, unlinked_files

__all__ = ["Peaks", "Watcher"]

_PERIOD_S = 0.08
_EARLY_S = 0.01
"""Period of the first samples: most commands are over before a slow one would see them at all."""
_WATCHED = "watcher"
_SHMEM_HINT_BYTES = 4 * 1024 * 1024


@dataclass(slots=True)
class Peaks:
    """The highest values seen. None where nothing was sampled."""

    memory_bytes: int | None = None
    tasks: int | None = None
    cpu_s: float | None = None
    disk_bytes: int | None = None


class Watcher:
    """Samples one exec's tree until stopped, and reports the first breach.

    Args:
        limits: What the tree may use.
        pids: Lists the tree's processes right now. Called from the watcher's thread.
        end: Told the first breach, once, from the watcher's thread; it has to end the tree.
        disk: Measures what the tree wrote; None leaves disk unwatched.
        memory: Whether to watch memory (no cgroup does).
        processes: Whether to watch the number of processes and threads.
        counters: Further things to look at on each round, such as a cgroup's event counters.
        extra_memory: Bytes of memory that belong to the tree but to no process (a tmpfs).
    """

    def __init__(
        self,
        limits: Limits,
        *,
        pids: Callable[[], Sequence[int]],
        end: Callable[[Breach], None],
        disk: DiskMeter | None = None,
        memory: bool = True,
        processes: bool = True,
        counters: Callable[[], Breach | None] | None = None,
        extra_memory: Callable[[], int] | None = None,
    ) -> None:
        self._limits = limits
        self._pids = pids
        self._end = end
        self._disk = disk
        self._memory = memory
        self._processes = processes
        self._counters = counters
        self._extra_memory = extra_memory
        self._memory_files = 0
        self._shmem_seen = -1
        self._memory_files_due = 0.0
        self._stopped = threading.Event()
        self._telling = threading.Lock()
        self._thread = threading.Thread(target=self._watch, name="adjudge-watcher", daemon=True)
        self.peaks = Peaks()
        self.breach: Breach | None = None

    def start(self) -> None:
        """Begin watching."""
        self._thread.start()

    def stop(self) -> None:
        """Stop watching: after this `end` is not called any more.

        Does not wait for a sample under way, since a walk over a large tree may take long.
        """
        with self._telling:
            self._stopped.set()

    def _watch(self) -> None:
        period = _EARLY_S
        while not self._stopped.wait(period):
            period = min(_PERIOD_S, period * 2)
            breach = self.look()
            if breach is not None:
                with self._telling:
                    if not self._stopped.is_set():
                        self.breach = breach
                        self._end(breach)
                return

    def look(self) -> Breach | None:
        """Take one sample and say what it breaches, if anything."""
        if self._counters is not None:
            breach = self._counters()
            if breach is not None:
                return breach
        if self._memory or self._processes:
            breach = self._look_at_processes(self._pids())
            if breach is not None:
                return breach
        return self.look_at_disk()

    def look_at_disk(self) -> Breach | None:
        """Measure the disk, as far as there is reason to, and say whether its limit is breached."""
        if self._disk is None:
            return None
        used = self._disk.used(self._pids)
        self.peaks.disk_bytes = max(self.peaks.disk_bytes or 0, used)
        if used > self._limits.disk_bytes:
            return disk_breach(used, self._limits, _WATCHED)
        return None

    def _look_at_processes(self, pids: Sequence[int]) -> Breach | None:
        now = sample(pids)
        peaks = self.peaks
        peaks.tasks = max(peaks.tasks or 0, now.tasks)
        peaks.cpu_s = max(peaks.cpu_s or 0.0, now.cpu_s)
        if self._processes and now.tasks > self._limits.processes:
            return process_breach(now.tasks, self._limits, _WATCHED)
        if not self._memory:
            return None
        beside = self._extra_memory() if self._extra_memory is not None else 0
        beside += self._in_memory_files(now.pids)
        used = now.memory_bytes + beside
        if used > self._limits.memory_bytes:
            exact = proportional_memory(now.pids)
            if exact is not None:
                # A memory file may be mapped as well as held open; it is charged once.
                used = exact.total_bytes - exact.shared_bytes + max(exact.shared_bytes, beside)
        peaks.memory_bytes = max(peaks.memory_bytes or 0, used)
        if used > self._limits.memory_bytes:
            return memory_breach(used, self._limits, _WATCHED)
        return None

    def _in_memory_files(self, pids: Sequence[int]) -> int:
        """Bytes in memory files, looked for when the machine's shared memory grew, and once a second."""
        now = time.monotonic()
        shmem = _shared_memory()
        if shmem - self._shmem_seen > _SHMEM_HINT_BYTES or now >= self._memory_files_due:
            self._shmem_seen = shmem
            self._memory_files_due = now + 1.0
            self._memory_files = unlinked_files(pids).memory_bytes
        return self._memory_files


def _shared_memory() -> int:
    with open("/proc/meminfo", "rb", buffering=0) as file:
        for line in file.read().splitlines():
            if line.startswith(b"Shmem:"):
                return int(line.split()[1]) * 1024
    return 0
