"""What the sessions of agents have in common: output that is kept, what was said last, how it ended."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, Self

from adjudge.agents.tracing import TraceFeed
from adjudge.contracts import AgentPlace, BlobStore, BlobWriter, Sandbox
from adjudge.errors import RunFault, UsageError
from adjudge.records.base import BlobRef
from adjudge.records.run import AgentOutcome, AgentStatus
from adjudge.records.sandbox import Ended, ExecResult

__all__ = ["MAX_RESPONSE", "KeptOutput", "Session", "ending", "refuse_fault", "sandbox_of"]

MAX_RESPONSE = 256 * 1024
"""Characters of a reply that are kept."""
_SESSION = re.compile(rb'"(?:session_id|sessionID|thread_id)"\s*:\s*"([A-Za-z0-9_][A-Za-z0-9_.-]{0,199})"')


class Session:
    """An `adjudge.contracts.AgentSession` to build on: one turn, nothing to leave behind."""

    def __init__(self, place: AgentPlace) -> None:
        self.place = place
        self.outcome = AgentOutcome(status=AgentStatus.COMPLETED, turns=0)
        self.ended = False

    async def turn(self, message: str) -> str:
        """Take a message; to be written by each agent."""
        raise NotImplementedError

    async def finish(self) -> AgentOutcome:
        """What came of it."""
        self.ended = True
        return self.outcome

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        self.ended = True


class KeptOutput:
    """What an agent prints over all its turns, kept whole as it arrives.

    An observer of `Sandbox.exec`; the end of each turn's stdout is held for the reply.
    """

    def __init__(
        self,
        blobs: BlobStore,
        feed: TraceFeed | None = None,
        *,
        hide: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._feed = feed
        self._hiding = {"stdout": _Hiding(hide), "stderr": _Hiding(hide)}
        self.session: str | None = None
        """The id of its session, from the first line that tells one."""
        self._writers: dict[str, BlobWriter] = {"stdout": blobs.writer(), "stderr": blobs.writer()}
        self._last = bytearray()

    def __call__(self, stream: Literal["stdout", "stderr"], data: bytes) -> None:
        """Take a chunk in."""
        self._take(stream, self._hiding[stream].take(data))

    def flush(self) -> None:
        """Take in what was held back because it could have been the beginning of a credential."""
        for stream, hiding in self._hiding.items():
            self._take(stream, hiding.rest())

    def _take(self, stream: str, data: bytes) -> None:
        if not data:
            return
        self._writers[stream].write(data)
        if stream == "stdout":
            self._last += data
            if self._feed is not None:
                self._feed.feed(data)
                if self.session is None and (told := _SESSION.search(self._last)):
                    self.session = told[1].decode()
            if len(self._last) > 4 * MAX_RESPONSE:
                del self._last[: -2 * MAX_RESPONSE]

    def take_turn(self) -> str:
        """The end of what was printed since the last call, decoded with replacement."""
        self.flush()
        said = self._last.decode("utf-8", "replace").strip()
        self._last.clear()
        return said[-MAX_RESPONSE:]

    def commit(self) -> tuple[BlobRef, BlobRef]:
        """Keep what was printed: stdout and stderr."""
        self.flush()
        return self._writers["stdout"].commit(), self._writers["stderr"].commit()

    def abort(self) -> None:
        """Forget what was not committed."""
        for writer in self._writers.values():
            with contextlib.suppress(OSError):
                writer.abort()


_SHORTEST = 6
"""A shorter credential is none, and stands in half the words there are."""


class _Hiding:
    """Takes credentials out of a stream of bytes, wherever its chunks begin and end."""

    def __init__(self, credentials: Mapping[str, str]) -> None:
        self._hidden = [
            (value.encode(), f"[{name}]".encode())
            for name, value in credentials.items()
            if len(value) >= _SHORTEST
        ]
        self._hidden.sort(key=lambda pair: len(pair[0]), reverse=True)
        self._held = b""

    def take(self, data: bytes) -> bytes:
        """What of it can be let go."""
        if not self._hidden:
            return data
        data = self._without(self._held + data)
        # A credential has no newline in it, so at the end of a line none has begun.
        keep = 0 if data.endswith(b"\n") else len(self._hidden[0][0]) - 1
        let_go = max(0, len(data) - keep)
        self._held = data[let_go:]
        return data[:let_go]

    def rest(self) -> bytes:
        """What was held back."""
        held, self._held = self._held, b""
        return held

    def _without(self, data: bytes) -> bytes:
        for value, name in self._hidden:
            data = data.replace(value, name)
        return data


def sandbox_of(place: AgentPlace, name: str) -> Sandbox:
    """The sandbox of an agent that cannot do without one."""
    if place.sandbox is None:
        raise UsageError(
            f"agent {name!r} works on a workspace, and the scenario has none",
            hint="add 'workspace:' to the scenario, or take an agent that only answers",
        )
    return place.sandbox


_OVER_LIMIT = (Ended.OUT_OF_MEMORY, Ended.PROCESS_LIMIT, Ended.DISK_LIMIT, Ended.OUTPUT_LIMIT)


def ending(result: ExecResult) -> tuple[AgentStatus, str]:
    """How a program's end reads as an agent's, and why in one line."""
    if result.ended is Ended.TIMED_OUT:
        return AgentStatus.TIMED_OUT, result.reason or "ran out of time"
    if result.ended in _OVER_LIMIT:
        return AgentStatus.OVER_LIMIT, result.reason or result.ended.value.replace("_", " ")
    if result.ended is Ended.CANCELLED:
        return AgentStatus.CRASHED, "it was stopped"
    if result.ended is Ended.SIGNALLED:
        return AgentStatus.CRASHED, f"ended by signal {result.signal}"
    if result.exit_code != 0:
        return AgentStatus.CRASHED, f"exit {result.exit_code}"
    return AgentStatus.COMPLETED, ""


def refuse_fault(result: ExecResult, doing: str) -> None:
    """Our own errand in the sandbox has to work.

    Raises:
        RunFault: It did not; the end of what it said is in the message.
    """
    if not result.ok:
        said = result.stderr.text.strip()[-500:]
        raise RunFault(f"{doing}: {ending(result)[1]}{f': {said}' if said else ''}")
