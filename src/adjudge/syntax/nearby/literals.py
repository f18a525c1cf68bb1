"""The literal next to another one: of the same type and shape, so that what takes the one takes the other."""

from __future__ import annotations

import random
import re
import string
from collections.abc import Iterator
from typing import Final

__all__ = ["NUMBERS", "TEXTS", "near_literal", "next_character"]

NUMBERS: Final = frozenset({"integer", "float", "number", "int_literal", "float_literal"})
TEXTS: Final = frozenset({"string", "template_string", "interpreted_string_literal", "raw_string_literal"})
_STEPS: Final = (1, -1, 2, 3, -2, 5, 4, 7)
"""How far a number moves, from one try to the next."""
_PLAIN_INTEGER: Final = re.compile(r"0|[1-9][0-9]{0,14}")
_PLAIN_FLOAT: Final = re.compile(r"[0-9]{1,12}\.[0-9]{1,12}")
_FIXED: Final = re.compile(
    r"\\(?:x..|u\{[^}]*\}|u....|U........|[0-7]{1,3}|.)|%[-+ #0-9.]*[a-zA-Z]|\$\{[^}]*\}", re.DOTALL
)
"""Parts of a text that mean something else than they say."""
_QUOTES: Final = re.compile(r"""[A-Za-z]{0,2}("{3}|'{3}|"|'|`)""")
_MAX_TEXT: Final = 4000


def near_literal(kind: str, written: str, attempt: int, random_: random.Random) -> str | None:
    """Source of the literal next to one; None where there is none that is sure to be valid.

    Args:
        kind: The node's type in its grammar.
        written: The literal as it stands in the source.
        attempt: Which of its neighbours: others for 0, 1, 2, …
        random_: Where choices come from.
    """
    if kind in NUMBERS:
        return _near_number(written, attempt)
    if kind in TEXTS and len(written) <= _MAX_TEXT:
        return _near_text(written, attempt, random_)
    return None


def _near_number(written: str, attempt: int) -> str | None:
    step = _STEPS[attempt % len(_STEPS)]
    if _PLAIN_INTEGER.fullmatch(written):
        value = int(written)
        moved = value + step
        return str(moved if moved > 0 or (moved == 0 and value > 1) else value + abs(step))
    if _PLAIN_FLOAT.fullmatch(written):
        digits = len(written.partition(".")[2])
        moved = int(written.replace(".", "")) + step
        if moved <= 0:
            moved += 2 * abs(step)
        text = str(moved).rjust(digits + 1, "0")
        return f"{text[:-digits]}.{text[-digits:]}"
    return None


def _near_text(written: str, attempt: int, random_: random.Random) -> str | None:
    quote = _QUOTES.match(written)
    if quote is None or "f" in quote[0][: -len(quote[1])].lower():
        return None
    start, end = quote.end(), len(written) - len(quote[1])
    fixed = [found.span() for found in _FIXED.finditer(written)]
    places = [
        at
        for at in range(start, end)
        if written[at].isascii() and written[at].isalnum() and not any(a <= at < b for a, b in fixed)
    ]
    digits = [at for at in places if written[at].isdigit()]
    letters = [at for at in places if not written[at].isdigit()]
    # A digit can nearly always be another one; a letter may be part of a word that has to be known.
    for among in (digits, letters) if attempt % 3 != 2 else (letters, digits):
        if among:
            at = random_.choice(among)
            return written[:at] + next_character(written, at, random_) + written[at + 1 :]
    return None


def next_character(written: str, at: int, random_: random.Random) -> str:
    """Another digit or letter for the one at a place of a text; no number begins with zero by it."""
    char = written[at]
    if char.isdigit():
        first = at == 0 or not written[at - 1].isdigit()
        return random_.choice([one for one in _around(char) if not (first and one == "0")])
    letters = string.ascii_uppercase if char.isupper() else string.ascii_lowercase
    return random_.choice([one for one in letters if one != char])


def _around(digit: str) -> Iterator[str]:
    for step in (-1, 1):
        if 0 <= int(digit) + step <= 9:
            yield str(int(digit) + step)
