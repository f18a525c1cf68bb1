"""`adjudge list`, `adjudge show` and `adjudge diff`: look at what is kept."""

from __future__ import annotations

import shutil
import sys
from typing import BinaryIO

import click

from adjudge.cli import documents
from adjudge.cli.console import Hue, note, paint_for, tint_for, width_of
from adjudge.records.listing import RunFilter
from adjudge.records.run import RunStatus
from adjudge.records.score import Verdict
from adjudge.reports.json import escape_json
from adjudge.reports.plain import plain, plain_lines
from adjudge.reports.runs import render_run, render_runs, run_document, runs_document
from adjudge.workflows.listing import changes_of_run, list_runs, show_run
from adjudge.workflows.stores import opened

__all__ = ["diff", "list_", "show"]

_VERDICTS = click.Choice([verdict.value for verdict in Verdict], case_sensitive=False)
_STATUSES = click.Choice([status.value for status in RunStatus], case_sensitive=False)
_HUES = {"+": Hue.ADDED, "-": Hue.REMOVED, "@": Hue.CHANGED}


@click.command("list")
@click.option("--task", metavar="NAME", help="Runs of a task: its name, or the beginning of its digest.")
@click.option("--agent", metavar="NAME", help="Runs by an agent.")
@click.option("--model", metavar="NAME", help="Runs with a model.")
@click.option(
    "--experiment", metavar="ID", help="Runs of an experiment: its id, a beginning of it, or its name."
)
@click.option("--objective", type=_VERDICTS, help="Whose objective gate is that.")
@click.option("--judge", type=_VERDICTS, help="Whose judge gate is that.")
@click.option("--run-gate", type=_VERDICTS, help="Whose run gate is that.")
@click.option("--status", type=_STATUSES, help="Which stand there.")
@click.option(
    "--integrity",
    type=click.Choice(["unchecked", "clean", "suspect", "tampered"]),
    help="Whose integrity is that.",
)
@click.option("--failure-mode", metavar="NAME", help="Which failed in that way.")
@click.option("--tag", "tags", multiple=True, metavar="KEY=VALUE", help="Which have that tag.")
@click.option(
    "--limit", type=click.IntRange(1, 100_000), default=50, show_default=True, metavar="N", help="At most N."
)
@click.option("--before", metavar="RUN", help="Those recorded before that run: the next page.")
@click.option("--json", "as_json", is_flag=True, help="Write a JSON document instead of a table.")
def list_(
    task: str | None,
    agent: str | None,
    model: str | None,
    experiment: str | None,
    objective: str | None,
    judge: str | None,
    run_gate: str | None,
    status: str | None,
    integrity: str | None,
    failure_mode: str | None,
    tags: tuple[str, ...],
    limit: int,
    before: str | None,
    as_json: bool,
) -> None:
    """List runs, newest first, with the three gates of their current evaluations."""
    wanted = RunFilter(
        task=task,
        agent=agent,
        model=model,
        experiment_id=experiment,
        objective=Verdict(objective) if objective else None,
        judge=Verdict(judge) if judge else None,
        run_gate=Verdict(run_gate) if run_gate else None,
        status=RunStatus(status) if status else None,
        integrity=integrity,
        failure_mode=failure_mode,
        tags=tuple(_tag(tag) for tag in tags),
    )
    page = list_runs(wanted, limit=limit, before=before)
    if as_json:
        sys.stdout.write(runs_document(page.rows, more=page.more))
        return
    if not page.rows:
        note("no runs")
        return
    sys.stdout.write(render_runs(page.rows, width=width_of(sys.stdout), paint=paint_for(sys.stdout)))
    if page.more:
        note(f"there are more: --before {page.rows[-1].id[:12]}, or --limit {limit * 2}")


def _tag(text: str) -> tuple[str, str]:
    key, separator, value = text.partition("=")
    if not separator or not key:
        raise click.UsageError(f"--tag: {text!r} is not KEY=VALUE")
    return key, value


@click.command()
@click.argument("run")
@click.option("--json", "as_json", is_flag=True, help="Write the run and its evaluations as a JSON document.")
@click.option("--html", "as_html", is_flag=True, help="Write one HTML file to share: cards, diff, timeline.")
@click.option("--output", metavar="FILE", help="With --json or --html: write to a file instead of stdout.")
def show(run: str, as_json: bool, as_html: bool, output: str | None) -> None:
    """Show all that is known of RUN: its id, or a beginning of it that only one run has.

    The three gates, every scorer, the judge, usage, annotations, and its other evaluations.
    """
    if as_json and as_html:
        raise click.UsageError("--json and --html exclude each other")
    if output is not None and not (as_json or as_html):
        raise click.UsageError("--output goes with --json or --html")
    if as_html:
        document = documents.sharing().share_run
        with opened() as store:
            documents.write_out(document(store, run), output)
        return
    shown = show_run(run)
    if as_json:
        current = shown.current.id if shown.current is not None else None
        documents.write_out(run_document(shown.run, shown.evaluations, current), output)
        return
    sys.stdout.write(
        render_run(
            shown.run,
            shown.evaluations,
            shown.current,
            width=width_of(sys.stdout),
            paint=paint_for(sys.stdout),
        )
    )


@click.command()
@click.argument("run")
@click.option("--json", "as_json", is_flag=True, help="Write the change set as a JSON document.")
def diff(run: str, as_json: bool) -> None:
    """Show what RUN changed, as a unified diff in git's format.

    Its bytes are the agent's: on a terminal control characters are spelled out, elsewhere they come as they
    are.
    """
    with changes_of_run(run) as (changes, stream):
        if as_json:
            sys.stdout.write(escape_json(changes.model_dump_json(indent=2)) + "\n")
            return
        if stream is None:
            sys.stdout.write("\n".join(plain_lines(changes.diff.text)) + "\n")
            note("the diff was not kept; this is the beginning and the end of it")
        elif sys.stdout.isatty():
            _show_diff(stream)
        else:
            shutil.copyfileobj(stream, sys.stdout.buffer)
            sys.stdout.buffer.flush()
        if changes.diff.truncated:
            note("the diff was too large to be kept whole")


def _show_diff(stream: BinaryIO) -> None:
    tint = tint_for(sys.stdout)
    for raw in stream:
        line = plain(raw.decode("utf-8", "replace").rstrip("\n").expandtabs(4))
        hue = _HUES.get(line[:1])
        sys.stdout.write((line if hue is None else tint(line, hue)) + "\n")
