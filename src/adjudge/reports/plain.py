"""Making hostile text safe to show: nothing an attempt wrote may move a cursor or reverse a line."""

from __future__ import annotations

import re

__all__ = ["UNSAFE", "plain", "plain_lines", "spelled"]

UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff\ufff9-\ufffb]")
"""Control characters, and the invisible ones that reorder or hide what stands beside them."""


def plain(text: str) -> str:
    """One line of text in which every control character is spelled out."""
    return UNSAFE.sub(spelled, text)


def plain_lines(text: str) -> list[str]:
    """Text as lines; newlines separate, tabs become spaces, everything else is spelled out."""
    return [plain(line.expandtabs(4)) for line in text.replace("\r\n", "\n").split("\n")]


def spelled(match: re.Match[str]) -> str:
    """An unsafe character, spelled out."""
    code = ord(match.group())
    return {9: "\\t", 10: "\\n", 13: "\\r"}.get(code) or (
        f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
    )
