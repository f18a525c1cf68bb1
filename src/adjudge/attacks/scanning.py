"""Finding one's way in source text without a parser: brackets that close, arguments, literals.

Good enough for attacks: what cannot be read is left alone, and the attack says that it does not apply.
"""

from __future__ import annotations

import re

__all__ = ["closing", "is_literal", "split_arguments"]

_PAIRS = {"(": ")", "[": "]", "{": "}"}
_QUOTES = "\"'`"
_WORDS = re.compile(r"[A-Za-z_$][\w$]*")
_KNOWN_WORDS = frozenset(
    ("true", "false", "null", "undefined", "nil", "None", "True", "False", "NaN", "Infinity", "string", "int")
)


def closing(text: str, start: int) -> int:
    """The index of the bracket that closes the one at `start`; -1 when none does."""
    depth = 0
    index = start
    while index < len(text):
        char = text[index]
        if char in _QUOTES:
            index = _end_of_string(text, index)
            if index < 0:
                return -1
        elif char in _PAIRS:
            depth += 1
        elif char in _PAIRS.values():
            depth -= 1
            if depth == 0:
                return index
        index += 1
    return -1


def split_arguments(text: str) -> list[str]:
    """The parts of a list between its commas; commas within brackets and strings separate nothing."""
    parts: list[str] = []
    start = index = 0
    while index < len(text):
        char = text[index]
        if char in _QUOTES:
            index = _end_of_string(text, index)
        elif char in _PAIRS:
            index = closing(text, index)
        elif char == ",":
            parts.append(text[start:index].strip())
            start = index + 1
        if index < 0:
            return []
        index += 1
    parts.append(text[start:].strip())
    return [part for part in parts if part]


def is_literal(text: str) -> bool:
    """Whether an expression is made of literals alone."""
    if not text.strip() or ("`" in text and "${" in text):
        return False
    outside = re.sub(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|`[^`]*`", '""', text)
    outside = re.sub(r"[{,]\s*[\w$]+\s*:", "{", outside)
    words = _WORDS.findall(re.sub(r"\b\d[\w.]*", "0", outside))
    return all(word in _KNOWN_WORDS for word in words) and "(" not in outside


def _end_of_string(text: str, start: int) -> int:
    quote = text[start]
    index = start + 1
    while index < len(text):
        if text[index] == "\\" and quote != "`":
            index += 1
        elif text[index] == quote:
            return index
        elif text[index] == "\n" and quote != "`":
            return -1
        index += 1
    return -1
