"""What a sandboxed command can see: the system, the interpreter in use, what the caller exposes.

Turned into two lists: what has to be staged before rights are given up, and bwrap's mount options in order.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path, PurePosixPath

from adjudge.errors import UsageError
from adjudge.records.sandbox import Mount
from adjudge.sandbox.launchrequest import STAGE, MountPoint, Staged
from adjudge.sandbox.ownership import root_owner, world_reachable
from adjudge.sandbox.skeleton import HOME

__all__ = ["WORKSPACE", "View", "base_environment", "toolchains"]

WORKSPACE = "/workspace"
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store")
_RESERVED = ("/proc", "/dev", "/sys", "/etc")
_TMP = PurePosixPath("/tmp")
_VAR_TMP = PurePosixPath("/var/tmp")
_OWN = (_TMP, PurePosixPath(HOME), PurePosixPath(WORKSPACE))
"""Where every sandbox has directories of its own. What else is shown there has to come after them."""


class View:
    """Everything visible in one sandbox, apart from what an exec adds.

    Args:
        stages: Whether there is a mount namespace of ours to stage in.
        root: Whether adjudge is root, so that the sandbox's user can reach less than we can.
    """

    def __init__(self, *, stages: bool, root: bool) -> None:
        self._stages = stages
        self._root = root
        self.staged: list[Staged] = []
        self.options: list[str] = []
        self.mount_points: list[MountPoint] = []
        self.roots: list[tuple[PurePosixPath, str]] = []
        """Places inside → the directories on our side (staged where staging is) that show them."""

    def copy(self) -> View:
        """A view that starts as this one does."""
        other = View(stages=self._stages, root=self._root)
        other.staged, other.options = [*self.staged], [*self.options]
        other.mount_points, other.roots = [*self.mount_points], [*self.roots]
        return other

    def reach(
        self,
        source: Path,
        *,
        name: str | None = None,
        read_only: bool = True,
        owner: tuple[int, int] | None = None,
    ) -> str:
        """The path at which bwrap finds a host path, staging it where it must be.

        Args:
            source: The host path.
            name: Stage under this name in any case (and only where staging is possible).
            read_only: Whether to stage it read-only.
            owner: Owner on disk that the sandbox's user is to stand in for.
        """
        resolved = source.resolve()
        hidden = resolved.is_relative_to(STAGE) or (self._root and not world_reachable(resolved))
        if not self._stages or not (name or owner or hidden):
            return str(resolved)
        name = name or f"m{len(self.staged)}"
        staged: Staged = {"source": str(resolved), "name": name, "read_only": read_only}
        if owner is not None:
            staged["owner"] = owner
        self.staged.append(staged)
        return f"{STAGE}/{name}"

    def show_system(self, etc: Path) -> None:
        """System directories, /etc, /proc, /dev, an empty /run."""
        for path in _SYSTEM:
            if os.path.islink(path):
                self.options += ["--symlink", os.readlink(path), path]
            elif os.path.isdir(path):
                self.options += ["--ro-bind", path, path]
        self.options += ["--ro-bind", self.reach(etc), "/etc", "--proc", "/proc", "--dev", "/dev"]
        self.options += ["--dir", "/run", "--symlink", str(_TMP), str(_VAR_TMP)]

    def show_toolchains(self, *, within_own: bool = False) -> None:
        """The interpreter and virtual environment in use, at their own paths.

        Args:
            within_own: Those below directories of the sandbox's own, which are shown by then, or the others.
        """
        for path in toolchains():
            target = _behind_links(PurePosixPath(path))
            if _is_within_own(target) is within_own:
                self._show_at(target, self.reach(path), directory=True)
        for link, leads_to in _interpreter_links():
            place = _behind_links(PurePosixPath(link))
            if _is_within_own(place) is within_own:
                self.options += ["--symlink", leads_to, str(place)]

    def show_directory(self, path: str, inside: str) -> None:
        """A directory of the sandbox's own, writable."""
        self.options += ["--bind", path, inside]
        self.roots.append((PurePosixPath(inside), path))

    def show_mounts(self, mounts: tuple[Mount, ...]) -> None:
        """What the caller exposes.

        Raises:
            UsageError: A source that does not exist, or a target that cannot be.
        """
        for mount in mounts:
            target = _target(mount)
            if not mount.source.exists():
                raise UsageError(f"{mount.source} cannot be shown in the sandbox: it does not exist")
            owner = root_owner(mount.source.resolve()) if self._root else None
            path = self.reach(mount.source, read_only=not mount.writable, owner=owner)
            directory = mount.source.is_dir()
            self._show_at(target, path, directory=directory, writable=mount.writable)
            if directory:
                self.roots.append((target, path))

    def _show_at(self, target: PurePosixPath, path: str, *, directory: bool, writable: bool = False) -> None:
        found = self.find(target)
        if found is not None:
            below, relative = found
            self.mount_points.append({"below": below, "path": relative, "directory": directory})
        self.options += ["--bind" if writable else "--ro-bind", path, str(target)]

    def show_own(self, path: str, inside: PurePosixPath) -> None:
        """A directory of the sandbox's own at a place that the caller chose.

        Raises:
            UsageError: It cannot be there.
        """
        _refuse_place(inside)
        if any(inside.is_relative_to(system) for system in _SYSTEM):
            raise UsageError(f"nothing can be mounted at {inside} inside the sandbox")
        self.show_directory(path, str(_behind_links(inside)))

    def find(self, inside: PurePosixPath) -> tuple[str, str] | None:
        """Which directory on our side shows a path, and the path below it; None when none does."""
        best: tuple[str, str] | None = None
        depth = 0
        for root, path in self.roots:
            if inside != root and inside.is_relative_to(root) and len(root.parts) >= depth:
                best, depth = (path, str(inside.relative_to(root))), len(root.parts)
        return best


def _target(mount: Mount) -> PurePosixPath:
    target = mount.target if mount.target.is_absolute() else PurePosixPath(WORKSPACE) / mount.target
    _refuse_place(target)
    return _behind_links(target)


def _behind_links(target: PurePosixPath) -> PurePosixPath:
    """Where a place inside really is: bwrap makes no directories behind the link that /var/tmp is."""
    return _TMP / target.relative_to(_VAR_TMP) if target.is_relative_to(_VAR_TMP) else target


def _is_within_own(target: PurePosixPath) -> bool:
    return any(target.is_relative_to(own) for own in _OWN)


def _refuse_place(target: PurePosixPath) -> None:
    if not target.is_absolute() or ".." in target.parts or "\0" in str(target):
        raise UsageError(f"{target} cannot be a path inside the sandbox")
    if target in (PurePosixPath("/"), PurePosixPath(WORKSPACE)) or any(
        target.is_relative_to(reserved) for reserved in _RESERVED
    ):
        raise UsageError(f"nothing can be mounted at {target} inside the sandbox")


@cache
def toolchains() -> tuple[Path, ...]:
    """Directories of the running interpreter and its environment that the system directories leave out."""
    found: list[Path] = []
    for prefix in dict.fromkeys((sys.base_prefix, sys.base_exec_prefix, sys.prefix, sys.exec_prefix)):
        path = Path(prefix)
        if path == Path("/") or any(path.is_relative_to(system) for system in _SYSTEM):
            continue
        if not any(path.is_relative_to(other) for other in found):
            found.append(path)
    return tuple(found)


@cache
def _interpreter_links() -> tuple[tuple[str, str], ...]:
    """Directory links that lead from the environment's `python` to the real one, as (link, target).

    Version managers put one in between (`cpython-3.11` → `cpython-3.11.7`); the environment's links go
    through it.
    """
    shown = toolchains()
    found: list[tuple[str, str]] = []
    path = Path(sys.executable)
    for _ in range(8):
        if not path.is_symlink():
            break
        path = Path(os.path.normpath(path.parent / os.readlink(path)))
        for parent in path.parents:
            covered = any(parent.is_relative_to(other) for other in (*shown, *map(Path, _SYSTEM)))
            if parent.is_symlink() and not covered:
                found.append((str(parent), str(parent.resolve())))
    return tuple(found)


@cache
def base_environment() -> Mapping[str, str]:
    """What every command finds in its environment; nothing comes from ours."""
    bins = [str(path / "bin") for path in reversed(toolchains())]
    path = [*bins, "/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"]
    return {
        "PATH": ":".join(path),
        "HOME": HOME,
        "USER": "agent",
        "LOGNAME": "agent",
        "LANG": "C.UTF-8",
        "TMPDIR": "/tmp",
        "ADJUDGE_WORKSPACE": WORKSPACE,
    }
