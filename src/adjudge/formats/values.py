"""Values inside a document: where they are, and whether they are equal or near. Pure and exact.

A path is dotted (`loads.0.current`, `loads[0].current`) or a JSON pointer (`/loads/0/current`); `$` is the
whole document.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

__all__ = ["ABSENT", "describe_value", "equal", "find_value", "is_near", "parse_value_path", "read_number"]

ABSENT: Any = object()
"""What `find_value` returns where nothing is."""

_MAX_PARTS = 64
_DOTTED = re.compile(r"[^.\[\]]+(?:\[[0-9]{1,9}\])*(?:\.[^.\[\]]+(?:\[[0-9]{1,9}\])*)*\Z")
_INDEX = re.compile(r"0\Z|[1-9][0-9]{0,8}\Z")
_DECIMAL = re.compile(r"[-+]?[0-9]{1,300}(?:\.[0-9]{1,300})?(?:[eE][-+]?[0-9]{1,3})?\Z")


def parse_value_path(text: str) -> tuple[str, ...]:
    """The parts of a path.

    Raises:
        ValueError: It is not one.
    """
    if text == "$":
        return ()
    if text.startswith("/"):
        if re.search(r"~(?![01])", text):
            raise ValueError(f"{text[:60]!r} is not a JSON pointer: ~ is written ~0, / inside a key ~1")
        parts = [part.replace("~1", "/").replace("~0", "~") for part in text[1:].split("/")]
    elif text.startswith("[") or _DOTTED.match(text):
        parts = [part for part in re.split(r"[.\[\]]+", text) if part]
        if text.startswith("[") and not _DOTTED.match(f"x{text}"):
            raise ValueError(f"{text[:60]!r} is not a path; write a.b[0].c or /a/b/0/c")
    else:
        raise ValueError(f"{text[:60]!r} is not a path; write a.b[0].c or /a/b/0/c, or $ for the whole")
    if len(parts) > _MAX_PARTS:
        raise ValueError(f"a path of {len(parts)} parts is too long")
    return tuple(parts)


def find_value(document: Any, path: tuple[str, ...]) -> Any:
    """The value at a path, or `ABSENT`."""
    value = document
    for part in path:
        if isinstance(value, dict) and part in value:
            value = value[part]
        elif isinstance(value, list) and _INDEX.match(part) and int(part) < len(value):
            value = value[int(part)]
        else:
            return ABSENT
    return value


def equal(found: Any, expected: Any, *, as_text: bool = False) -> bool:
    """Whether two values are the same: types are told apart, but 1 is 1.0.

    Args:
        found: What the attempt wrote.
        expected: What the task asks for.
        as_text: Whether the format knows nothing but text, so that `5` may be written where 5 is expected.
    """
    if isinstance(expected, bool) or isinstance(found, bool):
        if as_text and isinstance(found, str) and isinstance(expected, bool):
            return found.strip().lower() == ("true" if expected else "false")
        return found is expected
    if isinstance(expected, int | float):
        number = read_number(found, as_text=as_text)
        return number is not None and number == _exact(expected)
    if isinstance(expected, list) and isinstance(found, list):
        return len(found) == len(expected) and all(map(equal, found, expected))
    if isinstance(expected, dict) and isinstance(found, dict):
        return found.keys() == expected.keys() and all(equal(found[key], expected[key]) for key in expected)
    return type(found) is type(expected) and bool(found == expected)


def read_number(value: Any, *, as_text: bool = False) -> Fraction | None:
    """A number as it is written, without a double's rounding; None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return _exact(value)
    if as_text and isinstance(value, str) and _DECIMAL.match(value.strip()):
        return Fraction(value.strip())
    return None


def is_near(found: Fraction, expected: float, *, absolute: float | None, relative: float | None) -> bool:
    """Whether a number is within either tolerance; the relative one is a share of what is expected."""
    target = _exact(expected)
    allowed = max(
        _exact(absolute) if absolute is not None else Fraction(0),
        _exact(relative) * abs(target) if relative is not None else Fraction(0),
    )
    return abs(found - target) <= allowed


def _exact(number: float) -> Fraction:
    """The decimal number that was written: 0.3 is within 0.1 of 0.2, which doubles are not."""
    return Fraction(number) if isinstance(number, int) else Fraction(repr(number))


def describe_value(value: Any) -> str:
    """A value for a reader, short."""
    if value is ABSENT:
        return "nothing"
    if isinstance(value, dict):
        return f"an object with {len(value):,} keys"
    if isinstance(value, list):
        return f"a list of {len(value):,}"
    if isinstance(value, str):
        return f"{value[:60]!r}{'…' if len(value) > 60 else ''}"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"
