"""What commands wrote outside the workspace, in the places of their own that a sandbox gives them."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from adjudge.formats.startupfiles import is_ordinary_startup, is_startup_file
from adjudge.records.sandbox import OutsideWrite

__all__ = ["list_written"]

_MAX_LISTED = 10_000
_MAX_STARTUP_BYTES = 64 * 1024

_TYPES = {
    stat.S_IFREG: "file",
    stat.S_IFDIR: "directory",
    stat.S_IFLNK: "symlink",
}


def list_written(places: Sequence[tuple[Path, str]]) -> tuple[OutsideWrite, ...]:
    """Everything below some directories that started empty: no link followed.

    Nothing is opened but small files that programs start with.

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
                    ordinary=_is_ordinary(entry.path, path) if kind == "file" else None,
                )
            )
            if kind == "directory":
                pending.append((entry.path, path))
    return tuple(found)


def _is_ordinary(place: bytes, inside: bytes) -> bool | None:
    """Whether a file that programs start with is as installers leave it; None where it is no such."""
    name = os.fsdecode(inside)
    if not is_startup_file(name):
        return None
    try:
        descriptor = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    with os.fdopen(descriptor, "rb") as stream:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        data = stream.read(_MAX_STARTUP_BYTES + 1)
    return len(data) <= _MAX_STARTUP_BYTES and is_ordinary_startup(name, data.decode("utf-8", "replace"))
