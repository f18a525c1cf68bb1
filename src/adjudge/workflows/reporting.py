"""Reports on stored runs: what they add up to, and how two sides compare."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from adjudge.errors import UsageError
from adjudge.records.listing import RunFilter, RunSummary
from adjudge.stats.comparison import Comparison, compare_runs
from adjudge.stats.experiments import Report, report_of
from adjudge.store.runs import RunDatabase
from adjudge.workflows.listing import find_filter
from adjudge.workflows.stores import opened

__all__ = ["Reported", "compare", "compare_experiments", "report", "report_from"]


class Reported(NamedTuple):
    """A report, what it is of, and what a reader should know besides."""

    report: Report
    title: str
    notes: tuple[str, ...]


def report(wanted: RunFilter, *, k: int | None) -> Reported:
    """What the runs that are wanted add up to."""
    with opened() as store:
        return report_from(store, wanted, k=k)


def report_from(
    store: RunDatabase,
    wanted: RunFilter,
    *,
    k: int | None,
    observe: Callable[[RunSummary], None] = lambda _: None,
) -> Reported:
    """What the runs of a store add up to; each run that is counted is shown to `observe`."""
    wanted = find_filter(store, wanted)
    title = "All stored runs"
    planned = None
    if wanted.experiment_id is not None:
        experiment = store.experiment(wanted.experiment_id)
        title = f"Experiment {experiment.name} ({experiment.id[:12]})"
        planned = len(experiment.matrix)

    def counted() -> Iterator[RunSummary]:
        for row in store.summaries(wanted):
            observe(row)
            yield row

    found = report_of(counted(), store.scorer_tallies(wanted), k=k)
    return Reported(found, title, tuple(_notes(found, planned, whole=_is_whole(wanted))))


def _is_whole(wanted: RunFilter) -> bool:
    return wanted == RunFilter(experiment_id=wanted.experiment_id)


def _notes(found: Report, planned: int | None, *, whole: bool) -> list[str]:
    notes = []
    if planned is not None and whole and found.runs < planned:
        notes.append(f"{planned - found.runs} of {planned} runs have not begun.")
    errors = sum(group.count("errors") for group in found.groups)
    if errors:
        notes.append(f"{errors} runs could not be run or graded; they are in no rate and no mean.")
    unfinished = sum(group.count("unfinished") for group in found.groups)
    if unfinished:
        notes.append(f"{unfinished} runs are not finished or not graded yet.")
    fewer = sum(group.left_out(found.k) for group in found.groups)
    if fewer:
        notes.append(
            f"{fewer} times a task had fewer than {found.k} graded trials and is left out of pass@k."
        )
    unknown = sum(group.count("runs") - group.cost_usd.known for group in found.groups)
    if unknown and unknown < found.runs:
        notes.append(f"What {unknown} runs cost is not known; totals are of the others.")
    return notes


def compare(first: str, second: str, *, experiment: str | None, wanted: RunFilter) -> Comparison:
    """Compare two experiments, or two agents (`agent` or `agent:model`) within one or over all runs.

    Raises:
        UsageError: A side is neither, or has no runs.
    """
    with opened() as store:
        if experiment is not None:
            found = store.experiment(experiment).id
            wanted = wanted.model_copy(update={"experiment_id": found})
        sides = [_side(store, given, wanted, within=experiment is not None) for given in (first, second)]
        if sides[0] == sides[1]:
            raise UsageError(f"{first!r} and {second!r} are the same side")
        return compare_runs(first, store.summaries(sides[0]), second, store.summaries(sides[1]))


def compare_experiments(store: RunDatabase, first: str, second: str) -> Comparison:
    """Compare two experiments, task by task.

    Args:
        store: Where they are.
        first: The whole id of one.
        second: The whole id of the other.

    Raises:
        UsageError: They are one and the same.
    """
    if first == second:
        raise UsageError("an experiment is compared with another one, not with itself")
    labels = [f"{store.experiment(given).name} ({given[:8]})" for given in (first, second)]
    rows = [store.summaries(RunFilter(experiment_id=given)) for given in (first, second)]
    return compare_runs(labels[0], rows[0], labels[1], rows[1])


def _side(store: RunDatabase, given: str, wanted: RunFilter, *, within: bool) -> RunFilter:
    reason: UsageError | None = None
    if not within:
        try:
            found = store.experiment(given).id
            return wanted.model_copy(update={"experiment_id": found})
        except UsageError as error:
            reason = error
    for agent, model in _readings(given):
        side = wanted.model_copy(update={"agent": agent, **({} if model is None else {"model": model})})
        if next(store.summaries(side, limit=1), None) is not None:
            return side
    known = ", ".join(store.names("agent")[:8])
    if reason is not None:
        raise UsageError(
            f"{given!r} is neither an experiment nor an agent with runs",
            hint=f"{reason.hint}; agents: {known}",
        )
    raise UsageError(f"no run of that experiment is by the agent {given!r}", hint=f"agents: {known}")


def _readings(given: str) -> list[tuple[str, str | None]]:
    """`agent`, or `agent:model` split at every colon: both may have colons of their own."""
    parts = given.split(":")
    split = [(":".join(parts[:at]), ":".join(parts[at:])) for at in range(1, len(parts))]
    return [(given, None), *split]
