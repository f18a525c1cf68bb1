"""A stored diff, file by file: which files there are, and the lines of one when they are asked for.

The list of files comes from the change set, which is certain; the text is found in the diff by its sections.
Lines of a hunk begin with a space, + or -, so that nothing in a file can begin a section.
"""

from __future__ import annotations

import functools
import itertools
import os
import re
import weakref
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import BinaryIO, NamedTuple

from markupsafe import Markup

from adjudge.errors import PatchUnreadable
from adjudge.formats.patch import FilePatch, PatchHunk, parse_patch
from adjudge.records.change import ChangeKind, ChangeSet, EntryType, FileChange
from adjudge.records.paths import render_path
from adjudge.web.agenttrace.highlighting import Line, Piece, highlight, language_of, markup
from adjudge.web.agenttrace.spools import spool

__all__ = ["DiffFile", "DiffRow", "FileText", "Pair", "StoredDiff", "coloured", "describe_change", "pairs_of"]

MAX_SECTION_BYTES = 8 << 20
"""Text of one file that is read."""
MAX_LINE_CHARS = 2_000
"""Characters of a line that are shown."""
_MAX_KEPT_ROWS = 20_000
"""Lines that are remembered."""
_MAX_HEAD = 64 * 1024
_SECTION = b"diff --git "
_BODIES = (b"@@ ", b"GIT binary patch", b"[adjudge: ")
_LEFT_OUT = re.compile(rb"^\[adjudge: content left out: (.*)\]$", re.MULTILINE)


class DiffRow(NamedTuple):
    """A line of a diff, or the head of a hunk."""

    op: str
    """` ` kept, `-` removed, `+` added, `@` the head of a hunk."""
    old: int | None
    new: int | None
    line: Line
    cut: int = 0
    """Characters that are not shown."""
    unended: bool = False
    """Whether the file ends here without a newline."""

    @property
    def text(self) -> str:
        """The characters that are shown."""
        return "".join(piece.text for piece in self.line)

    @property
    def html(self) -> Markup:
        """The text, escaped."""
        return markup(self.line)


class Pair(NamedTuple):
    """A line on each side; None where a side has none."""

    left: DiffRow | None
    right: DiffRow | None


@dataclass(frozen=True, slots=True)
class FileText:
    """The lines of one file's diff."""

    rows: tuple[DiffRow, ...] = ()
    notes: tuple[str, ...] = ()
    """Why there are none, or not all."""


@dataclass(slots=True)
class DiffFile:
    """A changed file, and where its text is."""

    index: int
    change: FileChange
    sections: list[tuple[int, int]] = field(default_factory=list)
    """Offset and size of each part of the diff that is about it."""

    @property
    def lines(self) -> int | None:
        """How many lines were added and removed; None when nobody counted."""
        if self.change.added_lines is None and self.change.removed_lines is None:
            return None
        return (self.change.added_lines or 0) + (self.change.removed_lines or 0)

    @property
    def size_bytes(self) -> int:
        """How much text there is about it."""
        return sum(size for _, size in self.sections)


class StoredDiff:
    """The diff of a change set. Called from any thread.

    Args:
        changes: What changed; litter has no text and is left out.
        source: The diff's bytes; None when they were not kept.
    """

    def __init__(self, changes: ChangeSet, source: BinaryIO | None) -> None:
        self.files = [DiffFile(index, change) for index, change in enumerate(changes.work)]
        self.litter = len(changes.litter)
        self._file: BinaryIO | None = None
        self._lock = Lock()
        self._texts: OrderedDict[int, FileText] = OrderedDict()
        self.size_bytes, cut = 0, False
        if source is not None:
            self._file, self.size_bytes, cut = spool(source)
            # A view that is ended in the midst of things closes nothing itself.
            weakref.finalize(self, self._file.close)
        self.incomplete = cut or changes.diff.truncated or source is None
        if self._file is not None:
            self._find_sections()

    def close(self) -> None:
        """Let go of the copy."""
        if self._file is not None:
            self._file.close()

    def at_path(self, path: str) -> DiffFile | None:
        """The change of a path, either end of a rename."""
        return next((file for file in self.files if path in file.change.paths), None)

    def text(self, file: DiffFile) -> FileText:
        """The lines of a file's diff; remembered, for pages ask for them again."""
        if self._file is None:
            return FileText(notes=("the text of the diff was not kept",))
        with self._lock:
            if file.index in self._texts:
                self._texts.move_to_end(file.index)
                return self._texts[file.index]
        text = self._read(self._file, file)
        with self._lock:
            self._texts[file.index] = text
            while (
                len(self._texts) > 1 and sum(len(kept.rows) for kept in self._texts.values()) > _MAX_KEPT_ROWS
            ):
                self._texts.popitem(last=False)
        return text

    def _read(self, diff: BinaryIO, file: DiffFile) -> FileText:
        rows: list[DiffRow] = []
        notes: list[str] = []
        for offset, size in file.sections:
            data = os.pread(diff.fileno(), min(size, MAX_SECTION_BYTES), offset)
            notes += (said.decode("utf-8", "replace") for said in _LEFT_OUT.findall(data))
            if size > MAX_SECTION_BYTES:
                notes.append("too long to be shown whole")
            try:
                for patch in parse_patch(data):
                    rows += _rows(patch)
                    if patch.binary is not None:
                        notes.append("binary content")
            except PatchUnreadable as error:
                rows += _raw_rows(data)
                notes.append(f"shown as it is written: {error.message}")
        if not rows and not notes:
            notes.append(_why_empty(file.change))
        return FileText(tuple(rows), tuple(notes))

    def _find_sections(self) -> None:
        assert self._file is not None
        by_path: dict[str, list[DiffFile]] = {}
        for file in self.files:
            for path in file.change.paths:
                by_path.setdefault(path, []).append(file)
        for offset, size, head in self._sections():
            for path in _paths_of(head):
                if path in by_path:
                    by_path[path][0].sections.append((offset, size))
                    break

    def _sections(self) -> Iterator[tuple[int, int, bytes]]:
        """Offset, size and head of each section."""
        assert self._file is not None
        self._file.seek(0)
        at, began, whole, in_head = 0, -1, True, False
        head = b""
        for raw in iter(functools.partial(self._file.readline, 1 << 20), b""):
            begins, whole = whole, raw.endswith(b"\n")
            if begins and raw.startswith(_SECTION):
                if began >= 0:
                    yield began, at - began, head
                began, head, in_head = at, b"", True
            elif begins and raw.startswith(_BODIES):
                in_head = False
            if in_head and len(head) < _MAX_HEAD:
                head += raw
            at += len(raw)
        if began >= 0:
            yield began, at - began, head


def _paths_of(head: bytes) -> list[str]:
    """The paths a section is about, the new one first."""
    try:
        patches = parse_patch(head)
    except PatchUnreadable:
        return []
    found = [path for patch in patches for path in (patch.new_path, patch.old_path) if path is not None]
    return list(dict.fromkeys(found))


def _rows(patch: FilePatch) -> Iterator[DiffRow]:
    delta = 0
    for hunk in patch.hunks:
        yield from _hunk_rows(hunk, delta)
        delta += len(hunk.new) - len(hunk.old)


def _hunk_rows(hunk: PatchHunk, delta: int) -> Iterator[DiffRow]:
    # A hunk that expects nothing names the line before it.
    old = hunk.old_start + (0 if hunk.old else 1)
    new = old + delta
    before_at, after_at = old - (not hunk.old), new - (not hunk.new)
    yield _row("@", f"@@ -{before_at},{len(hunk.old)} +{after_at},{len(hunk.new)} @@")
    for line in hunk.lines:
        text, cut = _shown(line.text)
        unended = not line.text.endswith(b"\n")
        numbers = (None if line.op == "+" else old, None if line.op == "-" else new)
        yield _row(line.op, text, *numbers, cut, unended)
        old += line.op != "+"
        new += line.op != "-"


def _row(
    op: str, text: str, old: int | None = None, new: int | None = None, cut: int = 0, unended: bool = False
) -> DiffRow:
    return DiffRow(op, old, new, (Piece("", text),) if text else (), cut, unended)


def coloured(rows: Sequence[DiffRow], path: str) -> list[DiffRow]:
    """The same lines with their colours.

    Only what is shown is coloured, each side of a hunk as one text: a file may have any number of lines.
    """
    language = language_of(path)
    if language is None:
        return list(rows)
    done: list[DiffRow] = []
    for is_head, group in itertools.groupby(rows, key=lambda row: row.op == "@"):
        lines = list(group)
        if is_head:
            done += lines
            continue
        before = iter(highlight([row.text for row in lines if row.op != "+"], language))
        after = iter(highlight([row.text for row in lines if row.op != "-"], language))
        for row in lines:
            old = next(before) if row.op != "+" else ()
            new = next(after) if row.op != "-" else ()
            done.append(row._replace(line=old if row.op == "-" else new))
    return done


def _shown(raw: bytes) -> tuple[str, int]:
    """A line for people, without its end, and how many characters of it are not shown."""
    text = raw.decode("utf-8", "replace").removesuffix("\n")
    return (text, 0) if len(text) <= MAX_LINE_CHARS else (text[:MAX_LINE_CHARS], len(text) - MAX_LINE_CHARS)


def _raw_rows(data: bytes) -> Iterator[DiffRow]:
    for raw in data.split(b"\n")[:2_000]:
        text, cut = _shown(raw)
        yield _row(" ", text, cut=cut)


def pairs_of(rows: Sequence[DiffRow]) -> list[Pair]:
    """The same lines side by side: what was removed beside what came in its place."""
    pairs: list[Pair] = []
    removed: list[DiffRow] = []
    added: list[DiffRow] = []

    def settle() -> None:
        for at in range(max(len(removed), len(added))):
            pairs.append(
                Pair(removed[at] if at < len(removed) else None, added[at] if at < len(added) else None)
            )
        removed.clear()
        added.clear()

    for row in rows:
        if row.op == "-":
            if added:
                settle()
            removed.append(row)
        elif row.op == "+":
            added.append(row)
        else:
            settle()
            pairs.append(Pair(row, row))
    settle()
    return pairs


_KINDS: Mapping[ChangeKind, str] = {
    ChangeKind.ADDED: "added",
    ChangeKind.MODIFIED: "modified",
    ChangeKind.DELETED: "deleted",
    ChangeKind.RENAMED: "renamed",
    ChangeKind.MODE_CHANGED: "mode changed",
    ChangeKind.TYPE_CHANGED: "type changed",
}


def describe_change(change: FileChange) -> str:
    """What happened to a path, in words."""
    said = _KINDS[change.kind]
    if change.old_path is not None:
        said += f" from {render_path(change.old_path)}"
    modes = (change.old_mode, change.new_mode)
    if None not in modes and modes[0] != modes[1]:
        said += f", mode {modes[0]:o} to {modes[1]:o}"
    for type_ in (change.new_type, change.old_type):
        if type_ is not None and type_ is not EntryType.FILE:
            return f"{said}, {type_.value}"
    return said


def _why_empty(change: FileChange) -> str:
    if change.unreadable is not None:
        return f"cannot be read: {change.unreadable}"
    if change.binary:
        return "binary content"
    if change.diff_truncated:
        return "content left out for its size"
    return "no line changed"
