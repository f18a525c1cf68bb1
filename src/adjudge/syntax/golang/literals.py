"""Another literal for one of Go's: same type, same look, and one that compiles wherever the old one did.

Go checks constants when it compiles, and one that does not fit takes every test of its package with it. So a
number stays within the range of the smallest type that holds it, and a string keeps its escapes.
"""

from __future__ import annotations

import ast
import random
import re
import string

from tree_sitter import Node

from adjudge.syntax.golang.nodes import text
from adjudge.syntax.python.literals import changed_literal

__all__ = ["LITERALS", "change", "other_text"]

LITERALS = (
    "int_literal",
    "float_literal",
    "rune_literal",
    "interpreted_string_literal",
    "raw_string_literal",
    "true",
    "false",
)
_RANGES = (127, 255, 2**15 - 1, 2**16 - 1, 2**31 - 1, 2**32 - 1, 2**53, 2**63 - 1)
_TRIES = 60
_NEAR = 2


def change(literal: Node, random_: random.Random) -> tuple[str, bool] | None:
    """Source of another literal, and whether it is one of many; None where there is no safe one."""
    written = text(literal)
    match literal.type:
        case "true" | "false":
            return ("false" if written == "true" else "true"), False
        case "int_literal":
            new = _integer(written, random_)
            return (new, len(written) >= 2) if new is not None else None
        case "float_literal" if re.fullmatch(r"\d+\.\d+", written):
            new = changed_literal(float(written), written, random_)
            return (new, True) if new is not None else None
        case "rune_literal" if re.fullmatch(r"'[A-Za-z0-9]'", written):
            return f"'{_other(written[1], random_)}'", False
        case "interpreted_string_literal" if not re.search(r"\\[0-7]", written):
            value = _value(written)
            new = changed_literal(value, written, random_) if value is not None else None
            return (new, len(written) > 2) if new is not None else None
        case "raw_string_literal":
            inner = other_text(written[1:-1], random_)
            return (f"`{inner or random_.choice(string.ascii_lowercase)}`"), inner is not None
        case _:
            return None


def other_text(written: str, random_: random.Random) -> str | None:
    """A text with one letter or digit changed; None where there is none."""
    places = [at for at, char in enumerate(written) if char.isascii() and char.isalnum()]
    if not places:
        return None
    at = random_.choice(places)
    return written[:at] + _other(written[at], random_) + written[at + 1 :]


def _value(written: str) -> str | None:
    """What a string means; escapes that both languages have mean the same in both."""
    try:
        found = ast.literal_eval(written)
    except (ValueError, SyntaxError):
        return None
    return found if isinstance(found, str) else None


def _integer(written: str, random_: random.Random) -> str | None:
    if re.fullmatch(r"0|[1-9]\d*", written):
        value, low, high = int(written), 10 ** (len(written) - 1), 10 ** len(written) - 1
        low = 0 if len(written) == 1 else low
        form, prefix = "d", ""
    elif re.fullmatch(r"0[xX][0-9a-fA-F]+", written):
        value, low, high = int(written, 16), 0, 16 ** (len(written) - 2) - 1
        form, prefix = f"0{len(written) - 2}x", written[:2]
    else:
        return None
    high = min(high, next((top for top in _RANGES if value <= top), value))
    for _ in range(_TRIES):
        new = random_.randint(low, high)
        if abs(new - value) > _NEAR:
            return f"{prefix}{new:{form}}"
    return None


def _other(char: str, random_: random.Random) -> str:
    if char.isdigit():
        return random_.choice([c for c in "123456789" if c != char])
    letters = string.ascii_uppercase if char.isupper() else string.ascii_lowercase
    return random_.choice([c for c in letters if c != char])
