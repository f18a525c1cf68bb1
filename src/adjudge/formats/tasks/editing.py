"""The lines of a recipe, taken out of a scenario's text and put back: what is not changed keeps every byte.

A YAML library that reads and writes whole documents would wrap, indent and quote what nobody touched in its
own way. So the text is cut at the dashes of the list: a line that stays is copied, a line that moves is moved
with the comments above it, and of a line that changes only the fields that did are written anew.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from adjudge.formats.tasks.document import Document, Node, parse_document

__all__ = [
    "DIALECTS",
    "EditedLine",
    "NotEditable",
    "RecipeLine",
    "dump_value",
    "parse_value",
    "read_lines",
    "write_lines",
]

DIALECTS = ("scorers", "graders")
_COMMENT = re.compile(r"\s*#")


class NotEditable(ValueError):
    """The text has no list of scorers that lines could be put into; only the text itself can be changed."""


@dataclass(frozen=True, slots=True)
class RecipeLine:
    """One scorer as it is written."""

    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class EditedLine:
    """One scorer as it is wanted.

    Args:
        values: Its fields, in order.
        origin: Which line of the text it was; None for a new one.
    """

    values: Mapping[str, Any]
    origin: int | None = None


def read_lines(text: str) -> tuple[str, tuple[RecipeLine, ...]]:
    """Which dialect a scenario uses, and the lines of its recipe.

    Raises:
        NotEditable: It is not YAML as scenarios use it, or has no list of mappings there.
    """
    dialect, items = _recipe(text)
    return dialect, tuple(RecipeLine(_mapping(item)) for item in items)


def write_lines(text: str, lines: Sequence[EditedLine]) -> str:
    """The text with these lines as its recipe.

    Raises:
        NotEditable: As `read_lines`.
    """
    dialect, items = _recipe(text)
    written = [_mapping(item) for item in items]
    wanted = [dict(line.values) for line in lines]
    list_node = _list_node(text, dialect)
    if list_node.flow_style or not items:
        return _checked(_replaced(text, dialect, list_node, wanted), dialect, wanted)
    cut = _Cut(text, list_node)
    chunks = []
    for line in lines:
        if line.origin is None or not 0 <= line.origin < len(written):
            chunks.append(cut.fresh(line.values))
        elif _same(dict(line.values), written[line.origin]):
            chunks.append(cut.chunks[line.origin])
        else:
            chunks.append(cut.changed(line.origin, written[line.origin], line.values))
    if not chunks:
        return _checked(_replaced(text, dialect, list_node, []), dialect, [])
    result = cut.head + "".join(_ended(chunk) for chunk in chunks) + cut.tail
    return _checked(result, dialect, wanted)


def dump_value(value: Any) -> str:
    """A value as one would write it, for a field that takes any YAML; `parse_value` reads it."""
    return _dump(value).removesuffix("...\n").strip("\n")


def parse_value(text: str) -> Any:
    """What a piece of YAML says.

    Raises:
        NotEditable: It is none, or not as scenarios use it.
    """
    if not text.strip():
        return None
    rows = "".join(f"      {row}\n" for row in text.splitlines())
    _, ((line,)) = read_lines(f"scorers:\n  - value:\n{rows}")
    return line.values["value"]


def _recipe(text: str) -> tuple[str, list[Node]]:
    document: Document = parse_document(text.encode("utf-8", "surrogatepass"), file="")
    root = document.root
    if document.problems or root is None or not isinstance(root.value, dict):
        first = document.problems[0] if document.problems else None
        where = "" if first is None else f" (line {first.line}: {first.message})"
        raise NotEditable(f"it cannot be read as a scenario{where}")
    dialect = next((name for name in DIALECTS if name in root.value), None)
    if dialect is None:
        raise NotEditable("it has no list of scorers")
    items = root.value[dialect].value
    if items is None:
        items = []
    if not isinstance(items, list) or not all(isinstance(item.value, dict) for item in items):
        raise NotEditable(f"{dialect} is not a list of mappings")
    return dialect, items


def _mapping(item: Node) -> dict[str, Any]:
    plain = item.plain()
    assert isinstance(plain, dict)
    return plain


def _list_node(text: str, dialect: str) -> Any:
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    return next(value for key, value in root.value if key.value == dialect)


class _Cut:
    """A text, cut at the dashes of a list."""

    def __init__(self, text: str, list_node: Any) -> None:
        rows = text.splitlines(keepends=True)
        dashes = [
            token.start_mark
            for token in yaml.scan(text, Loader=yaml.SafeLoader)
            if isinstance(token, yaml.BlockEntryToken)
            and token.start_mark.column == list_node.start_mark.column
            and list_node.start_mark.index <= token.start_mark.index < list_node.end_mark.index
        ]
        self._column: int = list_node.start_mark.column
        self._nodes = list_node.value
        self._rows = rows
        end = _content_end(rows, dashes[-1].line + 1, list_node.end_mark.line, self._column)
        self._dashes = [mark.line for mark in dashes]
        starts = [dashes[0].line]
        for mark in dashes[1:]:
            starts.append(self._above(mark.line, starts[-1]))
        self.starts = starts
        self.ends = [*starts[1:], end]
        self.head = "".join(rows[: starts[0]])
        self.tail = "".join(rows[end:])
        self.chunks = ["".join(rows[start:stop]) for start, stop in zip(self.starts, self.ends, strict=True)]

    def _above(self, line: int, after: int) -> int:
        """Where the comments and empty lines begin that stand above a dash and belong to it."""
        start = line
        while start - 1 > after:
            row = self._rows[start - 1]
            indent = len(row) - len(row.lstrip())
            if row.strip() and not (_COMMENT.match(row) and indent <= self._column):
                break
            start -= 1
        return start

    def fresh(self, values: Mapping[str, Any]) -> str:
        """A line of its own, as the others are written."""
        flow = bool(self._nodes) and all(node.flow_style for node in self._nodes)
        return _item(values, " " * self._column, flow=flow)

    def changed(self, index: int, written: Mapping[str, Any], values: Mapping[str, Any]) -> str:
        """A line with other values; fields that are as they were are copied."""
        node = self._nodes[index]
        margin = " " * self._column
        start = self._dashes[index]
        above = "".join(self._rows[self.starts[index] : start])
        if node.flow_style or node.start_mark.line != start:
            after = _comment_after(self._rows, node)
            return above + _item(values, margin, flow=bool(node.flow_style), after=after)
        indent: int = node.start_mark.column
        fields = {}
        keys = [(key.value, key.start_mark.line) for key, _ in node.value]
        for at, (key, line) in enumerate(keys):
            stop = keys[at + 1][1] if at + 1 < len(keys) else self.ends[index]
            fields[key] = "".join(self._rows[line:stop])[indent if line == start else 0 :]
            if line != start:
                fields[key] = fields[key].removeprefix(" " * indent)
        parts = []
        for key, value in values.items():
            kept = key in fields and key in written and _same(written[key], value)
            anew = _indented(_dump({key: value}), indent) + _rows_below(fields.get(key, ""))
            parts.append(fields[key] if kept else anew)
        lead: str = margin + "-" + " " * (indent - self._column - 1)
        last = keys[-1][0]
        below = _rows_below(fields[last]) if last not in values else ""
        joined: str = (" " * indent).join(_ended(part) for part in parts)
        return above + lead + joined + below


def _rows_below(field: str) -> str:
    """The comments and empty rows at the end of a field."""
    rows = field.splitlines(keepends=True)
    end = len(rows)
    while end > 1 and (not rows[end - 1].strip() or _COMMENT.match(rows[end - 1])):
        end -= 1
    return "".join(rows[end:])


def _content_end(rows: Sequence[str], start: int, stop: int, column: int) -> int:
    """The line after the last one that belongs to a list: what follows may be about something else."""
    end = stop
    while end > start:
        row = rows[end - 1]
        indent = len(row) - len(row.lstrip())
        if row.strip() and not (_COMMENT.match(row) and indent <= column):
            break
        end -= 1
    return end


def _comment_after(rows: Sequence[str], node: Any) -> str:
    line: int = node.end_mark.line
    column: int = node.end_mark.column
    rest = rows[line][column:] if line < len(rows) else ""
    return f"  {rest.strip()}" if _COMMENT.match(rest) else ""


def _item(values: Mapping[str, Any], margin: str, *, flow: bool, after: str = "") -> str:
    if flow:
        dumped = yaml.dump(
            dict(values),
            Dumper=_Dumper,
            default_flow_style=True,
            sort_keys=False,
            allow_unicode=True,
            width=10**6,
        ).strip()
        if "\n" not in dumped and len(dumped) <= 120:
            return f"{margin}- {dumped}{after}\n"
    return f"{margin}- {_indented(_dump(dict(values)), len(margin) + 2)}"


def _replaced(text: str, dialect: str, node: Any, wanted: Sequence[Mapping[str, Any]]) -> str:
    """The text with the whole list written anew."""
    block = "".join(_item(values, "  ", flow=False) for values in wanted) if wanted else ""
    begin, end = node.start_mark.index, node.end_mark.index
    if not node.flow_style and not isinstance(node, yaml.ScalarNode):
        # A block list ends where the next thing begins.
        kept = text[begin:end]
        end = begin + len(kept.rstrip())
    head = text[:begin].rstrip(" ")
    if not wanted:
        return f"{head.rstrip()} []\n" + text[end:].lstrip("\n")
    return f"{head.rstrip()}\n{block}" + text[end:].lstrip("\n")


class _Dumper(yaml.SafeDumper):
    """Text of several lines as a block."""


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    style = "|" if "\n" in value and not any(row != row.rstrip() for row in value.split("\n")) else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


def _list(dumper: yaml.SafeDumper, value: list[Any]) -> yaml.SequenceNode:
    short = all(not isinstance(item, list | dict) and "\n" not in str(item) for item in value)
    return dumper.represent_sequence("tag:yaml.org,2002:seq", value, flow_style=short)


_Dumper.add_representer(str, _text)
_Dumper.add_representer(list, _list)


def _dump(value: Any) -> str:
    return str(
        yaml.dump(
            value, Dumper=_Dumper, default_flow_style=False, sort_keys=False, allow_unicode=True, width=10**6
        )
    )


def _indented(text: str, by: int) -> str:
    first, *rest = text.splitlines(keepends=True)
    return first + "".join((" " * by + row) if row.strip() else row for row in rest)


def _ended(text: str) -> str:
    return text if text.endswith("\n") else f"{text}\n"


def _same(one: Any, other: Any) -> bool:
    """Equal, with True and 1 told apart."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return list(one) == list(other) and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    return type(one) is type(other) and bool(one == other)


def _checked(text: str, dialect: str, wanted: Sequence[Mapping[str, Any]]) -> str:
    """The text, once it is sure to say what was wanted."""
    found = [dict(line.values) for line in _lines_of(text, dialect)]
    if [sorted(line) for line in found] != [sorted(line) for line in wanted] or any(
        not _same(line[key], want[key]) for line, want in zip(found, wanted, strict=True) for key in want
    ):
        raise NotEditable("these values cannot be written into the file; change its text instead")
    return text


def _lines_of(text: str, dialect: str) -> Iterator[RecipeLine]:
    now, lines = read_lines(text)
    assert now == dialect
    yield from lines
