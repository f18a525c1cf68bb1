"""One errand of the launcher, in a process forked for it. Standard library only.

For a command: prepare the mounts, give up every right, start bwrap, and stay until the last process of its
tree is dead. The supervisor is the tree's subreaper, so whatever outlives bwrap becomes its child, and
"no children left" means that nothing is alive. It ends the tree when told to, when time is up, and when
whoever asked has gone.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import resource
import select
import signal
import socket
import time

from adjudge.sandbox import kernel
from adjudge.sandbox.copying import copy_tree
from adjudge.sandbox.ending import end_all_children, end_process
from adjudge.sandbox.fileaccess import read_beneath, write_beneath
from adjudge.sandbox.launchrequest import Execute, Identity, Report, Request
from adjudge.sandbox.mountpoints import make_mount_points, remove_mount_points
from adjudge.sandbox.networkhelper import connect
from adjudge.sandbox.processes import parent
from adjudge.sandbox.spawning import run_spawn
from adjudge.sandbox.staging import IdMaps, enter_own_namespaces, stage, unstage

__all__ = ["run_errand"]

_PR_SET_NO_NEW_PRIVS, _PR_SET_CHILD_SUBREAPER = 38, 36


def run_errand(
    request: Request, control: socket.socket, standard: tuple[int, int, int], maps: IdMaps
) -> None:
    """Do what is asked and report it on `control`; a failure of ours is reported as well."""
    try:
        report = _run(request, control, standard, maps)
    except Exception as error:
        report = {"failed": f"{type(error).__name__}: {error}"}
    with contextlib.suppress(OSError):
        control.send(json.dumps(report).encode())


def _run(request: Request, control: socket.socket, standard: tuple[int, int, int], maps: IdMaps) -> Report:
    if request["identity"] is not None or request["user_namespace"]:
        enter_own_namespaces(user=request["identity"] is None)
        stage(request, maps)
    errand = request["errand"]
    identity = request["identity"]
    owner = (identity["uid"], identity["gid"]) if identity is not None else (os.getuid(), os.getgid())
    if errand is None:
        report: Report = {}
    elif errand["op"] == "execute":
        try:
            made = make_mount_points(request["mount_points"], owner)
        except OSError as error:
            report = _refusal(error)
        else:
            report = _Execution(errand, identity, control, standard).run()
            remove_mount_points(made)
    elif errand["op"] == "spawn":
        report = run_spawn(errand, control, standard)
    else:
        files = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
        if errand["op"] == "copy":
            report = {"notes": copy_tree(errand["source"], errand["target"], owner)}
        else:
            try:
                if errand["op"] == "read":
                    read_beneath(errand["below"], errand["path"], errand["max_bytes"], standard[1])
                else:
                    write_beneath(errand["below"], errand["path"], standard[0], errand["mode"], owner)
                report = {}
            except OSError as error:
                report = _refusal(error)
    if request["identity"] is not None or request["user_namespace"]:
        unstage(request)
    return report


def _refusal(error: OSError) -> Report:
    name = errno.errorcode.get(error.errno or 0, "EIO")
    where = f"{error.filename}: " if isinstance(error.filename, str) else ""
    return {"refused": (name, f"{where}{error.strerror or error}")}


class _Execution:
    """A command from its start to the death of its last process."""

    def __init__(
        self,
        errand: Execute,
        identity: Identity | None,
        control: socket.socket,
        standard: tuple[int, int, int],
    ) -> None:
        self._errand = errand
        self._identity = identity
        self._control = control
        self._standard = standard
        self._status = b""
        self._exit_code: int | None = None
        self._report: Report = {}
        self._greeted = False

    def run(self) -> Report:
        """Start, wait, end what is left, report."""
        kernel.prctl(_PR_SET_CHILD_SUBREAPER, 1)
        errand = self._errand
        status_read, status_write = os.pipe()
        block_read, block_write = os.pipe()
        options = ["--json-status-fd", str(status_write)]
        inherited = [status_write]
        if errand["helper"] is not None:
            options += ["--block-fd", str(block_read)]
            inherited.append(block_read)
        if errand["seccomp"]:
            program = _memory_file(bytes.fromhex(errand["seccomp"]))
            options += ["--seccomp", str(program)]
            inherited.append(program)
        arguments = _memory_file(b"".join(os.fsencode(o) + b"\0" for o in [*options, *errand["options"]]))
        inherited.append(arguments)
        started = time.monotonic()
        deadline = started + errand["wall_s"]
        child = os.fork()
        if child == 0:
            self._become_bwrap(arguments, inherited)
        for descriptor in (*self._standard, block_read, *inherited):
            with contextlib.suppress(OSError):
                os.close(descriptor)
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
        self._report["exit_code"] = self._exit_code
        return self._report

    def _become_bwrap(self, arguments: int, inherited: list[int]) -> None:
        """In the child: enter the cgroups, give up every right, execute. Never returns."""
        errand, identity = self._errand, self._identity
        try:
            for procs in errand["cgroups"]:
                descriptor = os.open(procs, os.O_WRONLY | os.O_CLOEXEC)
                os.write(descriptor, b"0")
                os.close(descriptor)
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
            for target, descriptor in enumerate(self._standard):
                os.dup2(descriptor, target)
            for descriptor in inherited:
                os.set_inheritable(descriptor, True)
            command = [errand["bwrap"], "--args", str(arguments), "--", *errand["command"]]
            os.execve(errand["bwrap"], command, {})
        except BaseException as error:
            os.write(inherited[0], json.dumps({"error": f"{errand['bwrap']}: {error}"}).encode() + b"\n")
        finally:
            os._exit(1)

    def _watch(self, child: int, status: int, block: int, deadline: float) -> None:
        """Until bwrap ends, time is up, or we are told."""
        gone = os.pidfd_open(child)
        poll = select.poll()
        for descriptor in (gone, status, self._control.fileno()):
            poll.register(descriptor, select.POLLIN)
        os.set_blocking(status, False)
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
        first = self._report.get("started")
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
        open_ = True
        while True:
            try:
                data = os.read(status, 4096)
            except BlockingIOError:
                break
            if not data:
                open_ = False
                break
            self._status += data
        *lines, self._status = self._status.split(b"\n")
        for line in lines:
            document = json.loads(line)
            if "error" in document:
                self._report["failed"] = document["error"]
            if "child-pid" in document:
                self._report["started"] = document["child-pid"]
            if "exit-code" in document:
                self._exit_code = document["exit-code"]
        return open_


def _memory_file(data: bytes) -> int:
    descriptor = os.memfd_create("adjudge", os.MFD_CLOEXEC)
    os.write(descriptor, data)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor
