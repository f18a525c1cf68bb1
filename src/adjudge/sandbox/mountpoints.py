"""Places for mounts inside directories the candidate can write. Standard library only.

A candidate may have planted a symlink where something is going to be mounted; following it would put the
mount, or the file made for it, somewhere else. So the places are checked and made here, link by link, and
what was made is removed after the command, lest it show as a change.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat

from adjudge.sandbox import kernel
from adjudge.sandbox.launchrequest import MountPoint

__all__ = ["Made", "make_mount_points", "remove_mount_points"]

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC

Made = list[tuple[str, bytes, bool]]
"""Root, path below it and whether it is a directory, in the order of making."""


def make_mount_points(points: list[MountPoint], owner: tuple[int, int]) -> Made:
    """Make what is missing.

    Raises:
        OSError: A link, or something of the wrong kind, is in the way.
    """
    made: Made = []
    for point in points:
        root = os.open(point["below"], _DIRECTORY)
        try:
            parts = os.fsencode(point["path"]).split(b"/")
            for depth in range(1, len(parts) + 1):
                path = b"/".join(parts[:depth])
                directory = point["directory"] or depth < len(parts)
                if _ensure(root, path, directory, owner):
                    made.append((point["below"], path, directory))
        except OSError:
            remove_mount_points(made)
            raise
        finally:
            os.close(root)
    return made


def _ensure(root: int, path: bytes, directory: bool, owner: tuple[int, int]) -> bool:
    """Whether the place had to be made."""
    try:
        there = kernel.open_beneath(root, path, os.O_PATH | os.O_NOFOLLOW)
    except FileNotFoundError:
        above, _, name = path.rpartition(b"/")
        parent = kernel.open_beneath(root, above or b".", _DIRECTORY)
        try:
            if directory:
                os.mkdir(name, 0o755, dir_fd=parent)
            else:
                os.close(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644, dir_fd=parent))
            os.chown(name, *owner, dir_fd=parent, follow_symlinks=False)
        finally:
            os.close(parent)
        return True
    try:
        mode = os.fstat(there).st_mode
    finally:
        os.close(there)
    if stat.S_ISLNK(mode):
        raise OSError(errno.ELOOP, "a symlink is where something has to be mounted", os.fsdecode(path))
    if directory != stat.S_ISDIR(mode) or not (directory or stat.S_ISREG(mode)):
        kind = "a directory" if directory else "a file"
        raise OSError(errno.ENOTDIR, f"something that is not {kind} is in the way", os.fsdecode(path))
    return False


def remove_mount_points(made: Made) -> None:
    """Remove what was made, unless somebody put something into it."""
    for below, path, directory in reversed(made):
        with contextlib.suppress(OSError):
            root = os.open(below, _DIRECTORY)
            try:
                above, _, name = path.rpartition(b"/")
                parent = kernel.open_beneath(root, above or b".", _DIRECTORY)
                try:
                    if directory:
                        os.rmdir(name, dir_fd=parent)
                    elif os.stat(name, dir_fd=parent, follow_symlinks=False).st_size == 0:
                        os.unlink(name, dir_fd=parent)
                finally:
                    os.close(parent)
            finally:
                os.close(root)
