"""Findings at the lines of a diff."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from adjudge.records.evaluation import Evaluation
from adjudge.records.score import Finding, Verdict
from adjudge.web.agenttrace.diffs import DiffFile, DiffRow

__all__ = ["Note", "Placed", "anchor_of", "notes_of", "place_notes"]


class Note(NamedTuple):
    """A finding, and who found it."""

    scorer: str
    position: int
    """Of the scorer in its evaluation."""
    number: int
    """Of the finding in its scorer."""
    verdict: Verdict
    finding: Finding


class Placed(NamedTuple):
    """Findings of a file: at the rows they are about, and the others."""

    at: dict[int, list[Note]]
    """Number of the row → what is said of it."""
    elsewhere: list[Note]
    """Of the file as a whole, or of lines that are not in the diff."""


def notes_of(evaluation: Evaluation | None) -> dict[str, list[Note]]:
    """Path → what was found there."""
    found: dict[str, list[Note]] = {}
    for position, row in enumerate(evaluation.scorers if evaluation is not None else ()):
        for number, finding in enumerate(row.findings):
            if finding.path is not None:
                note = Note(row.name, position, number, row.verdict, finding)
                found.setdefault(finding.path, []).append(note)
    return found


def place_notes(file: DiffFile, rows: Sequence[DiffRow], notes: dict[str, list[Note]]) -> Placed:
    """Where the findings of a file belong.

    A finding gives a line of the final file or, where that is not in the diff, of the baseline's.
    """
    by_new = {row.new: at for at, row in enumerate(rows) if row.new is not None}
    by_old = {row.old: at for at, row in enumerate(rows) if row.old is not None and row.op == "-"}
    placed = Placed({}, [])
    for note in _of(file, notes):
        line = note.finding.line
        at = None if line is None else by_new.get(line, by_old.get(line))
        if at is None:
            placed.elsewhere.append(note)
        else:
            placed.at.setdefault(at, []).append(note)
    return placed


def _of(file: DiffFile, notes: dict[str, list[Note]]) -> Iterable[Note]:
    for path in dict.fromkeys(file.change.paths):
        yield from notes.get(path, ())


def anchor_of(file: DiffFile, row: DiffRow | None = None) -> str:
    """The id of a file or of a line of it, on its page."""
    if row is None:
        return f"f{file.index}"
    return f"f{file.index}n{row.new}" if row.new is not None else f"f{file.index}o{row.old}"
