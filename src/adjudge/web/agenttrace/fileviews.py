"""Files of a diff for a page: their lines as far as there is room, findings beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from adjudge.records.paths import render_path
from adjudge.web.agenttrace.diffs import DiffFile, DiffRow, StoredDiff, coloured, describe_change, pairs_of
from adjudge.web.agenttrace.placing import Note, Placed, anchor_of, place_notes

__all__ = ["FILE_ROWS", "FileView", "NotedRow", "file_view", "file_views", "row_of_finding"]

FILE_ROWS = 200
"""Lines of one file on a page of its own."""
FEW_ROWS = 120
"""Lines of a file that are shown unasked."""
ALL_ROWS = 160
"""Lines of all files that are shown unasked."""
LARGE_BYTES = 64 * 1024
"""Text of a file that is not even read unasked."""


class NotedRow(NamedTuple):
    """A line, its anchor, and what was found there."""

    row: DiffRow
    anchor: str
    notes: tuple[Note, ...]


class NotedPair(NamedTuple):
    """A line on each side, and what was found at either."""

    left: NotedRow | None
    right: NotedRow | None
    notes: tuple[Note, ...]


@dataclass(frozen=True, slots=True)
class FileView:
    """A changed file as it is shown."""

    file: DiffFile
    prefix: str = ""
    """What its anchors begin with."""
    rows: tuple[NotedRow, ...] = ()
    pairs: tuple[NotedPair, ...] | None = None
    """The same lines side by side; None: one below the other."""
    elsewhere: tuple[Note, ...] = ()
    """What was found that is at none of the lines."""
    notes: tuple[str, ...] = ()
    folded: str = ""
    """What is not shown unasked, in words; empty when everything is."""
    earlier: int | None = None
    """Where the lines before start."""
    later: int | None = None
    """Where the lines behind start."""

    @property
    def index(self) -> int:
        """Which of the changed files it is."""
        return self.file.index

    @property
    def anchor(self) -> str:
        """Its id in the document."""
        return self.prefix + anchor_of(self.file)

    @property
    def path(self) -> str:
        """For people."""
        return render_path(self.file.change.path)

    @property
    def said(self) -> str:
        """What happened to it."""
        return describe_change(self.file.change)

    @property
    def added(self) -> int | None:
        """Lines."""
        return self.file.change.added_lines

    @property
    def removed(self) -> int | None:
        """Lines."""
        return self.file.change.removed_lines


def file_view(
    diff: StoredDiff,
    file: DiffFile,
    notes: dict[str, list[Note]],
    *,
    split: bool = False,
    start: int = 0,
    limit: int = FILE_ROWS,
    prefix: str = "",
) -> FileView:
    """One file, from a line on."""
    text = diff.text(file)
    placed = place_notes(file, text.rows, notes)
    start = min(max(0, start), max(0, len(text.rows) - 1)) // limit * limit
    end = min(len(text.rows), start + limit)
    lines = coloured(text.rows[start:end], file.change.path)
    rows = [_noted(file, row, placed, at, prefix) for at, row in enumerate(lines, start)]
    return FileView(
        file,
        prefix,
        rows=tuple(rows),
        pairs=tuple(_pairs(rows)) if split else None,
        elsewhere=tuple(placed.elsewhere) if not start else (),
        notes=text.notes,
        earlier=max(0, start - limit) if start else None,
        later=end if end < len(text.rows) else None,
    )


def file_views(
    diff: StoredDiff,
    files: Sequence[DiffFile],
    notes: dict[str, list[Note]],
    *,
    split: bool = False,
    room: int = ALL_ROWS,
    each: int = FEW_ROWS,
    prefix: str = "",
) -> list[FileView]:
    """Several files: small ones with their lines until there is no more room, the others folded."""
    views = []
    for file in files:
        lines = file.lines
        small = lines is not None and lines <= min(each, room) and file.size_bytes <= LARGE_BYTES
        if lines and not small:
            views.append(_folded(file, notes, prefix))
            continue
        view = file_view(diff, file, notes, split=split, prefix=prefix)
        room -= len(view.rows)
        views.append(view)
    return views


def row_of_finding(diff: StoredDiff, file: DiffFile, note: Note) -> tuple[int, str]:
    """Where a finding is: the number of the row, and its anchor."""
    rows = diff.text(file).rows
    placed = place_notes(file, rows, {path: [note] for path in file.change.paths[:1]})
    for at in placed.at:
        return at, anchor_of(file, rows[at])
    return 0, anchor_of(file)


def _folded(file: DiffFile, notes: dict[str, list[Note]], prefix: str) -> FileView:
    placed = place_notes(file, (), notes)
    many = f"{file.lines:,} changed lines"
    return FileView(file, prefix, elsewhere=tuple(placed.elsewhere), folded=many)


def _noted(file: DiffFile, row: DiffRow, placed: Placed, at: int, prefix: str) -> NotedRow:
    anchor = "" if row.old is None and row.new is None else prefix + anchor_of(file, row)
    return NotedRow(row, anchor, tuple(placed.at.get(at, ())))


def _pairs(rows: Sequence[NotedRow]) -> list[NotedPair]:
    of = {id(noted.row): noted for noted in rows}
    pairs = []
    for pair in pairs_of([noted.row for noted in rows]):
        left = None if pair.left is None else of[id(pair.left)]
        right = None if pair.right is None else of[id(pair.right)]
        sides = (left,) if left is right else (left, right)
        pairs.append(NotedPair(left, right, tuple(note for side in sides if side for note in side.notes)))
    return pairs
