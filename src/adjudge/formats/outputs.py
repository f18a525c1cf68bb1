"""Whether an output file is what its format says and has the shape its schema asks for. Pure.

The bytes are the attempt's, so nothing in them may cost more than their length: sizes, nesting and numbers
are capped, YAML's aliases are refused, and every refusal names its place. What the values are worth is left
to scorers and verifiers.
"""

from __future__ import annotations

import csv
import io
import math
import re
import tomllib
from collections.abc import Callable, Mapping
from datetime import date, datetime, time
from typing import Any

from adjudge.formats.jsontext import MAX_DEPTH, MAX_DIGITS, MAX_VALUES, TextRefused, parse_json, place
from adjudge.formats.regex import find_regex
from adjudge.formats.schemas import OutputSchema
from adjudge.formats.tasks.document import Node, parse_document
from adjudge.records.outputs import CheckedOutput, OutputFormat

__all__ = ["MAX_OUTPUT_BYTES", "check_output", "format_of", "missing_output"]

MAX_OUTPUT_BYTES = 8 * 1024 * 1024
"""Of any output. Read one byte more to tell a file that is too large."""
_MAX_SLOW_BYTES = 1024 * 1024
"""Of YAML and TOML, which take some hundred times as long to read as JSON."""
_MAX_ERRORS = 20
_MAX_ERROR = 300

_MARKS = {
    b"\xff\xfe\x00\x00": "UTF-32",
    b"\x00\x00\xfe\xff": "UTF-32",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
}
_LONG_KEY = r"(?:[\w-]+|\"[^\"\n]*\"|'[^'\n]*')(?:[ \t]*\.[ \t]*(?:[\w-]+|\"[^\"\n]*\"|'[^'\n]*')){64}"
"""A dotted key of more parts than levels are read: tomllib keeps every beginning of it, which fills the
memory from one line of 600 KB."""
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})[ \t]*([^`\n]*)\Z")
_SUFFIXES = {
    ".json": OutputFormat.JSON,
    ".yaml": OutputFormat.YAML,
    ".yml": OutputFormat.YAML,
    ".toml": OutputFormat.TOML,
    ".csv": OutputFormat.CSV,
    ".md": OutputFormat.MARKDOWN,
    ".markdown": OutputFormat.MARKDOWN,
    ".txt": OutputFormat.TEXT,
}


def format_of(path: str) -> OutputFormat | None:
    """The format that a file's name speaks of, if any."""
    name = path.rpartition("/")[2].lower()
    return _SUFFIXES.get(f".{name.rpartition('.')[2]}") if "." in name else None


def missing_output(why: str) -> CheckedOutput:
    """What is said where there is no file to read."""
    return CheckedOutput(present=False, output_parseable=False, schema_valid=False, errors=(_cut(why),))


def check_output(data: bytes, format: OutputFormat, schema: OutputSchema | None = None) -> CheckedOutput:
    """Read an output file.

    Whatever the bytes, this returns; it never raises on them.

    Args:
        data: The file's bytes, or at least the first `MAX_OUTPUT_BYTES` and one more.
        format: How it is meant to be written.
        schema: The shape it is meant to have.
    """
    try:
        value = _READERS[format](_decode(data, format))
    except TextRefused as error:
        return CheckedOutput(output_parseable=False, schema_valid=False, errors=_lines(str(error)))
    errors = schema.errors(value) if schema is not None else []
    return CheckedOutput(
        output_parseable=True,
        schema_valid=not errors,
        errors=tuple(_cut(error) for error in errors[:_MAX_ERRORS]),
        value=value,
    )


def _decode(data: bytes, format: OutputFormat) -> str:
    slow = format in (OutputFormat.YAML, OutputFormat.TOML)
    limit = _MAX_SLOW_BYTES if slow else MAX_OUTPUT_BYTES
    if len(data) > limit:
        raise TextRefused(f"more than {limit:,} bytes; it was not read")
    for mark, encoding in _MARKS.items():
        if data.startswith(mark):
            raise TextRefused(f"line 1, column 1: {encoding}; write it as UTF-8")
    data = data.removeprefix(b"\xef\xbb\xbf")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8")
        byte = f"byte 0x{data[error.start]:02x}"
        raise TextRefused(f"{place(before, len(before))}: not UTF-8: {byte} cannot be read") from None
    if (index := text.find("\0")) >= 0:
        raise TextRefused(f"{place(text, index)}: a NUL byte; this is not text")
    if not text.strip():
        raise TextRefused("the file is empty")
    return text


def _yaml(text: str) -> Any:
    document = parse_document(
        text.encode(), file="", holding="document", needs="an output needs at least one value"
    )
    if document.problems or document.root is None:
        problems = [f"line {p.line}, column {p.column}: {_at(p.where)}{p.message}" for p in document.problems]
        raise TextRefused("\n".join(problems))
    _refuse_infinite(document.root, "")
    return document.root.plain()


def _refuse_infinite(node: Node, where: str) -> None:
    """Recursion is bounded: the document was refused if it is nested too deeply."""
    if isinstance(node.value, dict):
        for key, child in node.value.items():
            _refuse_infinite(child, f"{where}.{key}" if where else key)
    elif isinstance(node.value, list):
        for index, child in enumerate(node.value):
            _refuse_infinite(child, f"{where}[{index}]")
    elif isinstance(node.value, float) and not math.isfinite(node.value):
        raise TextRefused(f"line {node.line}, column {node.column}: {_at(where)}not a finite number")


def _toml(text: str) -> Any:
    if (index := find_regex(_LONG_KEY, text)) is not None:
        raise TextRefused(f"{place(text, index)}: nested more than {MAX_DEPTH} levels deep")
    try:
        read = tomllib.loads(text, parse_float=_toml_float)
    except tomllib.TOMLDecodeError as error:
        said, _, where = str(error).partition(" (at ")
        raise TextRefused(f"{where.rstrip(')') or 'at its end'}: not TOML: {said}") from None
    except RecursionError:
        raise TextRefused(f"nested more than {MAX_DEPTH} levels deep") from None
    except ValueError as error:
        # An integer of more digits than Python converts, a date that is none, or a float of ours refused.
        raise TextRefused(f"not TOML: {error}") from None
    return _plain_toml(read, "", 0)


def _toml_float(digits: str) -> float:
    if len(digits) > MAX_DIGITS:
        raise ValueError(f"a number with {len(digits):,} characters is too long")
    return float(digits)


def _plain_toml(value: Any, where: str, depth: int) -> Any:
    """Dates and times become text, as JSON has none."""
    if depth > MAX_DEPTH:
        raise TextRefused(f"{where[:100]}: nested more than {MAX_DEPTH} levels deep")
    if isinstance(value, dict):
        return {
            key: _plain_toml(item, f"{where}.{key}" if where else key, depth + 1)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [_plain_toml(item, f"{where}[{index}]", depth + 1) for index, item in enumerate(value)]
    if isinstance(value, (datetime, date, time)):
        return value.isoformat()
    if isinstance(value, float) and not math.isfinite(value):
        raise TextRefused(f"{_at(where)}not a finite number")
    if isinstance(value, int) and abs(value) >= 10**MAX_DIGITS:
        raise TextRefused(f"{_at(where)}a number with more than {MAX_DIGITS} digits is too long")
    return value


def _csv(text: str) -> Any:
    if sum(map(text.count, ",\n\r")) > MAX_VALUES:
        raise TextRefused(f"more than {MAX_VALUES:,} cells; it was not read")
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    rows: list[dict[str, str]] = []
    header: list[str] | None = None
    try:
        for row in reader:
            if not row:
                continue
            if header is None:
                header = _header(row, reader.line_num)
            elif len(row) != len(header):
                raise TextRefused(
                    f"line {reader.line_num}: {len(row)} cells, where the header has {len(header)}"
                )
            else:
                rows.append(dict(zip(header, row, strict=True)))
    except csv.Error as error:
        raise TextRefused(f"line {reader.line_num}: not CSV: {error}") from None
    return rows


def _header(row: list[str], line: int) -> list[str]:
    names: dict[str, None] = {}
    for index, cell in enumerate(row, start=1):
        name = cell.strip()
        if not name:
            raise TextRefused(f"line {line}: column {index} of the header has no name")
        if name in names:
            raise TextRefused(f"line {line}: column {name[:60]!r} is there twice")
        names[name] = None
    return list(names)


def _markdown(text: str) -> Any:
    blocks: list[tuple[int, list[str]]] = []
    inside: list[str] | None = None
    fence = ""
    opened = 0
    for number, line in enumerate(text.split("\n"), start=1):
        bare = line.removesuffix("\r")
        found = _FENCE.match(bare)
        if inside is None:
            if found is not None:
                fence, inside, opened = found[1], [], number
                if found[2].strip().lower().split(" ")[0] == "json":
                    blocks.append((number, inside))
        elif found is not None and not found[2].strip() and found[1].startswith(fence):
            inside = None
        else:
            inside.append(bare)
    if not blocks:
        raise TextRefused("there is no fenced block marked json")
    if len(blocks) > 1:
        lines = ", ".join(str(number) for number, _ in blocks[:5])
        raise TextRefused(f"{len(blocks)} fenced blocks marked json (lines {lines}), one expected")
    if inside is not None and blocks[0][1] is inside:
        raise TextRefused(f"line {opened}: the fenced block is never closed")
    number, content = blocks[0]
    return parse_json("\n".join(content), first_line=number + 1)


_READERS: Mapping[OutputFormat, Callable[[str], Any]] = {
    OutputFormat.JSON: parse_json,
    OutputFormat.YAML: _yaml,
    OutputFormat.TOML: _toml,
    OutputFormat.CSV: _csv,
    OutputFormat.MARKDOWN: _markdown,
    OutputFormat.TEXT: str,
}


def _at(where: str) -> str:
    return f"{where[:100]}: " if where else ""


def _lines(text: str) -> tuple[str, ...]:
    return tuple(_cut(line) for line in text.splitlines()[:_MAX_ERRORS])


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_ERROR else f"{text[: _MAX_ERROR - 1]}…"
