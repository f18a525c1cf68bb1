"""`adjudge changes`: what a workspace changed against a baseline."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from adjudge.capture.baseline import resolve_baseline
from adjudge.capture.changes import capture_changes
from adjudge.records.change import ChangeSet
from adjudge.records.sandbox import WorkspaceTree
from adjudge.store.blobs import BlobDirectory

__all__ = ["changes_of", "changes_with_diff"]


def changes_of(workspace: Path, baseline: str | None) -> ChangeSet:
    """The change set of a workspace; of the diff, only digest and ends are kept."""
    return capture_changes(resolve_baseline(workspace, baseline), WorkspaceTree(layers=(workspace,)))


@contextmanager
def changes_with_diff(workspace: Path, baseline: str | None) -> Iterator[tuple[ChangeSet, BinaryIO]]:
    """The change set of a workspace with its whole diff, open for reading until the block ends."""
    found = resolve_baseline(workspace, baseline)
    place = Path(tempfile.mkdtemp(prefix="adjudge-changes-"))
    try:
        blobs = BlobDirectory(place)
        changes = capture_changes(found, WorkspaceTree(layers=(workspace,)), blobs=blobs)
        with blobs.open(changes.diff) as diff:
            yield changes, diff
    finally:
        shutil.rmtree(place)
