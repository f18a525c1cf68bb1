"""Another value for a literal: same type, same look, far enough away that no tolerance bridges the gap.

The new text must not betray itself: a number keeps its digits' count, a string its length and the class of
the character that changes. What is random is drawn from the generator given, so a seed fixes the result.
"""

from __future__ import annotations

import ast
import random
import re
import string
import warnings

__all__ = ["changed_literal"]

_TRIES = 40
_NEAR = 2
"""Integers closer than this to the old value are avoided: an off-by-one mistake would meet them."""
_FORMAT = re.compile(r"%[^a-zA-Z%]*[a-zA-Z%]|\{[^{}]*\}|&\w+;|\\.")


def changed_literal(
    value: object, text: str, random_: random.Random, *, pattern: bool = False, template: bool = False
) -> str | None:
    """Source text of another literal of the same type, or None where there is no safe one.

    Args:
        value: The literal's value.
        text: The literal's own source text.
        random_: Where choices come from.
        pattern: The literal is a regular expression; only a plain letter outside any construct changes.
        template: The literal is formatted later; its fields stay as they are.
    """
    match value:
        case bool():
            return "False" if value else "True"
        case int():
            return _integer(value, text, random_)
        case float():
            return _float(value, random_)
        case complex():
            return f"{_float(value.imag, random_)}j"
        case str() | bytes():
            return _string(value, text, random_, pattern=pattern, template=template)
        case _:
            return None


def _integer(value: int, text: str, random_: random.Random) -> str:
    prefix = text[:2].lower()
    if prefix in ("0x", "0o", "0b") and len(text) > 2:
        digits = {"0x": "0123456789abcdef", "0o": "01234567", "0b": "01"}[prefix]
        base = len(digits)
        for _ in range(_TRIES):
            body = "".join(random_.choice(digits) for _ in text[2:])
            if abs(int(body, base) - value) > min(_NEAR, base - 1):
                return text[:2] + body
        return str(value + 7)
    if value < 10:
        return str(random_.choice([n for n in range(10) if abs(n - value) > _NEAR]))
    length = len(str(value))
    low = 10 ** (length - 1)
    for _ in range(_TRIES):
        new = random_.randrange(low, low * 10)
        if abs(new - value) > max(_NEAR, value // 10):
            return str(new)
    return str(value + value // 2 + 3)


def _float(value: float, random_: random.Random) -> str:
    """Both the ratio and the difference change by a lot, whatever tolerance the test allows."""
    if abs(value) < 1e15:
        whole = int(value)
        fraction = repr(abs(value) - abs(whole)) if abs(value) >= 1e-4 else "0.0"
        # The fraction keeps the digits it was written with where floating point lets it.
        digits = repr(value).partition(".")[2] if "e" not in repr(value) else fraction.partition(".")[2]
        return f"{_integer(abs(whole), str(abs(whole)), random_)}.{digits or '0'}"
    return repr(value * random_.randrange(3, 9))


def _string(
    value: str | bytes, text: str, random_: random.Random, *, pattern: bool, template: bool
) -> str | None:
    places = [at for at, char in enumerate(text) if char.isalnum()]
    if pattern:
        places = _plain_letters(text, places)
    elif template or "%" in text or "{" in text:
        fields = [found.span() for found in _FORMAT.finditer(text)]
        places = [at for at in places if not any(start <= at < end for start, end in fields)]
    random_.shuffle(places)
    for at in places[:_TRIES]:
        new = text[:at] + _other(text[at], random_) + text[at + 1 :]
        again = _value(new)
        if type(again) is type(value) and again != value and len(again) == len(value):
            return new
    if pattern:
        return None
    quote = 3 if text.endswith(('"""', "'''")) else 1
    new = text[:-quote] + random_.choice(string.ascii_lowercase) + text[-quote:]
    again = _value(new)
    return new if type(again) is type(value) and again != value else None


def _plain_letters(text: str, places: list[int]) -> list[int]:
    """Letters of a regular expression that stand for themselves: inside a run of at least three."""
    runs = [found.span() for found in re.finditer(r"(?<![\\?<\w])[A-Za-z]{3,}(?![?*{\w])", text)]
    return [at for at in places if any(start < at < end for start, end in runs)]


def _other(char: str, random_: random.Random) -> str:
    if char.isdigit() and char in string.digits:
        return random_.choice([c for c in "123456789" if c != char])
    letters = string.ascii_uppercase if char.isupper() else string.ascii_lowercase
    return random_.choice([c for c in letters if c.lower() != char.lower()])


def _value(text: str) -> str | bytes | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = ast.literal_eval(f"({text})")
    except (ValueError, SyntaxError):
        return None
    return found if isinstance(found, (str, bytes)) else None
