"""The scenarios that the view was started with, chosen by id: a request never names a path."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

__all__ = ["ScenarioList"]

_NAMES = ("adjudge.yaml", "adjudge.yml", "scenario.yaml", "scenario.yml")


class ScenarioList:
    """Scenario files by id, looked for anew each time: new ones appear.

    Args:
        given: Files, and folders in which each `adjudge.yaml` (and the like) is one.
    """

    def __init__(self, given: Sequence[Path]) -> None:
        self._given = tuple(Path(os.path.abspath(path)) for path in given)

    def files(self) -> dict[str, Path]:
        """Every scenario file, by an id that stays the same."""
        found = {}
        for file in self._find():
            found[hashlib.sha256(os.fsencode(file)).hexdigest()[:12]] = file
        return found

    def _find(self) -> Iterator[Path]:
        for path in self._given:
            if path.is_dir():
                for folder, folders, names in os.walk(path):
                    folders[:] = sorted(name for name in folders if not name.startswith("."))
                    yield from (Path(folder, name) for name in sorted(names) if name in _NAMES)
            elif path.is_file():
                yield path
