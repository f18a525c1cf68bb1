"""Our end of the launcher: starting it, sending errands, waiting for their reports.

One launcher serves one adjudge process. It is started with the first errand and ends with the process.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import json
import os
import socket
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable
from pathlib import Path

import adjudge
from adjudge.errors import SandboxError
from adjudge.sandbox.launchrequest import Header, Report, Request

__all__ = ["Errand", "send_errand"]

_START = (
    "import sys; sys.path.append(sys.argv[2]); "
    "from adjudge.sandbox.launcher import main; main(int(sys.argv[1]))"
)
_MESSAGE_BYTES = 64 * 1024

_lock = threading.Lock()
_running: _Launcher | None = None


class _Launcher:
    def __init__(self) -> None:
        self.owner = os.getpid()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                # -I -S: nothing of the user's environment or site directories runs in a process that may
                # be root, and it starts in 15 ms.
                [sys.executable, "-I", "-S", "-c", _START, str(theirs.fileno()), str(_package_root())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                # A session of its own: Ctrl-C on the terminal is for us to handle, in order.
                start_new_session=True,
                cwd="/",
            )
        self._socket = ours

    def send(self, header: bytes, descriptors: list[int]) -> None:
        socket.send_fds(self._socket, [header], descriptors)

    def close(self) -> None:
        self._socket.close()
        if self.owner == os.getpid():
            self._process.wait()
        else:
            self._process.returncode = 0


def _package_root() -> Path:
    return Path(adjudge.__file__).resolve().parent.parent


def _send(header: bytes, descriptors: list[int]) -> None:
    """Hand an errand to the launcher, starting one where there is none or where ours died."""
    global _running
    with _lock:
        if _running is not None and _running.owner != os.getpid():
            # A fork of adjudge: the launcher belongs to the process we came from.
            _running.close()
            _running = None
        for attempt in (1, 2):
            if _running is None:
                _running = _Launcher()
            try:
                _running.send(header, descriptors)
                return
            except OSError as error:
                _running.close()
                _running = None
                if attempt == 2:
                    raise SandboxError(f"the sandbox launcher does not answer: {error}") from error


@atexit.register
def _stop() -> None:
    global _running
    with _lock:
        if _running is not None:
            _running.close()
            _running = None


class Errand:
    """One errand under way. `report` resolves when it is done and nothing of it is alive.

    Args:
        control: Our end of the errand's control socket.
        on_started: Told the host pid of the sandbox's first process.
    """

    def __init__(self, control: socket.socket, on_started: Callable[[Report], None] | None) -> None:
        self._control = control
        self._on_started = on_started
        self._loop = asyncio.get_running_loop()
        self.report: asyncio.Future[Report] = self._loop.create_future()
        self._paused: asyncio.Future[Report] = self._loop.create_future()
        self._answers: deque[asyncio.Future[Report]] = deque()
        control.setblocking(False)
        self._loop.add_reader(control.fileno(), self._read)

    def end(self) -> None:
        """End the tree; the report follows when it is dead. May be called from any thread."""
        with contextlib.suppress(OSError):
            self._control.send(b"end")

    def stop(self) -> None:
        """End the command of a tree that is kept; what it started stays."""
        with contextlib.suppress(OSError):
            self._control.send(b"stop")

    async def ask(self, word: bytes) -> Report:
        """Have a tree that is kept frozen or thawed, and wait until it is.

        Raises:
            SandboxError: It ended meanwhile, or cannot be.
        """
        if self.report.done():
            return {"answer": True, "left": []}
        answer: asyncio.Future[Report] = self._loop.create_future()
        self._answers.append(answer)
        # Not sent means that it has just ended; reading will say so.
        with contextlib.suppress(OSError):
            self._control.send(word)
        report = await answer
        if "failed_freeze" in report:
            raise SandboxError(f"the sandbox cannot be frozen: {report['failed_freeze']}")
        return report

    def _read(self) -> None:
        try:
            message = self._receive()
        except BlockingIOError:
            return
        report: Report = (
            json.loads(message) if message else {"failed": "the sandbox supervisor died without a report"}
        )
        if "started" in report:
            if self._on_started is not None:
                self._on_started(report)
            return
        if "answer" in report:
            if self._answers and not (answer := self._answers.popleft()).done():
                answer.set_result(report)
            return
        if "paused" in report:
            if not self._paused.done():
                self._paused.set_result(report)
            return
        self.close()
        while self._answers:
            if not (answer := self._answers.popleft()).done():
                answer.set_result({"answer": True, "left": []})
        if not self._paused.done():
            self._paused.set_result(report)
        if not self.report.done():
            self.report.set_result(report)

    def _receive(self) -> bytes:
        try:
            return self._control.recv(_MESSAGE_BYTES)
        except ConnectionResetError:
            # Told to end just as it ended: the report is still there behind the reset.
            return self._control.recv(_MESSAGE_BYTES)

    def close(self) -> None:
        """Let go of the errand; if it still runs, its supervisor ends it."""
        if self._control.fileno() != -1:
            self._loop.remove_reader(self._control.fileno())
            self._control.close()

    async def wait(self, *, command_only: bool = False) -> Report:
        """The report. Cancelling ends the tree first and waits until it is dead.

        Args:
            command_only: Return when the command has ended, although its tree may be kept.
        """
        try:
            return await asyncio.shield(self._paused if command_only else self.report)
        except asyncio.CancelledError:
            self.end()
            while not self.report.done():
                # Cancelled again while the tree dies: the wait is short and has to be finished.
                with contextlib.suppress(asyncio.CancelledError):
                    await asyncio.shield(self.report)
            raise


def send_errand(
    request: Request,
    *,
    stdin: int,
    stdout: int,
    stderr: int,
    on_started: Callable[[Report], None] | None = None,
) -> Errand:
    """Have an errand done. The three descriptors are duplicated; closing them stays with the caller."""
    header = json.dumps(_header(request)).encode()
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    try:
        text = os.memfd_create("request", os.MFD_CLOEXEC)
        try:
            with open(os.dup(text), "wb") as file:
                # Paths may hold undecodable bytes: surrogates pass through JSON's ASCII form unharmed.
                file.write(json.dumps(request).encode("ascii"))
            os.lseek(text, 0, os.SEEK_SET)
            _send(header, [text, theirs.fileno(), stdin, stdout, stderr])
        finally:
            os.close(text)
            theirs.close()
        return Errand(ours, on_started)
    except BaseException:
        ours.close()
        raise


def _header(request: Request) -> Header:
    identity = request["identity"]
    maps = []
    if identity is not None:
        owners = {tuple(staged["owner"]) for staged in request["staged"] if "owner" in staged}
        maps = [(uid, gid, identity["uid"], identity["gid"]) for uid, gid in sorted(owners)]
    return {"maps": maps}
