"""Pass rates of groups, each with its interval."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from adjudge.reports.charts.svg import WIDTH, Chart, Scale, chart, element, written
from adjudge.reports.sheets import Sheet
from adjudge.stats.experiments import Rate

__all__ = ["PassRate", "pass_rate_chart"]

_LEFT, _RIGHT = 210, 500
_ROW = 26


class PassRate(NamedTuple):
    """How often one group passed."""

    label: str
    passed: int
    graded: int
    errors: int = 0
    """Runs that could not be graded: in no rate."""
    missing: int = 0
    """Runs that are not finished, not graded or to which nothing applied: in no rate either."""

    @property
    def rate(self) -> Rate:
        """The share with its interval."""
        return Rate(self.passed, self.graded)


def pass_rate_chart(
    rows: Sequence[PassRate],
    *,
    title: str = "Pass rate by group, with 95% intervals",
    name: str = "pass-rates",
    what: str = "groups",
) -> Chart:
    """A line per group: a dot at the share that passed, a bar for its interval, both in numbers beside it."""
    scale = Scale(0, 1, _LEFT, _RIGHT)
    bottom = 30 + _ROW * len(rows)
    parts = []
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        at = scale.at(share)
        parts.append(element("line", class_="grid", x1=at, x2=at, y1=24, y2=bottom))
        parts.append(written(f"{share:.0%}", at, 16, "tick", anchor="middle"))
    for number, row in enumerate(rows):
        middle = 30 + _ROW * number + _ROW / 2
        parts.append(written(row.label, _LEFT - 10, middle + 4, anchor="end", width=27))
        parts += _drawn(row, scale, middle)
    sheet = Sheet(
        title,
        ("group", "passed", "graded", "errors", "missing", "pass_rate", "low", "high"),
        tuple(_values(row) for row in rows),
    )
    return chart(name, title, _summary(rows, what), bottom + 6, parts, sheet)


def _drawn(row: PassRate, scale: Scale, middle: float) -> list[str]:
    share = row.rate.share
    if share is None:
        return [written("nothing graded", _RIGHT + 14, middle + 4, "quiet")]
    low, high = row.rate.interval
    ends = scale.at(low), scale.at(high)
    return [
        element("line", class_="interval", x1=ends[0], x2=ends[1], y1=middle, y2=middle),
        *(element("line", class_="interval", x1=at, x2=at, y1=middle - 5, y2=middle + 5) for at in ends),
        element("circle", class_="point", cx=scale.at(share), cy=middle, r=5),
        written(
            f"{100 * share:.1f}% ({100 * low:.1f}\N{EN DASH}{100 * high:.1f})",
            _RIGHT + 14,
            middle + 4,
            "value",
        ),
        written(f"n={row.graded:,}", WIDTH - 2, middle + 4, "quiet", anchor="end"),
    ]


def _values(row: PassRate) -> tuple[str | int | float | None, ...]:
    low, high = row.rate.interval if row.graded else (None, None)
    return row.label, row.passed, row.graded, row.errors, row.missing, row.rate.share, low, high


def _summary(rows: Sequence[PassRate], what: str) -> str:
    graded = [(row.passed / row.graded, row) for row in rows if row.graded]
    if not graded:
        return f"None of {len(rows)} {what} has graded runs."
    best, worst = max(graded, key=lambda item: item[0]), min(graded, key=lambda item: item[0])
    said = f"{len(rows)} {what}. Highest: {best[1].label} with {best[0]:.1%}"
    if worst[1] is not best[1]:
        said += f"; lowest: {worst[1].label} with {worst[0]:.1%}"
    without = len(rows) - len(graded)
    return said + (f". {without} without graded runs." if without else ".")
