"""Connecting a sandbox's own network namespace to the outside, through a helper. Standard library only.

The helper carries traffic between the namespace and ordinary sockets of an unprivileged user. Every mapping
that would lead to the host's loopback is switched off: the store and the engine listen there.
"""

from __future__ import annotations

import os
import select
import signal
import time

from adjudge.sandbox.launchrequest import Helper, Identity

__all__ = ["PASTA_DNS", "SLIRP_DNS", "connect"]

PASTA_DNS = "169.254.53.53"
"""The address at which pasta answers DNS inside: link-local, so no real host can have it."""
SLIRP_DNS = "10.0.2.3"
_READY_S = 10.0


def connect(helper: Helper, first: int, identity: Identity | None) -> None:
    """Start the helper on the namespaces of process `first` and wait until traffic can flow.

    Raises:
        OSError: It did not come up; the message says what it printed.
    """
    ready_read, ready_write = os.pipe()
    said_read, said_write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            if identity is not None:
                os.setgroups([])
                os.setresgid(identity["gid"], identity["gid"], identity["gid"])
                os.setresuid(identity["uid"], identity["uid"], identity["uid"])
            signal.signal(signal.SIGPIPE, signal.SIG_DFL)
            null = os.open(os.devnull, os.O_RDWR)
            os.dup2(null, 0)
            os.dup2(said_write, 1)
            os.dup2(said_write, 2)
            os.set_inheritable(ready_write, True)
            os.chdir("/")
            os.execve(helper["path"], _command(helper, first, ready_write), {"PATH": "/usr/bin:/bin"})
        finally:
            os._exit(127)
    os.close(ready_write)
    os.close(said_write)
    try:
        up = _wait_exit(pid) if helper["kind"] == "pasta" else _wait_ready(ready_read)
        if not up:
            os.set_blocking(said_read, False)
            try:
                said = os.read(said_read, 4096).decode("utf-8", "replace").strip()
            except BlockingIOError:
                said = ""
            raise OSError(f"{helper['kind']} did not connect the sandbox: {said or 'it said nothing'}")
    finally:
        os.close(ready_read)
        os.close(said_read)


def _command(helper: Helper, first: int, ready: int) -> list[str]:
    if helper["kind"] == "pasta":
        return [
            helper["path"], "--config-net", "--quiet",
            "--no-map-gw",
            "--tcp-ports", "none", "--udp-ports", "none", "--tcp-ns", "none", "--udp-ns", "none",
            "--dns-forward", PASTA_DNS,
            "--userns", f"/proc/{first}/ns/user", "--netns", f"/proc/{first}/ns/net",
        ]  # fmt: skip
    return [
        helper["path"], "--configure", "--mtu=65520", "--disable-host-loopback", "--enable-seccomp",
        f"--ready-fd={ready}", f"--userns-path=/proc/{first}/ns/user", str(first), "tap0",
    ]  # fmt: skip


def _wait_exit(pid: int) -> bool:
    """Pasta goes into the background once it is up: the process we started then exits with 0."""
    descriptor = os.pidfd_open(pid)
    try:
        ready, _, _ = select.select([descriptor], [], [], _READY_S)
        if not ready:
            return False
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    finally:
        os.close(descriptor)


def _wait_ready(ready: int) -> bool:
    """slirp4netns writes to its ready descriptor; end of file means that it gave up."""
    deadline = time.monotonic() + _READY_S
    readable, _, _ = select.select([ready], [], [], max(0.0, deadline - time.monotonic()))
    return bool(readable) and os.read(ready, 1) == b"1"
