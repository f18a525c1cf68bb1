"""`adjudge attack`."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from adjudge.cli.backends import backend_chooser
from adjudge.cli.console import note, paint_for, width_of
from adjudge.cli.fields import wrapped
from adjudge.cli.main import ExitCode
from adjudge.errors import UsageError
from adjudge.records.attack import AttackResult, AttackStatus
from adjudge.records.evaluation import Evaluation
from adjudge.reports.attacks import HonestRow, Siege, render_attacks, siege_document
from adjudge.reports.plain import plain_lines
from adjudge.reports.table import render_table
from adjudge.settings import load_settings
from adjudge.workflows.attacking import (
    AttackReport,
    AttackSettings,
    KnownAttack,
    attack_task,
    choose_attacks,
)

__all__ = ["attack", "exit_code"]


@click.command()
@click.argument("scenario", required=False)
@click.option(
    "--family", "families", multiple=True, metavar="NAME", help="Only attacks of this family; repeatable."
)
@click.option("--attack", "names", multiple=True, metavar="NAME", help="Only this attack; repeatable.")
@click.option("--show", metavar="NAME", help="Try one attack and show what it changes and how it is graded.")
@click.option("--list", "list_", is_flag=True, help="List the attacks there are, and try none.")
@click.option(
    "--keep",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Keep the diff and the evaluation of every attack there.",
)
@click.option(
    "--no-advice", is_flag=True, help="Look for no lines that would stop what gets through: faster."
)
@click.option("--all", "every", is_flag=True, help="Also list the attacks that do not apply, and why.")
@click.option(
    "--jobs", type=click.IntRange(1, 256), metavar="N", help="How many attacks are under way at once."
)
@click.option("--sandbox", metavar="NAME", help="auto, bubblewrap, or process (no isolation).")
@click.option("--quiet", is_flag=True, help="Show no progress.")
@click.option("--json", "as_json", is_flag=True, help="Write the report, or the list, as JSON.")
def attack(
    scenario: str | None,
    families: tuple[str, ...],
    names: tuple[str, ...],
    show: str | None,
    list_: bool,
    keep: Path | None,
    no_advice: bool,
    every: bool,
    jobs: int | None,
    sandbox: str | None,
    quiet: bool,
    as_json: bool,
) -> int:
    """Play adversary against a scenario's recipe: which cheats get credit, and which line stops them.

    Scripted attacks, none of which does the work, run as agents in the sandbox and are graded with the
    recipe. So are doing nothing, which must fail, and the scenario's reference solution, which must pass.
    Nothing is stored.

    Exits with 0 when nothing gets through, 1 when something does, 3 when something could not be graded or
    the reference solution fails.
    """
    if list_:
        return _list(choose_attacks(names, families), as_json=as_json)
    if scenario is None:
        raise UsageError("no scenario was named", hint="adjudge attack SCENARIO; adjudge attack --list")
    if show is not None and (names or families):
        raise UsageError("--show tries one attack; leave out --attack and --family")
    chosen = choose_attacks((show,) if show is not None else names, families)
    settings = load_settings()
    kept: dict[str, tuple[bytes, Evaluation]] = {}

    def keep_one(name: str, diff: bytes, evaluation: Evaluation) -> None:
        kept[name] = (diff, evaluation)
        if keep is not None:
            keep.mkdir(parents=True, exist_ok=True)
            (keep / f"{name}.diff").write_bytes(diff)
            (keep / f"{name}.json").write_text(evaluation.to_json())

    report = attack_task(
        scenario,
        chosen,
        AttackSettings(
            state_dir=settings.state_dir,
            backend=backend_chooser(sandbox, settings),
            jobs=jobs or settings.jobs,
            advise=not no_advice,
            observe=_tell if not quiet else lambda result, done, total: None,
            keep=keep_one if keep is not None or show is not None else None,
        ),
    )
    siege = _siege(report, advised=not no_advice)
    if as_json:
        click.echo(siege_document(siege))
        return siege.exit_code
    width, paint = width_of(sys.stdout), paint_for(sys.stdout)
    if show is not None:
        _show(report.results[0], kept.get(show), width)
    click.echo(render_attacks(siege, width=width, paint=paint, every=every or show is not None))
    return siege.exit_code


def exit_code(report: AttackReport) -> int:
    """What the command exits with."""
    if report.through or report.accepts_nothing_done:
        return ExitCode.FAILED
    return ExitCode.UNGRADED if report.inconclusive else ExitCode.PASSED


def _siege(report: AttackReport, *, advised: bool) -> Siege:
    return Siege(
        task=report.task,
        target=report.target,
        honest=[HonestRow(*honest) for honest in report.honest],
        results=report.results,
        lines=report.lines,
        warnings=report.warnings,
        advised=advised,
        exit_code=exit_code(report),
    )


def _tell(result: AttackResult, done: int, total: int) -> None:
    if result.status is not AttackStatus.NOT_APPLICABLE:
        note(f"[{done}/{total}] {result.name}: {result.status.value.replace('_', ' ')}")


def _show(result: AttackResult, kept: tuple[bytes, Evaluation] | None, width: int) -> None:
    click.echo(f"{result.name}: {result.technique}")
    if result.how:
        click.echo(wrapped(result.how, "  ", "  ", width))
    if kept is not None:
        diff, evaluation = kept
        click.echo("\n" + "\n".join(plain_lines(diff.decode("utf-8", "replace"))))
        click.echo(render_table(evaluation, width=width))
    click.echo()


def _list(every: Sequence[KnownAttack], *, as_json: bool) -> int:
    if as_json:
        document = {
            "schema": "adjudge.attacks/1",
            "attacks": [
                {
                    "name": known.name,
                    "family": known.attack.family,
                    "technique": known.attack.technique,
                    "languages": list(known.attack.languages),
                    "summary": known.summary,
                    "distribution": known.distribution,
                }
                for known in every
            ],
        }
        click.echo(json.dumps(document, indent=2, ensure_ascii=False))
        return ExitCode.PASSED
    width = width_of(sys.stdout)
    names = max(len(known.name) for known in every)
    families = max(len(known.attack.family) for known in every)
    for known in every:
        head = f"{known.name:<{names}}  {known.attack.family:<{families}}  "
        foreign = "" if known.distribution == "adjudge" else f" [{known.distribution}]"
        spoken = ", ".join(known.attack.languages) or "any language"
        click.echo(wrapped(f"{known.summary} ({spoken}){foreign}", head, " " * len(head), width))
    return ExitCode.PASSED
