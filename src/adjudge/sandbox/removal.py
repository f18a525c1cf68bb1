"""Removing a directory whatever was made of it: unreadable, very deep, oddly named."""

from __future__ import annotations

import contextlib
import os
import stat
import time
from pathlib import Path

__all__ = ["remove_tree", "remove_tree_at_last"]

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def remove_tree(root: Path) -> None:
    """Remove `root` and everything in it. Nothing may be running in it any more.

    Subdirectories are moved up to `root` before they are emptied, so depth costs neither stack nor
    descriptors nor path length. Directories without permissions are given some first. That somebody else
    removes the same at the same time is no error.

    Raises:
        OSError: Something below belongs to somebody else, or is a mount.
    """
    try:
        os.chmod(root, 0o700, follow_symlinks=True)
        top = os.open(root, _DIRECTORY)
    except FileNotFoundError:
        return
    try:
        # Nobody who filled the directory could have guessed the names used on the way.
        prefix = f".removing-{os.urandom(8).hex()}-"
        pending = _empty(top, top, prefix)
        moved = 0
        while pending:
            name = pending.pop()
            with contextlib.suppress(FileNotFoundError):
                here = os.open(name, _DIRECTORY, dir_fd=top)
                try:
                    pending += _empty(here, top, f"{prefix}{moved}-")
                finally:
                    os.close(here)
                moved += 1
                os.rmdir(name, dir_fd=top)
    finally:
        os.close(top)
    with contextlib.suppress(FileNotFoundError):
        os.rmdir(root)


def remove_tree_at_last(root: Path, patience_s: float = 5.0) -> None:
    """Remove `root` although the last processes in it may only just be dying.

    That happens when their supervisor was killed: the kernel ends them, but nobody has waited for it.

    Raises:
        OSError: It still cannot be removed after `patience_s`.
    """
    deadline = time.monotonic() + patience_s
    while True:
        try:
            remove_tree(root)
            return
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)


def _empty(here: int, top: int, prefix: str) -> list[str]:
    """Unlink what is in a directory and move its subdirectories to the top; returns their names there."""
    directories: list[str] = []
    for name in os.listdir(here):
        with contextlib.suppress(FileNotFoundError):
            _remove_entry(here, top, name, prefix, directories)
    return directories


def _remove_entry(here: int, top: int, name: str, prefix: str, directories: list[str]) -> None:
    status = os.stat(name, dir_fd=here, follow_symlinks=False)
    if not stat.S_ISDIR(status.st_mode):
        os.unlink(name, dir_fd=here)
        return
    if status.st_mode & 0o700 != 0o700:
        os.chmod(name, 0o700, dir_fd=here)
    try:
        os.rmdir(name, dir_fd=here)
    except FileNotFoundError:
        return
    except OSError:
        if here == top:
            # Already at the top, under a name of its own.
            directories.append(name)
            return
        target = f"{prefix}{len(directories)}"
        os.rename(name, target, src_dir_fd=here, dst_dir_fd=top)
        directories.append(target)
