"""What stands in a line in base64 or hexadecimal, as text.

Betterleaks decodes too, but gives what it decoded to its own rules, which leave out examples and want a name
beside an AWS key. Here it is made readable for the table of forms.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator

__all__ = ["decoded_texts"]

_SHORTEST = 16
"""Bytes of the shortest form worth finding, an address with a password."""

_HEX = re.compile(rf"(?<![0-9A-Fa-f])(?:[0-9A-Fa-f]{{2}}){{{_SHORTEST},}}(?![0-9A-Fa-f])")
_BASE64 = re.compile(rf"[A-Za-z0-9+/]{{{_SHORTEST * 4 // 3},}}")
_URL_SAFE = re.compile(rf"[A-Za-z0-9_-]{{{_SHORTEST * 4 // 3},}}")
_TO_STANDARD = str.maketrans("-_", "+/")
_CONTROL = re.compile(r"[^\t\n\r\x20-\x7e]")


def decoded_texts(line: str) -> Iterator[str]:
    """Every run of a line that is printable text when it is decoded."""
    for run in _HEX.findall(line):
        yield from _printable(bytes.fromhex(run))
    for run in dict.fromkeys((*_BASE64.findall(line), *_URL_SAFE.findall(line))):
        # A last group of one character holds no byte; padding is left out often enough.
        whole = run[: len(run) - (len(run) % 4 == 1)]
        yield from _printable(base64.b64decode(whole.translate(_TO_STANDARD) + "=" * (-len(whole) % 4)))


def _printable(data: bytes) -> Iterator[str]:
    if data.isascii():
        text = data.decode("ascii")
        if _CONTROL.search(text) is None:
            yield text
