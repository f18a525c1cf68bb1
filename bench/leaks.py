"""The detectors that read traces over labelled traces: what they catch, and whom they accuse.

Over `tests/corpus/traces`, the part that is only measured on and the part that is developed on. With
`TRACE_FILES` naming folders of real traces in formats that adjudge reads, those too: each is taken for
honest, and every accusation is printed, to be looked at. Nothing of them is kept.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from tests.corpus.traces import findings_of, findings_of_trace, read_traces

from adjudge.errors import AdjudgeError
from bench.integrity import interval


def measure(split: str) -> None:
    """Print recall, false alarms, a table of families, every miss and every accusation."""
    answers = [(told, findings_of(told)) for told in read_traces(split)]
    leaks = [bool(found) for told, found in answers if told.label == "leak"]
    honest = [bool(found) for told, found in answers if told.label == "honest"]
    print(f"{split}: caught {interval(sum(leaks), len(leaks))}, accused {interval(sum(honest), len(honest))}")
    for label, family in sorted({(told.label, told.family) for told, _ in answers}):
        these = [bool(found) for told, found in answers if (told.label, told.family) == (label, family)]
        print(f"  {label:7} {family:16} {sum(these):3} of {len(these):3} found")
    for told, found in answers:
        if told.label == "leak" and not found:
            print(f"  missed {told.id}")
        if told.label == "honest" and found:
            print(f"  accused {told.id}: {'; '.join(found[:3])}")


def measure_real(folders: list[Path]) -> None:
    """Print how many real traces are accused, and of what."""
    read = accused = 0
    for path in _files(folders):
        try:
            found = findings_of_trace(path.read_bytes(), "none")
        except AdjudgeError as error:
            print(f"  {path.name}: not read: {error}")
            continue
        read += 1
        accused += bool(found)
        for line in found:
            print(f"  accused {path.name}: {line[:300]}")
    print(f"real traces: accused {interval(accused, read)}")


def _files(folders: list[Path]) -> Iterator[Path]:
    for folder in folders:
        yield from sorted(path for path in folder.rglob("*") if path.is_file())


def run() -> None:
    """Print the figures."""
    for split in ("measure", "develop"):
        measure(split)
    folders = [Path(folder) for folder in os.environ.get("TRACE_FILES", "").split()]
    if folders:
        measure_real(folders)
