"""The trusted change set: baseline against final workspace, in one record.

Owns the order of work: compare, tell litter from work, hash, pair renames, draw the diff, look at `.git`,
say what a careful reader should know. Each step is a module of its own.
"""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from adjudge.capture.baseline import Baseline, OpenBaseline
from adjudge.capture.checkout import Attributes, CheckoutRules
from adjudge.capture.compare import Comparison, Difference
from adjudge.capture.diff import DiffLimits, DiffWriter, FileDiff
from adjudge.capture.entries import Content, Entry, digest_chunks, is_content, is_folder
from adjudge.capture.fingerprint import StatIndex
from adjudge.capture.gitdir import inspect_git_directory
from adjudge.capture.layers import DiskTree, LayerPool
from adjudge.capture.litter import BaselineIgnores, own_group
from adjudge.capture.renames import Candidate, RenameLimits, pair_renames
from adjudge.contracts import BlobStore
from adjudge.errors import CaptureError, SubjectChanged, WorkspaceUnreadable
from adjudge.records.base import BlobRef, digest_json
from adjudge.records.change import (
    ChangeKind,
    ChangeSet,
    EntryType,
    FileChange,
    RepositoryFinding,
    RepositoryRule,
)
from adjudge.records.paths import path_bytes, path_from_bytes, render_path
from adjudge.records.sandbox import WorkspaceTree

__all__ = ["capture_changes"]

_SHOWN = 3


def capture_changes(
    baseline: Baseline,
    final: WorkspaceTree,
    *,
    blobs: BlobStore | None = None,
    limits: DiffLimits | None = None,
    index: StatIndex | None = None,
    found: WorkspaceTree | None = None,
) -> ChangeSet:
    """Compute what changed between a baseline and the final workspace.

    No process of the agent may run meanwhile. Nothing in the workspace is executed or written.

    Args:
        baseline: What to compare with.
        final: The workspace. Where it stands on the baseline's own layers, only what lies on top is read.
        blobs: Where to keep the diff text; without it only its ends and its digest are kept.
        limits: What to draw, hash and list.
        index: For a flat workspace that was copied from the baseline: its files' status right after that.
        found: What the attempt began with, where that has a `.git` which the baseline itself does not have.

    Raises:
        BaselineNotFound: The baseline, or an object of it that is needed, cannot be read.
        WorkspaceUnreadable: The workspace cannot be read as one.
        SubjectChanged: The workspace changed while it was read.
        CaptureError: We failed.
    """
    try:
        with LayerPool() as pool, baseline.open(pool) as opened:
            tree, began = DiskTree(final, pool), None if found is None else DiskTree(found, pool)
            return _Capture(baseline, opened, tree, limits or DiffLimits(), index, began).run(final, blobs)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise SubjectChanged(
            f"the workspace changed while it was being read: {error}",
            hint="end every process that writes to it, then try again",
        ) from error
    except OSError as error:
        raise CaptureError(f"the change set cannot be computed: {error}") from error


@dataclass(slots=True)
class _Side:
    """One side of a change, read."""

    path: bytes
    entry: Entry
    mode: int | None
    digest: str | None = None
    size: int | None = None


@dataclass(slots=True)
class _Change:
    old: _Side | None
    new: _Side | None
    litter: bool
    unreadable: str | None = None
    similarity: int | None = None

    @property
    def path(self) -> bytes:
        side = self.new or self.old
        assert side is not None
        return side.path

    @property
    def kind(self) -> ChangeKind:
        old, new = self.old, self.new
        if old is None:
            return ChangeKind.ADDED
        if new is None:
            return ChangeKind.DELETED if self.unreadable is None else ChangeKind.MODIFIED
        if old.entry.type is not new.entry.type:
            return ChangeKind.TYPE_CHANGED
        if self.similarity is not None:
            return ChangeKind.RENAMED
        if self.unreadable is None and old.digest == new.digest and old.digest is not None:
            return ChangeKind.MODE_CHANGED
        return ChangeKind.MODIFIED


class _Capture:
    """One run; holds what its steps share."""

    def __init__(
        self,
        baseline: Baseline,
        opened: OpenBaseline,
        final: DiskTree,
        limits: DiffLimits,
        index: StatIndex | None,
        found: DiskTree | None = None,
    ) -> None:
        self._baseline = baseline
        self._found = found
        self._opened = opened
        self._final = final
        self._limits = limits
        self._checkout = (
            None if opened.commit is None else CheckoutRules(Attributes(opened.top, baseline.prefix))
        )
        self._comparison = Comparison(
            checkout=self._checkout,
            expand=None if opened.commit is None else opened.commit.expand,
            unchanged=None if index is None else index.unchanged,
        )
        self._ignores = BaselineIgnores(opened.top, baseline.prefix)
        self._work_budget = _HashBudget(
            limits.changes, limits.hashed_total_bytes, limits.hashed_file_bytes, is_litter=False
        )
        self._litter_budget = _HashBudget(
            limits.litter_hashed_files, limits.litter_hashed_bytes, limits.hashed_file_bytes, is_litter=True
        )
        self._warnings: list[str] = []

    def run(self, tree: WorkspaceTree, blobs: BlobStore | None) -> ChangeSet:
        """All steps, in order."""
        found: list[Difference] = []
        for difference in self._comparison.run(self._opened.root, self._final.root):
            found.append(difference)
            if len(found) > self._limits.changes:
                raise WorkspaceUnreadable(
                    f"more than {self._limits.changes} paths of the workspace changed",
                    hint="is it compared with the right baseline?",
                )
        found.sort(key=lambda difference: difference.path)
        changes = [change for difference in found if (change := self._read(difference)) is not None]
        changes = self._pair(changes)
        changes.sort(key=lambda change: change.path)
        records, diff = self._draw(changes, blobs)
        findings = tuple(self._inspect_repositories())
        self._warn(changes, records, findings)
        return ChangeSet(
            baseline=self._baseline.ref,
            changes=tuple(records),
            diff=diff,
            digest=_identity(records),
            method="overlay" if _stands_on(self._baseline, tree) else "walk",
            repository=findings,
            warnings=tuple(self._warnings),
        )

    # Reading

    def _read(self, difference: Difference) -> _Change | None:
        """Hash both sides; None when they turn out to be equal after all."""
        litter = self._is_litter(difference)
        budget = self._litter_budget if litter else self._work_budget
        unreadable = difference.unreadable
        old = new = None
        if difference.old is not None:
            old, why = _read_side(difference.path, difference.old, budget)
            unreadable = unreadable or why
        if difference.new is not None:
            if difference.unreadable is not None:
                new = _unread_side(difference.path, difference.new)
            else:
                new, why = _read_side(difference.path, difference.new, budget)
                unreadable = unreadable or why
        if old is not None and new is not None and unreadable is None:
            same = old.digest == new.digest and old.digest is not None and old.mode == new.mode
            if same and old.entry.type is new.entry.type:
                return None
        return _Change(old, new, litter, unreadable)

    def _is_litter(self, difference: Difference) -> bool:
        path = difference.path
        if difference.old is not None:
            # What a commit holds was put there on purpose. A directory also holds what set-up left behind.
            return self._opened.commit is None and own_group(path, regenerated_only=True) is not None
        is_directory = is_folder(difference.new)
        if is_directory and self._opened.commit is not None:
            # git cannot record an empty directory, so a commit cannot say that it was not there before.
            return True
        return own_group(path, is_directory=is_directory) is not None or self._ignores.ignores(
            path, is_directory=is_directory
        )

    # Renames

    def _pair(self, changes: list[_Change]) -> list[_Change]:
        deleted = [
            change
            for change in changes
            if change.old and not change.new and _can_move(change) and not self._became_directory(change)
        ]
        added = [change for change in changes if change.new and not change.old and _can_move(change)]
        if not deleted or not added:
            return changes
        pairs, complete = pair_renames(
            [self._candidate(change.old) for change in deleted if change.old],
            [self._candidate(change.new) for change in added if change.new],
            RenameLimits(),
        )
        if not complete:
            self._warnings.append(
                f"renames were found by equal content only: {len(deleted)} deletions and {len(added)} "
                "additions are too many to compare"
            )
        merged = [
            _Change(deleted[pair.old].old, added[pair.new].new, litter=False, similarity=pair.similarity)
            for pair in pairs
        ]
        gone = {id(deleted[pair.old]) for pair in pairs} | {id(added[pair.new]) for pair in pairs}
        return [change for change in changes if id(change) not in gone] + merged

    def _became_directory(self, change: _Change) -> bool:
        """A symlink in whose place a directory stands: `git apply` refuses a rename of it."""
        is_symlink = change.old is not None and change.old.entry.type is EntryType.SYMLINK
        return is_symlink and is_folder(self._final.lookup(change.path))

    def _candidate(self, side: _Side) -> Candidate:
        entry = side.entry
        assert is_content(entry)
        small = (side.size or 0) <= self._limits.file_bytes and entry.type is EntryType.FILE
        known = entry.digest is None
        return Candidate(
            side.path,
            entry.type.value,
            side.digest or "",
            side.size or 0,
            _reader(entry) if small and known else None,
        )

    # Drawing

    def _draw(self, changes: list[_Change], blobs: BlobStore | None) -> tuple[list[FileChange], BlobRef]:
        writer = DiffWriter(blobs, self._limits)
        records: list[FileChange] = []
        try:
            for change in changes:
                drawn = FileDiff()
                if not change.litter:
                    drawn = writer.add(
                        None if change.old is None else (change.old.path, change.old.entry),
                        None if change.new is None else (change.new.path, change.new.entry),
                        unreadable=change.unreadable,
                        similarity=change.similarity,
                    )
                records.append(_record(change, drawn))
            return records, writer.finish()
        finally:
            writer.abort()

    # What a careful reader should know

    def _inspect_repositories(self) -> Iterator[RepositoryFinding]:
        disk = self._found or self._opened.disk
        baseline = None if disk is None else disk.lookup
        folders = set(self._comparison.repositories)
        if self._found is not None and self._found.lookup(b".git") is not None:
            folders.add(b"")
        for folder in sorted(folders):
            try:
                yield from inspect_git_directory(folder, self._final.lookup, baseline)
            except PermissionError as error:
                yield RepositoryFinding(
                    rule=RepositoryRule.REPLACED,
                    path=path_from_bytes(b"%b/.git" % folder if folder else b".git"),
                    message=f"cannot be read: {error.strerror}",
                )

    def _warn(
        self, changes: list[_Change], records: list[FileChange], findings: Iterable[RepositoryFinding]
    ) -> None:
        say = self._warnings.append
        for finding in findings:
            say(f"{render_path(finding.path)} {finding.message}")
        for repository, count in sorted(_nested_repositories(changes).items()):
            say(f"{_show(repository)} is a repository of its own: {count} changed files of it are litter")
        for path in sorted(self._comparison.unknown_modules):
            say(
                f"submodule {_show(path)} has content, but its recorded commit was not found: "
                "all of its files are listed as added"
            )
        for path, name in sorted((self._checkout.filters if self._checkout else {}).items()):
            say(
                f"{_show(path)} is under the filter {_show(name)}, which is not run: compared as it is stored"
            )
        unreadable = [change.path for change in changes if change.unreadable is not None]
        if unreadable:
            say(f"{_count(unreadable, 'path')} could not be read: {_some(unreadable)}")
        for bit, what in (
            (stat.S_ISUID, "set-user-id"),
            (stat.S_ISGID, "set-group-id"),
            (stat.S_IWOTH, "world-writable"),
        ):
            paths = sorted(path for path, bits in self._gained_permissions(changes) if bits & bit)
            if paths:
                say(f"{_count(paths, 'path')} became {what}: {_some(paths)}")
        special = [
            change.path for change in changes if change.new and change.new.entry.type is EntryType.SPECIAL
        ]
        if special:
            say(f"{_count(special, 'special file')} (fifo, socket or device): {_some(special)}")
        left_out = [path_bytes(record.path) for record in records if record.diff_truncated]
        if left_out:
            say(f"the diff leaves out content of {_count(left_out, 'path')}: {_some(left_out)}")

    def _gained_permissions(self, changes: list[_Change]) -> Iterator[tuple[bytes, int]]:
        yield from self._comparison.gained_permissions.items()
        for change in changes:
            if change.old is None and change.new is not None and is_content(change.new.entry):
                try:
                    bits = change.new.entry.permissions or 0
                except PermissionError:
                    continue
                if change.new.entry.type is EntryType.FILE:
                    yield change.path, bits & (stat.S_ISUID | stat.S_ISGID)


class _HashBudget:
    """How much may still be read for digests."""

    def __init__(self, files: int, total_bytes: int, file_bytes: int, *, is_litter: bool) -> None:
        self.is_litter = is_litter
        self._files = files
        self._bytes = total_bytes
        self._file_bytes = file_bytes

    def allows(self, size: int) -> bool:
        """Whether a file of `size` may be read; if so, it is accounted for."""
        if size > self._file_bytes or self._files <= 0 or size > self._bytes:
            return False
        self._files -= 1
        self._bytes -= size
        return True


def _read_side(path: bytes, entry: Entry, budget: _HashBudget) -> tuple[_Side, str | None]:
    """Hash one side. With why it could not be read, when it could not."""
    side = _unread_side(path, entry)
    if not is_content(entry):
        return side, None
    if entry.digest is not None:
        side.digest, side.size = entry.digest, entry.size
        return side, None
    try:
        side.size = entry.size
        if not budget.allows(side.size):
            return side, None if budget.is_litter else f"{side.size} bytes are more than is read"
        side.digest = digest_chunks(entry.chunks())
    except PermissionError as error:
        return side, error.strerror or str(error)
    return side, None


def _unread_side(path: bytes, entry: Entry) -> _Side:
    try:
        return _Side(path, entry, entry.mode)
    except PermissionError:
        return _Side(path, entry, None)


def _can_move(change: _Change) -> bool:
    """Whether a deletion or addition may be one end of a rename."""
    side = change.old or change.new
    assert side is not None
    return not change.litter and change.unreadable is None and side.digest is not None


def _reader(content: Content) -> Callable[[], bytes]:
    return lambda: b"".join(content.chunks())


def _record(change: _Change, drawn: FileDiff) -> FileChange:
    old, new = change.old, change.new
    return FileChange(
        path=path_from_bytes(change.path),
        kind=change.kind,
        old_path=path_from_bytes(old.path) if old is not None and change.similarity is not None else None,
        old_type=None if old is None else old.entry.type,
        new_type=None if new is None else new.entry.type,
        old_mode=None if old is None else old.mode,
        new_mode=None if new is None else new.mode,
        old_digest=None if old is None else old.digest,
        new_digest=None if new is None else new.digest,
        old_size_bytes=None if old is None else old.size,
        new_size_bytes=None if new is None else new.size,
        added_lines=drawn.added_lines,
        removed_lines=drawn.removed_lines,
        binary=drawn.binary,
        hunks=drawn.hunks,
        diff_truncated=drawn.truncated,
        litter=change.litter,
        unreadable=change.unreadable,
    )


def _identity(records: Iterable[FileChange]) -> str:
    """The digest of a change set; sizes stand in where a content has no digest."""
    return digest_json(
        [
            [
                record.path,
                record.old_path,
                record.kind,
                record.old_type,
                record.new_type,
                record.old_mode,
                record.new_mode,
                record.old_digest or record.old_size_bytes,
                record.new_digest or record.new_size_bytes,
            ]
            for record in records
        ]
    )


def _stands_on(baseline: Baseline, final: WorkspaceTree) -> bool:
    if baseline.tree is None:
        return False
    below = tuple(os.path.realpath(layer) for layer in baseline.tree.layers)
    return tuple(os.path.realpath(layer) for layer in final.layers[: len(below)]) == below


def _nested_repositories(changes: Iterable[_Change]) -> Counter[bytes]:
    found: Counter[bytes] = Counter()
    for change in changes:
        parts = change.path.split(b"/")
        if b".git" in parts[1:]:
            found[b"/".join(parts[: parts.index(b".git", 1)])] += 1
    return found


def _count(items: list[bytes], noun: str) -> str:
    return f"{len(items)} {noun}" if len(items) == 1 else f"{len(items)} {noun}s"


def _some(paths: Iterable[bytes]) -> str:
    shown = list(paths)
    more = ", …" if len(shown) > _SHOWN else ""
    return ", ".join(map(_show, shown[:_SHOWN])) + more


def _show(path: bytes) -> str:
    return render_path(path_from_bytes(path))
