"""What a condition asks, read off its text: for languages whose assertions take one as it is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from adjudge.syntax.testcode.reading import Reading, split_words, truth

__all__ = ["Asked", "asked_by"]

_SIGNS: Final = {
    "==": ("==", 5), "===": ("==", 5), "!=": ("!=", 2), "!==": ("!=", 2), "<": ("<", 3), ">": (">", 3),
    "<=": ("<=", 3), ">=": (">=", 3), "=~": ("matches", 3), "instanceof": ("instance", 2),
}  # fmt: skip
_NONE = frozenset({"null", "nil", "None"})
_EQUALS = re.compile(r"(.+) \. (?:equals|eql\?|equal\?|deepEquals|is_equal) \( (.+) \)")
_CONTAINS = re.compile(
    r"(.+) \. (?:contains|include\?|starts_with|startsWith|ends_with|contains_key) \( (.+) \)"
)
_MADE = re.compile(r"(.+) \. (?:is_err|is_none|isEmpty|is_empty|empty\?|nil\?|isPresent) (?:\( \))?")


@dataclass(frozen=True, slots=True)
class Asked:
    """What a condition comes to as a check."""

    operator: str
    subject: str
    expected: str = ""
    strength: int = 2


def asked_by(reading: Reading, text: str, depth: int = 0) -> Asked:
    """What asserting a condition asks; names in it have been resolved."""
    words = text.split(" ")
    if truth(reading, text):
        return Asked("always", text, strength=0)
    for signs, both in ((("||", "or"), False), (("&&", "and"), True)):
        parts = split_words(words, signs)
        if len(parts) > 1 and depth < 10:
            asked = [asked_by(reading, " ".join(part), depth + 1) for part in parts]
            strengths = [one.strength for one in asked]
            strongest = asked[strengths.index(max(strengths))]
            strength = max(strengths) if both else max(0, min(strengths) - 1)
            return Asked(signs[0], strongest.subject, text, strength)
    if words[0] in ("!", "not") and len(words) > 1:
        inner = asked_by(reading, " ".join(words[1:]), depth + 1) if depth < 10 else Asked("truthy", text)
        if inner.operator == "==":
            return Asked("!=", inner.subject, inner.expected, 2)
        return Asked("falsy", inner.subject, inner.expected, 4)
    for sign, (operator, strength) in _SIGNS.items():
        parts = split_words(words, (sign,))
        if len(parts) == 2:
            return _compared(operator, strength, *(" ".join(part) for part in parts))
    found = _EQUALS.fullmatch(text)
    if found:
        return _compared("==", 5, found[1], found[2])
    found = _CONTAINS.fullmatch(text)
    if found:
        return Asked("in", found[1], found[2], 3)
    found = _MADE.fullmatch(text)
    return Asked("truthy", text, strength=3 if found else 2)


def _compared(operator: str, strength: int, left: str, right: str) -> Asked:
    if left == right and operator in ("==", "<=", ">="):
        return Asked("always", left, right, 0)
    if right in _NONE or left in _NONE:
        subject = left if right in _NONE else right
        return Asked("is None", subject, "", 4) if operator == "==" else Asked("is not None", subject, "", 1)
    if "true" in (left, right) or "false" in (left, right):
        value = "true" if "true" in (left, right) else "false"
        subject = left if right == value else right
        held = (value == "true") is (operator == "==")
        return Asked("truthy", subject, "", 3) if held else Asked("falsy", subject, "", 4)
    return Asked(operator, left, right, strength)
