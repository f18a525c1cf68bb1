"""A scan of many texts from many places: candidates first, then the rules, in batches."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from types import ModuleType
from typing import Generic, TypeVar

from adjudge.errors import InfraError
from adjudge.evidence.secretscan.candidates import candidate_lines
from adjudge.evidence.secretscan.encoded import decoded_texts
from adjudge.evidence.secretscan.shapes import find_shapes

__all__ = ["Hit", "Scanner", "scanner_name"]

_BATCH_BYTES = 96 * 1024
"""Betterleaks takes 18 ms to begin and grows faster than its text; measured best from 60 to 200 KB."""

_CARRIED_LINES = 3
_MAX_CLOSE_BYTES = 32 * 1024 * 1024
"""How much Betterleaks is given in one scan: a minute's work. Nobody writes that much by hand that could
hold a secret; what lies beyond is searched for forms only, and said not to be scanned."""

Place = TypeVar("Place")


@dataclass(frozen=True, slots=True)
class Hit(Generic[Place]):
    """A secret-like string and where it stood."""

    place: Place
    number: int
    """What the caller numbered the line with."""
    rule: str
    secret: str
    line: str
    """The text it stood in."""


@dataclass(slots=True)
class Scanner(Generic[Place]):
    """Takes texts place by place and gives what was found in them, some things twice; `finish` ends it."""

    failed: list[Place] = field(default_factory=list)
    """Places whose lines could not be scanned."""
    _lines: list[str] = field(default_factory=list)
    _origins: list[tuple[Place, int]] = field(default_factory=list)
    _size: int = 0
    _looked_at: int = 0

    @property
    def name(self) -> str:
        """What scanned, with its version. It is not loaded for the sake of its name."""
        return scanner_name() if self._looked_at else "no line needed a closer look"

    def scan(self, place: Place, data: bytes, first: int = 1) -> Iterator[Hit[Place]]:
        """Take text whose first line has the number `first`; hits may be of places given earlier."""
        for index, line in candidate_lines(data):
            self._add(place, first + index, line)
            if self._size >= _BATCH_BYTES:
                # What spans lines may span batches: the last few are looked at again with what follows.
                kept = list(zip(self._lines, self._origins, strict=True))[-_CARRIED_LINES:]
                yield from self._flush()
                for carried, (owner, at) in kept:
                    self._add(owner, at, carried.encode())
        if self._lines:
            self._add(place, first, b"")

    def finish(self) -> Iterator[Hit[Place]]:
        """What was found in the lines still waiting."""
        yield from self._flush()

    def _add(self, place: Place, number: int, line: bytes) -> None:
        self._lines.append(line.decode("utf-8", "replace").replace("\r", " "))
        self._origins.append((place, number))
        self._size += len(line) + 1

    def _flush(self) -> Iterator[Hit[Place]]:
        lines, origins = self._lines, self._origins
        self._lines, self._origins, self._size = [], [], 0
        if not lines:
            return
        text = "\n".join(lines)
        seen: set[tuple[int, str]] = set()
        for shape in find_shapes(text):
            index = text.count("\n", 0, shape.start)
            seen.add((index, shape.secret))
            yield _hit(lines, origins, index, shape.rule, shape.secret)
        for index, line in enumerate(lines):
            for decoded in decoded_texts(line):
                for shape in find_shapes(decoded):
                    seen.add((index, shape.secret))
                    yield _hit(lines, origins, index, shape.rule, shape.secret)
        self._looked_at += len(text)
        engine = _betterleaks()
        if engine is None:
            return
        if self._looked_at > _MAX_CLOSE_BYTES:
            self.failed += _each_once(place for place, _ in origins)
            return
        try:
            leaks = list(engine.find_leaks(text))
        except InfraError:
            self.failed += _each_once(place for place, _ in origins)
            return
        for leak in leaks:
            if not any(leak.line == index and _overlap(leak.secret, secret) for index, secret in seen):
                seen.add((leak.line, leak.secret))
                yield _hit(lines, origins, leak.line, leak.rule, leak.secret)


def _each_once(places: Iterable[Place]) -> list[Place]:
    """Places without repeats. By identity: a place may be large, and need not be hashable."""
    return list({id(place): place for place in places}.values())


def scanner_name() -> str:
    """What scans here, with its version; it decides what is found."""
    engine = _betterleaks()
    return "built-in forms only" if engine is None else str(engine.describe())


@cache
def _betterleaks() -> ModuleType | None:
    """The engine, where it has a build for this machine."""
    if importlib.util.find_spec("pybetterleaks") is None:
        return None
    return importlib.import_module("adjudge.evidence.secretscan.betterleaks")


def _hit(
    lines: Sequence[str], origins: Sequence[tuple[Place, int]], index: int, rule: str, secret: str
) -> Hit[Place]:
    index = min(index, len(lines) - 1)
    place, number = origins[index]
    return Hit(place, number, rule, secret, lines[index])


def _overlap(one: str, other: str) -> bool:
    return one in other or other in one
