"""`adjudge init`."""

from __future__ import annotations

from pathlib import Path

import click

from adjudge.cli.console import note
from adjudge.workflows.init import init as write_starter

__all__ = ["init"]


@click.command()
@click.argument("folder", metavar="[DIR]", default=".", type=click.Path(path_type=Path))
@click.option("--force", is_flag=True, help="Write over a scenario that is there.")
def init(folder: Path, force: bool) -> None:
    """Write a scenario to start from, and the schema that lets editors complete and check it."""
    written = write_starter(folder, force=force)
    click.echo(written.scenario)
    click.echo(written.schema)
    if written.tests is not None:
        note(f"tests: {written.tests.command} ({written.tests.because})")
    else:
        note("tests: no test command was found; the scenario shows how to add one")
    note(f"next: edit it, then adjudge validate {written.scenario}")
