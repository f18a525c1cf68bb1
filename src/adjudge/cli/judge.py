"""`adjudge judge`: put stored runs before a judge; `calibrate` and `disagreements` are in its group."""

from __future__ import annotations

import asyncio
import importlib
import json

import click

from adjudge.cli.console import note
from adjudge.cli.main import ExitCode
from adjudge.errors import ConfigInvalid
from adjudge.judge.cache import AnswerDirectory
from adjudge.judge.court import Court
from adjudge.records.judging import JudgeConfig
from adjudge.records.score import Verdict
from adjudge.reports.plain import plain
from adjudge.settings import load_settings
from adjudge.store.opening import store_for
from adjudge.store.runs import RunDatabase
from adjudge.workflows.judgeruns import JudgedRun, Selection, judge_runs, judgement_of, select_runs
from adjudge.workflows.judging import load_judge, parse_judge

__all__ = ["judge"]

_SUBCOMMANDS = {
    "calibrate": "adjudge.cli.calibrate:calibrate",
    "disagreements": "adjudge.cli.calibrate:disagreements",
}


class _Group(click.Group):
    """A group whose runs need no word before them: `adjudge judge RUN` is `adjudge judge runs RUN`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return ["runs", *_SUBCOMMANDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in _SUBCOMMANDS:
            module, _, attribute = _SUBCOMMANDS[cmd_name].partition(":")
            command = getattr(importlib.import_module(module), attribute)
            assert isinstance(command, click.Command)
            return command
        return runs if cmd_name == "runs" else None

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] not in ("-h", "--help", *self.list_commands(ctx)):
            args = ["runs", *args]
        return super().parse_args(ctx, args)


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
def judge() -> None:
    """Ask an LLM judge about stored runs.

    `adjudge judge RUN…` is short for `adjudge judge runs RUN…`.
    """


@click.command()
@click.argument("runs", nargs=-1, metavar="[RUN]...")
@click.option("--experiment", metavar="ID", help="Every finished run of an experiment.")
@click.option("--all", "everything", is_flag=True, help="Every finished run of the store.")
@click.option(
    "--retry-failed",
    is_flag=True,
    help="Only runs whose judge failed, or that nobody judged; of the whole store unless runs are named.",
)
@click.option(
    "--judge",
    "given",
    metavar="FILE|MODEL",
    help="Who judges: a YAML file, or a model's name (several, parted by commas, are a jury). Default: "
    "ADJUDGE_JUDGE, else the judge of the runs' experiment.",
)
@click.option("--no-cache", is_flag=True, help="Ask again even where the same was answered before.")
@click.option("--jobs", type=click.IntRange(1, 1024), metavar="N", help="How many runs are judged at once.")
@click.option("--json", "as_json", is_flag=True, help="Write every judgement as JSON, one a line.")
def runs(
    runs: tuple[str, ...],
    experiment: str | None,
    everything: bool,
    retry_failed: bool,
    given: str | None,
    no_cache: bool,
    jobs: int | None,
    as_json: bool,
) -> int:
    """Judge stored RUNs, by their ids or beginnings of them.

    Each judgement is a further evaluation of its run and becomes its current one; scores and the other gates
    stay what they are.

    Exits with 0 when every verdict is PASS, 1 when one is FAIL, 3 when none could be had.
    """
    settings = load_settings()
    with store_for(settings, create=False) as store:
        selection = Selection(runs, experiment, everything, retry_failed)
        chosen = select_runs(selection, store)
        if not chosen:
            note("nothing is left to judge")
            return ExitCode.PASSED
        asked = given or settings.judge
        config = load_judge(asked) if asked else _experiments_judge(store, chosen[0].experiment_id)
        cache = None if no_cache else AnswerDirectory(settings.answers_dir)

        def tell(done: JudgedRun) -> None:
            click.echo(_document(done) if as_json else _line(done))

        async def ask() -> list[JudgedRun]:
            async with Court(config, cache=cache, blobs=store.blobs) as court:
                limit = jobs or config.concurrency
                return await judge_runs(court, chosen, store, store.blobs, jobs=limit, observe=tell)

        done = asyncio.run(ask())
    return _exit_code(done)


def _experiments_judge(store: RunDatabase, experiment_id: str | None) -> JudgeConfig:
    if experiment_id is not None:
        kept = store.experiment(experiment_id).judge
        if kept is not None:
            return parse_judge(kept, where=f"experiment {experiment_id}: judge")
    raise ConfigInvalid("no judge was named", hint="--judge FILE|MODEL, or set ADJUDGE_JUDGE")


def _line(done: JudgedRun) -> str:
    if done.after is None:
        return f"{done.run.id}  not judged: {plain(done.problem)}"
    gate = done.after.gates.judge
    judgement = judgement_of(done.after)
    scores = judgement.scores if judgement is not None else None
    rated = f"  {scores.task_completion}/{scores.instruction_adherence}/{scores.efficiency}" if scores else ""
    cached = judgement is not None and judgement.votes and all(vote.cached for vote in judgement.votes)
    return f"{done.run.id}  {gate.verdict}{rated}  {plain(gate.reason)}{' (remembered)' if cached else ''}"


def _document(done: JudgedRun) -> str:
    after = done.after
    return json.dumps(
        {
            "run": done.run.id,
            "evaluation": None if after is None else after.id,
            "gate": None if after is None else after.gates.judge.model_dump(mode="json"),
            "judge": None if after is None else after.judge,
            "problem": done.problem or None,
        },
        ensure_ascii=True,
    )


def _exit_code(done: list[JudgedRun]) -> int:
    verdicts = [one.after.gates.judge.verdict for one in done if one.after is not None]
    if Verdict.FAIL in verdicts:
        return ExitCode.FAILED
    return ExitCode.PASSED if Verdict.PASS in verdicts else ExitCode.UNGRADED
