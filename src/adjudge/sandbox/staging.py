"""Preparing mounts in a private mount namespace, before any right is given up. Standard library only.

As root: each layer of the workspace is bound with its owner mapped to the sandbox's user, so that the
agent owns what it was given and can change it, while the disk below keeps its true owner. As an ordinary
user the same is done in a user namespace, where there is nothing to map.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat

from adjudge.sandbox import kernel
from adjudge.sandbox.launchrequest import STAGE, Overlay, Request, Staged

__all__ = ["IdMaps", "enter_own_namespaces", "open_user_namespace", "stage", "unstage"]

IdMaps = dict[tuple[int, int, int, int], int]
"""Descriptors of user namespaces that map (uid, gid) on disk to (uid, gid) in the sandbox."""

_OVERLAY_OPTIONS = "metacopy=off,index=off,volatile"
"""`volatile`: without it, unmounting flushes the whole file system below to disk."""


def open_user_namespace(uid: int, gid: int, sandbox_uid: int, sandbox_gid: int) -> int:
    """A user namespace for an idmapped mount: owner on disk → owner as seen through the mount."""
    ready_read, ready_write = os.pipe()
    hold_read, hold_write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(hold_write)
            kernel.unshare(kernel.CLONE_NEWUSER)
            os.write(ready_write, b"1")
            os.read(hold_read, 1)
        finally:
            os._exit(0)
    os.close(ready_write)
    os.close(hold_read)
    try:
        if os.read(ready_read, 1) != b"1":
            raise OSError(errno.EPERM, "user namespaces are refused", "unshare")
        _write(f"/proc/{child}/uid_map", f"{uid} {sandbox_uid} 1")
        _write(f"/proc/{child}/gid_map", f"{gid} {sandbox_gid} 1")
        return os.open(f"/proc/{child}/ns/user", os.O_RDONLY | os.O_CLOEXEC)
    finally:
        os.close(ready_read)
        os.close(hold_write)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(child, 0)


def enter_own_namespaces(*, user: bool) -> None:
    """Enter a mount namespace whose mounts reach nobody else, below a user namespace when not root."""
    if user:
        uid, gid = os.getuid(), os.getgid()
        kernel.unshare(kernel.CLONE_NEWUSER | kernel.CLONE_NEWNS)
        _write("/proc/self/setgroups", "deny")
        _write("/proc/self/uid_map", f"{uid} {uid} 1")
        _write("/proc/self/gid_map", f"{gid} {gid} 1")
    else:
        kernel.unshare(kernel.CLONE_NEWNS)
    kernel.mount("none", "/", None, kernel.MS_REC | kernel.MS_PRIVATE)


def stage(request: Request, maps: IdMaps) -> None:
    """Mount everything the request names below `STAGE`, and the overlay over it."""
    trees = [(staged, _open(staged, request, maps)) for staged in request["staged"]]
    kernel.mount("tmpfs", STAGE, "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, "mode=0711,size=1m")
    for staged, tree in trees:
        target = f"{STAGE}/{staged['name']}"
        if stat.S_ISDIR(os.fstat(tree).st_mode):
            os.mkdir(target, 0o755)
        else:
            os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644))
        kernel.attach_tree(tree, target)
        os.close(tree)
    if request["overlay"] is not None:
        _mount_overlay(request["overlay"])


def unstage(request: Request) -> None:
    """Take the overlay down, so that its layers can be read and mounted again.

    Called when every process of the sandbox is dead: nobody else can hold the mount.
    """
    if request["overlay"] is not None:
        kernel.umount(f"{STAGE}/w")


def _open(staged: Staged, request: Request, maps: IdMaps) -> int:
    identity = request["identity"]
    owner = staged.get("owner")
    attributes = kernel.MOUNT_ATTR_NOSUID | kernel.MOUNT_ATTR_NODEV
    if staged["read_only"]:
        attributes |= kernel.MOUNT_ATTR_RDONLY
    if owner is not None and identity is not None and tuple(owner) != (identity["uid"], identity["gid"]):
        tree = kernel.clone_tree(staged["source"])
        space = maps[owner[0], owner[1], identity["uid"], identity["gid"]]
        kernel.set_mount(tree, attributes, user_namespace=space)
        return tree
    # In a user namespace the mounts below are locked to the one above, so they come along.
    tree = kernel.clone_tree(staged["source"], recursive=True)
    kernel.set_mount(tree, attributes, recursive=True)
    return tree


def _mount_overlay(overlay: Overlay) -> None:
    target = f"{STAGE}/w"
    os.mkdir(target, 0o755)
    options = ["lowerdir=" + ":".join(f"{STAGE}/{name}" for name in overlay["layers"]), _OVERLAY_OPTIONS]
    options.append("userxattr" if overlay["userxattr"] else "redirect_dir=on")
    if overlay["upper"] is not None:
        above = f"{STAGE}/{overlay['upper']}"
        # A new one each time: a volatile overlay marks its working directory as not to be used again, and
        # clearing the mark takes longer than making another. They go when the sandbox is discarded.
        work = f"{above}/work-{os.urandom(6).hex()}"
        os.mkdir(work, 0o700)
        options += [f"upperdir={above}/upper", f"workdir={work}"]
    kernel.mount("overlay", target, "overlay", kernel.MS_NOSUID | kernel.MS_NODEV, ",".join(options))


def _write(path: str, text: str) -> None:
    with open(path, "w") as file:
        file.write(text)
