"""A baseline as a directory, where it is a commit: for patches, and for trees made from it."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path

from adjudge.capture.baseline import Baseline
from adjudge.capture.entries import Entry, Folder, is_folder
from adjudge.capture.layers import LayerPool
from adjudge.errors import CaptureError, boundary
from adjudge.formats.patching import FOLDER
from adjudge.records.change import EntryType
from adjudge.records.sandbox import WorkspaceTree
from adjudge.tasks.trees import TreeWriter, remove_tree, write_folder

__all__ = ["BaselineOnDisk", "write_baseline"]


class BaselineOnDisk:
    """Writes a baseline out when first asked to. Called from any thread; `remove` when it is done with.

    Args:
        baseline: What to write.
    """

    def __init__(self, baseline: Baseline) -> None:
        self._baseline = baseline
        self._lock = threading.Lock()
        self._scratch: Path | None = None
        self._tree: WorkspaceTree | None = None

    def __call__(self) -> WorkspaceTree:
        """The directory, as a tree.

        Raises:
            CaptureError: It cannot be written out.
        """
        with self._lock:
            if self._tree is None:
                if self._scratch is None:
                    self._scratch = Path(tempfile.mkdtemp(prefix="adjudge-baseline-"))
                place = Path(tempfile.mkdtemp(dir=self._scratch)) / "baseline"
                write_baseline(self._baseline, place)
                self._tree = WorkspaceTree(layers=(place,), single_owner=True)
            return self._tree

    def remove(self) -> None:
        """Remove what was written."""
        if self._scratch is not None:
            remove_tree(self._scratch)


def write_baseline(baseline: Baseline, place: Path) -> None:
    """Write a baseline to `place`, a folder that does not exist yet.

    Raises:
        CaptureError: It cannot be written out.
    """
    with (
        boundary(CaptureError, f"the baseline cannot be written to {place}"),
        LayerPool() as pool,
        baseline.open(pool) as opened,
    ):
        writer = TreeWriter(place)
        write_folder(_CheckedOut(opened.root), writer, leave_out_git=False, drop_special=True)


class _CheckedOut:
    """A folder of a baseline as git checks it out: a submodule that is not fetched is an empty folder."""

    type = EntryType.DIRECTORY
    mode = FOLDER

    def __init__(self, folder: Folder | None) -> None:
        self._folder = folder

    def entries(self) -> Mapping[bytes, Entry]:
        """Everything in it."""
        listed = {} if self._folder is None else self._folder.entries()
        return {name: _checked_out(entry) for name, entry in listed.items()}


def _checked_out(entry: Entry) -> Entry:
    if is_folder(entry):
        return _CheckedOut(entry)
    return _CheckedOut(None) if entry.type is EntryType.REPOSITORY else entry
