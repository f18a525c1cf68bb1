"""A scenario's folder: the only place a scenario's paths can lead to.

Every path is resolved with its links and must end inside the folder. Links that stay inside are fine.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

from adjudge.records.task import SourceKind

__all__ = ["Folder"]

_MAX_TEXT_BYTES = 1024 * 1024


class Folder:
    """A `formats.tasks.sections.ScenarioFolder` on disk; `files` collects what the recipe refers to."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._real = Path(os.path.realpath(root))
        self.files: list[str] = []

    def __call__(self, path: str) -> None:
        """Note a file or folder the recipe refers to."""
        mode = self.resolve(path).stat().st_mode
        if path == ".":
            raise ValueError("'.' is the whole scenario; name a file or folder in it")
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            raise ValueError(f"{path!r} is neither a file nor a folder")
        if path not in self.files:
            self.files.append(path)

    def source(self, path: str, kind: SourceKind) -> None:
        """Look at what a workspace is to be made from."""
        mode = self.resolve(path).stat().st_mode
        if kind is SourceKind.ARCHIVE:
            if not stat.S_ISREG(mode):
                raise ValueError(f"{path!r} is not a file")
        elif kind is SourceKind.FILES:
            if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
                raise ValueError(f"{path!r} is neither a file nor a folder")
        elif not stat.S_ISDIR(mode):
            raise ValueError(f"{path!r} is not a folder")

    def text(self, path: str) -> str:
        """The content of a text file."""
        resolved = self.resolve(path)
        if not resolved.is_file():
            raise ValueError(f"{path!r} is not a file")
        try:
            with resolved.open("rb") as stream:
                data = stream.read(_MAX_TEXT_BYTES + 1)
        except OSError as error:
            raise ValueError(f"{path!r} cannot be read: {error.strerror}") from error
        if len(data) > _MAX_TEXT_BYTES:
            raise ValueError(f"{path!r} has more than {_MAX_TEXT_BYTES // 1024} KiB")
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise ValueError(f"{path!r} is not UTF-8 text") from None
        if not text.strip():
            raise ValueError(f"{path!r} is empty")
        return text

    def is_file(self, path: str) -> bool:
        """Whether there is such a file in the folder."""
        return self._mode(path, stat.S_ISREG)

    def is_folder(self, path: str) -> bool:
        """Whether there is such a folder in it."""
        return self._mode(path, stat.S_ISDIR)

    def names(self, path: str) -> list[str]:
        """What lies in a folder, sorted; nothing when there is none."""
        return sorted(os.listdir(self.resolve(path))) if self.is_folder(path) else []

    def _mode(self, path: str, kind: Callable[[int], bool]) -> bool:
        try:
            return kind(self.resolve(path).stat().st_mode)
        except (ValueError, OSError):
            return False

    def resolve(self, path: str) -> Path:
        """Where a path of the scenario really leads.

        Raises:
            ValueError: Nowhere, or out of the folder.
        """
        try:
            resolved = Path(os.path.realpath(self.root / path, strict=True))
        except (FileNotFoundError, NotADirectoryError):
            raise ValueError(f"{path!r} does not exist in the scenario's folder") from None
        except OSError as error:
            raise ValueError(f"{path!r} cannot be followed: {error.strerror}") from error
        if not resolved.is_relative_to(self._real):
            raise ValueError(f"{path!r} leads out of the scenario's folder through a link")
        return resolved
