"""Which lines are worth a closer look.

The rules cost some microseconds for every byte, and nearly all of an ordinary change is prose and names. A
credential is a run of characters with a digit in it that is no name with a number, a long run of letters, a
key block or an address with a password; lines with none of these are passed over at some 70 MB/s, and one or
two in a hundred are left.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["may_hold_a_secret", "pieces"]

_DIGIT = re.compile(rb"[0-9]")
_RUN = re.compile(rb"[A-Za-z0-9_+/=.~-]{10,}")
_SHORTEST_RUN = 10
_LETTERS = re.compile(rb"[A-Za-z]{24,}")
_PLACE = re.compile(rb"-----(?:BEGIN|END) |://[^/\s]*@|[_-][A-Za-z]{30}|glpat-|dckr_pat_")
_SHORTEST_PLACE = 16

_SEPARATORS = re.compile(rb"[_+/=.~-]+")
_NAME = re.compile(rb"[A-Za-z]*[0-9]{0,4}[A-Za-z]*|[0-9]{0,10}")
_CAPITALS = bytes(range(ord("A"), ord("Z") + 1))
_LONGEST_NAME = 12
_TELLING = re.compile(rb"(?i)pass|pwd|secret|token|key|auth|cred")
"""On a line with such a word, a name with a number in it may be a weak password."""

_DIGEST = re.compile(
    rb"(?:sha(?:1|224|256|384|512)[-:]|\bh1:|\bchecksum = \")"
    rb"(?:[0-9a-f]{128}|[0-9a-f]{96}|[0-9a-f]{64}|[0-9a-f]{56}|[0-9a-f]{40}"
    rb"|[A-Za-z0-9+/]{86}==|[A-Za-z0-9+/]{64}|[A-Za-z0-9+/]{43}=|[A-Za-z0-9+/]{27}=)(?![A-Za-z0-9+/=])"
)
"""A digest that says so and has a digest's length: what lock files are made of."""

_PIECE_BYTES = 4096
_OVERLAP_BYTES = 512
"""More than any token; a key block on one long line is known by its first bytes."""


def may_hold_a_secret(line: bytes) -> bool:
    """Whether the rules should look at a line."""
    if len(line) < _SHORTEST_RUN:
        return False
    if _DIGIT.search(line) is not None and _has_a_token(line):
        return True
    if len(line) < _SHORTEST_PLACE:
        return False
    if any(not _reads_like_words(run) for run in _LETTERS.findall(line)):
        return True
    return _PLACE.search(line) is not None


def pieces(line: bytes) -> Iterator[bytes]:
    """A line, cut into overlapping pieces when it is very long."""
    if len(line) <= 2 * _PIECE_BYTES:
        yield line
        return
    for start in range(0, len(line), _PIECE_BYTES):
        yield line[start : start + _PIECE_BYTES + _OVERLAP_BYTES]


def _has_a_token(line: bytes) -> bool:
    runs = _runs(line)
    if not runs or (all(map(_is_name, runs)) and _TELLING.search(line) is None):
        return False
    left = _DIGEST.sub(b" ", line)
    return left == line or bool(_runs(left))


def _runs(line: bytes) -> list[bytes]:
    return [run for run in _RUN.findall(line) if _DIGIT.search(run) is not None]


def _is_name(run: bytes) -> bool:
    """Whether a run reads like `test_case_10`, `utf8.decode` or `1.26.4`."""
    return all(
        _NAME.fullmatch(part) is not None and (len(part) <= _LONGEST_NAME or _reads_like_words(part))
        for part in _SEPARATORS.split(run)
    )


def _reads_like_words(run: bytes) -> bool:
    """Whether capitals are as rare as in `camelCaseNames`; of random letters they are half."""
    return (len(run) - len(run.translate(None, _CAPITALS))) * 3 < len(run)
