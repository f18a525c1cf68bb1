"""How scorers speak of paths and counts, so that their rows read alike, and how many findings a row holds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice

from adjudge.records.change import ChangeKind, FileChange
from adjudge.records.paths import render_path
from adjudge.records.score import Finding

__all__ = [
    "MAX_FINDINGS",
    "counted",
    "first_changed_line",
    "first_findings",
    "happened_to",
    "one_line",
    "some_of",
]

MAX_FINDINGS = 100
"""An attempt can touch a million paths. A row shows the first hundred; its reason has the true number."""

_MAX_LINE = 400
_MAX_NAMES = 3
_VERBS = {
    ChangeKind.ADDED: "added",
    ChangeKind.MODIFIED: "modified",
    ChangeKind.DELETED: "deleted",
    ChangeKind.MODE_CHANGED: "had its mode changed",
}


def counted(number: int, noun: str) -> str:
    """A number with its noun, such as `1 file` or `2 files`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def one_line(text: str) -> str:
    """A text on one line, short enough for a row."""
    joined = " ".join(text.split())
    return joined if len(joined) <= _MAX_LINE else f"{joined[:_MAX_LINE]}…"


def some_of(names: Sequence[str]) -> str:
    """The first of several names, and how many more there are."""
    more = f" and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else ""
    return ", ".join(names[:_MAX_NAMES]) + more


def first_findings(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """As many findings as one row holds."""
    return tuple(islice(findings, MAX_FINDINGS))


def first_changed_line(change: FileChange) -> int | None:
    """Where a reader should start to look in a file that was edited; None where there are no lines."""
    if change.old_type is not change.new_type or not change.hunks:
        return None
    first = change.hunks[0]
    return first.new_start if first.new_lines else first.old_start


def happened_to(change: FileChange) -> str:
    """What a change did to its path, as the end of a sentence: `deleted`, `renamed from a.py`."""
    if change.kind is ChangeKind.RENAMED:
        return f"renamed from {render_path(change.old_path or '')}"
    if change.kind is ChangeKind.TYPE_CHANGED:
        return f"turned from a {change.old_type} into a {change.new_type}"
    if change.kind is ChangeKind.MODE_CHANGED and change.old_mode is not None and change.new_mode is not None:
        return f"changed from mode {change.old_mode:o} to {change.new_mode:o}"
    return _VERBS[change.kind]
