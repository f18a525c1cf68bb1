"""`adjudge validate`: every scenario that paths mean, each with everything wrong with it."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adjudge.errors import Problem, ScenarioInvalid, UsageError
from adjudge.formats.verifierscripts import mentions_candidate
from adjudge.records.task import Scenario
from adjudge.records.verifier import VerifierSpec
from adjudge.tasks.experiments import is_experiment, load_experiment
from adjudge.tasks.load import SCENARIO_FILE, TASK_FILE, load_scenario

__all__ = ["Validation", "describe_verifier", "scenario_files", "validate"]

_MAX_SCANNED_BYTES = 1024 * 1024
_NOT_ENTERED = frozenset({"node_modules", "target", "build", "dist", "__pycache__", "venv"})


@dataclass(frozen=True, slots=True)
class Validation:
    """What was found about one scenario file."""

    file: Path
    scenario: Scenario | None
    problems: tuple[Problem, ...]
    warnings: tuple[Problem, ...]
    verifier: tuple[tuple[str, str], ...] = ()
    """What is to be known about the verifier, by title; nothing where there is none."""
    verifier_spec: VerifierSpec | None = None
    """The contract with it, where the task names an output."""


def validate(paths: Sequence[Path]) -> list[Validation]:
    """Validate files, and every `adjudge.yaml` and `task.toml` in or below folders."""
    files = dict.fromkeys(file for path in paths for file in scenario_files(path))
    return [_validate(file) for file in files]


def scenario_files(path: Path, *, within_scenarios: bool = True) -> Iterator[Path]:
    """The file itself, or every scenario in or below a folder; the folder where there is none.

    Args:
        path: The file or folder.
        within_scenarios: Whether to look below a folder that holds one: its source may hold another.
    """
    if not os.path.isdir(path):
        yield path
        return
    found = False
    for here, folders, files in os.walk(path):
        folders[:] = sorted(name for name in folders if name not in _NOT_ENTERED and not name.startswith("."))
        name = next((name for name in (SCENARIO_FILE, TASK_FILE) if name in files), None)
        if name is not None:
            found = True
            yield Path(here) / name
            if not within_scenarios:
                folders.clear()
    if not found:
        yield path


def _validate(file: Path) -> Validation:
    try:
        if is_experiment(file):
            load_experiment(file)
            return Validation(file, None, (), ())
        loaded = load_scenario(file)
    except ScenarioInvalid as error:
        return Validation(file, None, error.problems, ())
    except UsageError as error:
        message = error.message.removeprefix(f"{file} ")
        return Validation(file, None, (Problem(str(file), 1, 1, "", message),), ())
    config = _verifier_config(loaded.scenario)
    if config is None:
        return Validation(file, loaded.scenario, (), loaded.warnings)
    spec = _verifier().verifier_spec(config)
    return Validation(
        file, loaded.scenario, (), loaded.warnings, describe_verifier(config, loaded.folder), spec
    )


def _verifier() -> Any:
    """The scorer's module, loaded when it is needed: most scenarios have no verifier."""
    return importlib.import_module("adjudge.scorers.external.verifier")


def _verifier_config(scenario: Scenario) -> Any:
    """The fields of the scenario's verifier; None where there is none."""
    spec = next((spec for spec in scenario.recipe.scorers if spec.type == "verifier"), None)
    if spec is None:
        return None
    return _verifier().Verifier.Config.model_validate_json(json.dumps(dict(spec.config)))


def describe_verifier(config: Any, folder: Path) -> tuple[tuple[str, str], ...]:
    """What a verifier is given and how far its reward can be believed, for people.

    Args:
        config: Its fields.
        folder: The scenario's.
    """
    verifier = _verifier()
    request = verifier.Verifier().needs(config)[0]
    output = "not named, so nothing is known about its validity"
    if config.output is not None:
        schema = f", schema {config.output_schema}" if config.output_schema else ""
        output = f"{config.output} ({request.output_format or 'any format'}{schema})"
    network = "with" if config.network else "without"
    channel = verifier.SEPARATE if _uses_candidate(folder / request.tests) else verifier.SHARED
    lines = [
        ("verifier", f"{config.script} ({network} network, at most {config.timeout_s:g} s)"),
        ("workspace at", config.workdir),
        ("output", output),
        ("reward", f"channel: {channel}"),
    ]
    if config.unsupported:
        lines.append(("not gradable", config.unsupported))
    return tuple(lines)


def _uses_candidate(tests: Path) -> bool:
    for here, _, files in os.walk(tests):
        for name in files:
            with contextlib.suppress(OSError), open(os.path.join(here, name), "rb") as file:
                if mentions_candidate(file.read(_MAX_SCANNED_BYTES)):
                    return True
    return False
