"""`candidate COMMAND [ARGUMENT …]`: runs a command where the candidate's code cannot reach the reward.

Hands the command and its standard input to the grader over a socket, and gives back what it printed and how
it ended. The grader runs it in a sandbox of its own, over a copy of the workspace of its own, without /tests
and /logs.

To the grader: the length of a JSON header and the header, then chunks of standard input, each with its
length, until one of length 0. From the grader: frames of a kind (1 stdout, 2 stderr, 0 the end), a length and
the bytes; those of the end are the exit code.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import struct
import sys
import threading

__all__ = ["main"]

_CHUNK = 65536
_USAGE = 2
_LOST = 125


def main(arguments: list[str]) -> int:
    """Run one command."""
    if not arguments or arguments[0] in ("-h", "--help"):
        sys.stderr.write("usage: candidate COMMAND [ARGUMENT ...]\n")
        return _USAGE if not arguments else 0
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.connect(os.path.join(os.path.dirname(os.path.abspath(__file__)), "socket"))
        header = json.dumps({"argv": arguments, "cwd": os.getcwd()}).encode("ascii")
        connection.sendall(struct.pack(">I", len(header)) + header)
        # Beside the reading: a command may answer before it has read everything.
        threading.Thread(target=_send_input, args=(connection,), daemon=True).start()
        return _receive(connection)
    except (OSError, EOFError) as error:
        sys.stderr.write(f"candidate: the grader cannot be reached: {error}\n")
        return _LOST


def _send_input(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := os.read(0, _CHUNK):
            connection.sendall(struct.pack(">I", len(data)) + data)
    with contextlib.suppress(OSError):
        connection.sendall(struct.pack(">I", 0))


def _receive(connection: socket.socket) -> int:
    while True:
        kind, length = struct.unpack(">BI", _exactly(connection, 5))
        data = _exactly(connection, length)
        if kind == 0:
            return int(data)
        view = memoryview(data)
        while view:
            view = view[os.write(kind, view) :]


def _exactly(connection: socket.socket, length: int) -> bytes:
    data = bytearray()
    while len(data) < length:
        more = connection.recv(min(_CHUNK, length - len(data)))
        if not more:
            raise EOFError("it went away")
        data += more
    return bytes(data)


if __name__ == "__main__":
    # Nothing is to be flushed, and the thread that waits for input is not waited for.
    code = main(sys.argv[1:])
    sys.stderr.flush()
    os._exit(code)
