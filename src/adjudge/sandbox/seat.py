"""A process that waits, in a control group of its own, to become bwrap. Standard library only.

Moving a process into a control group waits for the kernel's other processors (measured: 14 ms on a machine
at rest, more under load), twice what all of bwrap takes. So the move is made ahead of time: a spare
supervisor has a child that already sits in a fresh group. Without groups there is nothing to wait for, and
the child is forked when it is needed.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import time

from adjudge.sandbox import kernel
from adjudge.sandbox.becoming import Descriptors, become_bwrap
from adjudge.sandbox.launchrequest import CgroupParents, Execute, Identity, Request, receive

__all__ = ["Seat"]

_DESCRIPTORS = 7
_REMOVE_S = 2.0


class Seat:
    """The process-to-be of one command.

    Args:
        parents: Where to make the control group; None for none.
    """

    def __init__(self, parents: CgroupParents | None) -> None:
        self._paths: list[str] = []
        self._waiting: int | None = None
        self.cgroup: str | None = None
        """Name of the group in each hierarchy."""
        if parents is None:
            return
        self.cgroup = f"{parents['prefix']}{os.getpid()}-{time.monotonic_ns()}"
        for parent in parents["parents"]:
            path = f"{parent}/{self.cgroup}"
            os.mkdir(path)
            self._paths.append(path)
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._waiting = os.fork()
        if self._waiting == 0:
            ours.close()
            self._wait(theirs)
        theirs.close()
        self._door = ours

    def go(self, request: int, errand: Execute, descriptors: tuple[int, int, int, int, int]) -> int:
        """Have the process become bwrap; returns its pid, that of a child of ours.

        Args:
            request: Descriptor of the request's text.
            errand: What to run, from the same request.
            descriptors: stdin, stdout, stderr, status pipe, block pipe.
        """
        if self._waiting is None:
            child = os.fork()
            if child == 0:
                with open(os.dup(request), "rb") as file:
                    file.seek(0)
                    whole: Request = json.load(file)
                become_bwrap(errand, whole["identity"], Descriptors(*descriptors))
            return child
        for number, name, value, needed in errand["cgroup_limits"]:
            try:
                _write(f"{self._paths[number]}/{name}", value)
            except OSError:
                if needed:
                    raise
        space = os.open("/proc/self/ns/mnt", os.O_RDONLY | os.O_CLOEXEC)
        socket.send_fds(self._door, [b"go"], [request, space, *descriptors])
        os.close(space)
        self._door.close()
        return self._waiting

    def give_up(self) -> None:
        """End the waiting process and remove its group; for a seat nobody took, or whose asker is gone."""
        if self._waiting is not None:
            with contextlib.suppress(ProcessLookupError, ChildProcessError):
                os.kill(self._waiting, signal.SIGKILL)
                os.waitpid(self._waiting, 0)
        deadline = time.monotonic() + _REMOVE_S
        for path in self._paths:
            while os.path.exists(path) and time.monotonic() < deadline:
                try:
                    os.rmdir(path)
                except OSError:
                    # A dead process leaves its group only when the last reference to it goes.
                    time.sleep(0.002)

    def _wait(self, door: socket.socket) -> None:
        """In the child: enter the group and wait. Never returns."""
        try:
            for path in self._paths:
                _write(f"{path}/cgroup.procs", "0")
            message, received = receive(door, 16, _DESCRIPTORS)
            if not message:
                return
            door.close()
            text, space, *rest = received
            kernel.enter(space, kernel.CLONE_NEWNS)
            os.close(space)
            with open(text, "rb") as file:
                file.seek(0)
                request: Request = json.load(file)
            errand = request["errand"]
            identity: Identity | None = request["identity"]
            assert errand is not None
            assert errand["op"] == "execute"
            become_bwrap(errand, identity, Descriptors(*rest))
        finally:
            os._exit(1)


def _write(path: str, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)
