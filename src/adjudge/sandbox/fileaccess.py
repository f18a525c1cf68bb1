"""Reading and writing single files in a tree the candidate owned. Standard library only.

Runs in the supervisor, over the workspace mounted as the sandbox sees it, when no process of the sandbox is
alive. Every step is `openat2` beneath the root with links refused, and nothing but a regular file is opened.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat

from adjudge.sandbox import kernel

__all__ = ["read_beneath", "write_beneath"]

_CHUNK = 1024 * 1024
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


def read_beneath(root: str, path: str, max_bytes: int, to: int) -> None:
    """Copy a regular file's first `max_bytes` into the descriptor `to`.

    Raises:
        OSError: ENOENT when nothing is there, ELOOP at a link, EINVAL for anything but a regular file.
    """
    with contextlib.ExitStack() as opened:
        top = os.open(root, _DIRECTORY)
        opened.callback(os.close, top)
        # O_PATH first: opening a fifo waits, opening a device acts.
        handle = kernel.open_beneath(top, os.fsencode(path), os.O_PATH | os.O_NOFOLLOW)
        opened.callback(os.close, handle)
        mode = os.fstat(handle).st_mode
        if stat.S_ISLNK(mode):
            raise OSError(errno.ELOOP, "is a symlink")
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "is not a regular file")
        from_ = os.open(f"/proc/self/fd/{handle}", os.O_RDONLY | os.O_CLOEXEC)
        opened.callback(os.close, from_)
        left = max_bytes
        while left > 0 and (data := os.read(from_, min(left, _CHUNK))):
            left -= len(data)
            _write_all(to, data)


def _write_all(to: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(to, view) :]


def write_beneath(root: str, path: str, from_: int, mode: int, owner: tuple[int, int]) -> None:
    """Replace whatever lies at `path` by a file with the bytes of `from_`, creating parents.

    Raises:
        OSError: ELOOP or ENOTDIR where a parent is a link or not a directory.
    """
    *parents, name = os.fsencode(path).split(b"/")
    with contextlib.ExitStack() as opened:
        here = os.open(root, _DIRECTORY)
        opened.callback(os.close, here)
        for part in parents:
            try:
                here = kernel.open_beneath(here, part, _DIRECTORY)
            except FileNotFoundError:
                os.mkdir(part, 0o755, dir_fd=here)
                os.chown(part, *owner, dir_fd=here, follow_symlinks=False)
                here = kernel.open_beneath(here, part, _DIRECTORY)
            opened.callback(os.close, here)
        temporary = b".adjudge-incoming-" + os.urandom(8).hex().encode()
        to = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600, dir_fd=here)
        opened.callback(os.close, to)
        try:
            while data := os.read(from_, _CHUNK):
                _write_all(to, data)
            os.fchown(to, *owner)
            os.fchmod(to, mode)
            try:
                os.rename(temporary, name, src_dir_fd=here, dst_dir_fd=here)
            except IsADirectoryError:
                _remove(here, name)
                os.rename(temporary, name, src_dir_fd=here, dst_dir_fd=here)
        except BaseException:
            os.unlink(temporary, dir_fd=here)
            raise


def _remove(above: int, name: bytes) -> None:
    """Remove a directory, following nothing, keeping one descriptor for each level."""
    stack = [(above, name, kernel.open_beneath(above, name, _DIRECTORY))]
    while stack:
        parent, called, here = stack[-1]
        for entry in os.listdir(here):
            raw = os.fsencode(entry)
            status = os.stat(raw, dir_fd=here, follow_symlinks=False)
            if stat.S_ISDIR(status.st_mode):
                stack.append((here, raw, kernel.open_beneath(here, raw, _DIRECTORY)))
                break
            os.unlink(raw, dir_fd=here)
        else:
            os.close(here)
            os.rmdir(called, dir_fd=parent)
            stack.pop()
