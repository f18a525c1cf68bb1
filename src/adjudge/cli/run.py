"""`adjudge run`: run agents on tasks, and grade each run the moment it stops."""

from __future__ import annotations

import importlib
import json
from collections.abc import Sequence
from pathlib import Path

import click

from adjudge.cli.backends import backend_chooser
from adjudge.cli.console import note
from adjudge.cli.main import ExitCode
from adjudge.cli.progress import progress_for, render_cost
from adjudge.errors import UsageError
from adjudge.records.experiment import ExperimentPlan, MatrixBlock, PlannedAgent, RunOptions
from adjudge.records.score import Verdict
from adjudge.reports.plain import plain
from adjudge.sandbox.choose import refuse_unknown
from adjudge.settings import Settings, load_settings
from adjudge.store.opening import store_for
from adjudge.store.places import find_place
from adjudge.tasks.experiments import is_experiment, load_experiment
from adjudge.tasks.load import label
from adjudge.workflows.agents import agent_ref
from adjudge.workflows.judging import load_judge
from adjudge.workflows.planning import plan_matrix
from adjudge.workflows.run import (
    RunMeans,
    RunResult,
    resume_experiment,
    run_experiment,
)
from adjudge.workflows.runevents import EventKind, RunEvent

__all__ = ["run"]


@click.command()
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option(
    "--agent",
    "agents",
    multiple=True,
    metavar="NAME[:MODEL]",
    help="An agent to run, with a model of its own; more than once for several.",
)
@click.option("--trials", type=click.IntRange(1, 10_000), metavar="K", help="How often each is run; once.")
@click.option(
    "--jobs",
    type=click.IntRange(1, 1024),
    metavar="N",
    help="How many runs may be under way at once; by the number of processors.",
)
@click.option(
    "--where",
    multiple=True,
    metavar="KEY=VALUE",
    help="Only runs whose task, agent, model, trial or tag is like VALUE, a shell pattern; all must hold.",
)
@click.option("--limit", type=click.IntRange(1), metavar="N", help="Only the first N tasks.")
@click.option(
    "--fail-under",
    type=click.FloatRange(0, 1),
    metavar="X",
    help="Exit with 1 when the share of graded runs that pass is below X, from 0 to 1.",
)
@click.option(
    "--max-cost",
    "max_cost_usd",
    type=click.FloatRange(0),
    metavar="USD",
    help="Start no further run once those that ended have cost this much.",
)
@click.option("--resume", metavar="ID", help="Run what is left of an experiment, by its id or a part of it.")
@click.option(
    "--new", is_flag=True, help="Start anew where an unfinished experiment of this matrix is there."
)
@click.option(
    "--judge",
    metavar="FILE|MODEL",
    help="Have every run judged: a YAML file, or a model's name (several, parted by commas, are a jury).",
)
@click.option(
    "--from-trace",
    is_flag=True,
    help="PATHs are traces of attempts made elsewhere, recorded as runs for judging alone.",
)
@click.option(
    "--task", metavar="SCENARIO", help="With --from-trace: what was asked; else what the user said first."
)
@click.option("--sandbox", metavar="NAME", help="auto, bubblewrap, or process (no isolation).")
@click.option("--name", metavar="TEXT", help="What reports call the experiment.")
@click.option("--dry-run", is_flag=True, help="Say what would be run, and run nothing.")
@click.option("--quiet", is_flag=True, help="Show no progress, only the summary and what went wrong.")
@click.option(
    "--json", "as_json", is_flag=True, help="Write everything that happens as JSON, an event a line."
)
def run(
    paths: tuple[str, ...],
    agents: tuple[str, ...],
    trials: int | None,
    jobs: int | None,
    where: tuple[str, ...],
    limit: int | None,
    fail_under: float | None,
    max_cost_usd: float | None,
    resume: str | None,
    new: bool,
    from_trace: bool,
    task: str | None,
    judge: str | None,
    sandbox: str | None,
    name: str | None,
    dry_run: bool,
    quiet: bool,
    as_json: bool,
) -> int:
    """Run agents on the tasks that PATHs mean, and grade each run the moment it stops.

    PATH is a scenario, a folder in which every adjudge.yaml is taken, a frozen task's folder or digest, or an
    experiment file, which says all of this itself.

    The same matrix started again goes on where it was left: finished runs are kept, half-finished ones start
    over. Ctrl-C once finishes what is under way, twice stops it.

    Exits with 1 when an objective gate failed or, with --fail-under, when too few runs passed; 3 when nothing
    could be graded; 130 when it was interrupted.
    """
    options = RunOptions(jobs=jobs, max_cost_usd=max_cost_usd, fail_under=fail_under, sandbox=sandbox or None)
    settings = load_settings()
    plan = None
    if task is not None and not from_trace:
        raise UsageError("--task goes with --from-trace", hint="name the scenario to run as a PATH")
    if from_trace:
        _refuse_beside_traces(paths, [agents, trials, where, limit, resume, jobs, max_cost_usd, fail_under])
    elif resume is not None:
        _refuse_beside_resume(paths, agents, trials, where, limit, new=new)
    else:
        plan = _plan(paths, agents, trials, options, where=where, limit=limit, name=name)
        if (given := judge or settings.judge) and (judge or plan.judge is None):
            plan = plan.model_copy(update={"judge": load_judge(given).model_dump(mode="json")})
        refuse_unknown(plan.options.sandbox or settings.sandbox)
        if dry_run:
            return _show_matrix(plan, settings)
    store = store_for(settings)
    with progress_for(quiet=quiet, as_json=as_json) as progress:
        means = RunMeans(
            store=store,
            blobs=store.blobs,
            state_dir=settings.state_dir,
            jobs=settings.jobs,
            backend=lambda asked: backend_chooser(
                asked, settings, lambda message: progress(RunEvent(EventKind.NOTE, message=message))
            ),
            observe=progress,
            store_folder=find_place(settings).folder,
        )
        if from_trace:
            # Loaded here: readers of traces are for those who have some.
            importing = importlib.import_module("adjudge.workflows.importing")
            given = judge or settings.judge
            result: RunResult = importing.import_traces(
                paths,
                means,
                scenario=task,
                name=name,
                new=new,
                judge=load_judge(given) if given else None,
            )
        elif plan is None:
            assert resume is not None
            result = resume_experiment(resume, means, options)
        else:
            result = run_experiment(plan, means, new=new)
    if as_json:
        click.echo(json.dumps(_document(result), ensure_ascii=True))
    else:
        click.echo(_summary(result))
    return exit_code(result)


def exit_code(result: RunResult) -> int:
    """What the command exits with."""
    tally = result.tally
    if result.drained and tally.left:
        return ExitCode.INTERRUPTED
    rate = tally.pass_rate
    if rate is None:
        return ExitCode.UNGRADED
    if result.fail_under is not None:
        return ExitCode.FAILED if round(rate, 9) < round(result.fail_under, 9) else ExitCode.PASSED
    return ExitCode.FAILED if tally.counting[Verdict.FAIL] else ExitCode.PASSED


def _refuse_beside_traces(paths: Sequence[str], others: Sequence[object]) -> None:
    if not paths:
        raise UsageError("no trace was named", hint="adjudge run --from-trace FILE…")
    if any(others):
        raise UsageError(
            "--from-trace runs nothing, so it takes no agents, trials, filters, limits or thresholds",
            hint="it takes --task, --judge, --name and --new",
        )


def _refuse_beside_resume(
    paths: Sequence[str],
    agents: Sequence[str],
    trials: int | None,
    where: Sequence[str],
    limit: int | None,
    *,
    new: bool,
) -> None:
    if paths or agents or trials or where or limit or new:
        raise UsageError(
            "--resume goes on with the matrix as it was begun; it takes no tasks, agents, trials or filters",
            hint="it takes --jobs, --max-cost and --fail-under",
        )


def _plan(
    paths: tuple[str, ...],
    agents: tuple[str, ...],
    trials: int | None,
    options: RunOptions,
    *,
    where: tuple[str, ...],
    limit: int | None,
    name: str | None,
) -> ExperimentPlan:
    """What is asked for: by an experiment file with what the command line says beside, or by the latter."""
    if not paths:
        raise UsageError(
            "nothing to run was named",
            hint="adjudge run SCENARIO --agent NAME, or adjudge run experiment.yaml",
        )
    filters = dict(_filter(text) for text in where)
    files = [path for path in paths if is_experiment(Path(path))]
    if files:
        if len(paths) > 1 or agents or trials:
            raise UsageError(
                f"{files[0]} is an experiment, which says itself what is run",
                hint="give it alone, without --agent and --trials",
            )
        plan = load_experiment(Path(files[0]))
        given = options.model_dump(exclude_none=True, exclude={"limits"})
        return plan.model_copy(
            update={
                "options": plan.options.model_copy(update=given),
                "where": {**plan.where, **filters},
                "limit": limit or plan.limit,
                "name": name or plan.name,
            }
        )
    if not agents:
        raise UsageError("no agent was named", hint="--agent NAME[:MODEL]; adjudge agents lists them")
    block = MatrixBlock(tasks=paths, agents=tuple(map(_agent, agents)), trials=trials or 1)
    default = label(Path(paths[0]).resolve().name)
    return ExperimentPlan(name=name or default, blocks=(block,), where=filters, limit=limit, options=options)


def _agent(text: str) -> PlannedAgent:
    name, colon, model = text.partition(":")
    if colon and not model.strip():
        raise UsageError(f"--agent {text}: there is no model after the colon")
    return PlannedAgent(ref=agent_ref(name), model=model or None)


def _filter(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise UsageError(f"--where {text}: KEY=VALUE expected", hint="such as --where task='login*'")
    return key, value


def _show_matrix(plan: ExperimentPlan, settings: Settings) -> int:
    matrix = plan_matrix(plan, settings.state_dir)
    for warning in matrix.warnings:
        note(f"warning: {plain(warning)}")
    for cell in matrix.cells:
        agent = cell.agent.name if cell.model is None else f"{cell.agent.name}:{cell.model}"
        click.echo(f"{plain(cell.task.task.name)}  {plain(agent)}  #{cell.trial}")
    note(f"{len(matrix.cells)} runs, none of them made")
    return ExitCode.PASSED


def _summary(result: RunResult) -> str:
    tally, experiment = result.tally, result.experiment
    verdicts = [verdict for verdict in Verdict if tally.counting[verdict]]
    titles = [*map(str, verdicts), *(["faults"] if tally.faults else [])]
    width = max([5, *(len(plain(agent)) for agent in tally.by_agent)])
    lines = [f"experiment {experiment.id}  {plain(experiment.name)}"]
    if tally.by_agent:
        lines.append(f"{'agent':<{width}}" + "".join(f"  {title:>6}" for title in titles))
        for agent, counts in tally.by_agent.items():
            cells = [counts[verdict] for verdict in verdicts] + ([counts["fault"]] if tally.faults else [])
            lines.append(f"{plain(agent):<{width}}" + "".join(f"  {count:>6}" for count in cells))
    for title, counted in (("objective", tally.objective), ("judge", tally.judge), ("run", tally.run)):
        said = "  ".join(f"{verdict} {counted[verdict]}" for verdict in Verdict if counted[verdict])
        lines.append(f"{title:<9}  {said or 'none'}")
    lines += _closing(result)
    return "\n".join(lines)


def _closing(result: RunResult) -> list[str]:
    tally = result.tally
    lines = []
    if tally.pass_rate is not None:
        counted = tally.counting[Verdict.PASS] + tally.counting[Verdict.FAIL]
        threshold = "" if result.fail_under is None else f", threshold {result.fail_under:.1%}"
        lines.append(f"passed     {tally.pass_rate:.1%} of {counted} graded{threshold}")
    if cost := render_cost(tally):
        lines.append(f"cost       {cost}")
    if tally.left:
        why = "the cost cap is reached" if result.capped else "interrupted"
        lines.append(
            f"left       {tally.left} of {tally.total} runs were not made: {why}; the same command, or "
            f"adjudge run --resume {result.experiment.id}, goes on"
        )
    elif tally.faults:
        lines.append(f"faults     adjudge run --resume {result.experiment.id} tries them again")
    return lines


def _document(result: RunResult) -> dict[str, object]:
    tally = result.tally
    return {
        "event": "summary",
        "experiment": result.experiment.id,
        "name": result.experiment.name,
        "total": tally.total,
        "graded": tally.graded,
        "kept": tally.kept,
        "faults": tally.faults,
        "left": tally.left,
        "gates": {
            title: {str(verdict): counted[verdict] for verdict in Verdict}
            for title, counted in (("objective", tally.objective), ("judge", tally.judge), ("run", tally.run))
        },
        "pass_rate": tally.pass_rate,
        "cost_usd": tally.cost_usd if tally.unknown_cost < tally.graded else None,
        "unknown_cost": tally.unknown_cost,
        "capped": result.capped,
        "interrupted": result.drained,
        "exit_code": exit_code(result),
    }
