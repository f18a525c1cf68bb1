"""The grader's side of `candidate`: commands of a verifier, run in a sandbox that is not the verifier's.

Code that a verifier runs as its own child has its rights, and could write the reward. Code that it runs with
`candidate` runs in a sibling sandbox over a copy of the final workspace of its own: no /tests, no /logs, none
of the verifier's environment, and no way to the socket. What arrives on the socket is a verifier's word, or
that of whatever runs beside it, so it is parsed, capped, and can ask for nothing but a command in that
sandbox.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import struct
import sys
import time
from functools import cache
from importlib import resources
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import Literal, NamedTuple, Self

from adjudge.contracts import Sandbox, SandboxBackend
from adjudge.errors import InfraError, UsageError
from adjudge.records.sandbox import Ended, ExecRequest, ExecResult, Mount, SandboxReport, SandboxSpec

__all__ = ["BIN", "CandidateDesk"]

BIN = PurePosixPath("/opt/adjudge/bin")
"""Where a verifier finds the launcher; first on its PATH."""
_MAX_HEADER = 1024 * 1024
_MAX_INPUT = 16 * 1024 * 1024
_MAX_AT_ONCE = 16
"""Calls that are taken in at the same time, each with its input in our memory: a pipeline is that long."""
_MAX_CALLS = 10_000
_REFUSED, _LOST, _TIMED_OUT, _KILLED = 126, 125, 124, 137
_STREAMS = {"stdout": 1, "stderr": 2}


class _Call(NamedTuple):
    argv: tuple[str, ...]
    cwd: PurePosixPath
    stdin: bytes


class _BadCall(Exception):
    pass


class CandidateDesk:
    """Takes commands for as long as the block lasts.

    Args:
        backend: Where the sibling sandbox comes from; it is started with the first command.
        spec: What it is like.
        workdir: Where commands run whose own folder is not in the workspace.
        place: A folder of ours, shown to the verifier at `BIN`.
        deadline: When the verifier's time is up, on the monotonic clock.
        fails: Run nothing, and answer that every command failed: what a careful verifier notices.
    """

    def __init__(
        self,
        backend: SandboxBackend,
        spec: SandboxSpec,
        *,
        workdir: PurePosixPath,
        place: Path,
        deadline: float,
        fails: bool = False,
    ) -> None:
        self._backend = backend
        self._spec = spec
        self._workdir = workdir
        self._place = place
        self._deadline = deadline
        self._fails = fails
        self._sandbox: Sandbox | None = None
        self._starting = asyncio.Lock()
        self._slots = asyncio.Semaphore(_MAX_AT_ONCE)
        self._server: asyncio.Server | None = None
        self._serving: set[asyncio.Task[None]] = set()
        self.calls = 0
        """How many commands were asked for."""
        self.failure: InfraError | None = None
        """Why a command could not be run, where that was ours; then the verifier's word means nothing."""
        self.reports: list[SandboxReport] = []

    @property
    def mount(self) -> Mount:
        """What the verifier's sandbox has to show."""
        return Mount(source=self._place, target=BIN)

    async def __aenter__(self) -> Self:
        await asyncio.to_thread(self._furnish)
        self._server = await asyncio.start_unix_server(self._accept, sock=_listen(self._place))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._server is not None:
            self._server.close()
        for task in self._serving:
            task.cancel()
        await asyncio.gather(*self._serving, return_exceptions=True)
        if self._sandbox is not None:
            await self._sandbox.__aexit__(kind, error, trace)

    def _furnish(self) -> None:
        os.mkdir(self._place, 0o755)
        os.chmod(self._place, 0o755)
        program = self._place / "candidate"
        program.write_text(f"#!{sys.executable} -IS\n{_client()}", encoding="utf-8")
        program.chmod(0o755)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._serving.add(task)
        try:
            async with self._slots:
                await self._serve(reader, writer)
        except (OSError, asyncio.IncompleteReadError):
            # The caller went away; there is nobody to tell.
            pass
        finally:
            self._serving.discard(task)
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            call = await self._read_call(reader)
        except _BadCall as error:
            _finish(writer, _REFUSED, f"candidate: {error}\n")
            return
        running = asyncio.ensure_future(self._run(call, writer))
        gone = asyncio.ensure_future(reader.read(1))
        try:
            await asyncio.wait({running, gone}, return_when=asyncio.FIRST_COMPLETED)
            if running.done():
                running.result()
                await writer.drain()
        finally:
            for task in (running, gone):
                task.cancel()
            await asyncio.gather(running, gone, return_exceptions=True)

    async def _read_call(self, reader: asyncio.StreamReader) -> _Call:
        header = await _read_part(reader, _MAX_HEADER)
        try:
            read = json.loads(header)
        except (ValueError, RecursionError):
            raise _BadCall("the header is not JSON") from None
        match read:
            case {"argv": [str(), *_] as argv, "cwd": str(cwd)} if all(isinstance(one, str) for one in argv):
                pass
            case _:
                raise _BadCall("the header names no command")
        if not all(one.isascii() or _is_text(one) for one in (*argv, cwd)):
            raise _BadCall("an argument is not UTF-8")
        stdin = bytearray()
        while part := await _read_part(reader, _MAX_INPUT - len(stdin)):
            stdin += part
        self.calls += 1
        if self.calls > _MAX_CALLS:
            raise _BadCall(f"more than {_MAX_CALLS} commands")
        place = PurePosixPath(cwd)
        workspaces = (PurePosixPath("/workspace"), self._workdir)
        if ".." in place.parts or not any(place.is_relative_to(top) for top in workspaces):
            place = self._workdir
        return _Call(tuple(argv), place, bytes(stdin))

    async def _run(self, call: _Call, writer: asyncio.StreamWriter) -> None:
        if self._fails:
            _finish(writer, 1)
            return
        left = self._deadline - time.monotonic()
        if left <= 0:
            _finish(writer, _TIMED_OUT, "candidate: the verifier's time is up\n")
            return

        def observe(stream: Literal["stdout", "stderr"], data: bytes) -> None:
            _send(writer, _STREAMS[stream], data)

        try:
            sandbox = await self._started()
            limits = self._spec.limits.model_copy(update={"wall_s": left})
            request = ExecRequest(argv=call.argv, stdin=call.stdin, cwd=call.cwd, limits=limits)
            result = await sandbox.exec(request, on_output=observe)
        except UsageError as error:
            _finish(writer, _REFUSED, f"candidate: {error.message}\n")
        except InfraError as error:
            self.failure = self.failure or error
            _finish(writer, _LOST, "candidate: the grader's sandbox failed\n")
        else:
            _finish(writer, *_code(result))

    async def _started(self) -> Sandbox:
        async with self._starting:
            if self._sandbox is None:
                self._sandbox = await self._backend.start(self._spec)
                self.reports.append(self._sandbox.report)
            return self._sandbox


def _listen(place: Path) -> socket.socket:
    """A socket in a folder, whose path may be longer than an address can be."""
    folder = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listening.bind(f"/proc/self/fd/{folder}/socket")
        # Whoever can see the folder: the verifier's user, who is not ours when we are root.
        os.chmod(place / "socket", 0o666)
    except BaseException:
        listening.close()
        raise
    finally:
        os.close(folder)
    return listening


def _is_text(text: str) -> bool:
    return not any("\ud800" <= char <= "\udfff" for char in text)


async def _read_part(reader: asyncio.StreamReader, limit: int) -> bytes:
    (length,) = struct.unpack(">I", await reader.readexactly(4))
    if length > limit:
        raise _BadCall(f"more than {limit:,} bytes at once")
    return await reader.readexactly(length) if length else b""


def _send(writer: asyncio.StreamWriter, kind: int, data: bytes) -> None:
    if not writer.is_closing():
        writer.write(struct.pack(">BI", kind, len(data)) + data)


def _finish(writer: asyncio.StreamWriter, code: int, said: str = "") -> None:
    if said:
        _send(writer, _STREAMS["stderr"], said.encode())
    _send(writer, 0, str(code).encode("ascii"))


def _code(result: ExecResult) -> tuple[int, str]:
    """An exit code as a shell would give it, and what the grader has to say about it."""
    if result.ended is Ended.EXITED:
        return result.exit_code or 0, ""
    if result.ended is Ended.SIGNALLED:
        return 128 + (result.signal or 0), ""
    code = _TIMED_OUT if result.ended is Ended.TIMED_OUT else _KILLED
    return code, f"candidate: {result.ended.value.replace('_', ' ')}: {result.reason}\n"


@cache
def _client() -> str:
    name = "candidate_client.py"
    return (resources.files("adjudge.evidence.verifier.inside") / name).read_text(encoding="utf-8")
