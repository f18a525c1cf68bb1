"""Lines of a trace, one at a time, and the JSON object in each: however long, deep or malformed they are."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple

from adjudge.records.trace import BrokenLine

__all__ = [
    "MAX_LINE",
    "MAX_VALUES",
    "ObjectLine",
    "RawLine",
    "broken",
    "decode_line",
    "first_filled_line",
    "parse_object",
    "read_lines",
    "read_objects",
]

MAX_LINE = 16 * 1024 * 1024
"""Bytes of a line that is read whole. Images in a trace make lines of some megabytes."""
MAX_VALUES = 1_500_000
"""Values of a line, by its brackets and commas: small ones take two dozen times their text in memory."""


class ObjectLine(NamedTuple):
    """A line that holds an object."""

    line: int
    value: dict[str, Any]


class RawLine(NamedTuple):
    """A line, without its end."""

    line: int
    data: bytes
    """At most `MAX_LINE` of it."""
    size_bytes: int


def read_lines(stream: BinaryIO) -> Iterator[RawLine]:
    """Each line with its number. Of one that is too long, the beginning; the rest is passed over."""
    number = 0
    while data := stream.readline(MAX_LINE):
        number += 1
        size = len(data)
        if not data.endswith(b"\n"):
            while rest := stream.readline(MAX_LINE):
                size += len(rest)
                if rest.endswith(b"\n"):
                    break
        if number == 1:
            data = data.removeprefix(b"\xef\xbb\xbf")
        yield RawLine(number, data.rstrip(b"\r\n"), size)


def first_filled_line(stream: BinaryIO) -> bytes:
    """The first line that is not blank, or as much of it as is read whole; empty at the end."""
    data = stream.readline(MAX_LINE)
    while data and not data.strip():
        data = stream.readline(MAX_LINE)
    return data


def read_objects(stream: BinaryIO) -> Iterator[ObjectLine | BrokenLine]:
    """The object in each line that is not blank; a line that holds none is broken."""
    for line in read_lines(stream):
        if not line.data.strip():
            if line.size_bytes > MAX_LINE:
                yield broken(line.line, f"a line of {line.size_bytes:,} bytes", b"")
            continue
        yield parse_object(line)


def parse_object(line: RawLine) -> ObjectLine | BrokenLine:
    """The object in a line."""
    data = line.data
    if line.size_bytes > MAX_LINE:
        return broken(line.line, f"a line of {line.size_bytes:,} bytes, at most {MAX_LINE:,} are read", data)
    if data.count(b",") + data.count(b"[") + data.count(b"{") > MAX_VALUES:
        return broken(line.line, f"more than {MAX_VALUES:,} values", data)
    try:
        value = decode_line(data)
    except RecursionError:
        return broken(line.line, "nested too deeply", data)
    except ValueError as error:
        reason = error.msg if isinstance(error, json.JSONDecodeError) else "a number of too many digits"
        return broken(line.line, f"not JSON: {reason}", data)
    if not isinstance(value, dict):
        return broken(line.line, "not an object", data)
    return ObjectLine(line.line, value)


def decode_line(data: bytes) -> Any:
    """A JSON value. NaN and the infinities, which are no JSON, are read as null.

    Raises:
        ValueError: It is none.
        RecursionError: It is nested too deeply.
    """
    return json.loads(data.decode("utf-8", "replace"), parse_constant=_nothing)


def _nothing(constant: str) -> None:
    return None


def broken(line: int, reason: str, data: bytes | str) -> BrokenLine:
    """A line that could not be read, with its beginning."""
    if isinstance(data, bytes):
        data = data[: 4 * BrokenLine.SAMPLE].decode("utf-8", "replace")
    return BrokenLine(line=line, reason=reason, text=data[: BrokenLine.SAMPLE])
