"""Connecting a sandbox's own network namespace to the outside, through a helper. Standard library only.

The helper carries traffic between the namespace and ordinary sockets of an unprivileged user. Every mapping
that would lead to the host's loopback is switched off: the store and the engine listen there.
"""

from __future__ import annotations

import fcntl
import os
import select
import signal
import stat
import time

from adjudge.sandbox import kernel
from adjudge.sandbox.launchrequest import Helper, Identity

__all__ = ["PASTA_DNS", "SLIRP_DNS", "TUN", "connect"]

PASTA_DNS = "169.254.53.53"
"""The address at which pasta answers DNS inside: link-local, so no real host can have it."""
SLIRP_DNS = "10.0.2.3"
TUN = "/dev/net/tun"
_TUN_NUMBERS = (10, 200)
_READY_S = 10.0
_NS_GET_USERNS = 0xB701


def connect(helper: Helper, first: int, identity: Identity | None) -> None:
    """Start the helper on the namespaces of process `first` and wait until traffic can flow.

    Raises:
        OSError: It did not come up; the message says what it printed.
    """
    ready_read, ready_write = os.pipe()
    said_read, said_write = os.pipe()
    owner = _owner_of_network(first)
    _wait_until_set_up(first, owner)
    if identity is not None:
        _open_tun()
    pid = os.fork()
    if pid == 0:
        try:
            if identity is not None:
                os.setgroups([])
                os.setresgid(identity["gid"], identity["gid"], identity["gid"])
                os.setresuid(identity["uid"], identity["uid"], identity["uid"])
            # Root of a namespace that owns nothing but the sandbox's network.
            kernel.enter(owner, kernel.CLONE_NEWUSER)
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
    os.close(owner)
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


def _wait_until_set_up(first: int, owner: int) -> None:
    """Until bwrap has done everything but execute the command.

    Its last step is to go into a second user namespace and say who is who there. A helper that starts
    earlier meets namespaces without users, and fails now and then.
    """
    before = os.fstat(owner).st_ino
    deadline = time.monotonic() + _READY_S
    while time.monotonic() < deadline:
        if os.stat(f"/proc/{first}/ns/user").st_ino != before:
            with open(f"/proc/{first}/gid_map") as file:
                if file.read():
                    return
        time.sleep(0.0005)
    raise OSError("bwrap did not set up its user namespaces")


def _open_tun() -> None:
    """As root, in our private mount namespace: a tunnel device that the helper's user may open.

    Everybody may on most machines, since the device gives nothing to whoever has no network namespace.
    """
    if os.stat(TUN).st_mode & 0o006 == 0o006:
        return
    kernel.mount("tmpfs", os.path.dirname(TUN), "tmpfs", kernel.MS_NOSUID, "mode=0755,size=4k")
    os.mknod(TUN, stat.S_IFCHR | 0o666, os.makedev(*_TUN_NUMBERS))
    os.chmod(TUN, 0o666)


def _owner_of_network(first: int) -> int:
    """The user namespace in which the network namespace was made.

    Not the one the process is in: bwrap goes one deeper before it executes the command.
    """
    network = os.open(f"/proc/{first}/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    try:
        return fcntl.ioctl(network, _NS_GET_USERNS)
    finally:
        os.close(network)


def _command(helper: Helper, first: int, ready: int) -> list[str]:
    if helper["kind"] == "pasta":
        return [
            helper["path"], "--config-net", "--quiet",
            "--no-map-gw",
            "--tcp-ports", "none", "--udp-ports", "none", "--tcp-ns", "none", "--udp-ns", "none",
            "--dns-forward", PASTA_DNS, "--netns-only", "--netns", f"/proc/{first}/ns/net",
        ]  # fmt: skip
    return [
        helper["path"], "--configure", "--mtu=65520", "--disable-host-loopback", "--enable-seccomp",
        f"--ready-fd={ready}", "--netns-type=path", f"/proc/{first}/ns/net", "tap0",
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
