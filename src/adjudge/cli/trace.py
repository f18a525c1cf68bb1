"""`adjudge trace`: show how an agent worked, or turn its trace into another form."""

from __future__ import annotations

import importlib
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable

import click

from adjudge import catalog
from adjudge.cli.console import width_of
from adjudge.errors import UsageError
from adjudge.formats.traces.adjudge import write_trace
from adjudge.formats.traces.atif import write_atif
from adjudge.formats.traces.recorded import RecordedTrace, trace_file
from adjudge.formats.traces.summary import TraceSummariser
from adjudge.reports.timeline import render_event, render_totals

__all__ = ["trace"]

_RUN = re.compile(r"^[0-9a-z]{4,40}$")
"""What may be the beginning of a run's id."""


@click.command()
@click.argument("file", metavar="FILE|RUN")
@click.option(
    "--format", "format_", metavar="NAME", help="What it is written in, when that is not found out."
)
@click.option("--json", "as_json", is_flag=True, help="Print what it adds up to as a JSON document.")
@click.option(
    "--to",
    type=click.Choice(["atif", "adjudge"]),
    help="Write it out instead: as an ATIF 1.7 trajectory, or in adjudge's own form.",
)
@click.option(
    "--limit", type=click.IntRange(0), metavar="N", help="Show at most N events; totals are of all."
)
def trace(file: str, format_: str | None, as_json: bool, to: str | None, limit: int | None) -> None:
    """Show how an agent worked: FILE is a trace in any known format (- for stdin), RUN a stored run.

    The format is found out by the content. Known are the traces of Claude Code, Codex, Gemini CLI, opencode
    and aider, ATIF, Inspect logs, OpenAI and Anthropic messages, OpenTelemetry GenAI spans and plain text.
    Everything in a trace is what the agent says about itself.
    """
    if as_json and to is not None:
        raise click.UsageError("--json and --to exclude each other")
    if format_ is not None:
        catalog.load("traceformats", format_)
    with tempfile.NamedTemporaryFile(prefix="adjudge-") as spooled:
        if file == "-":
            # Some formats can only be read where one can go back.
            shutil.copyfileobj(sys.stdin.buffer, spooled)
            spooled.flush()
            file = spooled.name
        elif _RUN.match(file) and not os.path.lexists(file):
            # Loaded here: a trace in a file needs no store.
            listing = importlib.import_module("adjudge.workflows.listing")
            try:
                kept = listing.copy_trace(file, spooled)
            except UsageError as error:
                message = f"trace {file} is not a file, nor that of a run: {error.message}"
                raise UsageError(message, hint=error.hint) from error
            format_ = format_ or kept
            file = spooled.name
        source = trace_file(file, format=format_)
        if to is not None:
            _convert(source, to)
        elif as_json:
            print(source.summary().model_dump_json(indent=2))
        else:
            _show(source, limit)


def _convert(source: RecordedTrace, to: str) -> None:
    format_ = source.format()
    out = sys.stdout.buffer
    if to == "atif":
        write_atif(source.events(), out, format=format_, agent_name=format_)
    else:
        write_trace(source.events(), out, format=format_)
    out.flush()


def _show(source: RecordedTrace, limit: int | None) -> None:
    summariser = TraceSummariser(source.format())
    write: Callable[[str], object] = sys.stdout.write
    width = width_of(sys.stdout)
    started_s: float | None = None
    shown = hidden = 0
    for item in source.events():
        summariser.add(item)
        started_s = item.time_s if started_s is None else started_s
        if limit is None or shown < limit:
            write(render_event(item, started_s=started_s, width=width) + "\n")
            shown += 1
        else:
            hidden += 1
    if hidden:
        write(f"{'':>9}  … {hidden:,} more\n")
    if shown:
        write("\n")
    write(render_totals(summariser.summary()))
    sys.stdout.flush()
