"""From a path on the command line to a scenario: find its file, read it, validate it."""

from __future__ import annotations

import importlib
import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from adjudge.errors import Problem, ScenarioInvalid, UsageError
from adjudge.formats.tasks.document import MAX_BYTES
from adjudge.formats.tasks.scenario import ParsedScenario, parse_scenario
from adjudge.records.task import Scenario
from adjudge.tasks.folder import Folder

__all__ = [
    "SCENARIO_FILE",
    "TASK_FILE",
    "LoadedScenario",
    "find_scenario",
    "is_task_directory",
    "label",
    "load_scenario",
    "parse_loaded",
    "read_scenario",
]

SCENARIO_FILE = "adjudge.yaml"
TASK_FILE = "task.toml"
"""What makes a folder a task directory."""
_MAX_LOOKED_AT = 100
_MAX_SHOWN = 5
_MAX_HEAD_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class LoadedScenario:
    """A valid scenario and where it lies."""

    scenario: Scenario
    file: Path
    folder: Path
    files: tuple[str, ...]
    """What its recipe refers to, relative to the folder."""
    warnings: tuple[Problem, ...]


def find_scenario(path: Path) -> Path:
    """The scenario file that a path means: itself, or in a folder its `adjudge.yaml`, else its `task.toml`.

    Raises:
        UsageError: There is none.
    """
    # os.path, because Path's own tests raise on names that are too long.
    if os.path.isdir(path):
        file = path / SCENARIO_FILE
        if not os.path.exists(file) and os.path.isfile(path / TASK_FILE):
            return path / TASK_FILE
        if not os.path.exists(file):
            raise UsageError(f"{path} holds no {SCENARIO_FILE} and no {TASK_FILE}", hint=_instead(path))
        return file
    if not os.path.exists(path):
        raise UsageError(f"{path} does not exist", hint="adjudge init writes a scenario to start from")
    return path


def _instead(folder: Path) -> str:
    """What to do about a folder without a scenario of the usual name."""
    other = folder / "adjudge.yml"
    if os.path.exists(other):
        return f"rename {other} to {SCENARIO_FILE}"
    recipes = [str(file) for file in islice(_yaml_files(folder), _MAX_LOOKED_AT) if _is_recipe(file)]
    if not recipes:
        return "adjudge init writes one"
    shown = ", ".join(recipes[:_MAX_SHOWN])
    more = f" and {len(recipes) - _MAX_SHOWN} more" if len(recipes) > _MAX_SHOWN else ""
    return f"name a file of it: {shown}{more}" if len(recipes) > 1 else f"name its file: {shown}"


def _yaml_files(folder: Path) -> Iterator[Path]:
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return
    yield from (folder / name for name in names if name.endswith((".yaml", ".yml")))


def _is_recipe(file: Path) -> bool:
    """Whether a file has the key that every recipe has."""
    try:
        if not stat.S_ISREG(os.stat(file).st_mode):
            return False
        with open(file, "rb") as opened:
            return re.search(rb"^scorers[ \t]*:", opened.read(_MAX_HEAD_BYTES), re.MULTILINE) is not None
    except OSError:
        return False


def is_task_directory(given: object) -> bool:
    """Whether something given as a scenario is a task directory, or the `task.toml` of one."""
    if not isinstance(given, str | os.PathLike):
        return False
    try:
        return find_scenario(Path(given)).name == TASK_FILE
    except UsageError:
        return False


def load_scenario(path: Path, *, to_run: bool = False) -> LoadedScenario:
    """Load the scenario that a path means.

    Args:
        path: A file, or a folder that holds one.
        to_run: Whether an agent is to be run on it, which asks more of a scenario.

    Raises:
        UsageError: There is none, or it cannot be read.
        ScenarioInvalid: It is not valid; every problem is in it.
    """
    file = find_scenario(path)
    return parse_loaded(file, _read(file), to_run=to_run)


def read_scenario(file: Path) -> bytes:
    """What a scenario's file holds.

    Raises:
        UsageError: It cannot be read.
        ScenarioInvalid: It is too large to be one.
    """
    return _read(file)


def parse_loaded(file: Path, data: bytes, *, to_run: bool = False) -> LoadedScenario:
    """The scenario that a file would be with these bytes in it; nothing has to be written.

    Args:
        file: Where it lies, or would: paths in it are relative to its folder.
        data: What it says.
        to_run: Whether an agent is to be run on it, which asks more of a scenario.

    Raises:
        ScenarioInvalid: It is not valid; every problem is in it.
    """
    folder = Folder(file.parent)
    by_folder = file.name in (SCENARIO_FILE, TASK_FILE)
    default = label(Path(os.path.realpath(file.parent)).name if by_folder else file.stem)
    if file.name == TASK_FILE:
        # Loaded here: a scenario of ours is read without what reads the tasks of others.
        directory = importlib.import_module("adjudge.formats.tasks.directories.directory")
        parsed: ParsedScenario = directory.parse_task_directory(
            data, file=str(file), default_name=default, folder=folder
        )
    else:
        parsed = parse_scenario(data, file=str(file), default_name=default, folder=folder, to_run=to_run)
    scenario = parsed.or_raise()
    return LoadedScenario(scenario, file, file.parent, tuple(sorted(folder.files)), parsed.warnings)


def _read(file: Path) -> bytes:
    """The file's bytes, and not one more than a scenario may have."""
    try:
        # Without O_NONBLOCK a fifo would be waited for.
        descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as stream:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise UsageError(f"{file} is not a file")
            if status.st_size > MAX_BYTES:
                size = f"{status.st_size / 2**20:.0f} MiB"
                message = (
                    f"the file has {size}, and a scenario at most {MAX_BYTES // 1024} KiB; it was not read"
                )
                raise ScenarioInvalid([Problem(str(file), 1, 1, "", message)])
            return stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}") from error


def label(name: str) -> str:
    """A folder's or file's name as a scenario's: printable, one line, not too long."""
    shown = "".join(char if char.isprintable() else "?" for char in name)
    return shown[:100].strip() or "scenario"
