"""A trace that lies somewhere, read when it is asked for; its summary is made once."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Lock
from typing import BinaryIO

from adjudge.errors import AdjudgeError, ConfigInvalid, InfraError, SubjectError, boundary
from adjudge.formats.traces.detect import read_trace
from adjudge.formats.traces.summary import TraceSummariser
from adjudge.records.trace import TraceItem, TraceSummary

__all__ = ["RecordedTrace", "trace_file"]


class RecordedTrace:
    """`contracts.TraceSource` over anything that can be opened.

    Args:
        open: Opens it from its beginning.
        filename: Its name, for messages and as a hint at the format.
        format: The format, when it is known.
    """

    def __init__(
        self, open: Callable[[], BinaryIO], *, filename: str = "", format: str | None = None
    ) -> None:
        self._open = open
        self._filename = filename
        self._format = format
        self._summary: TraceSummary | SubjectError | None = None
        self._lock = Lock()

    def format(self) -> str:
        """The name of its format."""
        with self._open() as stream:
            return read_trace(stream, filename=self._filename, format=self._format).format

    def events(self) -> Iterator[TraceItem]:
        """Every event in order."""
        with self._open() as stream:
            yield from read_trace(stream, filename=self._filename, format=self._format).items

    def summary(self) -> TraceSummary:
        """All of it in figures; made once, however often it is asked for, and from any thread."""
        with self._lock:
            if self._summary is None:
                try:
                    self._summary = self._summarised()
                except SubjectError as error:
                    self._summary = error
            if isinstance(self._summary, AdjudgeError):
                raise self._summary
            return self._summary

    def _summarised(self) -> TraceSummary:
        # A disk that fails under it, or a reader of somebody else's: neither is the attempt's fault.
        with boundary(InfraError, "the trace cannot be read"), self._open() as stream:
            opened = read_trace(stream, filename=self._filename, format=self._format)
            summariser = TraceSummariser(opened.format)
            for item in opened.items:
                summariser.add(item)
            return summariser.summary()


def trace_file(path: str | Path, *, format: str | None = None, called: str = "trace") -> RecordedTrace:
    """A trace in a file.

    Args:
        path: The file.
        format: The format, when it is known.
        called: What to call it in messages.

    Raises:
        ConfigInvalid: There is no such file, or it cannot be read.
        PluginNotFound: `format` names no format. While reading.
    """
    try:
        if not os.path.isfile(path):
            raise ConfigInvalid(f"{called} {path} is not a file")
        with open(path, "rb"):
            pass
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise ConfigInvalid(f"{called} {path}: {reason}") from error
    return RecordedTrace(lambda: open(path, "rb"), filename=os.path.basename(path), format=format)
