"""Looking at experiments: how far they are, who leads, what it cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from adjudge.errors import UsageError
from adjudge.records.exploring import Condition, ExperimentSummary, Exploration, GroupRow, Progress
from adjudge.reports.charts.svg import Chart
from adjudge.reports.sheets import Sheet
from adjudge.store.exploring import Explorer
from adjudge.store.runs import RunDatabase
from adjudge.workflows.exploring import Plot, draw, group_page, heat_map, pass_rates

__all__ = ["MEASURED", "ExperimentPage", "ListedExperiment", "find_experiment", "list_experiments", "look_at"]

MEASURED = ("score", "cost_usd", "total_tokens", "wall_s")
"""What the leaderboard has means of."""


class ListedExperiment(NamedTuple):
    """An experiment in a list."""

    summary: ExperimentSummary
    progress: Progress


class ExperimentPage(NamedTuple):
    """Everything that a page about an experiment shows."""

    summary: ExperimentSummary
    progress: Progress
    leaders: list[GroupRow]
    """Agents and models, the highest pass rate first."""
    sheet: Sheet
    """The same, as values."""
    charts: list[Chart]


def list_experiments(
    explorer: Explorer, *, before: int | None = None, limit: int
) -> tuple[list[ListedExperiment], bool]:
    """Experiments, newest first, and whether there are older ones."""
    found = explorer.experiments(before=before, limit=limit + 1)
    shown = found[:limit]
    progress = explorer.progress(shown)
    return [ListedExperiment(item, progress[item.id]) for item in shown], len(found) > limit


def find_experiment(store: RunDatabase, explorer: Explorer, given: str) -> ExperimentSummary:
    """An experiment by its id, the beginning of it, or its name.

    Raises:
        UsageError: There is none, or several.
    """
    found = explorer.experiment(given)
    if found is None:
        found = explorer.experiment(store.experiment(given).id)
    if found is None:
        raise UsageError(f"no experiment {given!r} is stored")
    return found


def look_at(explorer: Explorer, summary: ExperimentSummary) -> ExperimentPage:
    """How an experiment stands."""
    where = (Condition(field="experiment", value=summary.id),)
    wanted = Exploration(where=where, measures=MEASURED)
    leaders = group_page(explorer, wanted, sort="pass_rate", descending=True)
    return ExperimentPage(
        summary,
        explorer.progress([summary])[summary.id],
        leaders.rows,
        leaders.sheet,
        _charts(explorer, where, wanted, leaders.rows),
    )


def _charts(
    explorer: Explorer, where: Sequence[Condition], wanted: Exploration, leaders: Sequence[GroupRow]
) -> list[Chart]:
    charts = [pass_rates(leaders), heat_map(explorer, where)]
    if any(row.moments[MEASURED.index("cost_usd")].known for row in leaders):
        charts += draw(explorer, Plot.FRONTIER, wanted, sort="pass_rate", descending=True, measure="score")
    return charts
