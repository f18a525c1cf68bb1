"""`adjudge judge calibrate` and `adjudge judge disagreements`."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path

import click

from adjudge.cli.main import ExitCode
from adjudge.errors import ConfigInvalid, UsageError
from adjudge.judge.court import Court
from adjudge.records.run import Run
from adjudge.reports.plain import plain
from adjudge.settings import Settings, load_settings
from adjudge.store.opening import store_for
from adjudge.store.runs import RunDatabase
from adjudge.workflows.calibrating import (
    Calibration,
    Repeated,
    labels_of_annotations,
    load_labels,
    repeat,
)
from adjudge.workflows.calibrating import calibrate as compare_with_people
from adjudge.workflows.disagreeing import READINGS, Disagreement, find_disagreements, jury_agreement
from adjudge.workflows.judging import load_judge

__all__ = ["calibrate", "disagreements"]


@click.command()
@click.option("--labels", metavar="FILE", help="What people say: JSON Lines or CSV with run, judgment.")
@click.option("--annotations", is_flag=True, help="What reviewers said with adjudge annotate, by majority.")
@click.option("--experiment", metavar="ID", help="With --annotations: of one experiment only.")
@click.option(
    "--repeats", type=click.IntRange(2, 50), metavar="N", help="Also ask N times anew about each run."
)
@click.option("--probes", is_flag=True, help="Also ask with another order, and with a longer response.")
@click.option(
    "--sample", type=click.IntRange(1), default=20, show_default=True, help="Runs to ask anew about."
)
@click.option("--judge", "given", metavar="FILE|MODEL", help="Who is asked anew. Default: ADJUDGE_JUDGE.")
@click.option("--json", "as_json", is_flag=True, help="Write the figures as JSON.")
def calibrate(
    labels: str | None,
    annotations: bool,
    experiment: str | None,
    repeats: int | None,
    probes: bool,
    sample: int,
    given: str | None,
    as_json: bool,
) -> int:
    """Compare stored judgements with what people say, and say whether the judge is ready to be relied on.

    Exits with 0 when it is, 1 when it is not.
    """
    if (labels is None) == (not annotations):
        raise UsageError("give either --labels FILE or --annotations")
    settings = load_settings()
    with store_for(settings, create=False) as store:
        if labels is not None:
            known = load_labels(Path(labels))
        else:
            id_ = None if experiment is None else store.experiment(experiment).id
            stored = (store.current_evaluation(run.id) for run in store.runs(experiment_id=id_))
            known = labels_of_annotations([evaluation for evaluation in stored if evaluation is not None])
            if not known:
                raise UsageError("no run has a reviewer's verdict", hint="adjudge annotate EVALUATION …")
        repeated = None
        if repeats is not None or probes:
            runs = [store.run(label.run) for label in known[:sample]]
            repeated = _ask_again(given, settings, store, runs, repeats or 2, probes)
        found = compare_with_people(known, store, repeated=repeated)
    click.echo(_as_json(found) if as_json else render_calibration(found))
    return ExitCode.PASSED if found.ready else ExitCode.FAILED


@click.command()
@click.option("--experiment", metavar="ID", help="Of one experiment only.")
@click.option("--json", "as_json", is_flag=True, help="Write them as JSON.")
def disagreements(experiment: str | None, as_json: bool) -> int:
    """List runs whose gates disagree and what that may mean; and how far the jurors of a jury agree."""
    with store_for(load_settings(), create=False) as store:
        id_ = None if experiment is None else store.experiment(experiment).id
        found = find_disagreements(store, experiment_id=id_)
        jury = jury_agreement(store, experiment_id=id_)
    if as_json:
        document = {
            "disagreements": [dataclasses.asdict(one) for one in found],
            "jury": None if jury is None else dict(zip(("runs", "percent", "alpha"), jury, strict=True)),
        }
        click.echo(json.dumps(document, indent=2, ensure_ascii=True))
        return ExitCode.PASSED
    click.echo(render_disagreements(found))
    if jury is not None:
        runs, percent, alpha = jury
        said = "undefined" if alpha is None else f"{alpha:.2f}"
        click.echo(f"jurors agree on {percent:.0%} of pairs over {runs} runs; Krippendorff's alpha {said}")
    return ExitCode.PASSED


def _ask_again(
    given: str | None,
    settings: Settings,
    store: RunDatabase,
    runs: Sequence[Run],
    repeats: int,
    probes: bool,
) -> Repeated:
    asked = given or settings.judge
    if not asked:
        raise ConfigInvalid("no judge was named", hint="--judge FILE|MODEL, or set ADJUDGE_JUDGE")
    config = load_judge(asked)

    async def ask() -> Repeated:
        # Nothing is remembered: the point is to ask anew.
        async with Court(config) as court:
            return await repeat(court, runs, store, store.blobs, repeats=repeats, probes=probes)

    return asyncio.run(ask())


def render_calibration(found: Calibration) -> str:
    """The figures and the conclusion, for people."""
    lines = [f"{found.judged} of {found.labels} labelled runs have a verdict"]
    if found.accuracy is not None and found.accuracy_interval is not None:
        low, high = found.accuracy_interval
        lines.append(f"accuracy   {found.accuracy:.1%} (95 %: {low:.1%} to {high:.1%})")
    if found.kappa is not None and found.kappa_interval is not None:
        low, high = found.kappa_interval
        lines.append(f"kappa      {found.kappa:.2f} (95 %: {low:.2f} to {high:.2f})")
    counts = found.confusion
    lines += [
        "              people pass  people fail",
        f"judge PASS    {counts['PASS/pass']:>11}  {counts['PASS/fail']:>11}",
        f"judge FAIL    {counts['FAIL/pass']:>11}  {counts['FAIL/fail']:>11}",
    ]
    for mode, (agreed, of) in sorted(found.failure_modes.items()):
        lines.append(f"{mode}: people agree on {agreed} of {of}")
    for juror, (agreed, of) in found.jurors.items():
        lines.append(f"{plain(juror)}: agrees with people on {agreed} of {of}")
    if found.alpha is not None:
        lines.append(f"Krippendorff's alpha of the jury: {found.alpha:.2f}")
    if found.repeated is not None:
        again = found.repeated
        lines.append(
            f"asked {again.repeats} times: the same verdict on {again.consistent} of {again.runs} runs"
        )
        lines += [f"{name}: {changed} of {of} verdicts change" for name, (changed, of) in again.flips.items()]
    lines.append("ready" if found.ready else "not ready:")
    lines += [f"- {concern}" for concern in found.concerns]
    return "\n".join(lines)


def _as_json(found: Calibration) -> str:
    document = dataclasses.asdict(found) | {"ready": found.ready, "concerns": list(found.concerns)}
    return json.dumps(document, indent=2, ensure_ascii=True)


def render_disagreements(found: Sequence[Disagreement]) -> str:
    """By kind, with what each may mean."""
    if not found:
        return "no run's gates disagree"
    lines = []
    for kind, reading in READINGS.items():
        of_kind = [one for one in found if one.kind == kind]
        if of_kind:
            lines.append(f"{kind} ({len(of_kind)}): {reading}")
            lines += [f"  {one.run}  {plain(one.task)}  {plain(one.why)}" for one in of_kind]
    return "\n".join(lines)
