"""Whose files a tree holds: what decides whether it can be shown to a sandbox as it is."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["root_owner", "single_owner", "world_reachable"]


def root_owner(directory: Path) -> tuple[int, int]:
    """User and group of a directory itself."""
    status = os.lstat(directory)
    return status.st_uid, status.st_gid


def single_owner(directory: Path) -> bool:
    """Whether everything below has the user and group of the directory itself.

    Walks the tree until it finds an exception: about half a second for 100,000 files.
    """
    expected = root_owner(directory)
    pending = [os.fspath(directory)]
    while pending:
        try:
            entries = os.scandir(pending.pop())
        except PermissionError:
            # Root reads everything; as anyone else, what cannot be read is not to be trusted to match.
            return False
        with entries:
            for entry in entries:
                status = entry.stat(follow_symlinks=False)
                if (status.st_uid, status.st_gid) != expected:
                    return False
                if entry.is_dir(follow_symlinks=False):
                    pending.append(entry.path)
    return True


def world_reachable(path: Path) -> bool:
    """Whether a user without any rights of its own can reach and read `path`."""
    try:
        if not os.stat(path).st_mode & 0o004:
            return False
        return all(os.stat(parent).st_mode & 0o001 for parent in path.parents)
    except OSError:
        return False
