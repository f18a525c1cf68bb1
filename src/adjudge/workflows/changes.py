"""`adjudge changes`: what a workspace changed against a baseline."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from adjudge.capture.baseline import Baseline
from adjudge.capture.changes import capture_changes
from adjudge.records.change import ChangeSet
from adjudge.records.sandbox import WorkspaceTree
from adjudge.settings import load_settings
from adjudge.store.blobs import BlobDirectory
from adjudge.tasks.seeds import find_seed
from adjudge.workflows.baseline_of import baseline_of

__all__ = ["changes_of", "changes_with_diff"]


def changes_of(workspace: Path, baseline: str | None) -> ChangeSet:
    """The change set of a workspace; of the diff, only digest and ends are kept."""
    return capture_changes(_find(workspace, baseline), WorkspaceTree(layers=(workspace,)))


@contextmanager
def changes_with_diff(workspace: Path, baseline: str | None) -> Iterator[tuple[ChangeSet, BinaryIO]]:
    """The change set of a workspace with its whole diff, open for reading until the block ends."""
    found = _find(workspace, baseline)
    place = Path(tempfile.mkdtemp(prefix="adjudge-changes-"))
    try:
        blobs = BlobDirectory(place)
        changes = capture_changes(found, WorkspaceTree(layers=(workspace,)), blobs=blobs)
        with blobs.open(changes.diff) as diff:
            yield changes, diff
    finally:
        shutil.rmtree(place)


def _find(workspace: Path, given: str | None) -> Baseline:
    seed = find_seed(workspace, load_settings().state_dir) if given is None else None
    return baseline_of(workspace, given, seed)
