"""Users for sandboxes when adjudge runs as root: one per live sandbox, leased by a lock.

A user of its own keeps sandboxes from seeing, signalling or starving each other. The range lies above what
distributions, login managers and container tools hand out, and has no entry in /etc/passwd. A lease is a
lock on a file, so it ends with its holder however that ends; the mark in the file says that the holder did
not give it back, and then the user's processes are ended before the lease is used again.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import time
from pathlib import Path

from adjudge.errors import SandboxError

__all__ = ["FIRST_UID", "LEASES", "UidLease", "lease_directory", "lease_uid"]

FIRST_UID = 1_950_000_000
LEASES = 4096
_END_S = 5.0


class UidLease:
    """A user (and group of the same number) that no other sandbox has."""

    def __init__(self, uid: int, path: Path, lock: int) -> None:
        self.uid = uid
        self.gid = uid
        self._path = path
        self._lock = lock

    def release(self, *, clean: bool = True) -> None:
        """Give the user back.

        Args:
            clean: Whether every process of it is known to be dead. If not, the mark stays, and whoever
                leases the user next ends them first.
        """
        if self._lock >= 0:
            if clean:
                self._path.unlink(missing_ok=True)
            os.close(self._lock)
            self._lock = -1


def lease_directory() -> Path:
    """Where the locks are: shared by every adjudge of this machine that runs as root."""
    return Path("/run/adjudge-uids") if os.access("/run", os.W_OK) else Path("/var/tmp/adjudge-uids")


def lease_uid(directory: Path | None = None, *, first_uid: int = FIRST_UID) -> UidLease:
    """Lease the first free user.

    Args:
        directory: Where the locks are, when not in the place all share.
        first_uid: Where the range begins. Another directory needs another range: taking over a lease ends
            the user's processes, which would be those of somebody else's sandbox.

    Raises:
        SandboxError: All are taken, or the locks cannot be kept.
    """
    directory = lease_directory() if directory is None else directory
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        if directory.stat().st_uid != os.getuid():
            raise SandboxError(f"{directory} does not belong to this user")
        for uid in range(first_uid, first_uid + LEASES):
            lease = _try(directory / str(uid), uid)
            if lease is not None:
                return lease
    except OSError as error:
        raise SandboxError(f"no user can be leased for the sandbox: {error}") from error
    raise SandboxError(f"all {LEASES} sandbox users are in use", hint="run fewer sandboxes at once")


def _try(path: Path, uid: int) -> UidLease | None:
    lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # The former holder may have removed the file between our open and our lock.
        if not path.exists() or path.stat().st_ino != os.fstat(lock).st_ino:
            os.close(lock)
            return None
        if os.read(lock, 1):
            _end_processes(uid)
        os.pwrite(lock, b"leased\n", 0)
        return UidLease(uid, path, lock)
    except OSError:
        os.close(lock)
        return None


def _end_processes(uid: int) -> None:
    """End what a holder that died left behind. Its supervisors do the same, so this rarely finds any.

    Raises:
        OSError: Some process does not die.
    """
    deadline = time.monotonic() + _END_S
    while pids := _processes_of(uid):
        if time.monotonic() > deadline:
            raise OSError(f"processes of user {uid} cannot be ended: {pids}")
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)


def _processes_of(uid: int) -> list[int]:
    """Living processes of a user; a zombie is dead already, and its parent's to bury."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            # Not the owner of the directory: that is root for a process that may not be dumped.
            with contextlib.suppress(OSError), open(f"/proc/{name}/status", "rb") as file:
                fields = dict(line.split(b":", 1) for line in file if b":" in line)
                uids = map(int, fields[b"Uid"].split())
                if uid in uids and not fields[b"State"].strip().startswith((b"Z", b"X")):
                    found.append(int(name))
    return found
