"""Files a command is told to write."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from adjudge.errors import ConfigInvalid

__all__ = ["write_whole"]


def write_whole(file: Path, text: str) -> None:
    """Write beside the file and move it there, so that no reader ever sees half of it.

    Raises:
        ConfigInvalid: It cannot be written.
    """
    try:
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


def _umask() -> int:
    """The process's mask, which can only be read by setting it."""
    current = os.umask(0)
    os.umask(current)
    return current
