"""The collector of `ParsedChange`: the change set, and the changed lines of the files scorers look into.

The lines are cut out of the two contents where the hunks say, so that a diff text that had to be truncated
costs nobody a line.
"""

from __future__ import annotations

from typing import ClassVar

from adjudge.contracts import Contents, Subject
from adjudge.formats.patterns import PathPatterns
from adjudge.records.change import ChangeSet, EntryType, FileChange
from adjudge.records.evidence import ChangedLine, FileLines, ParsedChange, ParsedChangeSet

__all__ = ["ChangedLines", "ParsedChangeCollector"]

_MAX_FILE_BYTES = 64 * 1024 * 1024
"""Far above the size up to which lines are compared at all; a file that grew beyond it was swapped."""
_TEXT_TYPES = (EntryType.FILE, EntryType.SYMLINK)


class ChangedLines:
    """The changed lines of a change set's files, each cut out once however many requests ask for it."""

    def __init__(self, contents: Contents) -> None:
        self._contents = contents
        self._known: dict[str, FileLines | None] = {}

    def of(self, change: FileChange) -> FileLines | None:
        """The lines of one file; None when it has none to show: binary, too large or unreadable."""
        if change.path not in self._known:
            self._known[change.path] = self._cut(change)
        return self._known[change.path]

    def _cut(self, change: FileChange) -> FileLines | None:
        hunks = self._contents.hunks(change)
        if hunks is None:
            return None
        lines: list[ChangedLine] = []
        if hunks:
            old = _lines(self._contents.old(change, max_bytes=_MAX_FILE_BYTES))
            new = _lines(self._contents.new(change, max_bytes=_MAX_FILE_BYTES))
            for hunk in hunks:
                lines += _cut(old, hunk.old_start, hunk.old_lines, added=False)
                lines += _cut(new, hunk.new_start, hunk.new_lines, added=True)
        return FileLines(path=change.path, old_path=change.old_path, lines=tuple(lines))


class ParsedChangeCollector:
    """Answers from the change set and the contents behind it. One collector serves one subject."""

    kind: ClassVar[str] = "parsed_change"
    cost: ClassVar[int] = 1

    def __init__(self) -> None:
        self._lines: ChangedLines | None = None

    async def collect(self, request: ParsedChange, subject: Subject) -> ParsedChangeSet:
        """The change set, with the lines of every file that matches."""
        change_set = subject.change_set
        if not request.lines_of:
            return _answer(change_set, (), ())
        if self._lines is None:
            self._lines = ChangedLines(subject.contents)
        patterns = PathPatterns(request.lines_of)
        files: list[FileLines] = []
        without: list[str] = []
        for change in change_set.changes:
            if not any(path in patterns for path in change.paths):
                continue
            lines = self._lines.of(change)
            if lines is not None:
                files.append(lines)
            elif change.old_type in _TEXT_TYPES or change.new_type in _TEXT_TYPES:
                without.append(change.path)
        return _answer(change_set, tuple(files), tuple(without))


def _answer(change_set: ChangeSet, files: tuple[FileLines, ...], without: tuple[str, ...]) -> ParsedChangeSet:
    # Every part is a validated record already; validating a large change set again for each request would
    # cost more than making it.
    return ParsedChangeSet.model_construct(change_set=change_set, files=files, without_lines=without)


def _lines(content: bytes) -> list[bytes]:
    """Lines as a diff counts them: ended by newlines only."""
    lines = content.split(b"\n")
    return lines[:-1] if lines[-1] == b"" else lines


def _cut(lines: list[bytes], start: int, count: int, *, added: bool) -> list[ChangedLine]:
    first = max(start - 1, 0)
    return [
        ChangedLine.model_construct(
            number=number, text=line.removesuffix(b"\r").decode("utf-8", "replace"), added=added
        )
        for number, line in enumerate(lines[first : first + count], start=first + 1)
    ]
