"""The bytes of both trees of a comparison, behind `contracts.Contents`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from types import TracebackType
from typing import Self

from adjudge.capture.baseline import Baseline, OpenBaseline
from adjudge.capture.checkout import looks_binary
from adjudge.capture.commit import Submodule
from adjudge.capture.entries import Content, Entry, is_content, is_folder
from adjudge.capture.layers import DiskTree, LayerPool
from adjudge.capture.linediff import Budget, diff_lines
from adjudge.contracts import WorkspaceEntry
from adjudge.errors import CaptureError, WorkspaceUnreadable
from adjudge.records.change import EntryType, FileChange, Hunk
from adjudge.records.paths import path_bytes, path_from_bytes, render_path
from adjudge.records.sandbox import WorkspaceTree

__all__ = ["TreeContents"]

_MAX_COMPARED_BYTES = 16 * 1024 * 1024
"""Content of either side, above which a file that the diff left out has no lines."""


class TreeContents:
    """Reads a baseline and a final workspace. A context manager, because files are kept open.

    Args:
        baseline: The baseline, as it was compared.
        final: The workspace.
    """

    def __init__(self, baseline: Baseline, final: WorkspaceTree) -> None:
        self._baseline = baseline
        self._final = final
        self._stack = contextlib.ExitStack()
        self._opened: OpenBaseline | None = None
        self._tree: DiskTree | None = None
        self._budget = Budget()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def look(self, path: str) -> WorkspaceEntry | None:
        """What lies at a path of the final workspace, itself."""
        entry = self._find_new(path)
        if entry is None:
            return None
        try:
            if entry.type is EntryType.SYMLINK and is_content(entry):
                return WorkspaceEntry(entry.type, target=path_from_bytes(b"".join(entry.chunks())))
            size = entry.size if is_content(entry) else None
            return WorkspaceEntry(entry.type, size_bytes=size)
        except OSError as error:
            raise WorkspaceUnreadable(f"{render_path(path)} cannot be read: {error.strerror}") from error

    def hunks(self, change: FileChange) -> tuple[Hunk, ...] | None:
        """Which lines changed: as the diff found, or compared here where the diff left the file out."""
        if change.binary or change.unreadable is not None:
            return None
        if change.added_lines is not None:
            return change.hunks
        if EntryType.SPECIAL in (change.old_type, change.new_type):
            return None
        sizes = (change.old_size_bytes, change.new_size_bytes)
        if max(size or 0 for size in sizes) > _MAX_COMPARED_BYTES:
            return None
        old = self.old(change, max_bytes=_MAX_COMPARED_BYTES)
        new = self.new(change, max_bytes=_MAX_COMPARED_BYTES)
        if looks_binary(old) or looks_binary(new):
            return None
        regions = diff_lines(_lines(old), _lines(new), self._budget)
        return tuple(
            Hunk(
                old_start=a_low + (a_high > a_low),
                old_lines=a_high - a_low,
                new_start=b_low + (b_high > b_low),
                new_lines=b_high - b_low,
            )
            for a_low, a_high, b_low, b_high in regions
        )

    def old(self, change: FileChange, *, max_bytes: int) -> bytes:
        """The baseline's side of a change; empty where it has none."""
        path = change.old_path or change.path
        if change.old_type not in (EntryType.FILE, EntryType.SYMLINK):
            return b""
        entry = self.find_old(path)
        if not is_content(entry):
            raise CaptureError(f"{render_path(path)} is not in the baseline any more")
        try:
            return _read(entry, max_bytes)
        except OSError as error:
            raise CaptureError(f"{render_path(path)} of the baseline cannot be read: {error}") from error

    def new(self, change: FileChange, *, max_bytes: int) -> bytes:
        """The workspace's side of a change; empty where it has none."""
        if change.new_type not in (EntryType.FILE, EntryType.SYMLINK):
            return b""
        entry = self._find_new(change.path)
        if not is_content(entry):
            raise WorkspaceUnreadable(f"{render_path(change.path)} is not in the workspace any more")
        try:
            return _read(entry, max_bytes)
        except OSError as error:
            raise WorkspaceUnreadable(f"{render_path(change.path)} cannot be read: {error}") from error

    def read(self, path: str, *, max_bytes: int) -> bytes | None:
        """A file of the final workspace; None when there is none that can be read."""
        entry = self._find_new(path)
        if not is_content(entry) or entry.type is not EntryType.FILE:
            return None
        try:
            return _read(entry, max_bytes)
        except OSError:
            return None

    def walk(self) -> Iterator[tuple[str, WorkspaceEntry]]:
        """Every file of the final workspace in the order of paths' bytes, `.git` left out."""
        pending: list[tuple[bytes, Entry]] = []
        root = self._find_new("")
        if is_folder(root):
            pending.append((b"", root))
        while pending:
            path, entry = pending.pop()
            if is_folder(entry):
                try:
                    inside = entry.entries()
                except OSError:
                    continue
                named = sorted(inside.items(), reverse=True)
                pending += [
                    (b"/".join(part for part in (path, name) if part), found)
                    for name, found in named
                    if name != b".git"
                ]
            elif entry.type is EntryType.FILE and is_content(entry):
                yield path_from_bytes(path), WorkspaceEntry(entry.type, size_bytes=entry.size)
            else:
                yield path_from_bytes(path), WorkspaceEntry(entry.type)

    def find_old(self, path: str) -> Entry | None:
        """What lies at a path of the baseline, through submodules whose commit can be read."""
        opened = self._open_baseline()
        entry: Entry | None = opened.root
        reached: list[bytes] = []
        for name in path_bytes(path).split(b"/") if path else ():
            if isinstance(entry, Submodule) and opened.commit is not None:
                entry = opened.commit.expand(b"/".join(reached), entry)
            if not is_folder(entry):
                return None
            entry = entry.get(name)
            reached.append(name)
        return entry

    def _find_new(self, path: str) -> Entry | None:
        if self._tree is None:
            self._tree = DiskTree(self._final, self._stack.enter_context(LayerPool()))
        try:
            return self._tree.lookup(path_bytes(path))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise WorkspaceUnreadable(f"{render_path(path)} cannot be reached: {error.strerror}") from error

    def _open_baseline(self) -> OpenBaseline:
        if self._opened is None:
            pool = self._stack.enter_context(LayerPool())
            self._opened = self._stack.enter_context(self._baseline.open(pool))
        return self._opened


def _read(content: Content, max_bytes: int) -> bytes:
    data = bytearray()
    for chunk in content.chunks():
        data += chunk
        if len(data) >= max_bytes:
            break
    return bytes(data[:max_bytes])


def _lines(data: bytes) -> list[bytes]:
    """Lines with their newline, split at newlines only; the last one may have none."""
    parts = data.split(b"\n")
    lines = [part + b"\n" for part in parts[:-1]]
    return [*lines, parts[-1]] if parts[-1] else lines
