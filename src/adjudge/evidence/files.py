"""The collector of `FileComparison`: files of the workspace beside the ones a scenario expects.

The expected files are read where the scenario or its frozen copy keeps them, and must still have the digests
the task was made with.
"""

from __future__ import annotations

import difflib
from typing import ClassVar

from adjudge.contracts import Contents, Subject
from adjudge.evidence.hiddenfiles import read_scenario_file
from adjudge.records.change import EntryType
from adjudge.records.evidence import ComparedFile, ComparedFiles, FileComparison, FileMatch
from adjudge.records.paths import path_bytes

__all__ = ["FileComparisonCollector"]

_MAX_DIFF_BYTES = 256 * 1024
"""Of either file, above which only the fact of a difference is told."""
_MAX_DIFF_LINES = 12
_MAX_LINE = 160


class FileComparisonCollector:
    """Compares bytes; nothing is run."""

    kind: ClassVar[str] = "file_comparison"
    cost: ClassVar[int] = 1

    async def collect(self, request: FileComparison, subject: Subject) -> ComparedFiles:
        """Compare every file of the folder with what lies at its path in the workspace."""
        folder = request.folder
        compared: list[ComparedFile] = []
        for entry in subject.task.files:
            if entry.path != folder and not entry.path.startswith(f"{folder}/"):
                continue
            inside = entry.path[len(folder) + 1 :] or folder.rpartition("/")[2]
            expected = read_scenario_file(entry, subject.scenario_files)
            compared.append(_compare(inside, expected, subject.contents))
        return ComparedFiles(files=tuple(sorted(compared, key=lambda file: path_bytes(file.path))))


def _compare(path: str, expected: bytes, contents: Contents) -> ComparedFile:
    found = contents.look(path)
    if found is None:
        return ComparedFile(path=path, match=FileMatch.MISSING, note="nothing is there")
    if found.type is not EntryType.FILE:
        return ComparedFile(path=path, match=FileMatch.NOT_A_FILE, note=f"a {found.type} is there")
    # One byte more than expected is enough to see that there are more.
    actual = contents.read(path, max_bytes=max(len(expected) + 1, _MAX_DIFF_BYTES + 1))
    if actual is None:
        return ComparedFile(path=path, match=FileMatch.DIFFERENT, note="it cannot be read")
    if actual == expected:
        return ComparedFile(path=path, match=FileMatch.SAME)
    line, note = _difference(expected, actual, found.size_bytes)
    return ComparedFile(path=path, match=FileMatch.DIFFERENT, line=line, note=note)


def _difference(expected: bytes, actual: bytes, size_bytes: int | None) -> tuple[int | None, str]:
    sizes = f"{size_bytes if size_bytes is not None else len(actual):,} bytes, expected {len(expected):,}"
    if b"\0" in expected or b"\0" in actual or max(len(expected), len(actual)) > _MAX_DIFF_BYTES:
        return None, sizes
    old, new = (data.decode("utf-8", "replace").split("\n") for data in (expected, actual))
    same = next((index for index, pair in enumerate(zip(old, new, strict=False)) if pair[0] != pair[1]), None)
    first = min(len(old), len(new)) if same is None else same
    # Only a window around the first difference: comparing all of two hostile files takes quadratic time.
    window = slice(max(0, first - 1), first + 2 * _MAX_DIFF_LINES)
    lines = list(difflib.unified_diff(old[window], new[window], "expected", "found", lineterm="", n=1))[3:]
    shown = [line[:_MAX_LINE] for line in lines[:_MAX_DIFF_LINES]]
    if len(lines) > _MAX_DIFF_LINES:
        shown.append("…")
    return first + 1, "\n".join([sizes, *shown])
