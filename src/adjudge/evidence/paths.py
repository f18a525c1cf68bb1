"""The collector of `PathState`: what lies at a path, following links only as long as they stay inside."""

from __future__ import annotations

from typing import ClassVar

from adjudge.contracts import Contents, Subject, WorkspaceEntry
from adjudge.records.change import EntryType
from adjudge.records.evidence import PathState, PathStatus
from adjudge.records.paths import render_path

__all__ = ["PathStateCollector"]

_MAX_LINKS = 40
"""As many as the kernel follows before it speaks of a loop."""


class PathStateCollector:
    """Answers by looking, never by opening."""

    kind: ClassVar[str] = "path_state"
    cost: ClassVar[int] = 1

    async def collect(self, request: PathState, subject: Subject) -> PathStatus:
        """What lies at the path."""
        return _status(request.path, subject.contents)


def _status(path: str, contents: Contents) -> PathStatus:
    """Walk the path part by part, replacing each link by its target.

    Only what the walk ends at is told; the entry is described as what it is itself, before its own link.
    """
    pending = [part for part in reversed(path.split("/")) if part]
    reached: list[str] = []
    itself: WorkspaceEntry | None = None
    entry = WorkspaceEntry(EntryType.DIRECTORY)
    links = 0
    while pending:
        part = pending.pop()
        if part == ".":
            continue
        if part == "..":
            if not reached:
                return _absent(f"{render_path(path)} leads out of the workspace")
            reached.pop()
            entry = WorkspaceEntry(EntryType.DIRECTORY)
            continue
        found = contents.look("/".join([*reached, part]))
        if found is None:
            through = "" if itself is None and not links else ", following a symlink"
            return _absent(f"nothing is at {render_path('/'.join([*reached, part]))}{through}")
        if not pending and itself is None:
            itself = found
        if found.type is not EntryType.SYMLINK:
            reached.append(part)
            entry = found
            continue
        links += 1
        target = found.target or ""
        where = render_path("/".join([*reached, part]))
        if links > _MAX_LINKS:
            return _absent(f"{where} is a symlink in a loop")
        if target.startswith("/"):
            return _absent(f"{where} is a symlink to {render_path(target)}, outside the workspace")
        if not target:
            return _absent(f"{where} is a symlink to nowhere")
        pending += [part for part in reversed(target.split("/")) if part]
    shown = itself or entry
    return PathStatus(exists=True, type=shown.type, size_bytes=entry.size_bytes)


def _absent(note: str) -> PathStatus:
    return PathStatus(exists=False, note=note)
