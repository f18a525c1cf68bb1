"""JSON read strictly: what an attempt wrote is one document that everybody reads the same way, or refused.

Duplicate keys, NaN and infinities, numbers beyond a double's range, lone surrogates and nesting without end
are where readers differ or break. Each is refused with its line and column.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, NoReturn

__all__ = ["MAX_DEPTH", "MAX_DIGITS", "MAX_VALUES", "TextRefused", "parse_json", "place"]

MAX_DEPTH = 64
"""Levels of nesting. Validating against a schema takes several frames of Python's stack for each."""
MAX_VALUES = 1_000_000
"""Values in one document: each takes some 60 bytes of memory, however short it is in the file."""
MAX_DIGITS = 300
"""Characters of a number. A double has 17 digits; reading many more takes quadratic time."""

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+', re.DOTALL)
_SURROGATES = re.compile("[\ud800-\udfff]")


class TextRefused(ValueError):
    """A text is not what its format says; the message starts with the place.

    Args:
        message: What is wrong, and where.
        kind: For who counts by it: `malformed`, `too_deep`, `duplicate_key` or `not_finite`.
    """

    def __init__(self, message: str, kind: str = "malformed") -> None:
        super().__init__(message)
        self.kind = kind


class _Fault(Exception):
    """Something is wrong that the reader itself cannot say the place of."""


def parse_json(text: str, *, first_line: int = 1) -> Any:
    """The one document in `text`.

    Args:
        text: The whole text.
        first_line: The number of its first line, for messages.

    Raises:
        TextRefused: It is not strict JSON, or too large to be read safely.
    """
    # More than there are values; counting characters costs nothing, counting values their memory.
    if sum(map(text.count, "[{,")) > MAX_VALUES:
        raise TextRefused(f"more than {MAX_VALUES:,} brackets and commas; it was not read")
    try:
        value = json.loads(
            text,
            object_pairs_hook=_object,
            parse_constant=_refuse,
            parse_int=_integer,
            parse_float=_double,
        )
    except json.JSONDecodeError as error:
        at = f"line {error.lineno + first_line - 1}, column {error.colno}"
        raise TextRefused(f"{at}: not JSON: {error.msg}") from None
    except (_Fault, RecursionError):
        raise _find_fault(text, first_line) from None
    if not _is_plain(value):
        raise _find_fault(text, first_line)
    return value


def place(text: str, index: int, *, first_line: int = 1) -> str:
    """Where a character stands, in words."""
    line = text.count("\n", 0, index)
    return f"line {line + first_line}, column {index - text.rfind(chr(10), 0, index)}"


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise _Fault
    return made


def _refuse(constant: str) -> NoReturn:
    raise _Fault


def _integer(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise _Fault
    return int(digits)


def _double(digits: str) -> float:
    if len(digits) > MAX_DIGITS or not math.isfinite(number := float(digits)):
        raise _Fault
    return number


def _is_plain(value: Any) -> bool:
    """Whether a value is shallow enough and every text in it can be written down again."""
    level = [value]
    for depth in range(MAX_DEPTH + 1):
        deeper: list[Any] = []
        if depth == MAX_DEPTH and any(isinstance(item, dict | list) for item in level):
            return False
        for item in level:
            if isinstance(item, dict):
                if any(_SURROGATES.search(key) for key in item if not key.isascii()):
                    return False
                deeper.extend(item.values())
            elif isinstance(item, list):
                deeper.extend(item)
            elif isinstance(item, str) and not item.isascii() and _SURROGATES.search(item):
                return False
        level = deeper
    return True


def _find_fault(text: str, first_line: int) -> TextRefused:
    """What is wrong with a text whose grammar is right, and where: a second walk, for the message alone."""
    keys: list[set[str] | None] = []
    before = ""
    for token in _TOKEN.finditer(text):
        word = token[0]
        fault, kind = None, "malformed"
        if word in "{[":
            keys.append(set() if word == "{" else None)
            if len(keys) > MAX_DEPTH:
                fault, kind = f"nested more than {MAX_DEPTH} levels deep", "too_deep"
        elif word in "}]":
            del keys[-1:]
        elif word.startswith('"'):
            said = json.loads(word, strict=False) if "\\" in word else word[1:-1]
            if _SURROGATES.search(said):
                fault = "half of a surrogate pair is not a character"
            elif before in ("{", ",") and keys and (known := keys[-1]) is not None:
                if said in known:
                    fault, kind = f"key {said[:60]!r} is there twice", "duplicate_key"
                known.add(said)
        elif word in ("NaN", "Infinity", "-Infinity"):
            fault, kind = f"{word} is not a number in JSON", "not_finite"
        elif word[0] in "-0123456789" and len(word) > MAX_DIGITS:
            fault = f"a number with {len(word):,} characters is too long"
        elif word[0] in "-0123456789" and not math.isfinite(float(word)):
            fault, kind = f"{word[:40]} is beyond the range of numbers", "not_finite"
        if fault is not None:
            return TextRefused(f"{place(text, token.start(), first_line=first_line)}: {fault}", kind)
        before = word
    return TextRefused(f"nested more than {MAX_DEPTH} levels deep", "too_deep")
