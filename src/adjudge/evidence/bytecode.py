"""Compiled Python that an attempt left, which an interpreter may load in the place of sources."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Final

from adjudge.contracts import Subject
from adjudge.errors import WorkspaceUnreadable
from adjudge.formats.bytecode import differs_from_source, is_bytecode, source_of
from adjudge.records.change import EntryType, FileChange

__all__ = ["compiled_files", "foreign_among"]

_MAX_FILES: Final = 2000
_MAX_BYTES: Final = 1024 * 1024


def compiled_files(subject: Subject) -> list[FileChange]:
    """All of it that came or changed."""
    found = (
        change
        for change in subject.change_set.changes
        if change.new_type is EntryType.FILE and is_bytecode(change.path)
    )
    return list(islice(found, _MAX_FILES))


def foreign_among(compiled: Sequence[FileChange], subject: Subject) -> list[str]:
    """Paths of those that do not look like the source beside them."""
    found = []
    for change in compiled:
        source = subject.contents.read(source_of(change.path), max_bytes=_MAX_BYTES)
        try:
            data = subject.contents.new(change, max_bytes=_MAX_BYTES)
        except WorkspaceUnreadable:
            continue
        if source is not None and differs_from_source(source, data):
            found.append(change.path)
    return found
