"""`adjudge regrade`: grade stored runs again, and say what moved."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import click

from adjudge.cli.backends import backend_chooser
from adjudge.cli.console import note
from adjudge.cli.main import ExitCode
from adjudge.errors import UsageError
from adjudge.records.score import Verdict
from adjudge.reports.plain import plain
from adjudge.settings import load_settings
from adjudge.store.opening import store_for
from adjudge.workflows.judging import load_judge
from adjudge.workflows.regrade import Move, Regraded, RegradeMeans, RegradeRequest, Regrading
from adjudge.workflows.regrade import regrade as grade_again
from adjudge.workflows.runevents import counting_gate

__all__ = ["regrade"]

_SHOWN = 5


@click.command()
@click.argument("runs", nargs=-1, metavar="[RUN]...")
@click.option("--experiment", metavar="ID", help="Every finished run of an experiment.")
@click.option("--all", "everything", is_flag=True, help="Every finished run of the store.")
@click.option(
    "--with",
    "with_scenario",
    metavar="SCENARIO",
    help="Grade by the scorers of another scenario with the same instruction and baseline, or of a recipe.",
)
@click.option(
    "--only", multiple=True, metavar="SCORER", help="Compute this scorer only; all others keep their results."
)
@click.option("--force", is_flag=True, help="Compute everything, whether it changed or not.")
@click.option(
    "--judge",
    is_flag=False,
    flag_value="",
    metavar="[FILE|MODEL]",
    help="Ask the judge and every model_judge again, too: this judge, else ADJUDGE_JUDGE, else the one of "
    "the runs' experiment. Name RUNs before it.",
)
@click.option("--jobs", type=click.IntRange(1, 1024), metavar="N", help="How many runs are graded at once.")
@click.option("--sandbox", metavar="NAME", help="auto, bubblewrap, or process (no isolation).")
@click.option("--json", "as_json", is_flag=True, help="Write what became of each run as JSON.")
def regrade(
    runs: tuple[str, ...],
    experiment: str | None,
    everything: bool,
    with_scenario: str | None,
    only: tuple[str, ...],
    force: bool,
    judge: str | None,
    jobs: int | None,
    sandbox: str | None,
    as_json: bool,
) -> int:
    """Grade stored RUNs again, without an agent, its model or a network, and say what moved.

    Only what changed is computed: scorers of another version or with other fields, or new ones. Each new
    evaluation becomes the current one of its run; earlier ones stay. What a judge said is
    carried over, unless --judge asks again.

    Exits as adjudge run does: 1 when an objective gate is FAIL now, 3 when nothing is graded.
    """
    settings = load_settings()
    if judge and not (runs or experiment is not None or everything):
        raise UsageError(
            f"no run was named: --judge takes {judge!r} as the judge",
            hint="adjudge regrade RUN… --judge, or --judge --all",
        )
    by = None if judge is None else judge or settings.judge
    store = store_for(settings, create=False)
    request = RegradeRequest(
        runs,
        experiment,
        everything,
        with_scenario,
        only,
        force,
        ask_models=judge is not None,
        judge=load_judge(by) if by else None,
    )
    means = RegradeMeans(
        store=store,
        blobs=store.blobs,
        state_dir=settings.state_dir,
        jobs=jobs or settings.jobs,
        backend=backend_chooser(sandbox, settings),
        answers=settings.answers_dir,
    )
    done = grade_again(request, means)
    if as_json:
        click.echo(json.dumps(_document(done), indent=2, ensure_ascii=True))
    else:
        click.echo(render_regrading(done))
    for regraded in [one for one in done.runs if one.problem][:_SHOWN]:
        note(f"run {regraded.run.id} could not be graded again: {plain(regraded.problem)}")
    return _exit_code(done)


def render_regrading(done: Regrading) -> str:
    """What moved and why, for people."""
    total, moves = len(done.runs), done.moves
    moved = sum(moves.values())
    noun = "verdict" if total == 1 else "verdicts"
    listed = "; ".join(_moved(move, count) for move, count in moves.most_common())
    lines = [f"{moved} of {total} {noun} changed{f': {listed}' if listed else ''}"]
    added = [one for one in done.runs if one.after is not None]
    computed = sorted({name for one in added for name in one.computed})
    if added:
        what = f"computed {', '.join(map(plain, computed))}" if computed else "no scorer was computed"
        if not computed and not any(one.judged for one in added):
            what = "rolled up anew"
        evaluations = "1 evaluation" if len(added) == 1 else f"{len(added)} evaluations"
        lines.append(f"{evaluations} added ({what}); runs left as they were: {total - len(added)}")
    else:
        lines.append("nothing had to be computed; no evaluation was added")
    if asked := [one.after for one in added if one.judged and one.after is not None]:
        said = Counter(evaluation.gates.judge.verdict for evaluation in asked)
        counted = "  ".join(f"{verdict} {said[verdict]}" for verdict in Verdict if said[verdict])
        lines.append(f"{len(asked)} of {total} runs were judged again: {counted}")
    environment = sorted({part for one in done.runs for part in one.environment})
    if environment:
        count = sum(bool(one.environment) for one in done.runs)
        lines.append(
            f"the environment is another one than {count} of them were graded in ({', '.join(environment)}): "
            "what runs code was run again"
        )
    problems = sum(bool(one.problem) for one in done.runs)
    if problems:
        lines.append(f"{problems} could not be graded again; their verdicts stay")
    if done.left_out:
        lines.append(f"{done.left_out} runs are left out: not finished, or made for another task")
    return "\n".join(lines)


def _moved(move: Move, count: int) -> str:
    by = " and ".join(f"`{plain(name)}`" for name in move.by) or "the rules of the recipe"
    return f"{count} {move.old}→{move.new} by {by}"


def _exit_code(done: Regrading) -> int:
    verdicts = [counting_gate(one.run, one.current).verdict for one in done.runs if one.current is not None]
    if Verdict.FAIL in verdicts:
        return ExitCode.FAILED
    return ExitCode.PASSED if Verdict.PASS in verdicts else ExitCode.UNGRADED


def _document(done: Regrading) -> dict[str, Any]:
    return {
        "schema": "adjudge.regrade/1",
        "moved": sum(done.moves.values()),
        "left_out": done.left_out,
        "runs": [_run_document(one) for one in done.runs],
    }


def _run_document(one: Regraded) -> dict[str, Any]:
    move = one.move
    return {
        "run": one.run.id,
        "task": one.run.task.name,
        "before": None if one.before is None else counting_gate(one.run, one.before).verdict,
        "after": None if one.current is None else counting_gate(one.run, one.current).verdict,
        "moved_by": None if move is None else list(move.by),
        "computed": list(one.computed),
        "judged": one.judged,
        "judge": None if one.current is None else one.current.gates.judge.verdict,
        "environment": list(one.environment),
        "evaluation": None if one.after is None else one.after.id,
        "task_digest": None if one.current is None else one.current.task.digest,
        "problem": one.problem or None,
    }
