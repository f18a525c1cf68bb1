"""The bench a check works on: the backend, a place on the host for canaries, and ways to run things inside.

Canaries are what an attacker is after: files, sockets and processes of the host that hold a secret. They are
readable for everybody, so that only the sandbox stands between them and the command inside.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, Literal, Self

from adjudge.contracts import BlobStore, Sandbox, SandboxBackend
from adjudge.records.sandbox import Ended, ExecRequest, ExecResult, Limits, SandboxSpec, WorkspaceTree
from adjudge.testing.sandbox.attack import BREACH, FINISHED, attack_program

__all__ = ["WORKSPACE", "Bench", "HostProcess", "Inapplicable", "Ran", "Running"]

WORKSPACE = PurePosixPath("/workspace")

_MIB = 1024 * 1024
_LIMITS = Limits(
    wall_s=60, memory_bytes=1024 * _MIB, processes=256, disk_bytes=512 * _MIB, output_bytes=8 * _MIB
)

_HOST_PROCESS = """\
import ctypes, os, time
secret = ctypes.create_string_buffer(os.environ["CANARY_SECRET"].encode())
print(ctypes.addressof(secret), flush=True)
time.sleep(300)
"""


class Inapplicable(Exception):
    """This machine lacks what the check is about, so that neither answer would mean anything."""


@dataclass(frozen=True, slots=True)
class Ran:
    """A result with its whole output."""

    result: ExecResult
    stdout: bytes
    stderr: bytes

    @property
    def text(self) -> str:
        """stdout, decoded with replacement, without the white space around it."""
        return self.stdout.decode("utf-8", "replace").strip()

    @property
    def told(self) -> str:
        """Everything about it, for a failed assertion."""
        ended = f"{self.result.ended} exit={self.result.exit_code} signal={self.result.signal}"
        return f"{ended} {self.result.reason}\n{self.text}\n{self.stderr.decode('utf-8', 'replace')}"


@dataclass(frozen=True, slots=True)
class HostProcess:
    """A process of the host with a secret in its memory and its environment."""

    pid: int
    address: int
    """Where in its memory the secret is."""
    alive: Any
    """Call it to learn whether the process still runs."""


@dataclass(frozen=True, slots=True)
class Running:
    """A command under way."""

    task: asyncio.Task[ExecResult]
    said: str
    """Its first line of output."""


@dataclass(slots=True)
class Bench:
    """What a check works with. Use as a context manager: the host is tidied when it ends."""

    backend: SandboxBackend
    python: str = sys.executable
    """A Python 3 inside the sandbox; attacks are Python programs."""
    token: str = field(default_factory=lambda: f"canary-{secrets.token_hex(6)}")
    """In the name of everything a check plants, so that it finds its own and nothing else."""
    secret: str = field(default_factory=lambda: f"secret-{secrets.token_hex(12)}")
    """What only the host knows. Seeing it in a command's output proves a leak."""
    scratch: Path = field(init=False)
    """A directory of the host that everybody may enter, outside every sandbox."""

    def __enter__(self) -> Self:
        self.scratch = Path(tempfile.mkdtemp(prefix=f"{self.token}-"))
        self.scratch.chmod(0o755)
        return self

    def __exit__(self, *exc: object) -> None:
        shutil.rmtree(self.scratch)

    # On the host

    def plant(self, name: str = "host-file", *, directory: Path | None = None) -> Path:
        """Plant a file that holds the secret and that everybody may read and write."""
        place = self.scratch if directory is None else directory
        path = place / f"{self.token}-{name}"
        path.write_text(self.secret)
        path.chmod(0o666)
        return path

    def source(self, files: Mapping[str, bytes] = {}) -> Path:
        """A workspace tree on the host with these files."""
        root = Path(tempfile.mkdtemp(prefix="source-", dir=self.scratch))
        root.chmod(0o755)
        for name, data in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        return root

    @contextlib.contextmanager
    def host_process(self) -> Iterator[HostProcess]:
        """A process beside the supervisor, with `TOKEN-host` as its argument and the secret inside."""
        environment = {**os.environ, "CANARY_SECRET": self.secret}
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _HOST_PROCESS, f"{self.token}-host"],
            env=environment,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        try:
            assert process.stdout is not None
            with process.stdout:
                address = int(process.stdout.readline())
            yield HostProcess(process.pid, address, lambda: process.poll() is None)
        finally:
            process.kill()
            process.wait()

    def marked_processes(self) -> list[int]:
        """Processes on the host with the token among their arguments, the dead not counted."""
        found = []
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit() or int(entry.name) == os.getpid():
                continue
            with contextlib.suppress(OSError):
                state = (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()[0]
                if self.token.encode() in (entry / "cmdline").read_bytes() and state != "Z":
                    found.append(int(entry.name))
        return found

    # Inside

    @contextlib.asynccontextmanager
    async def sandbox(
        self,
        files: Mapping[str, bytes] | None = None,
        *,
        tree: WorkspaceTree | None = None,
        blobs: BlobStore | None = None,
        **spec: Any,
    ) -> AsyncIterator[Sandbox]:
        """A started sandbox over these files (or this tree), discarded at the end."""
        if tree is None:
            tree = WorkspaceTree(layers=(self.source(files or {}),))
        spec.setdefault("limits", _LIMITS)
        async with await self.backend.start(SandboxSpec(workspace=tree, **spec), blobs=blobs) as sandbox:
            yield sandbox

    async def run(self, sandbox: Sandbox, *argv: str, shell: str | None = None, **request: Any) -> Ran:
        """Run a command and keep all of its output."""
        streams: dict[Literal["stdout", "stderr"], bytearray] = {"stdout": bytearray(), "stderr": bytearray()}
        result = await sandbox.exec(
            ExecRequest(argv=argv, shell=shell, **request),
            on_output=lambda stream, data: streams[stream].extend(data),
        )
        return Ran(result, bytes(streams["stdout"]), bytes(streams["stderr"]))

    @contextlib.asynccontextmanager
    async def running(self, sandbox: Sandbox, source: str, *arguments: object) -> AsyncIterator[Running]:
        """A program under way in the background, from its first line of output on.

        When the block ends the program must have ended too, by whatever the check did.
        """
        lines = bytearray()
        begun = asyncio.Event()

        def take(_stream: str, data: bytes) -> None:
            lines.extend(data)
            if b"\n" in lines:
                begun.set()

        request = ExecRequest(argv=self._program(source, *arguments))
        task = asyncio.create_task(sandbox.exec(request, on_output=take))
        waiting = asyncio.create_task(begun.wait())
        try:
            async with asyncio.timeout(20):
                await asyncio.wait((task, waiting), return_when=asyncio.FIRST_COMPLETED)
            assert begun.is_set(), f"the program ended before it began: {task.result()}"
            yield Running(task, lines.decode().splitlines()[0])
            async with asyncio.timeout(20):
                await asyncio.wait((task,))
        finally:
            waiting.cancel()
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

    async def succeed(self, sandbox: Sandbox, shell: str, **request: Any) -> str:
        """Run a shell command that must exit with 0; return what it printed."""
        ran = await self.run(sandbox, shell=shell, **request)
        assert ran.result.ok, f"{shell!r} should have worked: {ran.told}"
        return ran.text

    async def program(self, sandbox: Sandbox, source: str, *arguments: object, **request: Any) -> Ran:
        """Run a Python program that starts with the attacker's tools, marked with the token."""
        return await self.run(sandbox, *self._program(source, *arguments), **request)

    def _program(self, source: str, *arguments: object) -> tuple[str, ...]:
        return (self.python, "-I", "-S", "-c", attack_program(source), self.token, *map(str, arguments))

    async def attack(self, sandbox: Sandbox, source: str, *arguments: object, **request: Any) -> str:
        """Run an attack to its end and assert that nothing got through and no secret was seen.

        The attack finds the token in `sys.argv[1]` and `arguments` after it.
        """
        ran = await self.program(sandbox, source, *arguments, **request)
        breaches = [line for line in ran.text.splitlines() if line.startswith(BREACH)]
        assert not breaches, "; ".join(breaches)
        assert self.secret not in ran.text + ran.stderr.decode("utf-8", "replace"), f"leaked: {ran.told}"
        finished = ran.result.ended is Ended.EXITED and ran.text.endswith(FINISHED)
        assert finished, f"the attack did not run to its end, so it proves nothing: {ran.told}"
        return ran.text

    async def assert_still(self, sandbox: Sandbox, name: str) -> None:
        """Assert that nothing writes to a workspace file any more."""
        before = await sandbox.read_file(WORKSPACE / name, max_bytes=_MIB)
        assert before, f"{name} was never written, so its silence proves nothing"
        await asyncio.sleep(0.3)
        after = await sandbox.read_file(WORKSPACE / name, max_bytes=_MIB)
        assert after == before, f"something still writes to {name}"
        assert not self.marked_processes(), f"still running: {self.marked_processes()}"
