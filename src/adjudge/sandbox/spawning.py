"""A command without any sandbox program around it, from its start to the death of its last process.

Part of the supervisor, for the backend that has no isolation. Standard library only. The supervisor is the
tree's subreaper: whatever detaches itself becomes its child, so that killing its children until there are
none leaves nothing alive.
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
from typing import NoReturn

from adjudge.sandbox import kernel
from adjudge.sandbox.ending import end_all_children
from adjudge.sandbox.freezing import Freezer, describe_processes
from adjudge.sandbox.holding import hold, take_word
from adjudge.sandbox.launchrequest import Report, Spawn
from adjudge.sandbox.processes import descendants

__all__ = ["run_spawn"]

_PR_SET_NO_NEW_PRIVS, _PR_SET_CHILD_SUBREAPER = 38, 36
_REAP_S = 0.1
"""How often orphans that ended by themselves are reaped, so that they do not pile up."""
_NOT_FOUND, _NOT_EXECUTABLE = 127, 126


def run_spawn(errand: Spawn, control: socket.socket, standard: tuple[int, int, int]) -> Report:
    """Start the command, stay until it ends, time is up or we are told; then end what is left."""
    kernel.prctl(_PR_SET_CHILD_SUBREAPER, 1)
    report: Report = {}
    started = time.monotonic()
    child = os.fork()
    if child == 0:
        _become(errand, standard)
    for descriptor in standard:
        os.close(descriptor)
    with contextlib.suppress(OSError):
        # Orphans come to us, so the tree is what is below us, not what is below the command.
        control.send(json.dumps({"started": os.getpid()}).encode())
    try:
        status = _wait(child, control, started + errand["wall_s"], report)
        if status is not None and os.WIFEXITED(status):
            report["exit_code"] = os.WEXITSTATUS(status)
        elif status is not None:
            report["signal"] = os.WTERMSIG(status)
        if status is not None and errand["keep"]:
            _keep(control, {**report, "wall_s": time.monotonic() - started}, child)
    finally:
        end_all_children()
    report["wall_s"] = time.monotonic() - started
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    report["cpu_s"] = used.ru_utime + used.ru_stime
    report["max_rss_bytes"] = used.ru_maxrss * 1024
    return report


def _wait(child: int, control: socket.socket, deadline: float, report: Report) -> int | None:
    """The command's wait status; None when it was ended, with the reason in the report."""
    poll = select.poll()
    for descriptor in (os.pidfd_open(child), control.fileno()):
        poll.register(descriptor, select.POLLIN)
    while True:
        left = deadline - time.monotonic()
        if left <= 0:
            report["timed_out"] = True
            return None
        ready = {descriptor for descriptor, _ in poll.poll(min(left, _REAP_S) * 1000 + 1)}
        if control.fileno() in ready:
            if take_word(control) != b"stop":
                report["ended"] = True
                return None
            # Not reaped yet, so the number is still its own.
            os.kill(child, signal.SIGKILL)
        while (gone := os.waitpid(-1, os.WNOHANG))[0] != 0:
            if gone[0] == child:
                return gone[1]


def _keep(control: socket.socket, paused: Report, session: int) -> None:
    """What the command started stays, below us, until we are told."""
    me = os.getpid()

    def alive() -> bool:
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0] != 0:
                pass
            return True
        return False

    if alive():
        freezer = Freezer(lambda: descendants(me)[1:], None)
        hold(
            control,
            paused,
            freezer,
            lambda: describe_processes(descendants(me)[1:], {session}),
            alive,
            [],
            period_s=_REAP_S,
        )


def _become(errand: Spawn, standard: tuple[int, int, int]) -> NoReturn:
    """In the child: give up what can be given up, execute."""
    code = _NOT_EXECUTABLE
    try:
        os.setsid()
        for number, value in errand["rlimits"]:
            resource.setrlimit(number, (value, value))
        kernel.prctl(_PR_SET_NO_NEW_PRIVS, 1)
        # Python ignores these two; a command expects them as a shell would leave them.
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.umask(0o022)
        for target, descriptor in enumerate(standard):
            os.dup2(descriptor, target)
        os.chdir(errand["cwd"])
        code = _execute(errand)
    except BaseException as error:
        _complain(str(error))
    finally:
        os._exit(code)


def _execute(errand: Spawn) -> int:
    """Returns only when the command cannot be executed, with the exit code a shell would give."""
    name = errand["command"][0]
    try:
        os.execvpe(name, errand["command"], errand["environment"])
    except FileNotFoundError as error:
        _complain(f"{name}: {error.strerror}")
        return _NOT_FOUND
    except OSError as error:
        _complain(f"{name}: {error.strerror}")
    return _NOT_EXECUTABLE


def _complain(message: str) -> None:
    os.write(2, f"adjudge: {message}\n".encode("utf-8", "surrogateescape"))
