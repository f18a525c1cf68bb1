"""A command run in the namespaces of a sandbox that is there already, entered from outside.

Part of the supervisor; standard library only. Every right is given up before the command is executed: the
user is the sandbox's, capabilities are gone from every set, the system call filter is the same, and the
command joins the control group of the sandbox's tree. What it leaves behind stays in the sandbox.

The namespace ends with the last child of bwrap's process in it, which the command is not. So a holder that
only waits is made such a child, for as long as the command runs.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import resource
import select
import signal
import socket
import time
from typing import NoReturn

from adjudge.sandbox import kernel
from adjudge.sandbox.group import entrances
from adjudge.sandbox.launchrequest import Enter, Group, Report
from adjudge.sandbox.processes import descendants, start_time

__all__ = ["run_enter"]

_NS_GET_USERNS = 0xB701
_SPACES = (
    ("mnt", kernel.CLONE_NEWNS),
    ("net", 0x40000000),
    ("ipc", 0x08000000),
    ("uts", 0x04000000),
    ("cgroup", 0x02000000),
    ("pid", 0x20000000),
)
_PR_SET_PDEATHSIG, _PR_CAPBSET_DROP, _PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS, _PR_CAP_AMBIENT = (
    1,
    24,
    22,
    38,
    47,
)
_SECCOMP_MODE_FILTER, _AMBIENT_CLEAR_ALL, _CAPABILITIES = 2, 4, 64
_NOT_FOUND, _NOT_EXECUTABLE = 127, 126
_HOLDER_S = 5.0
_DESCRIPTORS = 4096
"""More than a supervisor ever has open."""


def run_enter(errand: Enter, control: socket.socket, standard: tuple[int, int, int]) -> Report:
    """Run the command to its end, until time is up or we are told; then end what is below it."""
    started = time.monotonic()
    spaces = _Spaces(errand)
    told_read, told_write = os.pipe()
    holder = _Holder()
    helper = os.fork()
    if helper == 0:
        _go_in(errand, spaces, holder, standard, told_write)
    for descriptor in (*standard, told_write):
        os.close(descriptor)
    holder.made()
    report: Report = {"exit_code": None}
    poll = select.poll()
    for descriptor in (told_read, control.fileno()):
        poll.register(descriptor, select.POLLIN)
    said = b""
    try:
        while True:
            left = started + errand["wall_s"] - time.monotonic()
            if left <= 0:
                report["timed_out"] = True
                break
            ready = {descriptor for descriptor, _ in poll.poll(left * 1000 + 1)}
            if control.fileno() in ready:
                report["ended"] = True
                break
            if told_read in ready:
                data = os.read(told_read, 4096)
                if not data:
                    break
                said += data
                if b"started" in data:
                    control.send(json.dumps({"started": helper}).encode())
    finally:
        _end_below(helper)
        holder.let_go()
    report["wall_s"] = time.monotonic() - started
    for line in said.splitlines():
        word, _, rest = line.decode("utf-8", "replace").partition(" ")
        if word == "failed":
            report["failed"] = rest
        elif word == "status" and "timed_out" not in report and "ended" not in report:
            status = int(rest)
            if os.WIFEXITED(status):
                report["exit_code"] = os.WEXITSTATUS(status)
            else:
                report["exit_code"] = 128 + os.WTERMSIG(status)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    report["cpu_s"] = used.ru_utime + used.ru_stime
    return report


def _end_below(helper: int) -> None:
    """Kill the command and what is still below it; orphans belong to the sandbox."""
    for pid in reversed(descendants(helper)):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
    os.waitpid(helper, 0)


class _Holder:
    """A process inside that does nothing but be there, until we let go of it."""

    def __init__(self) -> None:
        self._held, self._hold = os.pipe()
        self._gone, self._alive = os.pipe()

    def made(self) -> None:
        """In the supervisor, once it is made."""
        os.close(self._held)
        os.close(self._alive)

    def let_go(self) -> None:
        """Have it end, and wait until it has."""
        os.close(self._hold)
        select.select([self._gone], [], [], _HOLDER_S)
        os.close(self._gone)

    def become(self, errand: Enter) -> None:
        """In the helper, inside: fork it, an orphan from the start."""
        middle = os.fork()
        if middle == 0:
            try:
                if os.fork() == 0:
                    self._wait(errand)
            finally:
                os._exit(0)
        os.waitpid(middle, 0)
        for descriptor in (self._held, self._hold, self._gone, self._alive):
            os.close(descriptor)

    def _wait(self, errand: Enter) -> NoReturn:
        try:
            os.setsid()
            os.dup2(self._held, 0)
            os.dup2(self._alive, 1)
            # Before the rights go: as long as they are there, nobody inside can look into this process.
            os.closerange(2, _DESCRIPTORS)
            _drop_capabilities()
            if errand["seccomp"]:
                _filter_calls(bytes.fromhex(errand["seccomp"]))
            os.read(0, 1)
        finally:
            os._exit(0)


class _Spaces:
    """The namespaces of a process, opened while it was surely the one that is meant."""

    def __init__(self, errand: Enter) -> None:
        first = errand["first"]
        flags = os.O_RDONLY | os.O_CLOEXEC
        self.root = os.open(f"/proc/{first}/root", flags | os.O_DIRECTORY)
        self.spaces = [(os.open(f"/proc/{first}/ns/{name}", flags), flag) for name, flag in _SPACES]
        self.user = os.open(f"/proc/{first}/ns/user", flags)
        # bwrap makes all others in one user namespace, then goes into a second.
        self.owner = fcntl.ioctl(self.spaces[0][0], _NS_GET_USERNS)
        if start_time(first) != errand["started"]:
            raise OSError("the sandbox that was to be entered has ended")

    def enter(self) -> None:
        own = os.stat("/proc/self/ns/user").st_ino
        if os.fstat(self.owner).st_ino != own:
            kernel.enter(self.owner, kernel.CLONE_NEWUSER)
        for descriptor, flag in self.spaces:
            kernel.enter(descriptor, flag)
        os.fchdir(self.root)
        os.chroot(".")
        if os.fstat(self.user).st_ino != os.fstat(self.owner).st_ino:
            kernel.enter(self.user, kernel.CLONE_NEWUSER)


def _go_in(
    errand: Enter, spaces: _Spaces, holder: _Holder, standard: tuple[int, int, int], told: int
) -> NoReturn:
    """In the helper: join, go in, have the command started below, tell how it ended."""
    try:
        kernel.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        for path in _doors(errand["group"]):
            with open(path, "wb", buffering=0) as file:
                file.write(b"0")
        for number, value in errand["rlimits"]:
            resource.setrlimit(number, (value, value))
        if errand["processes"] is not None:
            resource.setrlimit(resource.RLIMIT_NPROC, (errand["processes"], errand["processes"]))
        identity = errand["identity"]
        if identity is not None:
            os.setgroups([])
            os.setresgid(identity["gid"], identity["gid"], identity["gid"])
            os.setresuid(identity["uid"], identity["uid"], identity["uid"])
        kernel.prctl(_PR_SET_NO_NEW_PRIVS, 1)
        # Changing the user clears it.
        kernel.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        spaces.enter()
        holder.become(errand)
        child = os.fork()
        if child == 0:
            _become(errand, standard)
        os.write(told, b"started\n")
        for descriptor in standard:
            os.close(descriptor)
        os.write(told, f"status {os.waitpid(child, 0)[1]}\n".encode())
    except BaseException as error:
        os.write(told, f"failed {type(error).__name__}: {error}\n".replace("\n", " ").encode() + b"\n")
    finally:
        os._exit(0)


def _doors(group: Group | None) -> list[str]:
    doors = entrances(group)
    if doors is not None:
        return doors
    assert group is not None
    return [f"{group['pids']}/cgroup.procs"]


def _become(errand: Enter, standard: tuple[int, int, int]) -> NoReturn:
    """In the child, inside: give up every right, execute."""
    code = _NOT_EXECUTABLE
    try:
        kernel.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        os.setsid()
        for target, descriptor in enumerate(standard):
            os.dup2(descriptor, target)
        # Before the rights go: as long as they are there, nobody inside can look into this process.
        os.closerange(3, _DESCRIPTORS)
        _drop_capabilities()
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.umask(0o022)
        os.chdir(errand["cwd"])
        if errand["seccomp"]:
            _filter_calls(bytes.fromhex(errand["seccomp"]))
        name = errand["command"][0]
        try:
            os.execvpe(name, errand["command"], errand["environment"])
        except FileNotFoundError as error:
            code = _NOT_FOUND
            _complain(f"{name}: {error.strerror}")
        except OSError as error:
            _complain(f"{name}: {error.strerror}")
    except BaseException as error:
        _complain(str(error))
    finally:
        os._exit(code)


def _complain(message: str) -> None:
    os.write(2, f"adjudge: {message}\n".encode("utf-8", "surrogateescape"))


def _drop_capabilities() -> None:
    """From every set, for good."""
    libc = ctypes.CDLL(None, use_errno=True)
    kernel.prctl(_PR_CAP_AMBIENT, _AMBIENT_CLEAR_ALL)
    for number in range(_CAPABILITIES):
        try:
            kernel.prctl(_PR_CAPBSET_DROP, number)
        except OSError:
            # Beyond the last one this kernel knows.
            break
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    nothing = (ctypes.c_uint32 * 6)()
    if libc.capset(ctypes.byref(header), ctypes.byref(nothing)) != 0:
        raise OSError(ctypes.get_errno(), "capabilities cannot be dropped")


class _Program(ctypes.Structure):
    _fields_ = (("len", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def _filter_calls(program: bytes) -> None:
    """Put the system call filter on ourselves, and so on the command."""
    libc = ctypes.CDLL(None, use_errno=True)
    described = _Program(len(program) // 8, program)
    zero = ctypes.c_ulong(0)
    done = libc.prctl(
        ctypes.c_int(_PR_SET_SECCOMP),
        ctypes.c_ulong(_SECCOMP_MODE_FILTER),
        ctypes.byref(described),
        zero,
        zero,
    )
    if done != 0:
        raise OSError(ctypes.get_errno(), "the system call filter cannot be set")
