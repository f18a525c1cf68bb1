"""Stored runs as subjects again: the final workspace from the baseline and what the attempt left.

No agent, no model and no network: what is stored with a run suffices. What is still on this machine (frozen
tasks, baselines) is used as it is; what is not comes out of the store's archives, once however many runs
share it.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from adjudge.capture.baseline import Baseline, task_baseline
from adjudge.contracts import BlobStore, Subject
from adjudge.errors import StoreError, UsageError
from adjudge.formats.traces.recorded import RecordedTrace
from adjudge.records.base import BlobRef
from adjudge.records.run import Attempt, Run
from adjudge.records.sandbox import WorkspaceTree
from adjudge.records.task import Task
from adjudge.records.tree import digest_tree
from adjudge.tasks.freeze import FrozenTask, load_task
from adjudge.tasks.trees import remove_tree
from adjudge.workflows.contents import TreeContents
from adjudge.workflows.storedchanges import restore_baseline, restore_workspace

__all__ = ["Rebuilt", "StoredRuns", "is_complete", "with_words"]


class Rebuilt(NamedTuple):
    """A stored run as a subject, for as long as the block lasts."""

    subject: Subject
    baseline: Baseline
    notes: tuple[str, ...]
    """In what it differs from the workspace the agent left."""


def is_complete(attempt: Attempt | None) -> bool:
    """Whether what is stored of an attempt suffices to make its workspace again."""
    return (
        attempt is not None
        and attempt.change_set is not None
        and attempt.changes is not None
        and attempt.baseline_digest is not None
    )


def with_words(subject: Subject, attempt: Attempt, blobs: BlobStore) -> Subject:
    """A subject with what its agent said and what it left outside, where that was kept."""
    kept = attempt.trace
    trace = None if kept is None else RecordedTrace(lambda: blobs.open(kept), format="adjudge")
    return subject._replace(
        trace=trace,
        response=attempt.response,
        outside_writes=attempt.outside_writes,
        left_processes=None if attempt.outcome is None else attempt.left_processes,
    )


class StoredRuns:
    """Makes workspaces of stored runs. Called from any thread; a context manager that removes what it made.

    Args:
        blobs: Where archives are kept.
        state_dir: Where frozen tasks and baselines of this machine lie.
    """

    def __init__(self, blobs: BlobStore, state_dir: Path) -> None:
        self._blobs = blobs
        self._state_dir = state_dir
        self._scratch: Path | None = None
        self._lock = threading.Lock()
        self._restored: dict[str, Path] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._scratch is not None:
            remove_tree(self._scratch)

    def files_of(self, task: Task, run: Run) -> Path | None:
        """Where the files that a task's recipe refers to lie.

        Raises:
            UsageError: They are neither on this machine nor stored with the run.
        """
        if not task.files:
            return None
        frozen = self.frozen(task.digest)
        if frozen is not None:
            return frozen.files
        archive = None if run.attempt is None else run.attempt.task_files
        if archive is None or run.task.digest != task.digest:
            raise UsageError(
                f"task {task.digest[7:19]} refers to files that are neither on this machine nor stored with "
                f"run {run.id}",
                hint="name the scenario: --with SCENARIO",
            )
        return self._restore(archive, digest_tree(task.files))

    def frozen(self, digest: str) -> FrozenTask | None:
        """The frozen task, where this machine has it."""
        try:
            return load_task(self._state_dir / "tasks" / digest.removeprefix("sha256:"))
        except (UsageError, StoreError):
            return None

    @contextlib.contextmanager
    def rebuild(self, run: Run, task: Task, *, files: Path | None = None) -> Iterator[Rebuilt]:
        """Make the final workspace of a run again.

        Args:
            run: The run.
            task: What it is graded by.
            files: Where the files that the task's recipe refers to lie; None: found as `files_of` does.

        Raises:
            StoreError: Part of it is missing or damaged.
            UsageError: It was not stored, or the task's files cannot be had.
        """
        attempt = run.attempt
        if attempt is None or not is_complete(attempt):
            raise UsageError(f"run {run.id} is not stored with what it takes to grade it again")
        assert attempt.baseline_digest is not None
        assert attempt.change_set is not None
        assert attempt.changes is not None
        if files is None:
            files = self.files_of(task, run)
        tree = self._baseline(attempt)
        digest = attempt.baseline_digest
        lower, notes = self._with_repository(tree, digest)
        plain = WorkspaceTree(layers=(tree,), single_owner=True)
        described = f"baseline {digest.removeprefix('sha256:')[:12]} of the task"
        baseline = task_baseline(plain, description=described, digest=digest)
        place = Path(tempfile.mkdtemp(dir=self._folder()))
        try:
            workspace = restore_workspace(lower, attempt.changes, self._blobs, place / "changes")
            with TreeContents(baseline, workspace) as contents:
                subject = Subject(
                    task=task,
                    change_set=attempt.change_set,
                    baseline=plain,
                    workspace=workspace,
                    contents=contents,
                    scenario_files=files,
                )
                yield Rebuilt(with_words(subject, attempt, self._blobs), baseline, notes)
        finally:
            remove_tree(place)

    def _baseline(self, attempt: Attempt) -> Path:
        digest = attempt.baseline_digest
        assert digest is not None
        here = self._state_dir / "baselines" / digest.removeprefix("sha256:")
        if here.is_dir():
            return here
        if attempt.baseline is None:
            raise StoreError(f"baseline {digest} is neither on this machine nor stored with the run")
        return self._restore(attempt.baseline, digest)

    def _restore(self, archive: BlobRef, digest: str) -> Path:
        """A stored tree as a folder, known to be what it was."""
        with self._lock:
            if archive.digest not in self._restored:
                place = Path(tempfile.mkdtemp(dir=self._make_folder())) / "tree"
                if digest_tree(restore_baseline(archive, self._blobs, place)) != digest:
                    raise StoreError(f"the stored tree {archive.digest} is not the one it was kept as")
                self._restored[archive.digest] = place
            return self._restored[archive.digest]

    def _with_repository(self, tree: Path, digest: str) -> tuple[WorkspaceTree, tuple[str, ...]]:
        repository = self._state_dir / "repositories" / digest.removeprefix("sha256:")
        if not repository.is_dir():
            return WorkspaceTree(layers=(tree,), single_owner=True), (
                "the workspace was made again without the .git that the agent found",
            )
        prefix = "trusted.overlay." if os.geteuid() == 0 else "user.overlay."
        return WorkspaceTree(layers=(tree, repository), xattr_prefix=prefix, single_owner=True), ()

    def _folder(self) -> Path:
        with self._lock:
            return self._make_folder()

    def _make_folder(self) -> Path:
        if self._scratch is None:
            self._scratch = Path(tempfile.mkdtemp(prefix="adjudge-stored-"))
        return self._scratch
