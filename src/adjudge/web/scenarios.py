"""The scenarios that the view was started with, chosen by id: a request never names a path."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

from fastapi import Depends, HTTPException, Request

__all__ = ["ScenarioFile", "ScenarioList"]

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

    def place(self, file: Path) -> str:
        """A file as people know it: relative to what the view was started with."""
        for path in self._given:
            if file == path:
                return str(Path(path.parent.name, path.name))
            if path in file.parents:
                return str(Path(path.name) / file.relative_to(path))
        return file.name

    def _find(self) -> Iterator[Path]:
        for path in self._given:
            if path.is_dir():
                for folder, folders, names in os.walk(path):
                    folders[:] = sorted(name for name in folders if not name.startswith("."))
                    yield from (Path(folder, name) for name in sorted(names) if name in _NAMES)
            elif path.is_file():
                yield path


def scenario_file(request: Request, scenario: str) -> Path:
    """The file behind an id."""
    listed: ScenarioList = request.app.state.scenarios
    file = listed.files().get(scenario)
    if file is None:
        raise HTTPException(404, "the view was not started with such a scenario, or it is gone")
    return file


ScenarioFile = Annotated[Path, Depends(scenario_file)]
