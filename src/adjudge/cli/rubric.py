"""`adjudge rubric`: rubrics from the command line, for verifiers that are shell scripts."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from adjudge.cli.console import note
from adjudge.workflows.rubrics import score_rubric, write_artifacts

__all__ = ["rubric"]


@click.group()
def rubric() -> None:
    """Roll the dimensions of a rubric up into one reward."""


@rubric.command()
@click.argument("rubric_file", metavar="RUBRIC", type=click.Path(path_type=Path))
@click.argument("scores_file", metavar="SCORES", type=click.Path(path_type=Path))
@click.option(
    "--write",
    "folder",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Also write reward.json and details.json there, as a verifier does: both or neither.",
)
def score(rubric_file: Path, scores_file: Path, folder: Path | None) -> int:
    """Score by a RUBRIC (YAML) from SCORES (JSON), and print the reward.

    The rubric has `dimensions`, a mapping from name to `weight` and `max_score`, and a `strategy`:
    weighted_mean or min. The scores are an object from name to a number, or to `score` and `evidence`.
    """
    scored = score_rubric(rubric_file, scores_file)
    if folder is not None:
        write_artifacts(folder, scored)
        note(f"wrote reward.json and details.json to {folder}")
    sys.stdout.write(f"{json.dumps({'reward': scored.reward})}\n")
    return 0
