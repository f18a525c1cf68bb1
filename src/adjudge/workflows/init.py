"""`adjudge init`: a scenario to start from, with the schema that editors check it against."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

from adjudge.errors import UsageError
from adjudge.formats.tasks.schema import scenario_schema
from adjudge.formats.tasks.starter import SCHEMA_FILE, TestCommand, render_starter
from adjudge.tasks.detect import find_protected, find_test_command
from adjudge.tasks.load import SCENARIO_FILE, label, load_scenario

__all__ = ["Initialised", "init"]


@dataclass(frozen=True, slots=True)
class Initialised:
    """What was written."""

    scenario: Path
    schema: Path
    tests: TestCommand | None


def init(folder: Path, *, force: bool = False) -> Initialised:
    """Write a starter scenario and the schema beside it.

    Raises:
        UsageError: There is a scenario already and `force` is not given, or the folder cannot be written.
    """
    if os.path.exists(folder) and not os.path.isdir(folder):
        raise UsageError(f"{folder} is not a folder")
    scenario, schema = folder / SCENARIO_FILE, folder / SCHEMA_FILE
    if os.path.lexists(scenario) and not force:
        raise UsageError(f"{scenario} exists already", hint="--force writes over it")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tests = find_test_command(folder)
        name = label(Path(os.path.realpath(folder)).name)
        text = render_starter(name, tests, find_protected(folder))
        _replace(schema, json.dumps(scenario_schema(), indent=2, ensure_ascii=False) + "\n")
        _replace(scenario, text)
    except OSError as error:
        raise UsageError(f"{folder} cannot be written: {error.strerror}") from error
    load_scenario(scenario)
    return Initialised(scenario, schema, tests)


def _replace(file: Path, text: str) -> None:
    """Write a file anew: what lay there, a link perhaps, is replaced and not written through."""
    scratch = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        scratch.write_text(text, encoding="utf-8")
        os.replace(scratch, file)
    finally:
        scratch.unlink(missing_ok=True)
