"""Mounts without mounting: laying host files over a workspace for the time of a command.

Read-only mounts become copies, writable ones links to their source. What lay at their place is moved aside
and comes back afterwards, so that the workspace holds neither the mounts nor traces of them. The candidate
owns the workspace, so every step on the way to a place is taken without following a link.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from adjudge.errors import SandboxError, SubjectError, UsageError
from adjudge.records.sandbox import Mount
from adjudge.sandbox import kernel
from adjudge.sandbox.copying import copy_tree
from adjudge.sandbox.removal import remove_tree

__all__ = ["Covers"]

_WORKSPACE = PurePosixPath("/workspace")
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


@dataclass(frozen=True)
class _Laid:
    """Something put into the workspace."""

    parts: list[bytes]
    on_the_way: bool
    """A directory made because a mount's place lies in it."""
    covered: Path | None = None
    """Where what lay there was moved to."""
    mode: int = 0
    """The mode of what lay there."""


class Covers:
    """The mounts of one sandbox, laid and lifted around each command.

    Args:
        workspace: The sandbox's own workspace.
        aside: An empty directory on the same file system, for what is covered.
        mounts: What to lay, in order.

    Raises:
        UsageError: A mount whose source is not there.
        SandboxError: A mount outside the workspace at another place than its own.
    """

    def __init__(self, workspace: Path, aside: Path, mounts: Sequence[Mount]) -> None:
        self._workspace = workspace
        self._aside = aside
        self._laid: list[_Laid] = []
        self._mounts: list[tuple[list[bytes], Mount]] = []
        for mount in mounts:
            target = _WORKSPACE / mount.target
            if not mount.source.exists():
                raise UsageError(f"{mount.source} cannot be shown in the sandbox: it does not exist")
            if ".." in target.parts or target == _WORKSPACE:
                raise UsageError(f"nothing can be mounted at {target}")
            if target.is_relative_to(_WORKSPACE):
                parts = [os.fsencode(part) for part in target.relative_to(_WORKSPACE).parts]
                self._mounts.append((parts, mount))
            elif Path(target) != mount.source:
                raise SandboxError(
                    f"without isolation nothing can be shown at {target}",
                    hint="use the bubblewrap sandbox, or mount inside /workspace",
                )

    def lay(self) -> None:
        """Put every mount at its place.

        Raises:
            SubjectError: A link, or something that is no directory, is on the way to a place.
        """
        try:
            for parts, mount in self._mounts:
                self._lay(parts, mount)
        except OSError as error:
            self.lift()
            raise SubjectError(f"a mount cannot be laid over this workspace: {error}") from error

    def _lay(self, parts: list[bytes], mount: Mount) -> None:
        for depth in range(1, len(parts)):
            with self._above(parts[:depth]) as above, contextlib.suppress(FileExistsError):
                os.mkdir(parts[depth - 1], 0o755, dir_fd=above)
                self._laid.append(_Laid(parts[:depth], on_the_way=True))
        with self._above(parts) as above:
            self._laid.append(self._move_aside(above, parts))
            place = _place(above, parts)
            if mount.writable:
                place.symlink_to(mount.source.resolve())
            elif mount.source.is_dir():
                place.mkdir(mode=0o755)
                copy_tree(str(mount.source.resolve()), str(place), (os.geteuid(), os.getegid()))
            else:
                shutil.copy(mount.source, place)

    def _move_aside(self, above: int, parts: list[bytes]) -> _Laid:
        try:
            mode = os.stat(parts[-1], dir_fd=above, follow_symlinks=False).st_mode
        except FileNotFoundError:
            return _Laid(parts, on_the_way=False)
        if stat.S_ISDIR(mode):
            # A directory that changes its parent is written to.
            os.chmod(parts[-1], 0o700, dir_fd=above)
        covered = self._aside / str(len(self._laid))
        os.rename(parts[-1], covered, src_dir_fd=above)
        return _Laid(parts, on_the_way=False, covered=covered, mode=mode)

    def lift(self) -> None:
        """Take every mount away and put back what it covered.

        What a command made unreachable (it removed a directory on the way, or put a link there) counts as
        removed by the command.
        """
        while self._laid:
            laid = self._laid.pop()
            with contextlib.suppress(OSError), self._above(laid.parts) as above:
                place = _place(above, laid.parts)
                if laid.on_the_way:
                    place.rmdir()  # refused when the command put something into it
                    continue
                _remove(place)
                if laid.covered is not None:
                    laid.covered.rename(place)
                    if stat.S_ISDIR(laid.mode):
                        place.chmod(stat.S_IMODE(laid.mode))

    @contextlib.contextmanager
    def _above(self, parts: list[bytes]) -> Iterator[int]:
        """The directory that holds a place."""
        top = os.open(self._workspace, _DIRECTORY)
        try:
            above = kernel.open_beneath(top, b"/".join(parts[:-1]) or b".", _DIRECTORY)
        finally:
            os.close(top)
        try:
            yield above
        finally:
            os.close(above)


def _place(above: int, parts: list[bytes]) -> Path:
    return Path(f"/proc/self/fd/{above}") / os.fsdecode(parts[-1])


def _remove(place: Path) -> None:
    try:
        mode = os.lstat(place).st_mode
    except FileNotFoundError:
        return
    if stat.S_ISDIR(mode):
        remove_tree(place)
    else:
        os.unlink(place)
