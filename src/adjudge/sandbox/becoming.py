"""The last steps of a process before it is bwrap: give up every right, execute. Standard library only."""

from __future__ import annotations

import json
import os
import resource
import signal
import socket
from typing import NoReturn

from adjudge.sandbox import kernel
from adjudge.sandbox.launchrequest import Execute, Identity, Request, receive

__all__ = ["Descriptors", "Understudy", "become_bwrap", "rehearse"]

_PR_SET_NO_NEW_PRIVS = 38
_PASSED = 8


class Descriptors:
    """What the process holds for its new life."""

    def __init__(self, stdin: int, stdout: int, stderr: int, status: int, block: int) -> None:
        self.standard = (stdin, stdout, stderr)
        self.status = status
        """Where bwrap writes its status documents."""
        self.block = block
        """Where bwrap waits for the network, when there is one."""


class Understudy:
    """A process forked ahead of time that waits to become bwrap.

    The fork and the first steps after it, when the pages it touches are copied, take a millisecond that
    nobody has to wait for. A control group is entered only when the group is there, and a child that has
    to be born in one cannot be forked ahead of time.
    """

    def __init__(self) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.pid = os.fork()
        if self.pid == 0:
            ours.close()
            self._wait(theirs)
        theirs.close()
        self._door = ours

    def call(self, request: int, descriptors: Descriptors, entrances: list[str]) -> None:
        """Send it in. It follows us into our mount namespace, and into our user namespace if we made one."""
        spaces = [os.open(f"/proc/self/ns/{kind}", os.O_RDONLY | os.O_CLOEXEC) for kind in ("user", "mnt")]
        passed = [request, *spaces, *descriptors.standard, descriptors.status, descriptors.block]
        socket.send_fds(self._door, [json.dumps(entrances).encode()], passed)
        for space in spaces:
            os.close(space)
        self._door.close()

    def dismiss(self) -> None:
        """It is not needed."""
        self._door.close()
        os.waitpid(self.pid, 0)

    def _wait(self, door: socket.socket) -> NoReturn:
        try:
            own = os.stat("/proc/self/ns/user").st_ino
            rehearse()
            message, received = receive(door, 64 * 1024, _PASSED)
            door.close()
            if not message:
                os._exit(0)
            text, user, mounts, *rest = received
            if os.fstat(user).st_ino != own:
                kernel.enter(user, kernel.CLONE_NEWUSER)
            kernel.enter(mounts, kernel.CLONE_NEWNS)
            with open(text, "rb") as file:
                file.seek(0)
                request: Request = json.load(file)
            errand = request["errand"]
            if errand is not None and errand["op"] == "execute":
                become_bwrap(errand, request["identity"], Descriptors(*rest), json.loads(message))
        finally:
            os._exit(1)


def rehearse() -> None:
    """Touch what the real thing will touch, so that its pages are ours already."""
    json.loads(json.dumps({"options": ["--option", "value"] * 100, "number": 1.5, "nothing": None}))
    os.close(int(_memory_file(b"\0".join(os.fsencode(str(number)) for number in range(100)))))


def become_bwrap(
    errand: Execute, identity: Identity | None, held: Descriptors, entrances: list[str]
) -> NoReturn:
    """The process becomes bwrap, or tells on the status pipe why not and ends.

    Args:
        errand: What to run.
        identity: The user to become when we are root.
        held: Its descriptors.
        entrances: Files of its control group to write `0` to.
    """
    try:
        for path in entrances:
            with open(path, "wb", buffering=0) as file:
                file.write(b"0")
        arguments = _arguments(errand, held)
        for number, value in errand["rlimits"]:
            resource.setrlimit(number, (value, value))
        if errand["processes"] is not None:
            resource.setrlimit(resource.RLIMIT_NPROC, (errand["processes"], errand["processes"]))
        if identity is not None:
            os.setgroups([])
            os.setresgid(identity["gid"], identity["gid"], identity["gid"])
            os.setresuid(identity["uid"], identity["uid"], identity["uid"])
        kernel.prctl(_PR_SET_NO_NEW_PRIVS, 1)
        # Python ignores these two; a command expects them as a shell would leave them.
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        os.umask(0o022)
        os.chdir("/")
        for target, descriptor in enumerate(held.standard):
            os.dup2(descriptor, target)
        os.execve(errand["bwrap"], [errand["bwrap"], *arguments, "--", *errand["command"]], {})
    except BaseException as error:
        os.write(held.status, json.dumps({"error": f"{errand['bwrap']}: {error}"}).encode() + b"\n")
    finally:
        os._exit(1)


def _arguments(errand: Execute, held: Descriptors) -> list[str]:
    """Options through a memory file: the environment stays out of the process list, and none is too long."""
    options = ["--json-status-fd", _keep(held.status)]
    if errand["helper"] is not None:
        options += ["--block-fd", _keep(held.block)]
    if errand["seccomp"]:
        options += ["--seccomp", _memory_file(bytes.fromhex(errand["seccomp"]))]
    joined = b"".join(os.fsencode(option) + b"\0" for option in [*options, *errand["options"]])
    return ["--args", _memory_file(joined)]


def _keep(descriptor: int) -> str:
    os.set_inheritable(descriptor, True)
    return str(descriptor)


def _memory_file(data: bytes) -> str:
    descriptor = os.memfd_create("adjudge", os.MFD_CLOEXEC)
    with open(os.dup(descriptor), "wb") as file:
        file.write(data)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return _keep(descriptor)
