"""Exploring what is kept: groups of runs, plots of them, and tables to take away."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Any, NamedTuple

from adjudge.errors import UsageError
from adjudge.records.exploring import BINS, Condition, Exploration, GroupRow, Operator, RowOrder
from adjudge.reports.charts.distribution import Bin, distribution_chart
from adjudge.reports.charts.frontier import CostPoint, frontier_chart
from adjudge.reports.charts.heatmap import HeatCell, HeatRow, heatmap_chart
from adjudge.reports.charts.matrix import matrix_chart
from adjudge.reports.charts.passrates import PassRate, pass_rate_chart
from adjudge.reports.charts.svg import Chart
from adjudge.reports.exploring import group_label, group_sheet, sort_groups
from adjudge.reports.runs import agent_of
from adjudge.reports.sheets import Sheet
from adjudge.store.exploring import Explorer

__all__ = [
    "MAX_ROWS",
    "PLOTS",
    "GroupPage",
    "Plot",
    "RowPage",
    "draw",
    "group_page",
    "heat_map",
    "pass_rates",
    "row_page",
    "row_sheet",
]

MAX_ROWS = 100_000
"""As many runs can be taken away at once."""
_DRAWN = 24
_TASKS, _AGENTS = 20, 8
_LONGEST = 500
_PAIRS = (("objective", "judge"), ("objective", "run"), ("judge", "run"))


class Plot(StrEnum):
    """What can be drawn."""

    PASS_RATES = "pass-rates"
    DISTRIBUTION = "distribution"
    FRONTIER = "frontier"
    GATES = "gates"
    HEAT = "heat"


PLOTS = {
    Plot.PASS_RATES: "Pass rates",
    Plot.DISTRIBUTION: "Score distribution",
    Plot.FRONTIER: "Cost against score",
    Plot.GATES: "Gate disagreement",
    Plot.HEAT: "Tasks by agents",
}
"""And its title."""


class GroupPage(NamedTuple):
    """Some groups in their order."""

    rows: list[GroupRow]
    total: int
    """How many groups there are; when `more`, the largest that were looked at."""
    more: bool
    runs: int
    """In all groups."""
    sheet: Sheet


class RowPage(NamedTuple):
    """Some runs in their order."""

    total: int
    more: bool
    sheet: Sheet


def group_page(
    explorer: Explorer,
    wanted: Exploration,
    *,
    sort: str = "runs",
    descending: bool = True,
    limit: int | None = None,
    skip: int = 0,
) -> GroupPage:
    """Groups of runs.

    Raises:
        UsageError: They cannot be sorted by that.
    """
    found = explorer.groups(wanted)
    try:
        rows = sort_groups(wanted, found.rows, sort, descending=descending)
    except ValueError as error:
        raise UsageError(str(error)) from None
    shown = rows[skip:] if limit is None else rows[skip : skip + limit]
    runs = sum(row.runs for row in found.rows)
    return GroupPage(shown, len(rows), found.more, runs, group_sheet(wanted, shown))


def row_page(
    explorer: Explorer,
    where: Sequence[Condition],
    columns: Sequence[str],
    order: RowOrder,
    *,
    limit: int,
    skip: int = 0,
) -> RowPage:
    """Single runs."""
    found = explorer.rows(where, columns, order, limit=limit + 1, skip=skip)
    return RowPage(explorer.count(where), len(found) > limit, _sheet(columns, found[:limit]))


def row_sheet(
    explorer: Explorer, where: Sequence[Condition], columns: Sequence[str], order: RowOrder
) -> Sheet:
    """Every run that is wanted.

    Raises:
        UsageError: There are too many.
    """
    found = explorer.rows(where, columns, order, limit=MAX_ROWS + 1)
    if len(found) > MAX_ROWS:
        raise UsageError(
            f"more than {MAX_ROWS:,} runs are too many to take away at once", hint="filter them first"
        )
    return _sheet(columns, found)


def _sheet(columns: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> Sheet:
    return Sheet("Runs", tuple(columns), tuple(rows))


def draw(
    explorer: Explorer, plot: Plot, wanted: Exploration, *, sort: str, descending: bool, measure: str
) -> list[Chart]:
    """A plot; of gates there is one for each two of them."""
    if plot is Plot.PASS_RATES:
        rows = group_page(explorer, wanted, sort=sort, descending=descending).rows
        return [pass_rates(rows, of_scorers=wanted.of_scorers)]
    if plot is Plot.FRONTIER:
        return [_frontier(explorer, wanted)]
    if plot is Plot.DISTRIBUTION:
        return [_distribution(explorer, wanted.where, measure)]
    if plot is Plot.GATES:
        return _gates(explorer, wanted.where)
    return [heat_map(explorer, wanted.where)]


def pass_rates(rows: Sequence[GroupRow], *, of_scorers: bool = False) -> Chart:
    """Pass rates of groups, as many as can be told apart."""
    drawn = [
        PassRate(group_label(row), row.passed, row.graded, row.errors, row.missing) for row in rows[:_DRAWN]
    ]
    what = "scorers, by results" if of_scorers else "groups"
    if len(rows) > _DRAWN:
        what += f" of {len(rows)}"
    return pass_rate_chart(drawn, what=what)


def _frontier(explorer: Explorer, wanted: Exploration) -> Chart:
    measured = wanted.model_copy(update={"measures": ("score", "cost_usd")})
    points = []
    for row in explorer.groups(measured).rows:
        score, cost = row.moments
        if score.mean is not None and cost.mean is not None:
            points.append(CostPoint(group_label(row), cost.mean, score.mean, row.runs))
    return frontier_chart(points)


def _distribution(explorer: Explorer, where: Sequence[Condition], measure: str) -> Chart:
    counts: dict[int, dict[str, int]] = {}
    for bucket in explorer.distribution(where, measure):
        part = {"PASS": "passed", "FAIL": "failed"}.get(bucket.objective or "", "other")
        span = counts.setdefault(min(bucket.number, BINS - 1), {})
        span[part] = span.get(part, 0) + bucket.runs
    bins = [
        Bin(
            number / BINS,
            (number + 1) / BINS,
            **{part: counts.get(number, {}).get(part, 0) for part in ("passed", "failed", "other")},
        )
        for number in range(BINS)
    ]
    missing = explorer.count(where) - sum(found.runs for found in bins)
    title = f"Distribution of the {measure.replace('_', ' ')}"
    return distribution_chart(bins, missing=missing, title=title)


def _gates(explorer: Explorer, where: Sequence[Condition]) -> list[Chart]:
    counts = explorer.gates(where)
    order = ("objective", "judge", "run")
    charts = []
    for first, second in _PAIRS:
        pairs: dict[tuple[str, str], int] = {}
        for verdicts, runs in counts.items():
            pair = verdicts[order.index(first)], verdicts[order.index(second)]
            pairs[pair] = pairs.get(pair, 0) + runs
        charts.append(matrix_chart(pairs, first, second, name=f"gates-{first}-{second}"))
    return charts


def heat_map(explorer: Explorer, where: Sequence[Condition]) -> Chart:
    """Tasks by agents: the tasks that are passed least, and the agents with the most runs."""
    agents = explorer.groups(Exploration(where=tuple(where), measures=())).rows
    columns = [row.key for row in agents[:_AGENTS]]
    columns.sort(key=lambda key: (key[0] or "", key[1] or ""))
    tasks = explorer.groups(Exploration(where=tuple(where), by=("task",), measures=()))
    hardest = sorted(
        # A longer name than a condition takes can be listed, but not asked for.
        (row for row in tasks.rows if len(row.key[0] or "") <= _LONGEST),
        key=lambda row: (row.passed / row.graded if row.graded else 2.0, row.key[0] or ""),
    )[:_TASKS]
    wanted = [Condition(field="task", value=row.key[0] or "") for row in hardest]
    cells: dict[tuple[str | None, ...], HeatCell] = {}
    if wanted:
        # What was said of tasks is fulfilled by these already; said again, more of them would come back.
        others = [item for item in where if item.field != "task" or item.operator is not Operator.IS]
        asked = Exploration(where=(*others, *wanted), by=("task", "agent", "model"), measures=())
        cells = {
            row.key: HeatCell(row.passed, row.graded, row.errors, row.unfinished)
            for row in explorer.groups(asked).rows
        }
    left = []
    if len(tasks.rows) > len(hardest):
        more = "more than " if tasks.more else ""
        left.append(f"the {len(hardest)} of {more}{len(tasks.rows):,} tasks that are passed least")
    if len(agents) > len(columns):
        left.append(f"the {len(columns)} of {len(agents):,} agents with the most runs")
    return heatmap_chart(
        [
            HeatRow(row.key[0] or "", tuple(cells.get((row.key[0], *key)) for key in columns))
            for row in hardest
        ],
        [agent_of(key[0] or "", key[1]) for key in columns],
        left_out=f"Shown are {' and '.join(left)}." if left else "",
    )
