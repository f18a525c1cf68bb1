"""`adjudge validate`: every scenario that paths mean, each with everything wrong with it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from adjudge.errors import Problem, ScenarioInvalid, UsageError
from adjudge.records.task import Scenario
from adjudge.tasks.load import SCENARIO_FILE, load_scenario

__all__ = ["Validation", "scenario_files", "validate"]

_NOT_ENTERED = frozenset({"node_modules", "target", "build", "dist", "__pycache__", "venv"})


@dataclass(frozen=True, slots=True)
class Validation:
    """What was found about one scenario file."""

    file: Path
    scenario: Scenario | None
    problems: tuple[Problem, ...]
    warnings: tuple[Problem, ...]


def validate(paths: Sequence[Path]) -> list[Validation]:
    """Validate files, and every `adjudge.yaml` in or below folders."""
    files = dict.fromkeys(file for path in paths for file in scenario_files(path))
    return [_validate(file) for file in files]


def scenario_files(path: Path) -> Iterator[Path]:
    """The file itself, or every `adjudge.yaml` in or below a folder; the folder where there is none."""
    if not os.path.isdir(path):
        yield path
        return
    found = False
    for here, folders, files in os.walk(path):
        folders[:] = sorted(name for name in folders if name not in _NOT_ENTERED and not name.startswith("."))
        if SCENARIO_FILE in files:
            found = True
            yield Path(here) / SCENARIO_FILE
    if not found:
        yield path


def _validate(file: Path) -> Validation:
    try:
        loaded = load_scenario(file)
    except ScenarioInvalid as error:
        return Validation(file, None, error.problems, ())
    except UsageError as error:
        message = error.message.removeprefix(f"{file} ")
        return Validation(file, None, (Problem(str(file), 1, 1, "", message),), ())
    return Validation(file, loaded.scenario, (), loaded.warnings)
