"""How scores are distributed: a bar per span of scores, divided by what the objective gate said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from adjudge.reports.charts.svg import WIDTH, Chart, Scale, chart, element, ticks, written
from adjudge.reports.sheets import Sheet

__all__ = ["Bin", "distribution_chart"]

_LEFT, _TOP, _BOTTOM = 60, 40, 260
_PARTS = (("passed", "bar-pass"), ("failed", "bar-fail"), ("other", "bar-other"))


class Bin(NamedTuple):
    """Runs whose score is at least `low` and below `high`; the last bin has its end, too."""

    low: float
    high: float
    passed: int
    failed: int
    other: int = 0

    @property
    def runs(self) -> int:
        """All of them."""
        return self.passed + self.failed + self.other


def distribution_chart(
    bins: Sequence[Bin],
    *,
    missing: int = 0,
    title: str = "Distribution of scores",
    name: str = "distribution",
) -> Chart:
    """A histogram.

    Args:
        bins: In order, side by side.
        missing: Runs without a score.
        title: What it is.
        name: Where ids in the markup begin.
    """
    marks = ticks(max((found.runs for found in bins), default=0), 4)
    heights = Scale(0, marks[-1], _BOTTOM, _TOP)
    parts = [_hatching(name), *_legend(name)]
    for mark in marks:
        at = heights.at(mark)
        parts.append(element("line", class_="grid", x1=_LEFT, x2=WIDTH - 8, y1=at, y2=at))
        if mark == int(mark):
            parts.append(written(f"{mark:,.0f}", _LEFT - 8, at + 4, "tick", anchor="end"))
    width = (WIDTH - 8 - _LEFT) / max(len(bins), 1)
    for number, found in enumerate(bins):
        left = _LEFT + width * number
        below = 0
        for part, class_ in _PARTS:
            count = getattr(found, part)
            if count:
                top = heights.at(below + count)
                parts.append(
                    element("rect", class_=class_, x=left + 2, width=width - 4, y=top,
                            height=heights.at(below) - top, **_filled(part, name))
                )  # fmt: skip
                below += count
        if number % max(len(bins) // 10, 1) == 0:
            parts.append(written(f"{found.low:.2g}", left, _BOTTOM + 18, "tick", anchor="middle"))
    if bins:
        parts.append(written(f"{bins[-1].high:.2g}", WIDTH - 8, _BOTTOM + 18, "tick", anchor="middle"))
    parts.append(written("runs", _LEFT - 8, _TOP - 14, "tick", anchor="end"))
    sheet = Sheet(
        title,
        ("low", "high", "passed", "failed", "other", "runs"),
        tuple((*found, found.runs) for found in bins),
    )
    return chart(name, title, _summary(bins, missing), _BOTTOM + 28, parts, sheet)


def _filled(part: str, name: str) -> Mapping[str, str]:
    return {"fill": f"url(#{name}-hatching)"} if part == "failed" else {}


def _hatching(name: str) -> str:
    """Stripes, so that who does not see colours tells the parts of a bar apart."""
    stripe = element("path", class_="hatching", d="M-2 2l4-4M0 8l8-8M6 10l4-4")
    return element(
        "defs",
        element("pattern", stripe, id=f"{name}-hatching", width=8, height=8, patternUnits="userSpaceOnUse"),
    )


def _legend(name: str) -> list[str]:
    parts = []
    for number, (part, class_) in enumerate(_PARTS):
        left = WIDTH - 290 + 95 * number
        parts.append(element("rect", class_=class_, x=left, y=8, width=14, height=14, **_filled(part, name)))
        parts.append(written(part, left + 20, 20))
    return parts


def _summary(bins: Sequence[Bin], missing: int) -> str:
    counted = sum(found.runs for found in bins)
    have = "run has none and is" if missing == 1 else "runs have none and are"
    without = f" {missing:,} {have} left out." if missing else ""
    if not counted:
        return f"No run has a score.{without}"
    most = max(bins, key=lambda found: found.runs)
    return (
        f"Scores of {counted:,} runs. Most, {most.runs:,} of them, are from {most.low:.2g} to "
        f"{most.high:.2g}.{without}"
    )
