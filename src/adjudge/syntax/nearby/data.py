"""Files of data that tests read, with other values in some of their lines.

Nobody knows what a line of such a file means, so only digits become others: a number stays one, a date mostly
a date, and what was JSON stays JSON.
"""

from __future__ import annotations

import random
import re
from typing import Final

from adjudge.syntax.nearby.literals import next_digit

__all__ = ["MAX_DATA_BYTES", "near_data"]

MAX_DATA_BYTES: Final = 64 * 1024
_DIGIT: Final = re.compile(r"(?<![0-9A-Za-z_.#])[0-9][0-9:.,/ -]*")
"""Digits that begin a number, a time or a date, and what belongs to it."""
_SHARE_OF_LINES: Final = 15
"""One line in so many is changed at a time."""


def near_data(data: bytes, *, turn: int, seed: str) -> bytes | None:
    """A file with other digits in some of its lines; None where there are none.

    Args:
        data: What it holds.
        turn: Which others.
        seed: Fixes what is chosen.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    if "\0" in text or len(data) > MAX_DATA_BYTES:
        return None
    lines = text.splitlines(keepends=True)
    fitting = [index for index, line in enumerate(lines) if _DIGIT.search(line)]
    if not fitting:
        return None
    chosen = random.Random(f"{seed} {turn}")
    for index in chosen.sample(fitting, max(1, len(fitting) // _SHARE_OF_LINES)):
        lines[index] = _near_line(lines[index], chosen)
    made = "".join(lines).encode()
    return made if made != data else None


def _near_line(line: str, random_: random.Random) -> str:
    number = random_.choice(list(_DIGIT.finditer(line)))
    places = [at for at in range(*number.span()) if line[at].isdigit()]
    at = random_.choice(places)
    return line[:at] + next_digit(line, at, random_) + line[at + 1 :]
