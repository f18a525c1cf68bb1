"""The `replay` agent: an attempt made elsewhere, as a patch, with its trace and its last words."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import ClassVar

from pydantic import Field

from adjudge.agents.applying import apply_files, patched_files
from adjudge.agents.session import MAX_RESPONSE, Session, sandbox_of
from adjudge.contracts import AgentConfig, AgentNeeds, AgentPlace
from adjudge.errors import PatchUnreadable, TraceUnreadable, UsageError
from adjudge.formats.traces.detect import read_trace
from adjudge.records.base import BlobRef
from adjudge.records.run import AgentStatus

__all__ = ["Replay"]

_CHUNK = 1 << 20
_MAX_PATCH_BYTES = 256 * 1024 * 1024


class Replay:
    """Applies a recorded patch and hands on the trace that goes with it.

    A patch that does not apply is a garbled attempt, not an error: whoever recorded it made it.
    """

    name: ClassVar[str] = "replay"

    class Config(AgentConfig):
        """What was recorded. `{task}` in a path stands for the task's name, for one file per task."""

        patch: str | None = Field(default=None, min_length=1)
        """A patch to the baseline, as `git diff` writes it. Left out: nothing was changed."""
        trace: str | None = Field(default=None, min_length=1)
        """The trace, in any format that is known."""
        trace_format: str | None = None
        """What the trace is written in; found out when left out."""
        response: str | None = Field(default=None, min_length=1)
        """A file with the agent's last reply."""

    def needs(self, config: Config) -> AgentNeeds:
        """A workspace to patch, where there is a patch."""
        return AgentNeeds(workspace=config.patch is not None)

    def start(self, config: Config, place: AgentPlace) -> Session:
        """Begin with what was recorded."""
        return _Replaying(config, place)


class _Replaying(Session):
    def __init__(self, config: Replay.Config, place: AgentPlace) -> None:
        super().__init__(place)
        self._config = config

    async def turn(self, message: str) -> str:
        """Do what was recorded, whatever was asked."""
        self.ended = True
        config = self._config
        status, reason = AgentStatus.COMPLETED, ""
        if config.patch is not None:
            sandbox = sandbox_of(self.place, Replay.name)
            try:
                files = patched_files(self._read(config.patch, _MAX_PATCH_BYTES), self.place)
            except PatchUnreadable as error:
                status, reason = AgentStatus.GARBLED, f"the recorded patch does not apply: {error.message}"
            else:
                await apply_files(sandbox, files)
        response = ""
        if config.response is not None:
            response = self._read(config.response, 4 * MAX_RESPONSE).decode("utf-8", "replace")[:MAX_RESPONSE]
        raw = format_ = None
        if config.trace is not None:
            raw = self._keep(config.trace)
            format_ = await asyncio.to_thread(self._observe_all, raw, config.trace)
        self.outcome = self.outcome.model_copy(
            update={
                "turns": 1,
                "status": status,
                "reason": reason,
                "response": response,
                "raw_trace": raw,
                "trace_format": format_,
            }
        )
        return response

    def _observe_all(self, raw: BlobRef, path: str) -> str | None:
        """Hand on every event; the format it was read as, None when it is none that is known."""
        with self.place.blobs.open(raw) as stream:
            try:
                opened = read_trace(stream, filename=Path(path).name, format=self._config.trace_format)
                for item in opened.items:
                    self.place.observe(item)
            except TraceUnreadable:
                return None
        return opened.format

    def _path(self, path: str) -> Path:
        # A task's name is the author's, but a path made of it stays where the template says.
        return Path(path.replace("{task}", self.place.task.name.replace(os.sep, "_")))

    def _read(self, path: str, limit: int) -> bytes:
        place = self._path(path)
        try:
            with place.open("rb") as file:
                return file.read(limit)
        except OSError as error:
            raise UsageError(f"the recorded {place} cannot be read: {error.strerror}") from error

    def _keep(self, path: str) -> BlobRef:
        place = self._path(path)
        writer = self.place.blobs.writer()
        try:
            with place.open("rb") as file:
                while chunk := file.read(_CHUNK):
                    writer.write(chunk)
            return writer.commit()
        except OSError as error:
            raise UsageError(f"the recorded {place} cannot be read: {error.strerror}") from error
        finally:
            writer.abort()
