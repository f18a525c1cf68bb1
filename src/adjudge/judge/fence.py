"""Keeping what an attempt wrote apart from what we say: fences that no text inside can close.

Each call has a boundary of its own that nobody could foresee and that stands nowhere in the evidence. What
looks like a fence is changed so that it looks like none, and characters that hide or reorder text are spelled
out, so that the judge reads what is there.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable

__all__ = ["Fence", "visible"]

OPEN, CLOSE = "<<<", ">>>"

_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f"
    "\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
"""Control characters but tab and newline, zero-width, bidirectional and tag characters, variation selectors,
blank letters."""
_LIKE_A_FENCE = re.compile(
    "<{3,}|>{3,}|[\u2039\u00ab\u2329\u3008\u300a\u27e8\u27ea\uff1c]{2,}"
    "|[\u203a\u00bb\u232a\u3009\u300b\u27e9\u27eb\uff1e]{2,}"
)
"""Three of ours, or two of the quotation marks and brackets that look like them."""


def visible(text: str) -> str:
    r"""A text in which nothing is hidden: `\u200b` instead of a character nobody sees."""
    return _HIDDEN.sub(_spelled, text.replace("\r\n", "\n"))


def _spelled(match: re.Match[str]) -> str:
    code = ord(match.group())
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


class Fence:
    """The fences of one call.

    Args:
        texts: Everything that will stand inside; the boundary occurs in none of it.
        boundary: For tests; otherwise made at random.
    """

    def __init__(self, texts: Iterable[str], boundary: str | None = None) -> None:
        inside = list(texts)
        self.boundary = boundary or secrets.token_hex(12)
        while any(self.boundary in text for text in inside):
            self.boundary = secrets.token_hex(12)

    def around(self, section: str, text: str) -> str:
        """A section between its fences, its text made visible and unable to imitate one."""
        inside = _LIKE_A_FENCE.sub(_blunted, visible(text))
        begin, end = (f"{OPEN}{self.boundary} {edge} {section}{CLOSE}" for edge in ("begin", "end"))
        return f"{begin}\n{inside}\n{end}"


def _blunted(match: re.Match[str]) -> str:
    """The same characters, kept apart so that they open and close nothing."""
    return " ".join(match.group())
