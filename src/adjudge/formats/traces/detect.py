"""Picks the format of a trace by its beginning, or takes the one that is named."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from adjudge import catalog
from adjudge.contracts import TraceFormat
from adjudge.errors import TraceUnreadable
from adjudge.records.trace import TraceItem

__all__ = ["HEAD", "OpenedTrace", "read_trace", "trace_format"]

_KIND = "traceformats"
HEAD = 64 * 1024
"""Bytes of the beginning that formats are told apart by."""


class OpenedTrace(NamedTuple):
    """A trace about to be read."""

    format: str
    items: Iterator[TraceItem]


def trace_format(head: bytes, *, filename: str = "", format: str | None = None) -> TraceFormat:
    """The reader for a trace.

    Args:
        head: The first `HEAD` bytes, or all there are.
        filename: Its name, as a last hint at the format.
        format: The format, when it is known; otherwise the first that recognises the beginning.

    Raises:
        TraceUnreadable: No format fits.
        PluginNotFound: `format` names none.
    """
    if format is not None:
        named: TraceFormat = catalog.load(_KIND, format)()
        return named
    for name in catalog.names(_KIND):
        candidate: TraceFormat = catalog.load(_KIND, name)()
        if candidate.recognises(head, filename):
            return candidate
    raise TraceUnreadable("not a trace in a known format", hint=f"known: {', '.join(catalog.names(_KIND))}")


def read_trace(stream: BinaryIO, *, filename: str = "", format: str | None = None) -> OpenedTrace:
    """Read a trace from its beginning, event by event.

    Args:
        stream: Its bytes; only some formats need it to be seekable.
        filename: Its name.
        format: The format, when it is known.

    Raises:
        TraceUnreadable: No format fits. While reading: it is not what its format says.
        PluginNotFound: `format` names none.
    """
    buffered = stream if isinstance(stream, io.BufferedReader) else io.BufferedReader(_Raw(stream), HEAD)
    reader = trace_format(_peek(buffered), filename=filename, format=format)
    return OpenedTrace(reader.name, reader.events(buffered))


def _peek(stream: io.BufferedReader) -> bytes:
    """The beginning, which stays to be read."""
    if stream.seekable():
        place = stream.tell()
        head = stream.read(HEAD)
        stream.seek(place)
        return head
    return stream.peek(HEAD)[:HEAD]


class _Raw(io.RawIOBase):
    """A binary stream of any kind, to be buffered."""

    def __init__(self, stream: BinaryIO) -> None:
        super().__init__()
        self._stream = stream

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self._stream.seekable()

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self._stream.seek(offset, whence)

    def tell(self) -> int:
        return self._stream.tell()

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # the stub's buffer has no len()
        data = self._stream.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)
