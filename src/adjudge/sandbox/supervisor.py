"""One errand of the launcher, in a process forked for it, ahead of time where possible.

Standard library only. For a command: prepare the mounts, have bwrap started without any right, and stay
until the last process of its tree is dead. It ends the tree when told to, when time is up, and when whoever
asked has gone. Files are read, written and copied here as well, over the same mounts.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import resource
import socket

from adjudge.sandbox.becoming import Understudy, rehearse
from adjudge.sandbox.copying import copy_tree
from adjudge.sandbox.entering import run_enter
from adjudge.sandbox.execution import Execution
from adjudge.sandbox.fileaccess import read_beneath, write_beneath
from adjudge.sandbox.launchrequest import Copy, Execute, Read, Report, Request, Write, receive
from adjudge.sandbox.mountpoints import make_mount_points, remove_mount_points
from adjudge.sandbox.spawning import run_spawn
from adjudge.sandbox.staging import IdMaps, enter_own_namespaces, stage, unstage

__all__ = ["MAX_DESCRIPTORS", "supervise"]

MAX_DESCRIPTORS = 64
"""The request's text, the control socket, stdin, stdout, stderr, then one user namespace for each mapping."""


def supervise(channel: socket.socket) -> None:
    """Wait on `channel` for an errand and do it; closed without one, there is nothing to do."""
    understudy = Understudy()
    rehearse()
    message, received = receive(channel, 64 * 1024, MAX_DESCRIPTORS)
    channel.close()
    if not message:
        return
    text, control_fd, stdin, stdout, stderr, *spaces = received
    maps: IdMaps = {tuple(key): space for key, space in zip(json.loads(message), spaces, strict=True)}
    control = socket.socket(fileno=control_fd)
    try:
        with open(os.dup(text), "rb") as file:
            request: Request = json.load(file)
        report = _run(request, text, understudy, control, (stdin, stdout, stderr), maps)
    except Exception as error:
        report = {"failed": f"{type(error).__name__}: {error}"}
    _answer(control, report)


def _answer(control: socket.socket, report: Report) -> None:
    # Closing with something unread would reset the connection under the report.
    with contextlib.suppress(BlockingIOError):
        while control.recv(16, socket.MSG_DONTWAIT):
            pass
    with contextlib.suppress(OSError):
        control.send(json.dumps(report).encode())
    control.close()


def _run(
    request: Request,
    text: int,
    understudy: Understudy,
    control: socket.socket,
    standard: tuple[int, int, int],
    maps: IdMaps,
) -> Report:
    staged = request["identity"] is not None or request["user_namespace"]
    if staged:
        enter_own_namespaces(user=request["identity"] is None)
        stage(request, maps)
    errand = request["errand"]
    identity = request["identity"]
    owner = (identity["uid"], identity["gid"]) if identity is not None else (os.getuid(), os.getgid())
    if errand is None:
        report: Report = {}
    elif errand["op"] == "execute":
        report = _execute(errand, request, text, understudy, control, standard, owner)
    elif errand["op"] == "spawn":
        understudy.dismiss()
        report = run_spawn(errand, control, standard)
    elif errand["op"] == "enter":
        understudy.dismiss()
        report = run_enter(errand, control, standard)
    else:
        if errand["op"] != "copy" and (given := errand.get("owner")) is not None:
            owner = (given["uid"], given["gid"])
        report = _work_on_files(errand, standard, owner)
    if staged:
        unstage(request)
    return report


def _execute(
    errand: Execute,
    request: Request,
    text: int,
    understudy: Understudy,
    control: socket.socket,
    standard: tuple[int, int, int],
    owner: tuple[int, int],
) -> Report:
    try:
        made = make_mount_points(request["mount_points"], owner)
    except OSError as error:
        return _refusal(error)
    report = Execution(errand, request["identity"], text, understudy, control, standard).run()
    remove_mount_points(made)
    return report


def _work_on_files(
    errand: Copy | Read | Write, standard: tuple[int, int, int], owner: tuple[int, int]
) -> Report:
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
    try:
        if errand["op"] == "copy":
            return {"notes": copy_tree(errand["source"], errand["target"], owner)}
        if errand["op"] == "read":
            read_beneath(errand["below"], errand["path"], errand["max_bytes"], standard[1])
        else:
            write_beneath(errand["below"], errand["path"], standard[0], errand["mode"], owner)
    except OSError as error:
        # A copy holds descriptors for every level it is in, so a tree nested too deeply runs out of them.
        # Whoever made the tree is to blame for that; for anything else that stops a copy, we are.
        if errand["op"] == "copy" and error.errno != errno.EMFILE:
            raise
        return _refusal(error)
    return {}


def _refusal(error: OSError) -> Report:
    name = errno.errorcode.get(error.errno or 0, "EIO")
    where = f"{error.filename}: " if isinstance(error.filename, str) else ""
    return {"refused": (name, f"{where}{error.strerror or error}")}
