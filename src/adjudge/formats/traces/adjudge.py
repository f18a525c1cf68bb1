"""The normalised trace on disk: a header line, then an event a line.

    {"schema":"adjudge.trace/1","format":"claude-code"}
    {"type":"message","role":"user","text":"Fix the bug."}
    {"type":"tool_call","id":"t1","raw_name":"Bash","name":"bash","kind":"execute","input":"ls -l"}

What equals a field's default is left out. Lines that were broken in the original stay, as `broken`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Annotated, Any, BinaryIO, ClassVar

from pydantic import Field, TypeAdapter, ValidationError

from adjudge.errors import TraceUnreadable
from adjudge.formats.tasks.messages import explain
from adjudge.formats.traces.lines import broken, read_objects
from adjudge.formats.traces.values import json_text
from adjudge.records.trace import TRACE_SCHEMA, BrokenLine, TraceItem

__all__ = ["AdjudgeTrace", "encode_header", "encode_item", "write_trace"]

_ITEM: TypeAdapter[TraceItem] = TypeAdapter(
    Annotated[TraceItem, Field(discriminator="type")], config={"defer_build": True}
)


class AdjudgeTrace:
    """The form in which adjudge keeps traces."""

    name: ClassVar[str] = "adjudge"

    def recognises(self, head: bytes, filename: str) -> bool:
        """Whether the first line is the header."""
        first = head.lstrip()[:200].split(b"\n", 1)[0]
        return first.startswith(b"{") and TRACE_SCHEMA.encode() in first

    def events(self, stream: BinaryIO) -> Iterator[TraceItem]:
        """Read a trace."""
        lines = read_objects(stream)
        first = next(lines, None)
        if first is None or isinstance(first, BrokenLine) or first.value.get("schema") != TRACE_SCHEMA:
            raise TraceUnreadable(
                f"adjudge trace: line 1: no header, expected an object with schema {TRACE_SCHEMA!r}"
            )
        for line in lines:
            if isinstance(line, BrokenLine):
                yield line
                continue
            try:
                yield _ITEM.validate_python(line.value)
            except ValidationError as error:
                yield broken(line.line, _first_problem(error), json_text(line.value))


def encode_header(format: str) -> bytes:
    """The first line: where the events came from."""
    return _line({"schema": TRACE_SCHEMA, "format": format})


def encode_item(item: TraceItem) -> bytes:
    """An event's line."""
    return _line({"type": item.type, **item.model_dump(mode="json", exclude_defaults=True)})


def write_trace(items: Iterable[TraceItem], stream: BinaryIO, *, format: str) -> None:
    """Write a whole trace, event by event."""
    stream.write(encode_header(format))
    for item in items:
        stream.write(encode_item(item))


def _line(value: dict[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode() + b"\n"


def _first_problem(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    where = ".".join(str(part) for part in first["loc"])
    said = explain(first)
    return f"not an event: {where}: {said}" if where else f"not an event: {said}"
