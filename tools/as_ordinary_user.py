"""Run a command as an ordinary user: `as_ordinary_user.py CMD…`.

As an ordinary user already, the command is simply executed. As root it runs under a uid of its own, without
groups and capabilities, with a HOME and a TMPDIR that are removed afterwards. Nothing on the host changes:
the account exists only in a private mount namespace, where a longer /etc/passwd lies over the real one.

The interpreter and the clone often lie where nobody but root can go (a 0700 home, a `mktemp -d`). In the
private namespace each such directory is covered by a readable one that shows just what is needed, at the
same paths. Processes the command leaves behind are ended, and named, when it is over.

Exits with the command's own code, or 125 when the command could not be started.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import pwd
import random
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NoReturn

_NAME = "ordinary"
_UIDS = range(52_000, 53_000)
_CANNOT_START = 125

_CLONE_NEWNS = 0x20000
_MS_BIND, _MS_REC, _MS_PRIVATE = 0x1000, 0x4000, 0x40000
_PR_SET_PDEATHSIG = 1

_libc = ctypes.CDLL(None, use_errno=True)


def main(argv: Sequence[str]) -> int:
    """Run `argv` as an ordinary user and return its exit code."""
    if not argv:
        return _refuse("usage: as_ordinary_user.py CMD…")
    if os.geteuid() != 0:
        _execute(argv)
    uid = _free_uid()
    private = Path(tempfile.mkdtemp(prefix="adjudge-ordinary-"))
    try:
        child = os.fork()
        if child == 0:
            _become(uid, private, argv)
        return _wait_for(child)
    finally:
        _end_leftovers(uid)
        _remove(private)


def _become(uid: int, private: Path, argv: Sequence[str]) -> NoReturn:
    """In the child: set the stage, drop every right, execute."""
    try:
        os.umask(0o022)
        environment = _make_home(uid, private)
        needed = _needed_directories(argv)
        _make_stage(uid, private, needed)
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
        # After the uid change, which clears it: the command must not outlive us.
        _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        for directory in needed:
            if not os.access(directory, os.R_OK | os.X_OK):
                raise OSError(f"{directory} is closed to others; chmod -R go+rX opens it")
        os.environ.clear()
        os.environ.update(environment)
        _execute(argv)
    except Exception as error:
        _refuse(f"cannot run {argv[0]} as an ordinary user: {error}")
    finally:
        os._exit(_CANNOT_START)


def _execute(argv: Sequence[str]) -> NoReturn:
    try:
        os.execvp(argv[0], list(argv))
    except OSError as error:
        sys.exit(_refuse(f"cannot execute {argv[0]}: {error.strerror}"))


def _refuse(message: str) -> int:
    print(message, file=sys.stderr, flush=True)
    return _CANNOT_START


def _wait_for(child: int) -> int:
    """Wait for the command, passing on what would end us; the terminal's Ctrl-C reaches it by itself."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda received, _frame: os.kill(child, received))
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)


# The user


def _free_uid() -> int:
    """A uid without an account, chosen at random so that two runs at once do not share it."""
    taken = {entry.pw_uid for entry in pwd.getpwall()}
    return random.choice([uid for uid in _UIDS if uid not in taken])


def _make_home(uid: int, private: Path) -> dict[str, str]:
    """Make HOME and TMPDIR; return the command's environment."""
    home, temporary = private / "home", private / "tmp"
    for directory in (home, temporary):
        directory.mkdir(mode=0o700)
        os.chown(directory, uid, uid)
    private.chmod(0o755)
    dropped = ("XDG_", "SUDO_", "MAIL", "ADJUDGE_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
    return kept | {
        "HOME": str(home),
        "TMPDIR": str(temporary),
        "USER": _NAME,
        "LOGNAME": _NAME,
        "SHELL": "/bin/sh",
        # Its default place is the working directory, which belongs to somebody else.
        "HYPOTHESIS_STORAGE_DIRECTORY": str(home / "hypothesis"),
        # Its default place is swept by the next run of the same user, and this user never comes back.
        "ADJUDGE_SCRATCH": str(home / "scratch"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def _end_leftovers(uid: int) -> None:
    """End every process of the user. Its uid is ours alone, so nothing else can be hit."""
    named: set[int] = set()
    while pids := _processes_of(uid):
        for pid, name in pids.items():
            if pid not in named:
                print(f"left running, ended now: {name} (pid {pid})", file=sys.stderr)
                named.add(pid)
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.02)


def _processes_of(uid: int) -> dict[int, str]:
    found: dict[int, str] = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        with contextlib.suppress(OSError):
            state = (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()[0]
            if entry.stat().st_uid == uid and state != "Z":
                found[int(entry.name)] = (entry / "comm").read_text(errors="replace").strip()
    return found


def _remove(private: Path) -> None:
    """Remove HOME and TMPDIR. `rm` knows no limit on depth; root needs no permission bits."""
    subprocess.run(["rm", "-rf", "--one-file-system", private], check=True)


# The stage


def _needed_directories(argv: Sequence[str]) -> set[Path]:
    """What must be reachable at its own path: the clone, the interpreter, the command, where we stand."""
    clone = Path(__file__).resolve().parent.parent
    needed = {clone, Path.cwd(), Path(sys.prefix), Path(sys.base_prefix), Path(sys.base_prefix).resolve()}
    pointer = clone / ".git"
    if pointer.is_file():  # a linked worktree: its repository lies elsewhere
        needed.add(Path(pointer.read_text().removeprefix("gitdir:").strip()).parent.parent)
    program = shutil.which(argv[0])
    if program is not None:
        needed |= {Path(program).absolute().parent, Path(program).resolve().parent}
    return needed


def _make_stage(uid: int, private: Path, needed: Iterable[Path]) -> None:
    """In a private mount namespace, add the account and open the way to what is needed."""
    covers = _plan_covers(needed)
    try:
        _check(_libc.unshare(_CLONE_NEWNS), "unshare")
    except OSError as error:
        if covers:
            closed = ", ".join(str(directory) for directory in sorted(covers))
            raise OSError(
                f"only root can enter {closed}, and a mount namespace is refused: {error}"
            ) from error
        print(f"no mount namespace ({error.strerror}), so the user has no name", file=sys.stderr)
        return
    _mount("none", "/", None, _MS_REC | _MS_PRIVATE)
    for database, line in (
        ("/etc/passwd", f"{_NAME}:x:{uid}:{uid}::{private / 'home'}:/bin/sh\n"),
        ("/etc/group", f"{_NAME}:x:{uid}:\n"),
    ):
        longer = private / Path(database).name
        longer.write_text(Path(database).read_text() + line)
        longer.chmod(0o644)
        _mount(str(longer), database, None, _MS_BIND)
    where = Path.cwd()
    # An O_PATH descriptor still leads to a directory after a cover has hidden its path.
    handles = {
        directory: os.open(directory, os.O_PATH | os.O_CLOEXEC | os.O_NOFOLLOW)
        for shown in covers.values()
        for directory in shown
    }
    for cover, shown in sorted(covers.items()):
        _mount("tmpfs", str(cover), "tmpfs", 0, "mode=0755")
        for directory in sorted(shown):
            _show(handles[directory], directory)
    os.chdir(where)  # the same path, now on the stage


def _plan_covers(needed: Iterable[Path]) -> dict[Path, set[Path]]:
    """The outermost closed directory → what has to be shown below it."""
    covers: dict[Path, set[Path]] = {}
    for path in needed:
        closed = next((step for step in (*reversed(path.parents), path) if not _open_to_others(step)), None)
        if closed is not None:
            # A directory that is itself closed would stay so if it were shown; what is in it need not.
            shown = {path} if _open_to_others(path) else set(path.iterdir())
            covers.setdefault(closed, set()).update(shown)
    # Whatever lies in something already shown needs no mount of its own.
    return {
        cover: {path for path in shown if not any(parent in shown for parent in path.parents)}
        for cover, shown in covers.items()
    }


def _open_to_others(directory: Path) -> bool:
    return directory.stat().st_mode & stat.S_IXOTH != 0


def _show(handle: int, target: Path) -> None:
    """Show what `handle` refers to at `target`, on a cover."""
    target.parent.mkdir(parents=True, exist_ok=True)
    source = f"/proc/self/fd/{handle}"
    kind = os.fstat(handle).st_mode
    if stat.S_ISLNK(kind):
        target.symlink_to(os.readlink("", dir_fd=handle))
        return
    if stat.S_ISDIR(kind):
        target.mkdir()
    else:
        target.touch()
    _mount(source, str(target), None, _MS_BIND | _MS_REC)


def _mount(source: str, target: str, kind: str | None, flags: int, data: str | None = None) -> None:
    encoded = [None if text is None else os.fsencode(text) for text in (source, target, kind, data)]
    _check(_libc.mount(*encoded[:3], ctypes.c_ulong(flags), encoded[3]), f"mount on {target}")


def _check(result: int, doing: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{doing}: {os.strerror(number)}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
