"""Looking at what is kept: lists of runs, one run with everything, its diff."""

from __future__ import annotations

import difflib
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, NamedTuple

from adjudge.errors import UsageError
from adjudge.records.change import ChangeSet
from adjudge.records.evaluation import Evaluation
from adjudge.records.listing import RunFilter, RunSummary
from adjudge.records.run import Run
from adjudge.reports.plain import plain
from adjudge.store.runs import RunDatabase
from adjudge.workflows.stores import opened

__all__ = ["Page", "ShownRun", "changes_of_run", "copy_trace", "find_filter", "list_runs", "show_run"]


class Page(NamedTuple):
    """Some runs, and whether there are more after them."""

    rows: list[RunSummary]
    more: bool


class ShownRun(NamedTuple):
    """A run with every evaluation of it."""

    run: Run
    evaluations: tuple[Evaluation, ...]
    current: Evaluation | None


def list_runs(wanted: RunFilter, *, limit: int, before: str | None = None) -> Page:
    """The newest runs that are wanted; with `before`, those recorded before that run.

    Raises:
        UsageError: An experiment, task, agent or model is named that no run has.
    """
    with opened() as store:
        wanted = find_filter(store, wanted)
        if before is not None:
            found = store.position(before)
            wanted = wanted.model_copy(update={"before": found})
        rows = list(store.summaries(wanted, limit=limit + 1))
        return Page(rows[:limit], len(rows) > limit)


def find_filter(store: RunDatabase, wanted: RunFilter) -> RunFilter:
    """The same filter with the experiment's whole id.

    Raises:
        UsageError: Something is named that no run has: a typo would read as "no runs".
    """
    if wanted.experiment_id is not None:
        found = store.experiment(wanted.experiment_id).id
        wanted = wanted.model_copy(update={"experiment_id": found})
    for what, column, given in (
        ("task", "task_name", wanted.task),
        ("agent", "agent", wanted.agent),
        ("model", "model", wanted.model),
    ):
        alone = RunFilter(**{what: given}) if given is not None else None
        if alone is None or next(store.summaries(alone, limit=1), None) is not None:
            continue
        known = [plain(name) for name in store.names(column)]
        near = difflib.get_close_matches(str(given), known, n=3)
        raise UsageError(
            f"no run has the {what} {given!r}",
            hint=f"did you mean {' or '.join(near)}?" if near else f"known: {', '.join(known[:8]) or 'none'}",
        )
    return wanted


def show_run(given: str) -> ShownRun:
    """A run by its id or the beginning of it."""
    with opened() as store:
        run = store.run(given)
        return ShownRun(run, store.evaluations(run.id), store.current_evaluation(run.id))


@contextmanager
def changes_of_run(given: str) -> Iterator[tuple[ChangeSet, BinaryIO | None]]:
    """What a run changed, with its diff to read; None when the diff was not kept.

    Raises:
        UsageError: The run changed no workspace, or was not stopped yet.
    """
    with opened() as store:
        run = store.run(given)
        changes = run.attempt.change_set if run.attempt is not None else None
        if changes is None:
            raise UsageError(
                f"run {run.id} has no change set",
                hint=f"it is {run.status.value}" if run.attempt is None else "it had no workspace to change",
            )
        if not changes.diff.stored:
            yield changes, None
            return
        with store.blobs.open(changes.diff) as diff:
            yield changes, diff


def copy_trace(given: str, target: BinaryIO) -> str | None:
    """Write the trace of a run to a file; returns its format, where that is known.

    Raises:
        UsageError: There is no such run, or it has no trace.
    """
    with opened() as store:
        run = store.run(given)
        normalised = run.attempt.trace if run.attempt is not None else None
        outcome = run.attempt.outcome if run.attempt is not None else None
        kept = normalised or (outcome.raw_trace if outcome is not None else None)
        if kept is None:
            hint = "no agent ran" if outcome is None else "the agent left none"
            raise UsageError(f"run {run.id} has no trace", hint=hint)
        with store.blobs.open(kept) as stream:
            shutil.copyfileobj(stream, target)
        target.flush()
        return "adjudge" if normalised is not None or outcome is None else outcome.trace_format
