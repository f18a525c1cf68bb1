"""What an attempt added to a file, as lines that can be scanned."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from adjudge.contracts import Contents
from adjudge.errors import SubjectError
from adjudge.records.change import EntryType, FileChange

__all__ = ["MAX_FILE_BYTES", "Added", "Run", "added_text", "readable_text", "removed_lines"]

MAX_FILE_BYTES = 64 * 1024 * 1024
"""How much of one file is read into memory and scanned."""

_CONTENT = (EntryType.FILE, EntryType.SYMLINK)
_SNIFFED_BYTES = 8000
_PRINTABLE = re.compile(rb"[\t\x20-\x7e]{10,}")
_PRINTABLE_WIDE = re.compile(rb"(?:[\t\x20-\x7e]\x00){10,}")


@dataclass(frozen=True, slots=True)
class Run:
    """Consecutive lines."""

    first: int | None
    """Number of the first line; None where lines mean nothing, in a binary file."""
    text: bytes


@dataclass(frozen=True, slots=True)
class Added:
    """What was added to one file."""

    runs: list[Run]
    whole: bool
    """Nothing that was added is missing."""
    compared: bool
    """Only what was added is in it; otherwise the file's old text is in it too."""


def added_text(change: FileChange, contents: Contents) -> Added:
    """The added lines of a changed file: of a new file all, of a binary file its readable parts.

    Compiled and packed litter is passed over: it repeats what its sources say.
    """
    if change.new_type not in _CONTENT:
        # A folder that cannot be listed may hold anything.
        return Added([], whole=not change.is_unlisted_folder, compared=True)
    size = change.new_size_bytes or 0
    try:
        if change.old_type not in _CONTENT:
            return _everything(change, contents.new(change, max_bytes=MAX_FILE_BYTES), compared=True)
        hunks = contents.hunks(change)
        if hunks == ():
            return Added([], whole=True, compared=True)
        data = contents.new(change, max_bytes=MAX_FILE_BYTES)
    except SubjectError:
        return Added([], whole=False, compared=True)
    if hunks is None:
        return _everything(change, data, compared=False)
    lines = data.split(b"\n")
    runs = [
        Run(hunk.new_start, b"\n".join(lines[hunk.new_start - 1 : hunk.new_start - 1 + hunk.new_lines]))
        for hunk in hunks
        if hunk.new_lines
    ]
    return Added(runs, whole=size <= MAX_FILE_BYTES, compared=True)


def readable_text(data: bytes, *, binary: bool = True) -> tuple[bytes, bool]:
    """The text of a content, and whether its lines are lines in the sense of an editor.

    UTF-16 is read as text; of anything else with NUL bytes, the readable runs, unless not asked for.
    """
    wide = _decode_wide(data)
    if wide is not None:
        return wide, True
    if b"\0" not in data[:_SNIFFED_BYTES]:
        return data, True
    if not binary:
        return b"", False
    narrow = [match.group() for match in _PRINTABLE.finditer(data)]
    spaced = [match.group().replace(b"\0", b"") for match in _PRINTABLE_WIDE.finditer(data)]
    return b"\n".join(narrow + spaced), False


def removed_lines(change: FileChange, contents: Contents) -> Iterator[bytes]:
    """The lines a change took away: of a deleted or replaced file all."""
    if change.old_type not in _CONTENT:
        return
    hunks = contents.hunks(change) if change.new_type in _CONTENT else None
    if hunks == ():
        return
    lines = contents.old(change, max_bytes=MAX_FILE_BYTES).split(b"\n")
    if hunks is None:
        yield from lines
        return
    for hunk in hunks:
        yield from lines[max(hunk.old_start - 1, 0) : max(hunk.old_start - 1, 0) + hunk.old_lines]


def _everything(change: FileChange, data: bytes, *, compared: bool) -> Added:
    text, numbered = readable_text(data, binary=not change.litter)
    whole = (change.new_size_bytes or 0) <= MAX_FILE_BYTES
    return Added([Run(1 if numbered else None, text)], whole=whole, compared=compared)


def _decode_wide(data: bytes) -> bytes | None:
    """UTF-16 text as UTF-8: known by its mark, or by every other byte being NUL."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace").encode()
    head = data[:_SNIFFED_BYTES]
    if len(head) < 4:
        return None
    half = len(head) // 2
    for zeros, codec in ((head[1::2], "utf-16-le"), (head[0::2], "utf-16-be")):
        if zeros.count(0) > 0.9 * half and head.count(0) < 1.1 * half:
            return data.decode(codec, "replace").encode()
    return None
