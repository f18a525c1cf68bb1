"""Where the runs of a task start: made once, shared copy-on-write by however many there are.

The tree that sandboxes start over is the recorded baseline with one small layer on top that holds only the
`.git` an agent finds. So a run costs no copy, and its change set is read from its own layer alone.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from adjudge.capture.baseline import Baseline, task_baseline
from adjudge.contracts import BlobStore, SandboxBackend
from adjudge.errors import StoreError, boundary
from adjudge.records.base import BlobRef
from adjudge.records.sandbox import SandboxReport, WorkspaceTree
from adjudge.records.task import Task
from adjudge.records.tree import digest_tree
from adjudge.tasks import seeds
from adjudge.tasks.freeze import FrozenTask
from adjudge.tasks.gitobjects import commit_baseline
from adjudge.tasks.trees import PlainFolder, TreeWriter, read_entries, remove_tree, write_folder
from adjudge.workflows.starting import make_baseline
from adjudge.workflows.storedchanges import store_tree

__all__ = ["StartingPoint", "prepare_start"]


@dataclass(frozen=True, slots=True)
class StartingPoint:
    """What every run of a task starts from."""

    task: Task
    files: Path | None
    """The task's frozen files on this machine."""
    baseline: Baseline | None = None
    """What changes are compared with; None for a task without a workspace."""
    tree: WorkspaceTree | None = None
    """What sandboxes start over: the baseline, and the agent's `.git` as a layer of its own."""
    archive: BlobRef | None = None
    """The baseline as an archive, for stores that are moved elsewhere."""
    setup: SandboxReport | None = None
    notes: tuple[str, ...] = ()


def prepare_start(
    frozen: FrozenTask,
    *,
    state_dir: Path,
    backend: Callable[[Task], SandboxBackend],
    blobs: BlobStore,
    baseline_digest: str | None = None,
) -> StartingPoint:
    """Set a task up and record the state its runs start in.

    Args:
        frozen: The task.
        state_dir: Where baselines are kept.
        backend: Chooses the sandbox that runs the setup command.
        blobs: Where the baseline's archive goes.
        baseline_digest: The baseline that earlier runs of the same experiment started from. It is taken again
            where it is still there, since a setup command need not leave the same twice.

    Raises:
        UsageError: Setup failed.
        InfraError: We did.
    """
    task = frozen.task
    if task.source_digest is None:
        return StartingPoint(task, frozen.files)
    again = None if baseline_digest is None else _recorded(baseline_digest, state_dir)
    recorded, report = (again, None) if again is not None else make_baseline(frozen, state_dir, backend)
    repository, notes = _repository(recorded, frozen, state_dir)
    prefix = "trusted.overlay." if os.geteuid() == 0 else "user.overlay."
    digest = recorded.digest.removeprefix("sha256:")[:12]
    plain = WorkspaceTree(layers=(recorded.tree,), single_owner=True)
    return StartingPoint(
        task=task,
        files=frozen.files,
        baseline=task_baseline(plain, description=f"baseline {digest} of the task", digest=recorded.digest),
        tree=WorkspaceTree(layers=(recorded.tree, repository), xattr_prefix=prefix, single_owner=True),
        archive=store_tree(recorded.tree, recorded.entries, blobs),
        setup=report,
        notes=(*recorded.notes, *notes),
    )


def _recorded(digest: str, state_dir: Path) -> seeds.Baseline | None:
    """A baseline that was recorded before; None when it is gone, or not what it was."""
    place = state_dir / "baselines" / digest.removeprefix("sha256:")
    if not place.is_dir():
        return None
    entries = read_entries(place)
    return seeds.Baseline(place, digest, entries, ()) if digest_tree(entries) == digest else None


def _repository(
    recorded: seeds.Baseline, frozen: FrozenTask, state_dir: Path
) -> tuple[Path, tuple[str, ...]]:
    """A layer with the `.git` of a baseline: its one commit is the baseline. Made once, kept by digest."""
    folder = state_dir / "repositories"
    place = folder / recorded.digest.removeprefix("sha256:")
    if place.is_dir():
        return place, ()
    with boundary(StoreError, f"{folder} cannot be written"):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        scratch = Path(tempfile.mkdtemp(prefix=".committing-", dir=folder))
    try:
        copy, layer = scratch / "workspace", scratch / "layer"
        write_folder(PlainFolder(os.fsencode(recorded.tree)), TreeWriter(copy), leave_out_git=False)
        tracked = frozenset(entry.path for entry in read_entries(frozen.source))
        _, notes = commit_baseline(copy, recorded.entries, tracked)
        with boundary(StoreError, f"{place} cannot be written"):
            layer.mkdir(mode=0o755)
            layer.chmod(0o755)
            (copy / ".git").rename(layer / ".git")
            try:
                layer.rename(place)
            except OSError:
                # Another run of the same task was faster.
                if not place.is_dir():
                    raise
        return place, notes
    finally:
        remove_tree(scratch)
