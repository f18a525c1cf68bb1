"""`adjudge seed`."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import click

from adjudge.cli.backends import backend_chooser
from adjudge.cli.console import note
from adjudge.cli.stability import describe_stability, render_stability
from adjudge.settings import load_settings
from adjudge.workflows.seed import Seeded
from adjudge.workflows.seed import seed as make_workspace

__all__ = ["seed"]


@click.command()
@click.argument("task", metavar="SCENARIO")
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "--sandbox", metavar="BACKEND", help="Which sandbox runs the setup command; auto when left out."
)
@click.option(
    "--repeat",
    "repeats",
    type=click.IntRange(2, 1000),
    metavar="N",
    help="Run the recipe's tests N times on the baseline and record those that are unstable, as "
    "adjudge doctor SCENARIO does. Left out, no test is run.",
)
@click.option("--json", "as_json", is_flag=True, help="Write what was made as JSON.")
def seed(task: str, directory: Path, sandbox: str | None, repeats: int | None, as_json: bool) -> None:
    """Freeze SCENARIO into a task and make a workspace from it in DIR, for an agent to work in.

    SCENARIO is a file, a folder with an adjudge.yaml or a task.toml, a frozen task's folder or its digest.
    DIR must not exist yet, or be empty. The trusted baseline is recorded outside DIR; adjudge grade finds it
    by the path of DIR.
    """
    settings = load_settings()
    made = make_workspace(
        task,
        directory,
        state_dir=settings.state_dir,
        backend=backend_chooser(sandbox, settings),
        repeats=repeats,
    )
    for warning in made.warnings:
        note(f"warning: {warning}")
    for remark in made.notes:
        note(f"note: {remark}")
    click.echo(json.dumps(_document(made), indent=2, ensure_ascii=False) if as_json else _text(made))


def _text(made: Seeded) -> str:
    grade = f"adjudge grade {made.task.digest.removeprefix('sha256:')[:12]} --workspace"
    rows = [
        ("task", f"{made.task.name} {made.task.digest}"),
        ("workspace", str(made.workspace)),
        ("baseline", made.record.baseline_digest),
        ("recorded in", str(made.baseline)),
        ("setup", made.sandbox.backend if made.sandbox is not None else "none"),
        ("next", f"{grade} {shlex.quote(str(made.workspace))}"),
    ]
    shown = "\n".join(f"{title:<12} {text}" for title, text in rows)
    return shown if made.stability is None else f"{shown}\n\n{render_stability(made.stability)}"


def _document(made: Seeded) -> dict[str, Any]:
    return {
        "schema": "adjudge.seed/1",
        "task": {"name": made.task.name, "digest": made.task.digest, "directory": str(made.task_directory)},
        **made.record.model_dump(mode="json"),
        "baseline": str(made.baseline),
        "commit": made.commit,
        "sandbox": made.sandbox.model_dump(mode="json") if made.sandbox is not None else None,
        "warnings": [str(warning) for warning in made.warnings],
        "notes": list(made.notes),
        **({} if made.stability is None else {"stability": describe_stability(made.stability)}),
    }
