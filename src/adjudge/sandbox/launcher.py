"""The launcher: a small process that forks a supervisor for each errand. Standard library only.

adjudge itself has many modules loaded and may have threads; a fork of it is slow and a mount namespace made
in it unsafe. This process is started once, holds nothing but what it needs, and forks in half a
millisecond. It ends when adjudge does, and each supervisor by itself notices the same.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import signal
import socket
import sys

from adjudge.sandbox.launchrequest import Request
from adjudge.sandbox.staging import IdMaps, open_user_namespace
from adjudge.sandbox.supervisor import run_errand

__all__ = ["DESCRIPTORS", "main"]

DESCRIPTORS = 5
"""With each message: the request's text, the control socket, stdin, stdout, stderr."""


def main(descriptor: int) -> None:
    """Serve errands from the socket at `descriptor` until it closes."""
    server = socket.socket(fileno=descriptor)
    server.set_inheritable(False)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    maps: IdMaps = {}
    # What is loaded by now is never freed; left out of collections, forks do not touch its pages.
    gc.freeze()
    while True:
        try:
            message, received, _, _ = socket.recv_fds(server, 16, DESCRIPTORS)
        except OSError:
            return
        if not message:
            return
        try:
            _serve(received, maps, server)
        finally:
            for one in received:
                os.close(one)


def _serve(received: list[int], maps: IdMaps, server: socket.socket) -> None:
    text, control_fd, *standard = received
    control = socket.socket(fileno=os.dup(control_fd))
    try:
        with open(os.dup(text), "rb") as file:
            request: Request = json.load(file)
        _open_maps(request, maps)
        if os.fork() == 0:
            _supervise(request, control, standard, maps, server)
    except Exception as error:
        with contextlib.suppress(OSError):
            control.send(json.dumps({"failed": f"launcher: {error}"}).encode())
    finally:
        control.close()


def _supervise(
    request: Request, control: socket.socket, standard: list[int], maps: IdMaps, server: socket.socket
) -> None:
    """In the fork: never returns."""
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        server.close()
        stdin, stdout, stderr = standard
        run_errand(request, control, (stdin, stdout, stderr), maps)
    finally:
        os._exit(0)


def _open_maps(request: Request, maps: IdMaps) -> None:
    """Have a user namespace for each mapping of owners asked for; they are kept, since users recur."""
    identity = request["identity"]
    if identity is None:
        return
    for staged in request["staged"]:
        owner = staged.get("owner")
        if owner is not None:
            key = (owner[0], owner[1], identity["uid"], identity["gid"])
            if key not in maps:
                maps[key] = open_user_namespace(*key)


if __name__ == "__main__":
    main(int(sys.argv[1]))
