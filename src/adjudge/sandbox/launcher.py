"""The launcher: a small process that has supervisors ready and hands each an errand. Standard library only.

adjudge itself has many modules loaded and may have threads; a fork of it is slow and a mount namespace made
in it unsafe. This process is started once, holds nothing but what it needs, and forks in half a
millisecond. It ends when adjudge does, and each supervisor by itself notices the same.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import select
import signal
import socket

from adjudge.sandbox.launchrequest import Header, receive
from adjudge.sandbox.staging import IdMaps, open_user_namespace
from adjudge.sandbox.supervisor import supervise

__all__ = ["DESCRIPTORS", "main"]

DESCRIPTORS = 5
"""With each message: the request's text, the control socket, stdin, stdout, stderr."""
_SPARES = 2
_HEADER_BYTES = 64 * 1024


def main(descriptor: int) -> None:
    """Serve errands from the socket at `descriptor` until it closes."""
    server = socket.socket(fileno=descriptor)
    server.set_inheritable(False)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    # What is loaded by now is never freed; left out of collections, forks do not touch its pages.
    gc.freeze()
    _Launcher(server).serve()


class _Launcher:
    def __init__(self, server: socket.socket) -> None:
        self._server = server
        self._maps: IdMaps = {}
        self._spares: list[socket.socket] = []

    def serve(self) -> None:
        """Until adjudge closes its end."""
        while True:
            try:
                message, received = receive(self._server, _HEADER_BYTES, DESCRIPTORS)
            except OSError:
                return
            if not message:
                return
            try:
                self._hand_over(json.loads(message), received)
            except Exception as error:
                with contextlib.suppress(OSError), socket.socket(fileno=os.dup(received[1])) as control:
                    control.send(json.dumps({"failed": f"launcher: {error}"}).encode())
            finally:
                for one in received:
                    os.close(one)
            # Whoever waits comes first; spares are made when there is a moment.
            while len(self._spares) < _SPARES and not select.select([self._server], [], [], 0)[0]:
                self._spares.append(self._fork())

    def _hand_over(self, header: Header, received: list[int]) -> None:
        keys = [tuple(key) for key in header["maps"]]
        spaces = []
        for uid, gid, sandbox_uid, sandbox_gid in keys:
            key = (uid, gid, sandbox_uid, sandbox_gid)
            if key not in self._maps:
                self._maps[key] = open_user_namespace(*key)
            spaces.append(self._maps[key])
        channel = self._spares.pop() if self._spares else self._fork()
        with channel:
            socket.send_fds(channel, [json.dumps(keys).encode()], [*received, *spaces])

    def _fork(self) -> socket.socket:
        """A supervisor, and the channel on which it waits for its errand."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        if os.fork() == 0:
            try:
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                ours.close()
                self._server.close()
                for spare in self._spares:
                    spare.close()
                supervise(theirs)
            finally:
                os._exit(0)
        theirs.close()
        return ours
