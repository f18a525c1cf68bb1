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
import socket
import time

from adjudge.sandbox import kernel
from adjudge.sandbox.becoming import Descriptors, Understudy, become_bwrap
from adjudge.sandbox.ending import end_all_children, end_process
from adjudge.sandbox.group import entrances, fork_into, make_group, read_counters, remove_group
from adjudge.sandbox.launchrequest import Execute, Identity, Report
from adjudge.sandbox.networkhelper import connect
from adjudge.sandbox.processes import parent

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
            self._watch(child, status_read, block_write, deadline)
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

    def _watch(self, child: int, status: int, block: int, deadline: float) -> None:
        """Until bwrap ends, time is up, or we are told."""
        gone = os.pidfd_open(child)
        poll = select.poll()
        for descriptor in (gone, status, self._control.fileno()):
            poll.register(descriptor, select.POLLIN)
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                self._report["timed_out"] = True
                return
            ready = {descriptor for descriptor, _ in poll.poll(left * 1000 + 1)}
            if self._control.fileno() in ready:
                self._report["ended"] = True
                return
            if status in ready:
                if not self._read_status(status):
                    poll.unregister(status)
                self._greet(child, block)
            if gone in ready:
                return

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
