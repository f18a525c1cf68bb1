"""What the folder of a project says: how its tests are run, what decides how it is built."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from adjudge.formats.tasks.starter import TestCommand
from adjudge.formats.testcommands.detect import detect_test_command

__all__ = ["find_protected", "find_test_command"]

_MAX_BYTES = 1024 * 1024


def find_test_command(folder: Path) -> TestCommand | None:
    """The test command of the project in a folder; None when nothing there says how."""
    return detect_test_command(_Folder(folder))


def find_protected(folder: Path) -> tuple[str, ...]:
    """Patterns of what is there and decides how the project is built and released.

    Not the recipe itself: grading reads it from the baseline, so that editing it gains nothing, and a recipe
    that was just written would forbid its own first commit.
    """
    candidates = {
        ".github": ".github/*",
        ".gitlab-ci.yml": ".gitlab-ci.yml",
        ".circleci": ".circleci/*",
        "Jenkinsfile": "Jenkinsfile",
    }
    there = [pattern for name, pattern in candidates.items() if (folder / name).exists()]
    return tuple(there or [".github/*"])


@dataclass(frozen=True, slots=True)
class _Folder:
    """The project of a user, who may link what they like."""

    root: Path

    def text(self, path: str) -> str | None:
        try:
            with (self.root / path).open("rb") as stream:
                return stream.read(_MAX_BYTES).decode("utf-8", "replace")
        except OSError:
            return None

    def names(self, folder: str) -> Sequence[str] | None:
        try:
            return sorted(entry.name for entry in (self.root / folder).iterdir())
        except OSError:
            return None
