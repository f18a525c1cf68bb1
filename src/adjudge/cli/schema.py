"""`adjudge schema`."""

from __future__ import annotations

import importlib
import json

import click

__all__ = ["schema"]

_SCHEMAS = {
    "scenario": "adjudge.formats.tasks.schema:scenario_schema",
    "experiment": "adjudge.formats.experiments.schema:experiment_schema",
}


@click.command()
@click.argument("what", type=click.Choice(list(_SCHEMAS)), default="scenario")
def schema(what: str) -> None:
    """Print the JSON Schema of scenario files, or of experiment files, with everything that is installed.

    Editors complete and check with it: adjudge init writes it beside the scenario, and after installing
    scorers of others, adjudge schema > adjudge.schema.json brings it up to date.
    """
    # Only the one that is asked for is loaded: each looks at every plug-in of its kind.
    module, _, attribute = _SCHEMAS[what].partition(":")
    made = getattr(importlib.import_module(module), attribute)()
    click.echo(json.dumps(made, indent=2, ensure_ascii=False))
