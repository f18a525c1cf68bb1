"""What groups of runs come to, as a sheet: every rate and mean beside its interval and what it leaves out."""

from __future__ import annotations

from collections.abc import Sequence

from adjudge.records.exploring import Exploration, GroupRow, Moments
from adjudge.reports.sheets import Sheet, Value
from adjudge.stats.experiments import Rate
from adjudge.stats.intervals import mean_interval

__all__ = ["group_columns", "group_label", "group_sheet", "sort_groups"]

_COUNTS = (
    "runs", "graded", "errors", "missing", "passed", "pass_rate", "pass_rate_low", "pass_rate_high",
    "judged", "judge_errors", "judge_pass_rate", "judge_pass_rate_low", "judge_pass_rate_high",
)  # fmt: skip


def group_label(row: GroupRow) -> str:
    """What a group is called where there is one line for it."""
    return " · ".join("none" if value is None else value for value in row.key)


def group_columns(wanted: Exploration) -> tuple[str, ...]:
    """The columns of the sheet, by which groups can be sorted."""
    means = (
        f"{measure}_{part}"
        for measure in wanted.measures
        for part in ("mean", "low", "high", "known", "missing")
    )
    return (*wanted.by, *_COUNTS, *means)


def group_sheet(wanted: Exploration, rows: Sequence[GroupRow], title: str = "Groups of runs") -> Sheet:
    """A line per group."""
    return Sheet(title, group_columns(wanted), tuple(_values(row) for row in rows))


def sort_groups(
    wanted: Exploration, rows: Sequence[GroupRow], column: str, *, descending: bool
) -> list[GroupRow]:
    """Groups by a column of their sheet; those without a value come last.

    Raises:
        ValueError: There is no such column.
    """
    names = group_columns(wanted)
    if column not in names:
        raise ValueError(f"groups cannot be sorted by {column!r}; known: {', '.join(names)}")
    at = names.index(column)
    keyed = [(_values(row)[at], row) for row in rows]
    known = sorted(
        ((value, row) for value, row in keyed if value is not None),
        key=lambda item: (item[0], group_label(item[1])),
        reverse=descending,
    )
    return [row for _, row in known] + [row for value, row in keyed if value is None]


def _values(row: GroupRow) -> tuple[Value, ...]:
    judged = row.judge_passed + row.judge_failed
    found: list[Value] = [*row.key, row.runs, row.graded, row.errors, row.missing, row.passed]
    found += _rate(row.passed, row.graded)
    found += [judged, row.judge_errors, *_rate(row.judge_passed, judged)]
    for moments in row.moments:
        low, high = _interval(moments) or (None, None)
        found += [moments.mean, low, high, moments.known, row.runs - moments.known]
    return tuple(found)


def _rate(passed: int, total: int) -> tuple[Value, Value, Value]:
    rate = Rate(passed, total)
    return (rate.share, *rate.interval) if total else (None, None, None)


def _interval(moments: Moments) -> tuple[float, float] | None:
    """Where the mean may lie; nothing that is measured is below 0."""
    if moments.mean is None:
        return None
    found = mean_interval(moments.mean, moments.variance, moments.known)
    return None if found is None else (max(found[0], 0.0), found[1])
