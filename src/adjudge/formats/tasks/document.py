"""YAML as scenarios use it: text to a tree of values that know their place.

A deliberate subset. Anchors, aliases, merge keys, tags, duplicate keys and several documents in one file are
refused where they stand: each makes a file mean something else than it seems to, or grow when it is read.
Plain scalars are read by the core schema of YAML 1.2, as editors do, so `on`, `yes`, `no`, `1:30` and
`2024-01-01` are text. What the values mean is left to `sections` and `recipe`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import yaml

from adjudge.errors import Problem

__all__ = ["MAX_BYTES", "Document", "Node", "Scalar", "parse_document"]

MAX_BYTES = 1024 * 1024
"""Larger files are refused unread: the longest hand-written scenario seen has some 20 KB."""
MAX_DEPTH = 24
MAX_NODES = 50_000

Scalar: TypeAlias = str | int | float | bool | None

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""libyaml where the wheel brings it: 1 MiB in 0.18 s against 3.7 s."""

_UNPRINTABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]|\ufeff")
_NULL = re.compile(r"(?:~|null|Null|NULL|)\Z")
_TRUE = re.compile(r"(?:true|True|TRUE)\Z")
_FALSE = re.compile(r"(?:false|False|FALSE)\Z")
_INT = re.compile(r"[-+]?[0-9]+\Z")
_OCTAL = re.compile(r"0o[0-7]+\Z")
_HEX = re.compile(r"0x[0-9a-fA-F]+\Z")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z")
_INFINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)\Z")
_NAN = re.compile(r"\.(?:nan|NaN|NAN)\Z")
_MAX_DIGITS = 300
"""No number in a scenario is longer, and turning text into a number takes quadratic time."""


@dataclass(slots=True)
class Node:
    """A value and where to point a reader: at its key in a mapping, else at the value itself."""

    value: Scalar | dict[str, Node] | list[Node]
    line: int
    column: int

    def plain(self) -> Any:
        """The value without its places."""
        if isinstance(self.value, dict):
            return {key: child.plain() for key, child in self.value.items()}
        if isinstance(self.value, list):
            return [child.plain() for child in self.value]
        return self.value


@dataclass(slots=True)
class Document:
    """What was read of a file. Without a root there is nothing to look into; the problems say why."""

    root: Node | None
    problems: list[Problem] = field(default_factory=list)


class _Refused(Exception):
    """Reading cannot go on; the problem is already noted."""


def parse_document(
    data: bytes, *, file: str, holding: str = "scenario", needs: str = "a recipe needs at least 'scorers'"
) -> Document:
    """Read a YAML document, noting every problem that leaves the rest readable.

    Args:
        data: The file's bytes.
        file: What to call it in messages.
        holding: What such a file holds one of, for messages.
        needs: What to say to somebody whose file is empty.
    """
    document = Document(None)
    reader = _Reader(file, document.problems, holding, needs)
    try:
        text = reader.decode(data)
        document.root = reader.read(text)
    except _Refused:
        document.root = None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark is not None else (1, 1)
        said = error.problem or error.context or "cannot be read"
        reader.note(line, column, "", f"not valid YAML: {said}")
        document.root = None
    except yaml.YAMLError as error:
        reader.note(1, 1, "", f"not valid YAML: {error}")
        document.root = None
    return document


class _Reader:
    def __init__(self, file: str, problems: list[Problem], holding: str, needs: str) -> None:
        self._file = file
        self._problems = problems
        self._holding = holding
        self._needs = needs
        self._nodes = 0

    def note(self, line: int, column: int, where: str, message: str) -> None:
        self._problems.append(Problem(self._file, line, column, where, message))

    def refuse(self, line: int, column: int, message: str, where: str = "") -> _Refused:
        self.note(line, column, where, message)
        return _Refused()

    def decode(self, data: bytes) -> str:
        if len(data) > MAX_BYTES:
            raise self.refuse(1, 1, f"the file has more than {MAX_BYTES // 1024} KiB; it was not read")
        data = data.removeprefix(b"\xef\xbb\xbf")
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            line, column = _place(data[: error.start].decode("utf-8", "replace"))
            raise self.refuse(
                line, column, f"not UTF-8: byte 0x{data[error.start]:02x} cannot be read"
            ) from None
        unprintable = _UNPRINTABLE.search(text)
        if unprintable is not None:
            line, column = _place(text[: unprintable.start()])
            raise self.refuse(line, column, f"control character U+{ord(unprintable[0]):04X} is not allowed")
        return text

    def read(self, text: str) -> Node | None:
        events = iter(yaml.parse(text, Loader=_LOADER))
        root: Node | None = None
        documents = 0
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    line, column = _at(event)
                    raise self.refuse(
                        line, column, f"a second document starts here; a file holds one {self._holding}"
                    )
            elif isinstance(event, yaml.NodeEvent):
                root = self._node(event, events, None, "", 0)
        if root is None or root.value is None:
            raise self.refuse(1, 1, f"the file is empty; {self._needs}")
        return root

    def _node(
        self, event: Any, events: Iterator[Any], place: tuple[int, int] | None, where: str, depth: int
    ) -> Node:
        line, column = place or _at(event)
        if isinstance(event, yaml.AliasEvent):
            at = _at(event)
            raise self.refuse(*at, f"alias *{event.anchor} is not supported; write the value out", where)
        if event.anchor is not None:
            raise self.refuse(*_at(event), f"anchor &{event.anchor} is not supported; remove it", where)
        if event.tag is not None:
            raise self.refuse(
                *_at(event), f"tag {_tag(event.tag)} is not supported; remove it, and quote text", where
            )
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise self.refuse(
                line, column, f"the file holds more than {MAX_NODES} values; the rest was not read"
            )
        if depth > MAX_DEPTH:
            raise self.refuse(line, column, f"nested more than {MAX_DEPTH} levels deep")
        if isinstance(event, yaml.ScalarEvent):
            value = event.value if event.style else self._plain(event.value, line, column, where)
            return Node(value, line, column)
        if isinstance(event, yaml.SequenceStartEvent):
            return Node(self._sequence(events, where, depth), line, column)
        return Node(self._mapping(events, where, depth), line, column)

    def _sequence(self, events: Iterator[Any], where: str, depth: int) -> list[Node]:
        items: list[Node] = []
        for event in events:
            if isinstance(event, yaml.SequenceEndEvent):
                break
            items.append(self._node(event, events, None, f"{where}[{len(items)}]", depth + 1))
        return items

    def _mapping(self, events: Iterator[Any], where: str, depth: int) -> dict[str, Node]:
        fields: dict[str, Node] = {}
        for event in events:
            if isinstance(event, yaml.MappingEndEvent):
                break
            line, column = _at(event)
            key = self._key(event, where)
            inside = f"{where}.{key}" if where else key
            value = self._node(next(events), events, (line, column), inside, depth + 1)
            if key in fields:
                self.note(line, column, where, f"key {key!r} is already on line {fields[key].line}")
                continue
            fields[key] = value
        return fields

    def _key(self, event: Any, where: str) -> str:
        line, column = _at(event)
        if isinstance(event, yaml.AliasEvent) or (event.anchor, event.tag) != (None, None):
            self._node(event, iter(()), None, where, 0)
        if not isinstance(event, yaml.ScalarEvent):
            raise self.refuse(line, column, "a list or mapping cannot be a key; keys are text", where)
        if not event.style:
            if event.value == "<<":
                raise self.refuse(line, column, "merge key << is not supported; write the fields out", where)
            value = self._plain(event.value, line, column, where)
            if not isinstance(value, str):
                self.note(line, column, where, f"key {event.value or 'null'} is not text; put it in quotes")
        return str(event.value)

    def _plain(self, text: str, line: int, column: int, where: str) -> Scalar:
        """Resolve a plain scalar by the core schema of YAML 1.2."""
        if _NULL.match(text):
            return None
        if _TRUE.match(text):
            return True
        if _FALSE.match(text):
            return False
        if _INFINITE.match(text):
            return float("-inf") if text.startswith("-") else float("inf")
        if _NAN.match(text):
            return float("nan")
        number = _INT.match(text) or _OCTAL.match(text) or _HEX.match(text) or _FLOAT.match(text)
        if number is None:
            return text
        if len(text) > _MAX_DIGITS:
            self.note(line, column, where, f"a number with {len(text)} digits is too long")
            return 0
        if _INT.match(text):
            return int(text)
        if _OCTAL.match(text) or _HEX.match(text):
            return int(text, 0)
        return float(text)


def _at(event: Any) -> tuple[int, int]:
    return event.start_mark.line + 1, event.start_mark.column + 1


def _place(before: str) -> tuple[int, int]:
    """Line and column of the character after `before`, with the line breaks YAML knows."""
    lines = re.split("\r\n|[\r\n\x85]", before)
    return len(lines), len(lines[-1]) + 1


def _tag(tag: str) -> str:
    return tag.replace("tag:yaml.org,2002:", "!!")
