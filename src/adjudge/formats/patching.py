"""What a patch does to a tree. Pure: it is given a way to look at the old tree and returns the new entries.

Nothing is fuzzy: every line a patch expects must be there, though it may have moved. Renames and copies read
the tree as it was before their commit, so two files may trade names; each commit of a series builds on the
one before it.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from adjudge.errors import PatchUnreadable
from adjudge.formats.gitdelta import apply_delta
from adjudge.formats.patch import FilePatch, PatchHunk
from adjudge.records.paths import render_path

__all__ = ["FOLDER", "TreeFile", "apply_patch"]

FOLDER = 0o040000
"""The mode of a directory."""
_SYMLINK = 0o120000
_MAX_RESULT_BYTES = 512 * 1024 * 1024
_MAX_COMPARED_LINES = 20_000_000
"""Searching for moved hunks is bounded: a patch that needs more was made to keep us busy."""


@dataclass(frozen=True, slots=True)
class TreeFile:
    """What lies at a path: git's mode, and the content (a symlink's is its target)."""

    mode: int
    content: bytes


Look = Callable[[str], TreeFile | None]
"""What lies at a path of the old tree, links not followed; a directory has mode `FOLDER`."""


def apply_patch(patches: Sequence[FilePatch], look: Look) -> Mapping[str, TreeFile | None]:
    """The entries a patch changes: their new content, or None where the path goes.

    Raises:
        PatchUnreadable: It does not apply to this tree; which file, which hunk, and why is said.
    """
    return _Application(patches, look).run()


class _Application:
    def __init__(self, patches: Sequence[FilePatch], look: Look) -> None:
        self._patches = patches
        self._look = look
        self._now: dict[str, TreeFile | None] = {}
        self._before: dict[str, TreeFile | None] = {}
        self._made: set[str] = set()
        self._leaving: set[str] = set()
        self._budget = _MAX_COMPARED_LINES
        self._written = 0

    def run(self) -> Mapping[str, TreeFile | None]:
        for _, commit in itertools.groupby(self._patches, key=lambda patch: patch.commit):
            self._apply_commit(list(commit))
        for path in self._now:
            if self._now[path] is not None:
                self._check_parents(path)
        return self._now

    def _apply_commit(self, patches: Sequence[FilePatch]) -> None:
        self._before = dict(self._now)
        self._made = set()
        self._leaving = {
            patch.old_path
            for patch in patches
            if patch.old_path is not None and (patch.new_path is None or patch.renames)
        }
        for patch in patches:
            self._apply(patch)

    def _current(self, path: str) -> TreeFile | None:
        return self._now[path] if path in self._now else self._look(path)

    def _original(self, path: str) -> TreeFile | None:
        """What was at a path before the commit at hand."""
        return self._before[path] if path in self._before else self._look(path)

    def _apply(self, patch: FilePatch) -> None:
        if patch.maybe_new and patch.new_path is not None and self._current(patch.new_path) is None:
            patch.old_path = None
        old = self._source(patch)
        content = self._content(patch, b"" if old is None else old.content)
        self._written += len(content)
        if self._written > _MAX_RESULT_BYTES:
            raise PatchUnreadable(f"the patch writes more than {_MAX_RESULT_BYTES} bytes")
        if patch.new_path is None or (patch.maybe_deleted and not content):
            if content:
                raise PatchUnreadable(f"{patch.name}: deleted, but the patch leaves lines of it")
            self._now[patch.old_path or ""] = None
            return
        mode = patch.new_mode or (old.mode if old is not None else 0o100644)
        self._make_room(patch)
        # A name that already holds something new was traded: the rename away from it concerns the old.
        if patch.renames and patch.old_path is not None and patch.old_path not in self._made:
            self._now[patch.old_path] = None
        self._now[patch.new_path] = TreeFile(mode, content)
        self._made.add(patch.new_path)

    def _source(self, patch: FilePatch) -> TreeFile | None:
        """What the patch starts from; None for a new file."""
        path = patch.old_path
        if path is None:
            return None
        found = self._original(path) if patch.renames or patch.copies else self._current(path)
        if found is None:
            raise PatchUnreadable(f"{render_path(path)}: no such file in the baseline")
        if found.mode == FOLDER:
            raise PatchUnreadable(f"{render_path(path)}: a directory in the baseline, a file in the patch")
        self._check_parents(path)
        expected = patch.old_mode
        if expected is not None and (expected == _SYMLINK) != (found.mode == _SYMLINK):
            raise PatchUnreadable(f"{render_path(path)}: a symlink on one side and a file on the other")
        return found

    def _make_room(self, patch: FilePatch) -> None:
        """The new path must be free, unless the patch edits it in place or moves its holder away."""
        path = patch.new_path
        assert path is not None
        if path == patch.old_path:
            return
        there = self._current(path)
        if there is None or (path in self._leaving and path not in self._made):
            return
        if there.mode == FOLDER and self._emptied(path):
            return
        raise PatchUnreadable(f"{render_path(path)}: already exists in the baseline")

    def _emptied(self, folder: str) -> bool:
        """Whether the patch takes something out of a directory; what remains is found when it is written."""
        return any(path.startswith(f"{folder}/") for path in self._leaving)

    def _check_parents(self, path: str) -> None:
        """No part of the way may be a symlink or a file."""
        parts = path.split("/")
        for depth in range(1, len(parts)):
            parent = "/".join(parts[:depth])
            there = self._current(parent)
            if there is not None and there.mode != FOLDER:
                what = "a symlink" if there.mode == _SYMLINK else "a file"
                raise PatchUnreadable(f"{render_path(path)}: {render_path(parent)} on its way is {what}")

    def _content(self, patch: FilePatch, old: bytes) -> bytes:
        if patch.binary is not None:
            if patch.old_object is not None and patch.old_path is not None:
                _check_object(patch, old)
            return patch.binary.data if patch.binary.literal else _apply_delta(patch, old)
        if not patch.hunks:
            return old if patch.new_path is not None else b""
        return self._text(patch, old)

    def _text(self, patch: FilePatch, old: bytes) -> bytes:
        lines = _lines(old)
        result: list[bytes] = []
        done = 0
        shift = 0
        for number, hunk in enumerate(patch.hunks, start=1):
            expected = hunk.old
            # A hunk that expects nothing is numbered by the line it follows, any other by its first line.
            start = hunk.old_start - 1 if expected else hunk.old_start
            at = self._find(lines, expected, start + shift, done, hunk)
            if at is None:
                raise PatchUnreadable(
                    f"{patch.name}: hunk {number} (line {hunk.old_start}) does not match the baseline"
                )
            shift = at - start
            result += lines[done:at]
            result += hunk.new
            done = at + len(expected)
        result += lines[done:]
        return b"".join(result)

    def _find(
        self, lines: Sequence[bytes], expected: Sequence[bytes], wanted: int, lowest: int, hunk: PatchHunk
    ) -> int | None:
        """Where the expected lines are, nearest to where they should be and not before `lowest`."""
        last = len(lines) - len(expected)
        if not expected:
            # Nothing to recognise the place by: only the stated one will do.
            return wanted if lowest <= wanted <= len(lines) else None
        for distance in range(max(abs(wanted - lowest), abs(last - wanted)) + 1):
            for at in (wanted + distance, wanted - distance) if distance else (wanted,):
                if not lowest <= at <= last or (distance and not _anchored(hunk, at, last)):
                    continue
                self._budget -= 1 if lines[at] != expected[0] else len(expected)
                if self._budget < 0:
                    raise PatchUnreadable(
                        "the patch takes too long to apply: its hunks are far from their lines"
                    )
                if lines[at] == expected[0] and list(lines[at : at + len(expected)]) == expected:
                    return at
        return None


def _anchored(hunk: PatchHunk, at: int, last: int) -> bool:
    """Whether a moved hunk keeps the file's ends: one without context on a side lies at that end."""
    if hunk.old_start <= 1 and at != 0:
        return False
    return hunk.lines[-1].op == " " or at == last


def _lines(data: bytes) -> list[bytes]:
    """Lines with their endings, split at newlines only: that is what a diff counts."""
    parts = data.split(b"\n")
    lines = [part + b"\n" for part in parts[:-1]]
    return [*lines, parts[-1]] if parts[-1] else lines


def _check_object(patch: FilePatch, old: bytes) -> None:
    assert patch.old_object is not None
    algorithm = hashlib.sha1 if len(patch.old_object) == 40 else hashlib.sha256
    if algorithm(b"blob %d\0" % len(old) + old).hexdigest() != patch.old_object:
        raise PatchUnreadable(f"{patch.name}: the binary patch is for another content than the baseline's")


def _apply_delta(patch: FilePatch, old: bytes) -> bytes:
    assert patch.binary is not None
    try:
        return apply_delta(old, patch.binary.data, max_bytes=_MAX_RESULT_BYTES)
    except ValueError as error:
        raise PatchUnreadable(f"{patch.name}: the binary patch does not apply: {error}") from error
