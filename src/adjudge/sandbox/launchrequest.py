"""What the sandbox backend asks of its launcher: one closed vocabulary for both sides.

Standard library only.
"""

from __future__ import annotations

import array
import socket
from typing import Literal, NotRequired, TypedDict

__all__ = [
    "STAGE",
    "Copy",
    "Counters",
    "Enter",
    "Execute",
    "Group",
    "Header",
    "Helper",
    "Identity",
    "MountPoint",
    "Overlay",
    "Read",
    "Report",
    "Request",
    "Spawn",
    "Staged",
    "Write",
    "receive",
]

STAGE = "/tmp"
"""Where a private tmpfs with everything staged is mounted, in a mount namespace nobody else sees. bwrap
needs this directory to exist as well."""


def receive(channel: socket.socket, size: int, descriptors: int) -> tuple[bytes, list[int]]:
    """Take one message with its descriptors, which no program executed later inherits."""
    # Not `socket.recv_fds`, which takes flags but forgets them (Python 3.11), so that all are inheritable.
    numbers = array.array("i")
    room = socket.CMSG_LEN(descriptors * numbers.itemsize)
    message, extras, _, _ = channel.recvmsg(size, room, socket.MSG_CMSG_CLOEXEC)
    for level, kind, data in extras:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            numbers.frombytes(data[: len(data) - len(data) % numbers.itemsize])
    return message, list(numbers)


class Identity(TypedDict):
    """The user a sandbox runs as when we are root."""

    uid: int
    gid: int


class Staged(TypedDict):
    """A host path to be mounted at `STAGE/name` before bwrap starts."""

    source: str
    name: str
    read_only: bool
    owner: NotRequired[tuple[int, int]]
    """uid and gid on disk that are to appear as the sandbox's own (an idmapped mount)."""


class Overlay(TypedDict):
    """A copy-on-write mount at `STAGE/w`."""

    layers: list[str]
    """Staged names, top first."""
    upper: str | None
    """Staged name of the directory that holds `upper` and `work`; None for a read-only view."""
    userxattr: bool


class Helper(TypedDict):
    """A program that connects the sandbox's network namespace to the outside."""

    kind: Literal["pasta", "slirp4netns"]
    path: str


class Execute(TypedDict):
    """Run a command in bwrap."""

    op: Literal["execute"]
    bwrap: str
    options: list[str]
    command: list[str]
    group: Group | None
    rlimits: list[tuple[int, int]]
    processes: int | None
    """RLIMIT_NPROC of the sandbox's user, where a user of its own or a user namespace makes that sound."""
    wall_s: float
    seccomp: str
    """The filter program, in hexadecimal; empty for none."""
    helper: Helper | None
    keep: bool
    """Stay when the command has ended, with what it started, until told to end it."""


class Enter(TypedDict):
    """Run a command in the namespaces of a process that is there, as the user of that sandbox."""

    op: Literal["enter"]
    first: int
    """The first process of the sandbox's pid namespace."""
    started: int
    """When that one started: with the pid, an identity that is not reused."""
    identity: Identity | None
    command: list[str]
    environment: dict[str, str]
    cwd: str
    group: Group | None
    """The control group of the sandbox's tree, which the command joins."""
    rlimits: list[tuple[int, int]]
    processes: int | None
    wall_s: float
    seccomp: str


class Spawn(TypedDict):
    """Run a command as it is, in the host's namespaces."""

    op: Literal["spawn"]
    command: list[str]
    environment: dict[str, str]
    cwd: str
    rlimits: list[tuple[int, int]]
    wall_s: float
    keep: bool


class Copy(TypedDict):
    """Copy what is staged as `source` into the directory staged as `target`."""

    op: Literal["copy"]
    source: str
    target: str


class Read(TypedDict):
    """Read a regular file below a staged directory into the descriptor given as stdout."""

    op: Literal["read"]
    below: str
    path: str
    max_bytes: int
    owner: NotRequired[Identity | None]


class Write(TypedDict):
    """Replace a file below a staged directory with what the descriptor given as stdin holds."""

    op: Literal["write"]
    below: str
    path: str
    mode: int
    owner: NotRequired[Identity | None]
    """Who gets the file, where the errand itself has no identity."""


class Group(TypedDict):
    """A control group to be made for a command, and its limits."""

    version: int
    memory: str | None
    """The group's directory in the hierarchy that limits memory."""
    pids: str | None
    """The same for processes; the same directory in version 2."""
    freezer: str | None
    """Version 1: the same in the hierarchy that freezes, for trees that are kept."""
    memory_bytes: int
    tasks: int


class Counters(TypedDict):
    """What the kernel counted in a control group."""

    oom_kills: int
    refused_forks: int
    peak_memory_bytes: int | None
    peak_tasks: int | None


class Header(TypedDict):
    """What the launcher itself has to know of an errand."""

    maps: list[tuple[int, int, int, int]]


class MountPoint(TypedDict):
    """A place inside a directory the candidate can write, at which something will be mounted."""

    below: str
    path: str
    directory: bool


class Request(TypedDict):
    """One errand, done by a process forked for it."""

    identity: Identity | None
    user_namespace: bool
    """As an ordinary user: stage in a user namespace of our own. Without it nothing can be staged."""
    staged: list[Staged]
    overlay: Overlay | None
    mount_points: list[MountPoint]
    """Checked to be reachable without a link, made where missing, and removed again afterwards."""
    errand: Execute | Enter | Spawn | Copy | Read | Write | None
    """None only stages, which tells whether the machine can."""


class Report(TypedDict, total=False):
    """The answer; every key optional, the first matching one decides."""

    failed: str
    """We failed, and where."""
    refused: tuple[str, str]
    """The file asked for cannot be had: errno's name and why."""
    started: int
    """First message of an execution: host pid of the process below which the whole tree is."""
    paused: bool
    """Of a tree that is kept: the command has ended as this says; the last report comes when the tree has."""
    answer: bool
    """The answer to a word that was sent."""
    left: list[tuple[str, bool]]
    """Command lines of the processes that are frozen now, and whether each left the command's session."""
    failed_freeze: str
    exit_code: int | None
    """The command's exit code; None when it never started or was ended."""
    signal: int
    """The signal that ended the command, from an errand that can tell."""
    ended: bool
    """The tree was ended on request."""
    timed_out: bool
    counters: Counters | None
    """What the kernel counted in the command's control group."""
    cpu_s: float
    max_rss_bytes: int
    wall_s: float
    notes: list[str]
