"""Which lines are worth a closer look.

The rules cost some microseconds for every byte, and nearly all of an ordinary change is prose and names. A
credential is a run of characters with a digit in it that is no name with a number, a long run of letters that
is no words, a key block, or an address with a password. Text is searched for such places as a whole, not line
by line, which is several times faster; a fraction of a percent of ordinary code is left.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["candidate_lines"]

_RUN = re.compile(rb"[A-Za-z0-9_+/=.~-]{10,}")
_DIGIT = re.compile(rb"[0-9]")
_LONG = 24
_LETTERS = re.compile(rb"[A-Za-z]{%d,}" % _LONG)
_AFTER_A_PREFIX = re.compile(rb"[_-][A-Za-z]{30}")
_PREFIXES = (b"glpat-", b"dckr_pat_", b"-----BEGIN")
_PASSWORD = re.compile(rb"://[^/\s]{0,300}@")
_BLOCK_END = re.compile(rb"-----END ")

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


def candidate_lines(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The lines that may hold a secret, each with its number from 0; very long ones in overlapping pieces."""
    number, counted, done = 0, 0, 0
    for position in sorted(_places(data)):
        if position < done:
            continue
        start = data.rfind(b"\n", 0, position) + 1
        end = _line_end(data, position)
        number += data.count(b"\n", counted, start)
        counted, done = start, end
        line = data[start:end]
        if _DIGEST.search(line) is not None and not _is_suspicious(_DIGEST.sub(b" ", line)):
            continue
        yield from ((number, piece) for piece in _pieces(line))
        if b"-----BEGIN " in line and end < len(data):
            # What a key block starts with may be too short to be noticed by itself.
            done = _line_end(data, end + 1)
            yield number + 1, data[end + 1 : done]


def _line_end(data: bytes, position: int) -> int:
    end = data.find(b"\n", position)
    return len(data) if end < 0 else end


def _places(data: bytes) -> Iterator[int]:
    """Where something may be, in any order."""
    has_digit = _DIGIT.search
    for run in _RUN.finditer(data):
        text = run.group()
        if has_digit(text) is None:
            # Nearly every run of ordinary code goes this way.
            if len(text) < _LONG and not text.startswith(_PREFIXES):
                continue
            if _is_wordless(text):
                yield run.start()
        elif (
            not _is_name(text)
            or text.startswith(_PREFIXES)
            or _TELLING.search(_line_around(data, run.start())) is not None
        ):
            yield run.start()
    for pattern in (_PASSWORD, _BLOCK_END):
        for match in pattern.finditer(data):
            yield match.start()


def _is_suspicious(data: bytes) -> bool:
    return next(_places(data), None) is not None


def _line_around(data: bytes, position: int) -> bytes:
    """The line, as far as it matters for a name beside a value."""
    start = max(data.rfind(b"\n", 0, position) + 1, position - _OVERLAP_BYTES)
    return data[start : min(_line_end(data, position), position + _OVERLAP_BYTES)]


def _is_wordless(run: bytes) -> bool:
    """Whether a run without a digit may be a credential by itself."""
    if run.startswith(_PREFIXES) or _AFTER_A_PREFIX.search(run) is not None:
        return True
    return any(not _reads_like_words(letters) for letters in _LETTERS.findall(run))


def _is_name(run: bytes) -> bool:
    """Whether a run reads like `test_case_10`, `utf8.decode` or `1.26.4`."""
    return all(
        _NAME.fullmatch(part) is not None and (len(part) <= _LONGEST_NAME or _reads_like_words(part))
        for part in _SEPARATORS.split(run)
    )


def _reads_like_words(run: bytes) -> bool:
    """Whether capitals are as rare as in `camelCaseNames`; of random letters they are half."""
    return (len(run) - len(run.translate(None, _CAPITALS))) * 3 < len(run)


def _pieces(line: bytes) -> Iterator[bytes]:
    if len(line) <= 2 * _PIECE_BYTES:
        yield line
        return
    for start in range(0, len(line), _PIECE_BYTES):
        piece = line[start : start + _PIECE_BYTES + _OVERLAP_BYTES]
        if _is_suspicious(piece):
            yield piece
