"""`adjudge report` and `adjudge compare`: what stored runs add up to."""

from __future__ import annotations

import sys

import click

from adjudge.cli import documents
from adjudge.records.listing import RunFilter
from adjudge.reports.comparison import render_comparison, render_comparison_json
from adjudge.reports.experiments import REPORT_FORMATS, SECTIONS, render_report
from adjudge.workflows import reporting
from adjudge.workflows.stores import opened

__all__ = ["compare", "report"]


@click.command()
@click.argument("experiment", required=False)
@click.option(
    "--format",
    "format_",
    type=click.Choice([*REPORT_FORMATS, "html"]),
    default="table",
    show_default=True,
    help="How.",
)
@click.option(
    "--section", type=click.Choice(SECTIONS), default=None, help="Only that part. CSV has one: agents."
)
@click.option("--task", metavar="NAME", help="Only runs of a task.")
@click.option("--agent", metavar="NAME", help="Only runs by an agent.")
@click.option("--model", metavar="NAME", help="Only runs with a model.")
@click.option(
    "-k", "k", type=click.IntRange(1, 10_000), metavar="K",
    help="For pass@k and pass^k. Default: as many graded trials as every task has.",
)  # fmt: skip
@click.option(
    "--runs",
    type=click.IntRange(0, 1000),
    default=20,
    show_default=True,
    metavar="N",
    help="With html: how many runs to show in full.",
)
@click.option("--output", metavar="FILE", help="Write to a file, whole or not at all, instead of stdout.")
def report(
    experiment: str | None,
    format_: str,
    section: str | None,
    task: str | None,
    agent: str | None,
    model: str | None,
    k: int | None,
    runs: int,
    output: str | None,
) -> None:
    """Say what the runs of EXPERIMENT add up to; left out, all stored runs.

    Per agent and model: runs, graded, errors (which are in no rate and no mean), the objective pass rate with
    Wilson's 95 % interval, the mean score, pass@1, pass@k (one of k trials passes) and pass^k (all of k do),
    the judge's pass rate, cost, tokens and time. Then every task, and the scorers that fail most.

    As html it is one file to share, with charts and with the runs most worth reading in full: cards, diffs.
    """
    wanted = RunFilter(experiment_id=experiment, task=task, agent=agent, model=model)
    if format_ == "html":
        if section is not None:
            raise click.UsageError("--section: an html document always has every part")
        document = documents.sharing().share_report
        with opened() as store:
            text = document(store, wanted, k=k, runs=runs)
    else:
        found = reporting.report(wanted, k=k)
        text = render_report(
            found.report, format_, title=found.title, notes=found.notes, section=section or ""
        )
    documents.write_out(text, output)


@click.command()
@click.argument("first")
@click.argument("second")
@click.option("--experiment", metavar="ID", help="Compare two agents within that experiment.")
@click.option("--task", metavar="NAME", help="Only runs of a task.")
@click.option("--json", "as_json", is_flag=True, help="Write a JSON document instead of a table.")
def compare(first: str, second: str, experiment: str | None, task: str | None, as_json: bool) -> None:
    """Compare two experiments, or two agents (AGENT or AGENT:MODEL), by the tasks both were graded at.

    Trials of a task are averaged first: the task is the unit. The difference comes with a 95 % interval and a
    permutation test, and is called one only when both agree.
    """
    found = reporting.compare(first, second, experiment=experiment, wanted=RunFilter(task=task))
    sys.stdout.write(render_comparison_json(found) if as_json else render_comparison(found))
