"""`adjudge schema`."""

from __future__ import annotations

import json

import click

from adjudge.formats.tasks.schema import scenario_schema

__all__ = ["schema"]


@click.command()
def schema() -> None:
    """Print the JSON Schema of scenario files, with every installed scorer type.

    Editors complete and check with it: adjudge init writes it beside the scenario, and after installing
    scorers of others, adjudge schema > adjudge.schema.json brings it up to date.
    """
    click.echo(json.dumps(scenario_schema(), indent=2, ensure_ascii=False))
