"""Where sandboxes keep their layers on disk, and clearing up after an adjudge that died.

Each adjudge process has one directory, held by a lock for as long as the process lives. A directory whose
lock is free belongs to nobody any more; whoever starts next removes it.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import os
import secrets
import stat
import tempfile
import threading
import time
from pathlib import Path

from adjudge.errors import ConfigInvalid, SandboxError
from adjudge.sandbox.removal import remove_tree

__all__ = ["OWN_DIRECTORIES", "Scratch", "current_scratch", "own_scratch", "scratch_root"]

OWN_DIRECTORIES = ("upper", "tmp", "home")
"""What a sandbox writes to: its layer over the workspace, its /tmp, its HOME."""
_AHEAD = 2
_UNBORN, _ALIVE = "new-", "run-"
_UNBORN_S = 60.0
_LOCK = "lock"
_VARIABLE = "ADJUDGE_SCRATCH"

_guard = threading.Lock()
_own: Scratch | None = None


def scratch_root() -> Path:
    """The directory below which this user's sandboxes live.

    `ADJUDGE_SCRATCH` if set, else a directory in /var/tmp (on disk, where /tmp is often memory).
    """
    chosen = os.environ.get(_VARIABLE)
    if chosen:
        path = Path(chosen)
        if not path.is_absolute():
            raise ConfigInvalid(f"{_VARIABLE} must be an absolute path, not {chosen!r}")
        return path
    parent = Path("/var/tmp") if os.access("/var/tmp", os.W_OK | os.X_OK) else Path(tempfile.gettempdir())
    return parent / f"adjudge-{os.getuid()}"


class Scratch:
    """This process's directory. Thread-safe."""

    def __init__(self, root: Path) -> None:
        self.owner = os.getpid()
        self._root = root
        self.id = secrets.token_hex(6)
        self.path = root / f"{_ALIVE}{self.id}"
        self.ready = False
        """Set by whoever has put into it what all sandboxes share."""
        self._count = 0
        self._furnished: list[Path] = []
        self._guard = threading.Lock()
        # Under its name only once it is locked: before that it would look like a dead process's.
        unborn = root / f"{_UNBORN}{self.id}"
        unborn.mkdir(mode=0o700)
        self._lock = os.open(unborn / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        unborn.rename(self.path)

    def new(self) -> Path:
        """A new directory for one sandbox.

        The directory above is closed to everybody else; this one can be passed through, since the
        sandbox's user meets it alone, mounted elsewhere.
        """
        with self._guard:
            self._count += 1
            path = self.path / str(self._count)
        os.mkdir(path)
        os.chmod(path, 0o711)
        return path

    def furnished(self) -> Path:
        """A new directory that has `OWN_DIRECTORIES` in it already, if one was made ahead of time.

        Making them takes up to two milliseconds on a large disk; `furnish` does it when nobody waits.
        """
        with self._guard:
            if self._furnished:
                return self._furnished.pop()
        return self._make_furnished()

    def furnish(self) -> None:
        """Have a directory ready for the next sandbox."""
        if len(self._furnished) >= _AHEAD:
            return
        # A full disk is for the sandbox that meets it to report.
        with contextlib.suppress(OSError):
            path = self._make_furnished()
            with self._guard:
                self._furnished.append(path)

    def _make_furnished(self) -> Path:
        path = self.new()
        for name in OWN_DIRECTORIES:
            os.mkdir(path / name)
        return path

    def close(self) -> None:
        """Remove the directory with everything in it."""
        if self.owner == os.getpid():
            with contextlib.suppress(FileNotFoundError):
                _remove(self.path)
        os.close(self._lock)
        with contextlib.suppress(OSError):
            self._root.rmdir()


def current_scratch() -> Scratch | None:
    """This process's scratch directory if it has one already and it is ready for use."""
    own = _own
    return own if own is not None and own.owner == os.getpid() and own.ready else None


def own_scratch() -> tuple[Scratch, list[str]]:
    """This process's scratch directory, and the ids of dead processes whose leftovers were removed.

    Raises:
        SandboxError: The directory cannot be made, or is not ours.
    """
    global _own
    with _guard:
        if _own is not None and _own.owner == os.getpid() and _own.path.exists():
            return _own, []
        root = scratch_root()
        try:
            _own = _make(root)
            return _own, _sweep(root)
        except OSError as error:
            raise SandboxError(
                f"no scratch directory for sandboxes: {error}",
                hint=f"set {_VARIABLE} to a directory on a disk with free space",
            ) from error


def _make(root: Path) -> Scratch:
    root.parent.mkdir(parents=True, exist_ok=True)
    while True:
        # Whoever leaves last takes the root along, perhaps between any two of these steps.
        with contextlib.suppress(FileExistsError):
            os.mkdir(root, 0o700)
        with contextlib.suppress(FileNotFoundError):
            status = root.lstat()
            if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid():
                raise SandboxError(
                    f"{root} does not belong to this user", hint=f"set {_VARIABLE} to a directory of your own"
                )
            return Scratch(root)


def _sweep(root: Path) -> list[str]:
    """Remove the directories of processes that are gone."""
    swept: list[str] = []
    for path in root.glob(f"{_ALIVE}*"):
        try:
            lock = os.open(path / _LOCK, os.O_RDWR | os.O_CLOEXEC)
        except OSError:
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _remove(path)
            swept.append(path.name.removeprefix(_ALIVE))
        except OSError:
            # Somebody holds it; or its last processes are only just dying, and the next start finds it.
            continue
        finally:
            os.close(lock)
    for path in root.glob(f"{_UNBORN}*"):
        with contextlib.suppress(OSError):
            if time.time() - path.stat().st_mtime > _UNBORN_S:
                remove_tree(path)
    return swept


def _remove(path: Path) -> None:
    """Remove a directory whose lock we hold, the lock last: while it is there, nobody else will."""
    for entry in os.scandir(path):
        if entry.is_dir(follow_symlinks=False):
            remove_tree(Path(entry.path))
        elif entry.name != _LOCK:
            os.unlink(entry.path)
    os.unlink(path / _LOCK)
    os.rmdir(path)


@atexit.register
def _close() -> None:
    global _own
    with _guard:
        if _own is not None and _own.owner == os.getpid():
            _own.close()
            _own = None
