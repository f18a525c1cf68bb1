"""Files a command is told to write."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

from adjudge.errors import ConfigInvalid

__all__ = ["refuse_unless_writable", "write_whole"]

_OF_THE_SYSTEM = ("/dev/", "/proc/")


def refuse_unless_writable(file: Path) -> None:
    """Say before any work is done that its result would have nowhere to go.

    Raises:
        ConfigInvalid: The place is a folder, or in none.
    """
    if file.is_dir():
        raise ConfigInvalid(f"--output {file} is a folder, not a file")
    if not file.parent.is_dir():
        raise ConfigInvalid(f"--output {file}: {file.parent} is not a folder")


def write_whole(file: Path, text: str) -> None:
    """Write beside the file and move it there, so that no reader ever sees half of it.

    What is no file (`/dev/null`, `/dev/stdout`, a pipe) is written to instead; a move would replace it.

    Raises:
        ConfigInvalid: It cannot be written.
    """
    try:
        if _is_written_in_place(file):
            with file.open("w", encoding="utf-8") as stream:
                stream.write(text)
            return
        descriptor, scratch = tempfile.mkstemp(prefix=f".{file.name[:100]}.", dir=file.parent)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
                stream.write(text)
            os.chmod(scratch, 0o666 & ~_umask())
            os.replace(scratch, file)
        except BaseException:
            os.unlink(scratch)
            raise
    except OSError as error:
        raise ConfigInvalid(f"--output {file}: {error.strerror}") from error


def _is_written_in_place(file: Path) -> bool:
    """Whether something other than a file is there.

    Links are followed only where the system keeps its own: one in a workspace is the attempt's, and is
    replaced by the file.
    """
    try:
        mode = file.lstat().st_mode
    except OSError:
        return False
    if stat.S_ISLNK(mode):
        return os.path.abspath(file).startswith(_OF_THE_SYSTEM)
    return stat.S_ISCHR(mode) or stat.S_ISFIFO(mode) or stat.S_ISBLK(mode) or stat.S_ISSOCK(mode)


def _umask() -> int:
    """The process's mask, which can only be read by setting it."""
    current = os.umask(0)
    os.umask(current)
    return current
