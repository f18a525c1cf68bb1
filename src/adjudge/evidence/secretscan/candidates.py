"""Which lines are worth a closer look.

The rules cost a microsecond for every byte, and nearly all of an ordinary change is prose and names. A
credential is a run of characters with a digit in it, a long run of letters, a key block or an address with a
password; lines with none of these are passed over at some 70 MB/s, and about one line in forty is left.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

__all__ = ["candidate_lines", "pieces"]

_DIGIT = re.compile(rb"[0-9]")
_RUN = re.compile(rb"[A-Za-z0-9_+/=.~-]{10,}")
_WITHOUT_DIGIT = re.compile(rb"[A-Za-z]{24}|-----(?:BEGIN|END) |://[^/\s]*@")

_PIECE_BYTES = 4096
_OVERLAP_BYTES = 512
"""More than any token; a key block on one long line is known by its first bytes."""


def candidate_lines(lines: Sequence[bytes]) -> Iterator[int]:
    """Indexes of lines that may hold a secret, with the lines next to them, in order.

    Neighbours come along because a name and its value, or the two halves of a key pair, may be a line apart.
    """
    taken = -1
    for index, line in enumerate(lines):
        if not _may_hold_a_secret(line):
            continue
        for near in range(max(index - 1, taken + 1), min(index + 2, len(lines))):
            yield near
            taken = near


def pieces(line: bytes) -> Iterator[bytes]:
    """A line, cut into overlapping pieces when it is very long."""
    if len(line) <= 2 * _PIECE_BYTES:
        yield line
        return
    for start in range(0, len(line), _PIECE_BYTES):
        yield line[start : start + _PIECE_BYTES + _OVERLAP_BYTES]


def _may_hold_a_secret(line: bytes) -> bool:
    if _DIGIT.search(line) and any(_DIGIT.search(run.group()) for run in _RUN.finditer(line)):
        return True
    return _WITHOUT_DIGIT.search(line) is not None
