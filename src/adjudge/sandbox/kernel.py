"""System calls that Python's `os` does not offer, by number through libc. Standard library only.

The numbers are those all architectures share (424 and up); anything older has a libc wrapper.
"""

from __future__ import annotations

import ctypes
import os
import signal

__all__ = [
    "AT_EMPTY_PATH",
    "CLONE_NEWNS",
    "CLONE_NEWUSER",
    "MOUNT_ATTR_IDMAP",
    "MOUNT_ATTR_NODEV",
    "MOUNT_ATTR_NOSUID",
    "MOUNT_ATTR_RDONLY",
    "MS_NODEV",
    "MS_NOSUID",
    "MS_PRIVATE",
    "MS_REC",
    "attach_tree",
    "clone_tree",
    "enter",
    "fork_into_cgroup",
    "mount",
    "open_beneath",
    "prctl",
    "set_mount",
    "umount",
    "unshare",
]

CLONE_NEWNS = 0x00020000
CLONE_NEWUSER = 0x10000000
MS_NOSUID, MS_NODEV, MS_REC, MS_PRIVATE = 2, 4, 0x4000, 1 << 18
MOUNT_ATTR_RDONLY, MOUNT_ATTR_NOSUID, MOUNT_ATTR_NODEV, MOUNT_ATTR_IDMAP = 1, 2, 4, 0x00100000
AT_EMPTY_PATH = 0x1000
_CLONE_INTO_CGROUP = 0x200000000
_AT_RECURSIVE = 0x8000
_AT_FDCWD = -100
_OPEN_TREE_CLONE = 1
_MOVE_MOUNT_F_EMPTY_PATH = 4
_MNT_DETACH = 2
_OPEN_TREE, _MOVE_MOUNT, _CLONE3, _OPENAT2, _MOUNT_SETATTR = 428, 429, 435, 437, 442
_RESOLVE_NO_XDEV, _RESOLVE_NO_MAGICLINKS, _RESOLVE_NO_SYMLINKS, _RESOLVE_BENEATH = 1, 2, 4, 8

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


class _MountAttr(ctypes.Structure):
    _fields_ = (
        ("attr_set", ctypes.c_uint64),
        ("attr_clr", ctypes.c_uint64),
        ("propagation", ctypes.c_uint64),
        ("userns_fd", ctypes.c_uint64),
    )


class _OpenHow(ctypes.Structure):
    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


def _checked(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), what)
    return int(result)


def unshare(flags: int) -> None:
    """Leave the namespaces named by `flags` for new ones."""
    _checked(_libc.unshare(ctypes.c_int(flags)), "unshare")


def enter(namespace: int, flag: int) -> None:
    """Enter an existing namespace."""
    _checked(_libc.setns(ctypes.c_int(namespace), ctypes.c_int(flag)), "setns")


def fork_into_cgroup(directory: int) -> int:
    """Fork a child that is born in the (version 2) control group of a directory's descriptor.

    Only for a process without threads: nothing of what C library and Python do around a fork is done.
    """
    arguments = (ctypes.c_uint64 * 11)()
    arguments[0], arguments[4], arguments[10] = _CLONE_INTO_CGROUP, signal.SIGCHLD, directory
    result = _libc.syscall(
        ctypes.c_long(_CLONE3), ctypes.byref(arguments), ctypes.c_size_t(ctypes.sizeof(arguments))
    )
    return _checked(result, "clone3")


def prctl(option: int, value: int) -> None:
    """Set a property of the calling process."""
    unused = ctypes.c_ulong(0)
    _checked(_libc.prctl(ctypes.c_int(option), ctypes.c_ulong(value), unused, unused, unused), "prctl")


def mount(source: str, target: str, kind: str | None, flags: int, options: str | None = None) -> None:
    """`mount(2)`."""
    _checked(
        _libc.mount(
            os.fsencode(source),
            os.fsencode(target),
            None if kind is None else kind.encode(),
            ctypes.c_ulong(flags),
            None if options is None else os.fsencode(options),
        ),
        f"mount {kind or 'bind'} at {target}",
    )


def umount(target: str, *, lazily: bool = False) -> None:
    """`umount2(2)`; lazily leaves it to the last user."""
    _checked(
        _libc.umount2(os.fsencode(target), ctypes.c_int(_MNT_DETACH if lazily else 0)), f"umount {target}"
    )


def clone_tree(path: str, *, recursive: bool = False) -> int:
    """A descriptor of a detached copy of the mount at `path`, to be attached elsewhere."""
    flags = _OPEN_TREE_CLONE | os.O_CLOEXEC | (_AT_RECURSIVE if recursive else 0)
    result = _libc.syscall(
        ctypes.c_long(_OPEN_TREE), ctypes.c_int(_AT_FDCWD), os.fsencode(path), ctypes.c_uint(flags)
    )
    return _checked(result, f"open_tree {path}")


def set_mount(
    tree: int, attributes: int, *, user_namespace: int | None = None, recursive: bool = False
) -> None:
    """Set attributes on a detached mount; with `user_namespace`, map owners through it."""
    value = _MountAttr(attributes, 0, 0, 0)
    if user_namespace is not None:
        value.attr_set |= MOUNT_ATTR_IDMAP
        value.userns_fd = user_namespace
    result = _libc.syscall(
        ctypes.c_long(_MOUNT_SETATTR),
        ctypes.c_int(tree),
        b"",
        ctypes.c_uint(AT_EMPTY_PATH | (_AT_RECURSIVE if recursive else 0)),
        ctypes.byref(value),
        ctypes.c_size_t(ctypes.sizeof(value)),
    )
    _checked(result, "mount_setattr")


def attach_tree(tree: int, target: str) -> None:
    """Attach a detached mount at `target`."""
    result = _libc.syscall(
        ctypes.c_long(_MOVE_MOUNT),
        ctypes.c_int(tree),
        b"",
        ctypes.c_int(_AT_FDCWD),
        os.fsencode(target),
        ctypes.c_uint(_MOVE_MOUNT_F_EMPTY_PATH),
    )
    _checked(result, f"move_mount to {target}")


def open_beneath(directory: int, path: bytes, flags: int, mode: int = 0) -> int:
    """Open `path` below a directory without leaving it, following no link of any kind.

    Raises:
        OSError: ELOOP at a symlink, EXDEV where `..` or a mount would lead out, else as `open`.
    """
    resolve = _RESOLVE_BENEATH | _RESOLVE_NO_SYMLINKS | _RESOLVE_NO_MAGICLINKS | _RESOLVE_NO_XDEV
    how = _OpenHow(flags | os.O_CLOEXEC, mode, resolve)
    result = _libc.syscall(
        ctypes.c_long(_OPENAT2),
        ctypes.c_int(directory),
        path,
        ctypes.byref(how),
        ctypes.c_size_t(ctypes.sizeof(how)),
    )
    return _checked(result, os.fsdecode(path))
