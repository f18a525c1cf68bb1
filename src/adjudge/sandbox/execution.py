"""A command from its start to the death of its last process. Standard library only.

The supervisor is the tree's subreaper: whatever outlives bwrap becomes its child, so "no children left"
means that nothing is alive.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import select
import signal
import socket
import time

from adjudge.sandbox import kernel
from adjudge.sandbox.becoming import Descriptors, Understudy, become_bwrap
from adjudge.sandbox.ending import end_all_children, end_process
from adjudge.sandbox.freezing import Freezer, describe_processes
from adjudge.sandbox.group import entrances, fork_into, make_group, read_counters, remove_group
from adjudge.sandbox.holding import hold, take_word
from adjudge.sandbox.launchrequest import Execute, Identity, Report
from adjudge.sandbox.networkhelper import connect
from adjudge.sandbox.processes import children, descendants, parent

__all__ = ["Execution"]

_PR_SET_CHILD_SUBREAPER = 36


class Execution:
    """One command.

    Args:
        errand: What to run.
        identity: The user it runs as when we are root.
        text: Descriptor of the whole request's text.
        understudy: A process that waits to become bwrap.
        control: Where we are told to end it, and where its first process is announced.
        standard: stdin, stdout, stderr.
    """

    def __init__(
        self,
        errand: Execute,
        identity: Identity | None,
        text: int,
        understudy: Understudy,
        control: socket.socket,
        standard: tuple[int, int, int],
    ) -> None:
        self._errand = errand
        self._identity = identity
        self._text = text
        self._understudy = understudy
        self._control = control
        self._standard = standard
        self._status = b""
        self._report: Report = {"exit_code": None}
        self._first: int | None = None
        self._sessions: set[int] = set()
        self._greeted = False

    def run(self) -> Report:
        """Start, wait, end what is left, report."""
        group = self._errand["group"]
        if group is None:
            return self._run()
        try:
            make_group(group)
            report = self._run()
            report["counters"] = read_counters(group)
            return report
        finally:
            remove_group(group)

    def _run(self) -> Report:
        kernel.prctl(_PR_SET_CHILD_SUBREAPER, 1)
        status_read, status_write = os.pipe()
        block_read, block_write = os.pipe()
        started = time.monotonic()
        deadline = started + self._errand["wall_s"]
        child = self._start(Descriptors(*self._standard, status_write, block_read))
        for descriptor in (*self._standard, status_write, block_read):
            os.close(descriptor)
        os.set_blocking(status_read, False)
        try:
            if self._watch(child, status_read, block_write, deadline) and self._errand["keep"]:
                self._read_status(status_read)
                self._keep(started)
        finally:
            end_process(child)
            end_all_children()
        self._report["wall_s"] = time.monotonic() - started
        self._read_status(status_read)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        self._report["cpu_s"] = used.ru_utime + used.ru_stime
        # Our own fork counts until it becomes bwrap; only more than that says something of the tree.
        if used.ru_maxrss > resource.getrusage(resource.RUSAGE_SELF).ru_maxrss:
            self._report["max_rss_bytes"] = used.ru_maxrss * 1024
        return self._report

    def _start(self, held: Descriptors) -> int:
        """Have a process become bwrap; returns its pid."""
        group = self._errand["group"]
        doors = entrances(group)
        if doors is not None:
            self._understudy.call(self._text, held, doors)
            return self._understudy.pid
        assert group is not None
        self._understudy.dismiss()
        child, doors = fork_into(group)
        if child == 0:
            become_bwrap(self._errand, self._identity, held, doors)
        return child

    def _keep(self, started: float) -> None:
        """What the command started stays, below the first process of its namespace, until we are told."""
        first = self._first
        if first is None or self._report["exit_code"] is None:
            return
        try:
            gone = os.pidfd_open(first)
        except ProcessLookupError:
            return
        paused: Report = {**self._report, "wall_s": time.monotonic() - started}
        if self._errand["group"] is not None:
            paused["counters"] = read_counters(self._errand["group"])
        try:
            hold(
                self._control,
                paused,
                Freezer(lambda: descendants(first), self._errand["group"]),
                lambda: describe_processes(descendants(first)[1:], {os.getsid(first)} | self._sessions),
                lambda: not select.select([gone], [], [], 0)[0],
                [gone],
            )
        finally:
            os.close(gone)

    def _stop_command(self) -> None:
        """End the command itself: inside its namespace it is always number 2, after bwrap's own process."""
        for pid in children(self._first) if self._first is not None else ():
            with contextlib.suppress(OSError), open(f"/proc/{pid}/status", "rb") as file:
                numbers = [line.split()[-1] for line in file if line.startswith(b"NSpid:")]
                if numbers == [b"2"]:
                    os.kill(pid, signal.SIGKILL)

    def _watch(self, child: int, status: int, block: int, deadline: float) -> bool:
        """Until bwrap ends, time is up, or we are told; whether it ended by itself."""
        gone = os.pidfd_open(child)
        poll = select.poll()
        for descriptor in (gone, status, self._control.fileno()):
            poll.register(descriptor, select.POLLIN)
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                self._report["timed_out"] = True
                return False
            ready = {descriptor for descriptor, _ in poll.poll(left * 1000 + 1)}
            if self._control.fileno() in ready:
                if take_word(self._control) != b"stop":
                    self._report["ended"] = True
                    return False
                self._stop_command()
            if status in ready:
                if not self._read_status(status):
                    poll.unregister(status)
                self._greet(child, block)
            if gone in ready:
                return True

    def _greet(self, child: int, block: int) -> None:
        """When the namespace's first process is known: connect its network, say who it is."""
        first = self._first
        if first is None or self._greeted:
            return
        self._greeted = True
        # The pid is only worth telling while it is surely bwrap's child, not a stranger's reused number.
        if parent(first) != child:
            return
        if self._errand["helper"] is not None:
            connect(self._errand["helper"], first, self._identity)
            os.write(block, b"1")
        with contextlib.suppress(OSError):
            self._sessions.add(os.getsid(child))
            self._control.send(json.dumps({"started": first}).encode())

    def _read_status(self, status: int) -> bool:
        """Take in bwrap's status documents, one per line; whether more may come."""
        more = True
        while True:
            try:
                data = os.read(status, 4096)
            except BlockingIOError:
                break
            if not data:
                more = False
                break
            self._status += data
        *lines, self._status = self._status.split(b"\n")
        for line in lines:
            document = json.loads(line)
            if "error" in document:
                self._report["failed"] = document["error"]
            if "child-pid" in document:
                self._first = document["child-pid"]
            if "exit-code" in document:
                self._report["exit_code"] = document["exit-code"]
        return more
