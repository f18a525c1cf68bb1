"""`adjudge validate`."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import click

from adjudge.cli.console import note
from adjudge.cli.main import ExitCode
from adjudge.records.score import ScorerSpec
from adjudge.records.task import Scenario, SourceKind, WorkspaceSource
from adjudge.workflows.validate import Validation
from adjudge.workflows.validate import validate as validate_paths

__all__ = ["validate"]


@click.command()
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Write what was found as JSON.")
def validate(paths: tuple[Path, ...], as_json: bool) -> int:
    """Check scenarios and recipes, and say everything that is wrong with them.

    PATHS are files, or folders in which every adjudge.yaml and every task directory is checked; the current
    folder when left out.
    """
    found = validate_paths(paths or (Path(),))
    invalid = [validation for validation in found if validation.problems]
    if as_json:
        click.echo(json.dumps(_document(found), indent=2, ensure_ascii=False))
    else:
        for validation in found:
            _show(validation)
        if invalid:
            count = sum(len(validation.problems) for validation in invalid)
            of = f"{len(invalid)} of {len(found)} files" if len(found) > 1 else "1 file"
            note(f"{count} problem{'s' if count != 1 else ''} in {of}")
    return ExitCode.USAGE if invalid else ExitCode.PASSED


def _show(validation: Validation) -> None:
    for problem in validation.problems:
        click.echo(str(problem))
    for warning in validation.warnings:
        click.echo(f"{str(warning).removesuffix(warning.message)}warning: {warning.message}")
    if validation.scenario is None and not validation.problems:
        click.echo(f"{validation.file}: valid, an experiment")
    if validation.scenario is not None:
        click.echo(f"{validation.file}: valid")
        for title, text in (*_summary(validation.scenario), *validation.verifier):
            click.echo(f"  {title:<12} {text}")


def _summary(scenario: Scenario) -> list[tuple[str, str]]:
    """What a scenario contains, in a few lines."""
    lines = [("name", scenario.name)]
    if scenario.instruction:
        first = scenario.instruction.strip().splitlines()[0]
        lines.append(("instruction", first if len(first) <= 80 else f"{first[:79]}…"))
    if scenario.workspace is not None:
        lines.append(("workspace", _source(scenario.workspace)))
    if scenario.setup is not None:
        network = "with" if scenario.setup.network else "without"
        command = scenario.setup.command.strip().splitlines()[0]
        lines.append(("setup", f"{command} ({network} network, at most {scenario.setup.timeout_s:g} s)"))
    threshold = scenario.recipe.pass_threshold
    passes = "no threshold" if threshold is None else f"{scenario.recipe.rollup.value} ≥ {threshold:g}"
    lines.append(("passes with", f"every required scorer, {passes}"))
    width = max(len(spec.name) for spec in scenario.recipe.scorers)
    for index, spec in enumerate(scenario.recipe.scorers):
        lines.append(("scorers" if index == 0 else "", f"{spec.name:<{width}}  {_standing(spec)}"))
    return lines


def _source(workspace: WorkspaceSource) -> str:
    if workspace.source is SourceKind.EMPTY:
        return "empty"
    if workspace.source is SourceKind.FILES:
        return "files " + ", ".join(f"{file.src} at {file.dest}" for file in workspace.files)
    at = f" at {workspace.ref}" if workspace.ref else ""
    part = f", only {workspace.subdir}" if workspace.subdir else ""
    return f"{workspace.source.value} {workspace.url or workspace.path}{at}{part}"


def _standing(spec: ScorerSpec) -> str:
    words = [spec.type, "required" if spec.required else "advisory"]
    if spec.gate:
        words.append("gate")
    if spec.counted:
        words.append(f"weight {spec.weight:g}")
    return ", ".join(words)


def _document(found: list[Validation]) -> dict[str, Any]:
    return {
        "schema": "adjudge.validation/1",
        "valid": not any(validation.problems for validation in found),
        "files": [
            {
                "file": str(validation.file),
                "valid": not validation.problems,
                "problems": [dataclasses.asdict(problem) for problem in validation.problems],
                "warnings": [dataclasses.asdict(warning) for warning in validation.warnings],
                "verifier": dict(validation.verifier),
                "verifier_spec": (
                    validation.verifier_spec.model_dump(mode="json") if validation.verifier_spec else None
                ),
                "scenario": validation.scenario.model_dump(mode="json") if validation.scenario else None,
            }
            for validation in found
        ],
    }
