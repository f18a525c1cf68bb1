"""The diff text of a change set, within limits.

Owns what is drawn and what is left out: litter never comes here, content too large for a limit is replaced
by a line that says so, and the whole text is streamed to where it is kept. Drawing one file is left to
`patchtext`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from adjudge.capture.checkout import looks_binary
from adjudge.capture.entries import Content, Entry, EntryType, is_content
from adjudge.capture.linediff import Budget
from adjudge.capture.patchtext import Drawn, Half, draw, draw_header, quote
from adjudge.contracts import BlobStore, BlobWriter
from adjudge.formats.blobs import UnstoredBlob
from adjudge.records.base import BlobRef
from adjudge.records.change import Hunk

__all__ = ["DiffLimits", "DiffWriter", "FileDiff"]


@dataclass(frozen=True, slots=True)
class DiffLimits:
    """How much of a change set is drawn, read and listed. What is beyond is marked, never just dropped."""

    file_bytes: int = 2 << 20
    """Content of either side, above which a file's text is left out of the diff."""
    total_bytes: int = 32 << 20
    """The whole diff text."""
    hashed_file_bytes: int = 4 << 30
    """A larger file has no digest: a sparse file can claim any size at no cost."""
    hashed_total_bytes: int = 16 << 30
    litter_hashed_files: int = 1_000
    """Litter beyond this many files, or the bytes below, is listed without content digests; sizes
    stand in for them in the change set's digest."""
    litter_hashed_bytes: int = 64 << 20
    changes: int = 500_000
    """A workspace with more changed paths than this is refused."""


@dataclass(frozen=True, slots=True)
class FileDiff:
    """What the diff says about one change."""

    added_lines: int | None = None
    removed_lines: int | None = None
    hunks: tuple[Hunk, ...] = ()
    binary: bool = False
    truncated: bool = False


class DiffWriter:
    """Draws changes one after another."""

    def __init__(self, blobs: BlobStore | None, limits: DiffLimits) -> None:
        self._writer: BlobWriter = UnstoredBlob() if blobs is None else blobs.writer()
        self._limits = limits
        self._budget = Budget()
        self._written = 0
        self._left_out = 0

    def add(
        self,
        old: tuple[bytes, Entry] | None,
        new: tuple[bytes, Entry] | None,
        *,
        unreadable: str | None = None,
        similarity: int | None = None,
    ) -> FileDiff:
        """Draw one change; the sides are path and entry."""
        if unreadable is not None:
            return self._note(old, new, f"cannot be read: {unreadable}")
        if old is not None and new is not None and _has_text(old[1]) and old[1].type is new[1].type:
            return self._draw(old, new, similarity)
        # git has no word for a change of type: the old entry goes, the new one comes.
        parts = []
        if old is not None:
            parts.append(self._draw(old, None, None) if _has_text(old[1]) else self._note(old, None))
        if new is not None:
            parts.append(self._draw(None, new, None) if _has_text(new[1]) else self._note(None, new))
        return FileDiff(
            _sum(part.added_lines for part in parts),
            _sum(part.removed_lines for part in parts),
            tuple(hunk for part in parts for hunk in part.hunks),
            any(part.binary for part in parts),
            any(part.truncated for part in parts),
        )

    def finish(self) -> BlobRef:
        """Keep the text. Its size counts what was left out by the size of the content."""
        return self._writer.commit(size_bytes=self._written + self._left_out)

    def abort(self) -> None:
        """Forget the text. Harmless after `finish`."""
        self._writer.abort()

    def _draw(
        self, old: tuple[bytes, Entry] | None, new: tuple[bytes, Entry] | None, similarity: int | None
    ) -> FileDiff:
        sides = [side for side in (old, new) if side is not None]
        largest = max(_size(entry) for _, entry in sides)
        if largest > self._limits.file_bytes and similarity != 100:
            binary = any(looks_binary(_head(entry)) for _, entry in sides)
            return self._leave_out(old, new, similarity, f"{largest} bytes", largest, binary=binary)
        try:
            halves = [None if side is None else _half(side, skip=similarity == 100) for side in (old, new)]
        except PermissionError as error:
            return self._leave_out(old, new, similarity, str(error), largest, binary=True)
        drawn = draw(halves[0], halves[1], self._budget, similarity=similarity)
        if self._written + len(drawn.text) > self._limits.total_bytes:
            return self._leave_out(
                old, new, similarity, "the diff is at its limit", len(drawn.text), drawn=drawn
            )
        self._write(drawn.text)
        return FileDiff(drawn.added_lines, drawn.removed_lines, drawn.hunks, drawn.binary)

    def _leave_out(
        self,
        old: tuple[bytes, Entry] | None,
        new: tuple[bytes, Entry] | None,
        similarity: int | None,
        why: str,
        size: int,
        *,
        binary: bool = False,
        drawn: Drawn | None = None,
    ) -> FileDiff:
        halves = [None if side is None else Half(side[0], side[1].mode, None) for side in (old, new)]
        self._write(draw_header(halves[0], halves[1], similarity=similarity))
        self._write(f"[adjudge: content left out: {why}]\n".encode())
        self._left_out += size
        if drawn is not None:
            return FileDiff(drawn.added_lines, drawn.removed_lines, drawn.hunks, drawn.binary, truncated=True)
        return FileDiff(binary=binary, truncated=True)

    def _note(
        self, old: tuple[bytes, Entry] | None, new: tuple[bytes, Entry] | None, why: str | None = None
    ) -> FileDiff:
        """A line for what a patch cannot express; programs that apply patches skip it."""
        side = new or old
        assert side is not None
        path, entry = side
        text = why or f"{entry.type} {'added' if new is not None else 'deleted'}"
        self._write(b"[adjudge: %b: %b]\n" % (quote(path), text.encode("utf-8", "replace")))
        return FileDiff(truncated=why is not None)

    def _write(self, text: bytes) -> None:
        self._writer.write(text)
        self._written += len(text)


def _has_text(entry: Entry) -> bool:
    return entry.type in (EntryType.FILE, EntryType.SYMLINK, EntryType.REPOSITORY)


def _size(entry: Entry) -> int:
    return entry.size if is_content(entry) else 0


def _head(entry: Entry) -> bytes:
    """The first bytes of a content, to see whether it is text."""
    if not is_content(entry):
        return b""
    try:
        return next(iter(entry.chunks()), b"")
    except PermissionError:
        return b"\0"


def _half(side: tuple[bytes, Entry], *, skip: bool) -> Half:
    path, entry = side
    if skip:
        return Half(path, entry.mode, b"")
    if is_content(entry):
        return Half(path, entry.mode, _whole(entry))
    commit: str = getattr(entry, "commit", "")
    return Half(path, entry.mode, f"Subproject commit {commit}\n".encode())


def _whole(content: Content) -> bytes:
    return b"".join(content.chunks())


def _sum(counts: Iterable[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None
