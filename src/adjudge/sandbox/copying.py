"""Copying a workspace where no copy-on-write layer can be used. Standard library only.

Files are cloned where the file system can share blocks, else copied inside the kernel. Names may be
hostile: everything is opened relative to its directory's descriptor, and no link is followed.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat

__all__ = ["copy_tree"]

_FICLONE = 0x40049409
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_CHUNK = 64 * 1024 * 1024
_NOTED = 5
"""How many names a note spells out."""


def copy_tree(source: str, target: str, owner: tuple[int, int]) -> list[str]:
    """Copy what is in `source` into the existing directory `target`; returns what a reader should know.

    Contents, modes, times, symlinks, hard links and fifos are kept; every entry belongs to `owner`
    afterwards. Sockets and devices are left out, and so is what may not be read; both are noted.
    """
    return _Copier(owner).run(source, target)


class _Copier:
    def __init__(self, owner: tuple[int, int]) -> None:
        self._owner = owner
        self._chown = owner != (os.geteuid(), os.getegid())
        self._clones = True
        self._links: dict[tuple[int, int], bytes] = {}
        self._special: list[str] = []
        self._unreadable: list[str] = []
        self._root = -1

    def run(self, source: str, target: str) -> list[str]:
        from_ = os.open(source, _DIRECTORY)
        self._root = os.open(target, _DIRECTORY)
        # Each level: descriptors of both sides, names still to do, the path so far.
        stack = [(from_, os.dup(self._root), _names(from_), b"")]
        while stack:
            here, there, names, path = stack[-1]
            if not names:
                self._finish(there, os.fstat(here))
                os.close(here)
                os.close(there)
                stack.pop()
                continue
            name = names.pop()
            below = os.path.join(path, name)
            try:
                opened = self._entry(here, there, name, below)
            except PermissionError:
                self._unreadable.append(os.fsdecode(below))
                continue
            if opened is not None:
                stack.append((*opened, _names(opened[0]), below))
        os.close(self._root)
        return [
            *self._note("left out, not readable", self._unreadable),
            *self._note("left out, neither file nor directory nor link", self._special),
        ]

    def _entry(self, here: int, there: int, name: bytes, path: bytes) -> tuple[int, int] | None:
        """Copy one entry; for a directory, the descriptors to go on with."""
        status = os.stat(name, dir_fd=here, follow_symlinks=False)
        kind = stat.S_IFMT(status.st_mode)
        if kind == stat.S_IFDIR:
            descriptor = os.open(name, _DIRECTORY, dir_fd=here)
            os.mkdir(name, 0o700, dir_fd=there)
            return descriptor, os.open(name, _DIRECTORY, dir_fd=there)
        if kind not in (stat.S_IFREG, stat.S_IFLNK, stat.S_IFIFO):
            self._special.append(os.fsdecode(path))
            return None
        if status.st_nlink > 1:
            first = self._links.setdefault((status.st_dev, status.st_ino), path)
            if first != path:
                os.link(first, name, src_dir_fd=self._root, dst_dir_fd=there, follow_symlinks=False)
                return None
        if kind == stat.S_IFREG:
            self._file(here, there, name, status)
        elif kind == stat.S_IFLNK:
            os.symlink(os.readlink(name, dir_fd=here), name, dir_fd=there)
            self._settle(there, name, status)
        else:
            os.mkfifo(name, stat.S_IMODE(status.st_mode), dir_fd=there)
            self._settle(there, name, status)
        return None

    def _file(self, here: int, there: int, name: bytes, status: os.stat_result) -> None:
        from_ = os.open(name, _READ, dir_fd=here)
        try:
            to = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600, dir_fd=there)
            try:
                self._content(from_, to)
                self._finish(to, status)
            finally:
                os.close(to)
        finally:
            os.close(from_)

    def _content(self, from_: int, to: int) -> None:
        if self._clones:
            try:
                fcntl.ioctl(to, _FICLONE, from_)
                return
            except OSError as error:
                if error.errno not in (errno.EOPNOTSUPP, errno.EXDEV, errno.EINVAL, errno.ENOTTY):
                    raise
                self._clones = False
        try:
            while os.copy_file_range(from_, to, _CHUNK):
                pass
        except OSError as error:
            if error.errno not in (errno.EXDEV, errno.EINVAL, errno.EOPNOTSUPP, errno.ENOSYS):
                raise
            while os.sendfile(to, from_, None, _CHUNK):
                pass

    def _finish(self, descriptor: int, status: os.stat_result) -> None:
        if self._chown:
            os.fchown(descriptor, *self._owner)
        os.fchmod(descriptor, stat.S_IMODE(status.st_mode))
        os.utime(descriptor, ns=(status.st_atime_ns, status.st_mtime_ns))

    def _settle(self, there: int, name: bytes, status: os.stat_result) -> None:
        if self._chown:
            os.chown(name, *self._owner, dir_fd=there, follow_symlinks=False)
        times = (status.st_atime_ns, status.st_mtime_ns)
        os.utime(name, ns=times, dir_fd=there, follow_symlinks=False)

    @staticmethod
    def _note(what: str, names: list[str]) -> list[str]:
        if not names:
            return []
        shown = ", ".join(repr(name) for name in names[:_NOTED])
        more = f" and {len(names) - _NOTED} more" if len(names) > _NOTED else ""
        return [f"{what}: {shown}{more}"]


def _names(directory: int) -> list[bytes]:
    return [os.fsencode(name) for name in os.listdir(directory)]
