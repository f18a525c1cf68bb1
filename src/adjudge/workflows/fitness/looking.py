"""What can be seen of a task without running it: hidden files in the workspace, answers in histories."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from adjudge.formats.gitids import blob_id, packed_ids
from adjudge.records.paths import render_path
from adjudge.records.tree import DIRECTORY, SYMLINK, TreeEntry

__all__ = ["find_history", "find_reachable", "read_scripts"]

_MIN_BYTES = 16
"""Smaller files are equal by chance: an empty `__init__.py`, a lone newline."""
_MAX_SCRIPT_BYTES = 256 * 1024
_SCRIPTS = (".sh", ".py", ".bash")


def find_reachable(hidden: Iterable[TreeEntry], files: Path, seen: Iterable[TreeEntry]) -> list[str]:
    """Hidden files that an agent sees, each with the path it sees it at.

    Args:
        hidden: What is kept from agents.
        files: Where that lies.
        seen: What an agent starts with.
    """
    shown = {entry.digest: entry.path for entry in seen if entry.mode not in (DIRECTORY, SYMLINK)}
    found = []
    for entry in hidden:
        if entry.mode in (DIRECTORY, SYMLINK) or entry.digest not in shown:
            continue
        if os.stat(files / entry.path).st_size >= _MIN_BYTES:
            found.append(f"{render_path(entry.path)} as {render_path(shown[entry.digest])}")
    return found


def read_scripts(folder: Path) -> dict[str, str]:
    """The scripts of a verifier, by their path below its folder."""
    found = {}
    for here, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name != "golden")
        for name in sorted(names):
            place = Path(here) / name
            if name.endswith(_SCRIPTS) and place.stat().st_size <= _MAX_SCRIPT_BYTES:
                found[str(place.relative_to(folder))] = place.read_bytes().decode("utf-8", "replace")
    return found


def find_history(roots: Iterable[Path], answers: Iterable[bytes]) -> list[str]:
    """Repositories below `roots` that hold one of the answers, with where they lie."""
    wanted = {blob_id(data) for data in answers if len(data) >= _MIN_BYTES}
    if not wanted:
        return []
    return [
        render_path(os.path.relpath(repository, root))
        for root in roots
        for repository in _repositories(root)
        if _holds(repository, wanted)
    ]


def _repositories(root: Path) -> Iterator[Path]:
    for here, folders, names in os.walk(root):
        if "objects" in folders and "HEAD" in names:
            yield Path(here)
            folders.clear()


def _holds(repository: Path, wanted: set[str]) -> bool:
    objects = repository / "objects"
    if any((objects / name[:2] / name[2:]).exists() for name in wanted):
        return True
    packs = objects / "pack"
    indexes = sorted(packs.glob("*.idx")) if packs.is_dir() else []
    return any(not wanted.isdisjoint(packed_ids(index.read_bytes())) for index in indexes)
