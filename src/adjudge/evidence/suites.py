"""The collector of `SuiteScan`: what changed test files check, before and after."""

from __future__ import annotations

from typing import ClassVar

from adjudge.contracts import Subject
from adjudge.errors import WorkspaceUnreadable
from adjudge.evidence.outlining import Outliner, OutlineUnavailable, outlining
from adjudge.formats.patterns import PathPatterns
from adjudge.records.change import EntryType, FileChange
from adjudge.records.evidence import ScannedSuite, ScannedSuites, SuiteScan
from adjudge.records.testcode import SuiteOutline
from adjudge.syntax.grammars import MAX_SOURCE_BYTES
from adjudge.syntax.languages import is_third_party
from adjudge.syntax.testcode.outline import reads_tests_of
from adjudge.syntax.testcode.support import is_support

__all__ = ["SuiteScanCollector"]

_MAX_TOTAL_BYTES = 16 * 1024 * 1024
"""Of all files of a request, both sides; what is beyond is compared by its lines."""


class SuiteScanCollector:
    """Reads both sides of changed test files and has them parsed."""

    kind: ClassVar[str] = "suite_scan"
    cost: ClassVar[int] = 1

    def __init__(self, outliner: Outliner | None = None) -> None:
        self._outliner = outliner

    async def collect(self, request: SuiteScan, subject: Subject) -> ScannedSuites:
        """Scan every changed test file whose language is read."""
        patterns = PathPatterns(request.test_globset)
        files: list[ScannedSuite] = []
        budget = _MAX_TOTAL_BYTES
        with outlining(self._outliner) as outliner:
            for change in subject.change_set.changes:
                sides = [
                    reads_tests_of(path)
                    and path in patterns
                    and (request.third_party or not is_third_party(path))
                    for path in (change.old_path or change.path, change.path)
                ]
                support = request.support and not any(sides) and _is_support(change, subject)
                if not any(sides) and not support:
                    continue
                if support:
                    sides = [True, True]
                scanned, read = _scan(change, subject, outliner, sides, readable=budget > 0)
                files.append(scanned.model_copy(update={"support": support}) if support else scanned)
                budget -= read
        return ScannedSuites(files=tuple(files))


def _is_support(change: FileChange, subject: Subject) -> bool:
    """Whether a file that is no test's by its name checked for tests before it was changed."""
    old_path = change.old_path or change.path
    there = change.old_type is EntryType.FILE and change.new_type is EntryType.FILE and not change.litter
    if not there or change.unreadable is not None or is_third_party(old_path) or not reads_tests_of(old_path):
        return False
    try:
        return is_support(old_path, subject.contents.old(change, max_bytes=MAX_SOURCE_BYTES))
    except WorkspaceUnreadable:
        return False


def _scan(
    change: FileChange, subject: Subject, outliner: Outliner, is_test: list[bool], *, readable: bool
) -> tuple[ScannedSuite, int]:
    old_path = change.old_path or change.path
    unknown = ScannedSuite(path=change.path, old_path=old_path, readable=False)
    if not readable or change.unreadable is not None:
        return unknown, 0
    limit = MAX_SOURCE_BYTES + 1
    sources: list[bytes | None] = [None, None]
    outlines: tuple[SuiteOutline | None, SuiteOutline | None]
    try:
        for index, kind in enumerate((change.old_type, change.new_type)):
            if is_test[index] and kind is EntryType.FILE:
                read_side = subject.contents.old if index == 0 else subject.contents.new
                sources[index] = read_side(change, max_bytes=limit)
        old, new = sources
        read = len(old or b"") + len(new or b"")
        if old is not None and new is not None:
            outlines = outliner.outline_change(old_path, old, change.path, new)
        else:
            outlines = (
                None if old is None else outliner.outline_tests(old_path, old),
                None if new is None else outliner.outline_tests(change.path, new),
            )
    except (OutlineUnavailable, WorkspaceUnreadable):
        return unknown, sum(len(source or b"") for source in sources)
    if any(source is not None and outline is None for source, outline in zip(sources, outlines, strict=True)):
        return unknown, read
    before, after = outlines
    if after is not None and after.error_line is not None:
        return unknown, read
    return ScannedSuite(path=change.path, old_path=old_path, before=before, after=after), read
