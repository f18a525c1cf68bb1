"""What commands wrote outside the workspace, in the places of their own that a sandbox gives them."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from adjudge.records.sandbox import OutsideWrite

__all__ = ["list_written"]

_MAX_LISTED = 10_000

_TYPES = {
    stat.S_IFREG: "file",
    stat.S_IFDIR: "directory",
    stat.S_IFLNK: "symlink",
}


def list_written(places: Sequence[tuple[Path, str]]) -> tuple[OutsideWrite, ...]:
    """Everything below some directories that started empty: no link followed, nothing opened.

    Args:
        places: Each directory, and the path at which commands see it.
    """
    found: list[OutsideWrite] = []
    pending = [(os.fsencode(directory), os.fsencode(inside)) for directory, inside in places]
    while pending and len(found) < _MAX_LISTED:
        directory, inside = pending.pop(0)
        try:
            with os.scandir(directory) as listed:
                entries = sorted(listed, key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in entries[: _MAX_LISTED - len(found)]:
            try:
                status = entry.stat(follow_symlinks=False)
            except OSError:
                continue
            kind = _TYPES.get(stat.S_IFMT(status.st_mode), "special")
            path = os.path.join(inside, entry.name)
            found.append(
                OutsideWrite(
                    path=PurePosixPath(os.fsdecode(path)).as_posix().encode("utf-8", "replace").decode(),
                    size_bytes=status.st_size if kind == "file" else None,
                    type=kind,
                )
            )
            if kind == "directory":
                pending.append((entry.path, path))
    return tuple(found)
