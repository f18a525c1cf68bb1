"""Files of data that come with a change, read for answers as tables in code are.

Nothing in them is run: a pickle is only taken apart into what it holds.
"""

from __future__ import annotations

import base64
import csv
import io
import json
import math
import pickletools
import re
import tomllib
import zlib
from collections.abc import Callable, Iterator
from typing import Final

from adjudge.records.productcode import Answer, AnswerForm, Example, ProductOutline
from adjudge.syntax.productcode.files import OF_TESTS
from adjudge.syntax.productcode.literals import leaves_of, text_of_value

__all__ = [
    "MAX_DATA_BYTES",
    "examples_of_data",
    "is_data_of_tests",
    "is_named",
    "may_hold_answers",
    "outline_data",
]

MAX_DATA_BYTES: Final = 64 * 1024
"""A larger file is a data set, not the answers of some tests."""
_MAX_ROWS: Final = 400
_MAX_DEPTH: Final = 8
_LINES: Final = frozenset(
    {"txt", "csv", "tsv", "ini", "yaml", "yml", "env", "dat", "cfg", "conf", "properties", "data", "db",
     "tbl", "lst", "map", "cache", ""}
)  # fmt: skip
_PICKLES: Final = frozenset({"pickle", "pkl", "pck", "p", "bin", "dat", "cache", ""})
_KNOWN: Final = _LINES | _PICKLES | {"json", "jsonl", "ndjson", "toml"}
_MIN_PACKED: Final = 40
_SPLITS: Final = ("\t", "|", ";", "=>", "->", "=", ": ", ",")
_OF_TOOLS: Final = re.compile(
    r"(?:^|/)(?:\.(?:git|mypy_cache|pytest_cache|ruff_cache|tox|nox|venv|idea|vscode|hypothesis|nyc_output|next)"
    r"|node_modules|__pycache__|coverage|htmlcov|site-packages|[^/]*snapshots?[^/]*|[^/]*goldens?[^/]*)/"
    r"|(?:^|/)(?:package(?:-lock)?|tsconfig[^/]*|composer|deno|\.[\w-]*rc)\.json$|\.(?:lock|html|xml|log)$"
)
"""What tools keep for themselves, and what people read."""


def may_hold_answers(path: str, *, code: bytes) -> bool:
    """Whether a file may be data of the product; what lies among tests is theirs.

    Args:
        path: Of the file.
        code: The changed product code. What is not a table by its name counts only where code names it.
    """
    *folders, name = path.lower().split("/")
    if not OF_TESTS.isdisjoint(folders) or _OF_TOOLS.search(path) is not None:
        return False
    return (_suffix(name) in _KNOWN and _suffix(name) != "") or is_named(path, code)


def is_named(path: str, code: bytes) -> bool:
    """Whether code has the name of a file in it, or that of its folder, with or without the ending."""
    *folders, name = path.split("/")
    parts = [
        name.lstrip(".").partition(".")[0],
        name,
        *folders[-1:],
        *(f.partition(".")[0] for f in folders[-1:]),
    ]
    return any(len(part) > 2 and part.encode("utf-8", "replace") in code for part in parts)


def outline_data(path: str, data: bytes) -> ProductOutline | None:
    """The rows of a file that are plain values; None when it cannot be read as any kind of table."""
    if not data or len(data) > MAX_DATA_BYTES:
        return None
    suffix = _suffix(path.rpartition("/")[2].lower())
    answers: list[Answer] = []
    for names, read in _READERS:
        if suffix in names or (suffix not in _KNOWN and read in (_lines, _json)):
            answers = _rows(read, data)
            if answers:
                break
    for plain in _unpacked(data):
        answers += _rows(_json, plain) or _rows(_lines, plain)
    return ProductOutline(answers=tuple(answers), choices=tuple(_keys(answers))) if answers else None


def is_data_of_tests(path: str) -> bool:
    """Whether a file is a table of values by its name, and lies among tests."""
    *folders, name = path.lower().split("/")
    return not OF_TESTS.isdisjoint(folders) and _suffix(name) in _KNOWN - {""}


def examples_of_data(path: str, data: bytes) -> tuple[Example, ...]:
    """The rows of a file that tests read, as the literals of a test are."""
    outline = outline_data(path, data)
    found = outline.answers if outline is not None else ()
    return tuple(Example(line=answer.line, values=_values(answer)) for answer in found)


def _values(answer: Answer) -> tuple[str, ...]:
    parts = (*answer.inputs, answer.output)
    return tuple(sorted({*parts, *(leaf for part in parts for leaf in leaves_of(part))}))


def _rows(read: Callable[[bytes], Iterator[Answer]], data: bytes) -> list[Answer]:
    try:
        return [answer for _, answer in zip(range(_MAX_ROWS), read(data), strict=False)]
    except (ValueError, RecursionError, TypeError, KeyError, IndexError, csv.Error):
        return []


def _keys(answers: list[Answer]) -> Iterator[Answer]:
    """The inputs alone: what becomes of them may be written in another way than in the tests."""
    for answer in answers:
        yield answer.model_copy(
            update={"form": AnswerForm.CHOICE, "inputs": answer.inputs[:1], "output": "", "group": -1}
        )


def _unpacked(data: bytes) -> Iterator[bytes]:
    """What lines of hexadecimal digits, base64 or base85 hold, line by line and all together."""
    lines = [
        line.split()[-1] for line in data.splitlines()[:_MAX_ROWS] if line.split() and line[:1] not in b"#/;"
    ]
    if not lines or sum(len(line) for line in lines) < _MIN_PACKED:
        return
    for decode in (bytes.fromhex, _base64, base64.b85decode):
        try:
            each = [decode(line.decode("ascii")) for line in lines]
            yield b"\n".join(each)
            yield _inflated(decode(b"".join(lines).decode("ascii")))
        except (ValueError, zlib.error):
            continue


def _base64(text: str) -> bytes:
    return base64.b64decode(text, validate=True)


def _inflated(data: bytes) -> bytes:
    """What was deflated, or the data themselves."""
    if data[:1] != b"\x78" and data[:2] != b"\x1f\x8b":
        return data
    return zlib.decompressobj(wbits=47).decompress(data, MAX_DATA_BYTES)


def _suffix(name: str) -> str:
    return name.lstrip(".").rpartition(".")[2] if "." in name.lstrip(".") else ""


def _json(data: bytes) -> Iterator[Answer]:
    yield from _of_value(json.loads(data), 0)


def _json_lines(data: bytes) -> Iterator[Answer]:
    yield from _of_value([json.loads(line) for line in data.splitlines()[:_MAX_ROWS] if line.strip()], 0)


def _toml(data: bytes) -> Iterator[Answer]:
    yield from _of_value(tomllib.loads(data.decode("utf-8")), 0)


def _pickle(data: bytes) -> Iterator[Answer]:
    """Plain values in their order, two by two: keys and what they are given."""
    values: list[object] = []
    for opcode, argument, _ in pickletools.genops(data):
        if isinstance(argument, str | int | float) and "GET" not in opcode.name and "PUT" not in opcode.name:
            if opcode.name not in ("PROTO", "FRAME", "GLOBAL"):
                values.append(argument)
        elif opcode.name in ("NONE", "NEWTRUE", "NEWFALSE"):
            values.append({"NONE": None, "NEWTRUE": True, "NEWFALSE": False}[opcode.name])
    yield from _two_by_two(values, 0)


def _lines(data: bytes) -> Iterator[Answer]:
    """`banana;3`, `banana = 3`, or a line and the next one."""
    text = data.decode("utf-8")
    if "\0" in text:
        raise ValueError("binary")
    lines = [line.strip() for line in text.splitlines()[:_MAX_ROWS]]
    lines = [line for line in lines if line and not line.startswith(("#", "//", "[", "|-", "| -"))]
    # A table among other text, as in a manual.
    tabled = [line.strip("|") for line in lines if line.startswith("|")]
    lines = tabled or lines
    for split in _SPLITS:
        if lines and sum(split in line for line in lines) >= 0.9 * len(lines):
            for line in lines:
                cells = (
                    next(csv.reader(io.StringIO(line), delimiter=split))
                    if len(split) == 1 and split != "="
                    else line.split(split, 1)
                )
                values = [_plain(cell) for cell in cells]
                if len(values) >= 2:
                    yield _row(values[:-1], values[-1], 0)
            return
    yield from _two_by_two([_plain(line) for line in lines], 0)


def _plain(cell: str) -> object:
    cell = cell.strip().strip("\"'`")
    try:
        number = float(cell)
    except ValueError:
        return cell
    return (int(number) if number == int(number) else number) if math.isfinite(number) else cell


def _of_value(value: object, depth: int, group: int = 0) -> Iterator[Answer]:
    if depth > _MAX_DEPTH:
        return
    if isinstance(value, dict):
        for number, (key, given) in enumerate(value.items()):
            # `{"cases": {…}}`: a table under a name, not an answer.
            inner = isinstance(given, dict) and len(given) >= 3 >= len(value)
            if text_of_value(given) is not None and not _is_rows(given) and not inner:
                yield _row([key], given, group)
            else:
                yield from _of_value(given, depth + 1, group * 50 + number + 1)
    elif isinstance(value, list):
        rows = [list(row.values()) if isinstance(row, dict) else row for row in value]
        for number, row in enumerate(rows):
            if isinstance(row, list) and len(row) >= 2 and not any(_is_rows(cell) for cell in row):
                yield _row(row[:-1], row[-1], group)
            elif isinstance(row, list):
                yield from _of_value(row, depth + 1, group * 50 + number + 1)
        if not any(isinstance(row, list) for row in rows):
            yield from _two_by_two(rows, group)


def _is_rows(value: object) -> bool:
    """Whether a value is a table of its own."""
    return isinstance(value, list | dict) and any(
        isinstance(one, list | dict) for one in (value.values() if isinstance(value, dict) else value)
    )


def _two_by_two(values: list[object], group: int) -> Iterator[Answer]:
    for asked, given in zip(values[::2], values[1::2], strict=False):
        yield _row([asked], given, group)


def _row(inputs: list[object], output: object, group: int) -> Answer:
    texts = [_clean(text_of_value(value) or "none") for value in inputs]
    given = _clean(text_of_value(output) or "none")
    return Answer(
        line=1,
        text=f"{', '.join(map(repr, inputs[:4]))}: {output!r}"[:160],
        form=AnswerForm.TABLE,
        group=group,
        inputs=tuple(texts),
        output=given,
    )


def _clean(text: str) -> str:
    """Without halves of characters, which no report could write."""
    return text.encode("utf-8", "replace").decode("utf-8")


_READERS: Final[tuple[tuple[frozenset[str], Callable[[bytes], Iterator[Answer]]], ...]] = (
    (_LINES | {"json"}, _json),
    (_LINES | {"json", "jsonl", "ndjson"}, _json_lines),
    (frozenset({"toml"}), _toml),
    (_PICKLES, _pickle),
    (_LINES, _lines),
)
