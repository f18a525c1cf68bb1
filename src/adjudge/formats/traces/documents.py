"""JSON documents of any size, part by part: only the part at hand is held.

Which lists are taken apart is given as paths, `*` for the items of a list. Along such a path every container
is open: its members are handed over one by one, with the path to them, and never held together.

    read_parts(stream, {("steps",)})    # ("schema_version",) …, ("steps", "*") …, ("agent",) …
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO, Final, NamedTuple

from adjudge.formats.traces.lines import (
    MAX_LINE,
    MAX_VALUES,
    ObjectLine,
    RawLine,
    broken,
    first_filled_line,
    parse_object,
    read_objects,
)
from adjudge.records.trace import BrokenLine

__all__ = ["END", "Part", "Path", "lines_or_document", "read_parts", "split_lines"]

Path = tuple[str, ...]
MAX_PART: Final = 2 * MAX_LINE
"""Characters of the texts of one part."""
MAX_DEPTH: Final = 200
"""Nesting of a document. Real ones stay below twenty."""


class _End:
    """Stands for the end of an open object."""


END: Final = _End()


class Part(NamedTuple):
    """A value of the document, or the end of an open object."""

    path: Path
    value: Any
    number: int
    """Which part it is, from 1."""


class _Refused(Exception):
    """The document cannot be read on."""


class _Guarded:
    """A stream that refuses to be read further while one value does not end."""

    def __init__(self, first: bytes, stream: BinaryIO) -> None:
        self._first = first
        self._stream = stream
        self.unread = 0
        """Bytes since the last value; whoever gets one sets it to 0."""

    def read(self, size: int = -1) -> bytes:
        if size == 0:
            return b""
        data, self._first = (self._first, b"") if self._first else (self._stream.read(size), b"")
        self.unread += len(data)
        if self.unread > MAX_LINE + len(data):
            raise _Refused(f"a value of more than {MAX_LINE:,} bytes")
        return data


class _Builder:
    """Puts one value together; gives up on one that is too large, and says so."""

    def __init__(self) -> None:
        self._stack: list[Any] = []
        self._keys: list[str] = []
        self.value: Any = None
        self._values = 0
        self._size = 0

    @property
    def too_large(self) -> bool:
        return self._values > MAX_VALUES or self._size > MAX_PART

    def take(self, event: str, value: Any) -> bool:
        """Whether the value is complete."""
        self._values += 1
        if isinstance(value, str):
            self._size += len(value)
        if event == "map_key":
            self._keys[-1] = value
            return False
        if event in ("start_map", "start_array"):
            made: Any = {} if event == "start_map" else []
            self._put(made)
            self._stack.append(made)
            self._keys.append("")
            if len(self._stack) > MAX_DEPTH:
                raise _Refused("nested too deeply")
            return False
        if event in ("end_map", "end_array"):
            self._stack.pop()
            self._keys.pop()
        else:
            self._put(value)
        return not self._stack

    def _put(self, value: Any) -> None:
        if not self._stack:
            self.value = value
        elif self.too_large:
            return
        elif isinstance(self._stack[-1], dict):
            self._stack[-1][self._keys[-1]] = value
        else:
            self._stack[-1].append(value)


def read_parts(stream: BinaryIO, split: Iterable[Path], *, first: bytes = b"") -> Iterator[Part | BrokenLine]:
    """The parts of a document, or of several in a row. What cannot be read ends it, as a broken part.

    Args:
        stream: Its bytes.
        split: Paths of the lists to take apart.
        first: What was read of it already.
    """
    opened = {path[:length] for path in split for length in range(len(path) + 1)}
    guarded = _Guarded(first, stream)
    # Loaded here: only documents need it.
    ijson = importlib.import_module("ijson")
    events = ijson.basic_parse(guarded, multiple_values=True, use_float=True, buf_size=64 * 1024)
    number = 0
    try:
        for part in _parts(events, opened, guarded):
            number += 1
            if isinstance(part, BrokenLine):
                yield part.model_copy(update={"line": number})
            else:
                yield part._replace(number=number)
    except _Refused as refused:
        yield broken(number + 1, str(refused), b"")
    except (ijson.JSONError, ValueError, OverflowError) as error:
        yield broken(number + 1, f"not JSON: {_first_line(error)}", b"")


def _parts(
    events: Iterable[tuple[str, Any]], opened: set[Path], guarded: _Guarded
) -> Iterator[Part | BrokenLine]:
    path: list[str] = []
    """The open containers; each entry is the member at hand: a key, or `*` in a list."""
    builder: _Builder | None = None
    for event, value in events:
        guarded.unread = 0
        if builder is not None:
            if builder.take(event, value):
                if builder.too_large:
                    yield broken(0, f"{'.'.join(path)[:200] or 'document'}: too large a part", b"")
                else:
                    yield Part(tuple(path), builder.value, 0)
                builder = None
        elif event == "map_key":
            path[-1] = value
        elif event in ("end_map", "end_array"):
            path.pop()
            if event == "end_map":
                yield Part(tuple(path), END, 0)
        elif event in ("start_map", "start_array") and tuple(path) in opened:
            path.append("*" if event == "start_array" else "")
        else:
            builder = _Builder()
            if builder.take(event, value):
                yield Part(tuple(path), builder.value, 0)
                builder = None


def lines_or_document(stream: BinaryIO) -> Iterator[ObjectLine | BrokenLine]:
    """The objects of a file that has one a line, or one in all however it is laid out.

    What is printed before the first, such as a greeting, is broken lines.
    """
    number = 1
    while (data := first_filled_line(stream)) and not data.lstrip().startswith((b"{", b"[")):
        yield broken(number, "not JSON", data)
        number += 1
    lines, first = split_lines(stream, data, number)
    if lines is not None:
        yield from lines
        return
    for part in read_parts(stream, (), first=first):
        if isinstance(part, BrokenLine):
            yield part
        elif isinstance(part.value, dict):
            yield ObjectLine(part.number, part.value)
        else:
            yield broken(part.number, "not an object", b"")


def split_lines(
    stream: BinaryIO, data: bytes, number: int = 1
) -> tuple[Iterator[ObjectLine | BrokenLine] | None, bytes]:
    """Tell a file of one object a line from a document, whose first line was read already.

    Args:
        stream: The rest.
        data: The first line.
        number: Its number.

    Returns:
        The lines; or None for a document, with what was read of it.
    """
    line = parse_object(RawLine(number, data.strip(), len(data)))
    if isinstance(line, ObjectLine) or not data.strip():
        return _lines([line] if data.strip() else [], stream, number), b""
    if not data.startswith(b"{"):
        return None, data
    # A first line that is broken, or a document laid out over several: the second has an object only there.
    second = stream.readline(MAX_LINE)
    after = parse_object(RawLine(number + 1, second.strip(), len(second)))
    if isinstance(after, ObjectLine):
        return _lines([line, after], stream, number + 1), b""
    return None, data + second


def _lines(
    first: Iterable[ObjectLine | BrokenLine], stream: BinaryIO, before: int
) -> Iterator[ObjectLine | BrokenLine]:
    yield from first
    for line in read_objects(stream):
        if isinstance(line, ObjectLine):
            yield line._replace(line=line.line + before)
        else:
            yield line.model_copy(update={"line": line.line + before})


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
