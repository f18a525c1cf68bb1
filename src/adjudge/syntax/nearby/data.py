"""Files of data that tests read, with other values in some of their lines or rows.

Nobody knows what a line of such a file means. A number mostly can be another, and so can a letter that stands
alone; a letter of a word may make it one that nobody knows, so that is tried last. Names of fields stay, so
what was JSON stays JSON. A table mostly has a case in each row, so more of it is changed at a time than of a
document, which is one case.
"""

from __future__ import annotations

import random
import re
from typing import Final

from adjudge.syntax.nearby.literals import next_character

__all__ = ["MAX_DATA_BYTES", "is_table", "near_data"]

MAX_DATA_BYTES: Final = 64 * 1024
_NUMBERS: Final = re.compile(r"(?<![0-9A-Za-z_.#\\])[0-9][0-9:.,/-]*")
"""A number, a time or a date."""
_LETTERS: Final = re.compile(r"(?<![0-9A-Za-z_\\%-])[A-Za-z](?![0-9A-Za-z_-])(?!\"\s*:)")
_WORDS: Final = re.compile(r"(?<![0-9A-Za-z_\\%-])[A-Za-z]{2,}(?![0-9A-Za-z_-])(?!\"\s*:)")
_KEPT: Final = frozenset({"true", "false", "null", "none", "nan", "inf"})
_SHARE_OF_LINES: Final = 15
"""One line in so many is changed at a time,"""
_SHARE_OF_ROWS: Final = 2
"""and one row of a table in so many."""
_MIN_ROWS: Final = 4
_MIN_LINES: Final = 6
_MOST_LINES: Final = 0.7
"""Of a table without brackets, how many lines have to have a separator."""
_SEPARATORS: Final = ("\t", "|", ";", ",", "=>", "->", "=")
_BRACKETS: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}]')
_EXPECTED: Final = re.compile(
    r'"(?:want|wants|expect\w*|exp|out|output|result|answer|error|errors)"\s*:', re.IGNORECASE
)


def near_data(data: bytes, *, number: int, seed: str) -> bytes | None:
    """A file with other values in some of its lines; None where there are none.

    Args:
        data: What it holds.
        number: Which others: numbers, letters and words are changed in turn.
        seed: Fixes what is chosen.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    if "\0" in text or len(data) > MAX_DATA_BYTES:
        return None
    chosen = random.Random(f"{seed} {number}")
    kinds = (_NUMBERS, _LETTERS, _WORDS)
    rows = _rows(text)
    parts = rows if len(rows) >= _MIN_ROWS else _lines(text)
    share = _SHARE_OF_ROWS if parts is rows else _SHARE_OF_LINES
    for kind in (kinds[number % 3], *kinds):
        places = {part: found for part in parts if (found := _places(kind, text, part))}
        if places:
            for part in chosen.sample(list(places), max(1, len(places) // share)):
                at = chosen.choice(places[part])
                text = text[:at] + next_character(text, at, chosen) + text[at + 1 :]
            return text.encode()
    return None


def is_table(data: bytes) -> bool:
    """Whether a file has rows that are cases of their own."""
    return len(_rows(data.decode("utf-8", "replace"))) >= _MIN_ROWS


def _lines(text: str) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    start = 0
    for line in text.splitlines(keepends=True):
        found.append((start, start + len(line)))
        start += len(line)
    return found


def _rows(text: str) -> list[tuple[int, int]]:
    """Where rows of a table begin and end; none where it is no table."""
    if text.lstrip()[:1] in ("[", "{"):
        return _elements(text)
    lines = [(start, end) for start, end in _lines(text) if text[start:end].strip()]
    if len(lines) < _MIN_LINES:
        return []
    for separator in _SEPARATORS:
        rows = [(start, end) for start, end in lines if separator in text[start:end].lstrip("#")]
        if len(rows) >= max(_MIN_LINES, _MOST_LINES * len(lines)):
            return rows
    return []


def _elements(text: str) -> list[tuple[int, int]]:
    """The structures in the outermost array of a JSON text that has enough of them."""
    open_: list[tuple[int, str]] = []
    inside: dict[int, list[tuple[int, int]]] = {}
    for found in _BRACKETS.finditer(text):
        if found[0] in ("[", "{"):
            open_.append((found.start(), found[0]))
        elif found[0] in ("]", "}") and open_:
            start, _ = open_.pop()
            if open_ and open_[-1][1] == "[":
                inside.setdefault(open_[-1][0], []).append((start, found.end()))
    tables = [rows for _, rows in sorted(inside.items()) if len(rows) >= _MIN_ROWS]
    return tables[0] if tables else []


def _places(kind: re.Pattern[str], text: str, part: tuple[int, int]) -> list[int]:
    """Where a character of a part may be another: before what is expected, if there is anything."""
    start, end = part
    wanted = _EXPECTED.search(text, start, end)
    for last in (wanted.start(), end) if wanted is not None else (end,):
        found = [
            at
            for one in kind.finditer(text, start, last)
            if one[0].lower() not in _KEPT
            for at in range(*one.span())
            if text[at].isalnum()
        ]
        if found:
            return found
    return []
