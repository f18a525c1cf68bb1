"""Commands that an agent has run for it in its sandbox, beside itself."""

from __future__ import annotations

import asyncio
import contextlib
import os
import posixpath
import signal
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Literal

from adjudge.contracts import Sandbox
from adjudge.records.sandbox import ExecRequest, ExecResult

__all__ = ["Terminal", "Terminals", "served_path"]

_MOST_OPEN = 64
_MOST_BYTES = 1024 * 1024
_WORKSPACE = PurePosixPath("/workspace")


def served_path(path: str, workspace: PurePosixPath) -> str:
    """A path that an agent gave, absolute, if it lies in the workspace by its name.

    Raises:
        ValueError: It does not. Where links lead is looked at inside the sandbox.
    """
    if "\0" in path:
        raise ValueError("a path cannot contain a NUL character")
    place = posixpath.normpath(posixpath.join(str(workspace), path))
    if place != str(workspace) and not place.startswith(f"{workspace}/"):
        raise ValueError(f"{path!r} lies outside the workspace")
    return place


class Terminal:
    """One command."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._data = bytearray()
        self.truncated = False
        self.task: asyncio.Task[ExecResult]

    def take(self, stream: Literal["stdout", "stderr"], data: bytes) -> None:
        """A chunk of its output; the last of it is kept."""
        self._data += data
        if len(self._data) > self._limit:
            self.truncated = True
            del self._data[: len(self._data) - self._limit]

    @property
    def text(self) -> str:
        """What is kept of its output, from a whole character on."""
        return self._data.decode("utf-8", "ignore")

    def ended(self) -> tuple[int | None, str | None]:
        """Its exit code, or the name of what ended it."""
        if self.task.cancelled():
            return None, "SIGKILL"
        error = self.task.exception()
        if error is not None:
            return 127, None
        result = self.task.result()
        if result.exit_code is not None:
            return result.exit_code, None
        if result.signal is not None:
            with contextlib.suppress(ValueError):
                return None, signal.Signals(result.signal).name
        return None, "SIGKILL"

    async def kill(self) -> None:
        """End it. Harmless when it has ended."""
        self.task.cancel()
        await asyncio.wait({self.task})


class Terminals:
    """The commands of one agent.

    Args:
        sandbox: Where they run.
        workspace: What the agent calls its workspace.
    """

    def __init__(self, sandbox: Sandbox, workspace: PurePosixPath) -> None:
        self._sandbox = sandbox
        self._workspace = workspace
        self._open: dict[str, Terminal] = {}
        self._made = 0

    def create(
        self, argv: tuple[str, ...], env: Mapping[str, str], cwd: str | None, limit: int | None
    ) -> str:
        """Start a command; the id by which it is asked for.

        Raises:
            ValueError: It cannot be started as asked.
        """
        if len(self._open) >= _MOST_OPEN:
            raise ValueError(f"more than {_MOST_OPEN} terminals at once")
        place = served_path(cwd or ".", self._workspace)
        inside = _WORKSPACE / os.path.relpath(place, self._workspace)
        terminal = Terminal(min(limit or _MOST_BYTES, _MOST_BYTES))
        # With nothing but a command line, it is one for a shell.
        request = (
            ExecRequest(shell=argv[0], env=env, cwd=inside)
            if len(argv) == 1
            else ExecRequest(argv=argv, env=env, cwd=inside)
        )
        terminal.task = asyncio.ensure_future(self._sandbox.enter(request, on_output=terminal.take))
        self._made += 1
        id_ = f"terminal-{self._made}"
        self._open[id_] = terminal
        return id_

    def get(self, id_: str) -> Terminal:
        """A terminal.

        Raises:
            ValueError: There is none of that id.
        """
        if id_ not in self._open:
            raise ValueError(f"there is no terminal {id_!r}")
        return self._open[id_]

    async def release(self, id_: str) -> None:
        """End a terminal and forget it."""
        await self.get(id_).kill()
        del self._open[id_]

    async def close(self) -> None:
        """End every terminal."""
        for id_ in list(self._open):
            await self.release(id_)
