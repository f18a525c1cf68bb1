"""`adjudge grade`: grade a workspace, or a patch, by a scenario."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import click

from adjudge.cli.console import note, paint_for, width_of
from adjudge.cli.main import ExitCode
from adjudge.records.evaluation import Evaluation
from adjudge.records.score import Verdict
from adjudge.reports.json import render_json
from adjudge.reports.plain import plain
from adjudge.reports.table import render_table
from adjudge.workflows.grade import GradeRequest, grade_now

__all__ = ["grade"]

_EXITS = {
    Verdict.PASS: ExitCode.PASSED,
    Verdict.FAIL: ExitCode.FAILED,
    Verdict.NA: ExitCode.UNGRADED,
    Verdict.ERROR: ExitCode.UNGRADED,
}


@click.command()
@click.argument("scenario", required=False)
@click.option("--workspace", metavar="DIR", help="The workspace to grade.")
@click.option(
    "--patch", metavar="FILE", help="A patch to grade instead, applied to the baseline (- for stdin)."
)
@click.option(
    "--baseline",
    metavar="REV|DIR",
    help="What to compare with: a directory, or a revision of the workspace's git. Trusted are a directory, "
    "a full commit id and what `adjudge seed` recorded. Default: that record, else the merge base with the "
    "default branch (HEAD when on it).",
)
@click.option("--json", "as_json", is_flag=True, help="Write the evaluation document instead of a table.")
@click.option("--output", metavar="FILE", help="Write to a file, whole or not at all, instead of stdout.")
@click.option("--jobs", type=click.IntRange(1, 1024), metavar="N", help="How many sandboxes may run at once.")
@click.option("--sandbox", metavar="NAME", help="auto, bubblewrap, or process (no isolation).")
@click.option("--trace", metavar="FILE", help="How the agent worked, in any format `adjudge trace` reads.")
@click.option(
    "--trace-format", metavar="NAME", help="What the trace is written in, when it is not found out."
)
@click.option("--response", metavar="FILE", help="What the agent said last.")
@click.option(
    "--judge",
    metavar="FILE|MODEL",
    help="Ask an LLM judge: a YAML file, or a model's name (several, parted by commas, are a jury).",
)
@click.option("--no-cache", is_flag=True, help="Ask models again even where they answered before.")
@click.option("--save", is_flag=True, help="Keep the run, the evaluation and its evidence in the store.")
def grade(
    scenario: str | None,
    workspace: str | None,
    patch: str | None,
    baseline: str | None,
    as_json: bool,
    output: str | None,
    jobs: int | None,
    sandbox: str | None,
    trace: str | None,
    trace_format: str | None,
    response: str | None,
    judge: str | None,
    no_cache: bool,
    save: bool,
) -> int:
    """Grade a workspace by SCENARIO: a scenario file, a task directory, a frozen task or its digest.

    Left out, it is the task the workspace was seeded from, else adjudge.yaml in the current folder.

    Exits with 0 when the objective gate is PASS, 1 when it is FAIL, 3 when it could not be graded (NA or
    ERROR).
    """
    if output is not None:
        # Loaded here: most people read what they asked for.
        importlib.import_module("adjudge.cli.files").refuse_unless_writable(Path(output))
    evaluation = grade_now(
        GradeRequest(
            scenario=scenario,
            workspace=workspace,
            patch=_patch(patch),
            baseline=baseline,
            jobs=jobs,
            sandbox=sandbox,
            save=save,
            trace=trace,
            trace_format=trace_format,
            response=response,
            judge=judge,
            remember=not no_cache,
        )
    )
    text = (
        render_json(evaluation)
        if as_json
        else render_table(
            evaluation,
            width=width_of(sys.stdout) if output is None else 100,
            paint=paint_for(sys.stdout) if output is None else lambda word, verdict: word,
        )
    )
    if output is None:
        sys.stdout.write(text)
        sys.stdout.flush()
    else:
        importlib.import_module("adjudge.cli.files").write_whole(Path(output), text)
    if as_json or output is not None:
        _say(evaluation)
    return _EXITS[evaluation.gates.objective.verdict]


def _patch(given: str | None) -> str | bytes | None:
    return sys.stdin.buffer.read() if given == "-" else given


def _say(evaluation: Evaluation) -> None:
    """What a person should know when the table is not in front of them."""
    gate = evaluation.gates.objective
    note(f"objective {gate.verdict}: {plain(gate.reason)}")
    baseline = evaluation.provenance.baseline
    if baseline is not None and not baseline.trusted:
        note(f"untrusted baseline: {plain(baseline.description)}")
    for warning in evaluation.warnings:
        note(f"warning: {plain(warning)}")
