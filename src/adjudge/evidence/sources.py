"""The collector of `SourceScan`: what the functions of source files amount to, before and after."""

from __future__ import annotations

from typing import ClassVar

from adjudge.contracts import Subject
from adjudge.evidence.outlining import Outliner, OutlineUnavailable, outlining
from adjudge.formats.patterns import PathPatterns
from adjudge.records.change import EntryType, FileChange
from adjudge.records.evidence import ScannedFile, ScannedSources, SourceScan
from adjudge.records.source import SourceOutline
from adjudge.syntax.grammars import MAX_SOURCE_BYTES, grammar_of
from adjudge.syntax.languages import default_test_globs, is_third_party

__all__ = ["SourceScanCollector"]

_MAX_TOTAL_BYTES = 8 * 1024 * 1024
"""Of all files of a request, both sides."""
_OTHER_SOURCES = (
    ".c", ".cc", ".cpp", ".cxx", ".h", ".hpp", ".cs", ".kt", ".kts", ".swift", ".php", ".scala", ".clj",
    ".ex", ".exs", ".erl", ".hs", ".ml", ".lua", ".pl", ".pm", ".r", ".jl", ".dart", ".sh", ".bash", ".sql",
    ".vue", ".svelte", ".html", ".css", ".scss", ".less", ".zig", ".nim", ".m", ".mm", ".f90", ".groovy",
    ".fs", ".vb", ".asm", ".s", ".proto", ".tf", ".pyi", ".pyx",
)  # fmt: skip
"""Source that no grammar is at hand for. It is named, not looked into."""


class SourceScanCollector:
    """Reads both sides of the files in question and has them parsed."""

    kind: ClassVar[str] = "source_scan"
    cost: ClassVar[int] = 1

    def __init__(self, outliner: Outliner | None = None) -> None:
        self._outliner = outliner

    async def collect(self, request: SourceScan, subject: Subject) -> ScannedSources:
        """Scan the files asked for, or every source file that changed."""
        changes = {change.path: change for change in subject.change_set.changes}
        paths = request.files or tuple(path for path, change in changes.items() if _is_source(change))
        files: list[ScannedFile] = []
        unscanned: list[str] = []
        budget = _MAX_TOTAL_BYTES
        with outlining(self._outliner) as outliner:
            for path in paths:
                if budget <= 0:
                    unscanned.append(path)
                    continue
                scanned, read = _scan(path, changes.get(path), subject, outliner)
                files.append(scanned)
                budget -= read
        return ScannedSources(files=tuple(files), unscanned=tuple(unscanned))


def _is_source(change: FileChange) -> bool:
    path = change.path
    if change.litter or is_third_party(path) or path in PathPatterns(default_test_globs()):
        return False
    return grammar_of(path) is not None or path.endswith(_OTHER_SOURCES)


def _scan(
    path: str, change: FileChange | None, subject: Subject, outliner: Outliner
) -> tuple[ScannedFile, int]:
    found = subject.contents.look(path)
    if found is None or found.type is not EntryType.FILE:
        note = "nothing is there" if found is None else f"a {found.type} is there"
        return ScannedFile(path=path, present=False, changed=change is not None, note=note), 0
    limit = MAX_SOURCE_BYTES + 1
    after = subject.contents.read(path, max_bytes=limit)
    if after is None:
        return ScannedFile(path=path, changed=change is not None, note="it cannot be read"), 0
    before = after if change is None else subject.contents.old(change, max_bytes=limit)
    note = ""
    outlines: list[SourceOutline | None] = []
    for side in (before, after):
        if side is before and change is not None and change.old_type is not EntryType.FILE:
            outlines.append(None)
            continue
        try:
            outlines.append(outliner.outline(path, side))
        except OutlineUnavailable as error:
            outlines.append(None)
            note = str(error)
    if not note and outlines[1] is None:
        note = "no grammar is at hand for it"
    scanned = ScannedFile(
        path=path,
        changed=change is not None and before != after,
        before=outlines[0],
        after=outlines[1],
        note=note,
    )
    return scanned, len(before) + len(after)
