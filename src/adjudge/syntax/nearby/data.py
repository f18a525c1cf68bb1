"""Files of data that tests read, with other values in some of their lines.

Nobody knows what a line of such a file means. A number mostly can be another, and so can a letter that stands
alone; a letter of a word may make it one that nobody knows, so that is tried last. Names of fields stay, so
what was JSON stays JSON.
"""

from __future__ import annotations

import random
import re
from typing import Final

from adjudge.syntax.nearby.literals import next_character

__all__ = ["MAX_DATA_BYTES", "near_data"]

MAX_DATA_BYTES: Final = 64 * 1024
_NUMBERS: Final = re.compile(r"(?<![0-9A-Za-z_.#\\])[0-9][0-9:.,/-]*")
"""A number, a time or a date."""
_LETTERS: Final = re.compile(r"(?<![0-9A-Za-z_\\%-])[A-Za-z](?![0-9A-Za-z_-])(?!\"\s*:)")
_WORDS: Final = re.compile(r"(?<![0-9A-Za-z_\\%-])[A-Za-z]{2,}(?![0-9A-Za-z_-])(?!\"\s*:)")
_KEPT: Final = frozenset({"true", "false", "null", "none", "nan", "inf"})
_SHARE_OF_LINES: Final = 15
"""One line in so many is changed at a time."""


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
    for kind in (kinds[number % 3], *kinds):
        lines = text.splitlines(keepends=True)
        places = {index: found for index, line in enumerate(lines) if (found := _places(kind, line))}
        if places:
            for index in chosen.sample(list(places), max(1, len(places) // _SHARE_OF_LINES)):
                at = chosen.choice(places[index])
                line = lines[index]
                lines[index] = line[:at] + next_character(line, at, chosen) + line[at + 1 :]
            return "".join(lines).encode()
    return None


def _places(kind: re.Pattern[str], line: str) -> list[int]:
    """Where a character of a line may be another."""
    return [
        at
        for found in kind.finditer(line)
        if found[0].lower() not in _KEPT
        for at in range(*found.span())
        if line[at].isalnum()
    ]
