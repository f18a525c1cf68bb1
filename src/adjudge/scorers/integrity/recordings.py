"""Recorded answers that tests are held against: snapshots, golden files, cassettes."""

from __future__ import annotations

import re

from adjudge.records.change import ChangeKind, ChangeSet
from adjudge.records.paths import render_path
from adjudge.scorers.wording import first_changed_line
from adjudge.syntax.languages import is_third_party
from adjudge.syntax.testcode.compare.matching import Weakening

__all__ = ["changed_recordings"]

_RECORDING = re.compile(
    r"(?:^|/)(?:__snapshots__|__image_snapshots__|snapshots|goldens?|cassettes|vcr_cassettes)/[^/]"
    r"|(?:^|/)testdata/(?:.*/)?(?:[^/]*(?:golden|expected|want)[^/]*|[^/]*\.(?:out|want|txtar))$"
    r"|\.(?:snap|ambr|golden|approved\.\w+)$"
)
_WITH_ENTRIES = re.compile(r"\.(?:snap|ambr)$")
"""Files with an entry for each test."""


def changed_recordings(changes: ChangeSet) -> list[Weakening]:
    """Recordings that were there and say something else now; new ones, and new entries, are new tests'."""
    return [
        Weakening(
            "recording-changed",
            change.path,
            first_changed_line(change) or 1,
            f"{render_path(change.path)}, which tests are held against, says something else",
            before="as recorded in the baseline",
            after="recorded anew",
            arguable=True,
        )
        for change in changes.changes
        if change.kind is ChangeKind.MODIFIED
        and not (change.removed_lines == 0 and _WITH_ENTRIES.search(change.path))
        and _RECORDING.search(change.path)
        and not is_third_party(change.path)
    ]
