"""What groups cost against how they score, and which of them nobody beats at both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from adjudge.reports.charts.svg import Chart, Scale, chart, element, ticks, written
from adjudge.reports.columns import cost
from adjudge.reports.sheets import Sheet

__all__ = ["CostPoint", "efficient", "frontier_chart"]

_LEFT, _RIGHT, _TOP, _BOTTOM = 56, 470, 20, 320
_MAX_POINTS = 18
"""More would lie on each other, and their key would not fit beside them."""
_WIDE = 30.0
"""From this ratio of costs on, the axis is logarithmic."""


class CostPoint(NamedTuple):
    """What a group costs and reaches, on average."""

    label: str
    cost_usd: float
    score: float
    runs: int
    """Runs behind it."""


def efficient(points: Sequence[CostPoint]) -> tuple[CostPoint, ...]:
    """The efficient frontier, cheapest first: nothing else scores as much for less, or more for as much."""
    found: list[CostPoint] = []
    for point in sorted(points, key=lambda point: (point.cost_usd, -point.score, point.label)):
        if not found or point.score > found[-1].score or point[1:3] == found[-1][1:3]:
            found.append(point)
    return tuple(found)


def frontier_chart(
    points: Sequence[CostPoint],
    *,
    title: str = "Cost against score",
    name: str = "frontier",
) -> Chart:
    """Numbered dots with a key; those on the frontier are filled and joined by a line."""
    best = efficient(points)
    ordered = sorted(points, key=lambda point: (point not in best, -point.runs, point.label))[:_MAX_POINTS]
    ordered.sort(key=lambda point: (point.cost_usd, -point.score, point.label))
    across, marks = _costs([point.cost_usd for point in ordered])
    shares = _scores([point.score for point in ordered])
    up = Scale(shares[0], shares[-1], _BOTTOM, _TOP)
    parts = []
    for share in shares:
        at = up.at(share)
        parts.append(element("line", class_="grid", x1=_LEFT, x2=_RIGHT, y1=at, y2=at))
        parts.append(written(f"{share:g}", _LEFT - 8, at + 4, "tick", anchor="end"))
    for mark in marks:
        at = across.at(mark)
        parts.append(element("line", class_="grid", x1=at, x2=at, y1=_TOP, y2=_BOTTOM))
        parts.append(written(cost(mark), at, _BOTTOM + 18, "tick", anchor="middle"))
    parts.append(written("mean cost per run", (_LEFT + _RIGHT) / 2, _BOTTOM + 38, "tick", anchor="middle"))
    parts.append(written("mean score", 4, 12, "tick"))
    parts.append(_line([point for point in ordered if point in best], across, up))
    for number, point in enumerate(ordered, 1):
        on = point in best
        x, y = across.at(point.cost_usd), up.at(point.score)
        parts.append(element("circle", class_="dot on" if on else "dot", cx=x, cy=y, r=9))
        parts.append(written(str(number), x, y + 4, "dot-number on" if on else "dot-number", anchor="middle"))
        sign = "● " if on else "○ "
        parts.append(written(f"{number} {sign}{point.label}", _RIGHT + 24, _TOP + 6 + 18 * number, width=32))
    parts.append(written("● on the frontier  ○ not", _RIGHT + 24, _TOP, "tick"))
    sheet = Sheet(
        title,
        ("number", "group", "mean_cost_usd", "mean_score", "runs", "on_frontier"),
        tuple(
            (number, point.label, point.cost_usd, point.score, point.runs, point in best)
            for number, point in enumerate(ordered, 1)
        ),
    )
    return chart(name, title, _summary(points, ordered, best), _BOTTOM + 48, parts, sheet)


def _costs(costs: Sequence[float]) -> tuple[Scale, list[float]]:
    """The axis of costs and where it is marked."""
    low, high = min(costs, default=0.0), max(costs, default=0.0)
    if low > 0 and high / low >= _WIDE:
        marks = [10.0**power for power in range(-6, 7)]
        first = max(mark for mark in marks if mark <= low or mark == marks[0])
        last = min(mark for mark in marks if mark >= high or mark == marks[-1])
        return (
            Scale(min(first, low), max(last, high), _LEFT, _RIGHT, logarithmic=True),
            [mark for mark in marks if first <= mark <= last],
        )
    marks = ticks(high, low=_begin(low, high))
    return Scale(marks[0], marks[-1], _LEFT, _RIGHT), marks


def _scores(scores: Sequence[float]) -> list[float]:
    """Where the axis of scores is marked."""
    low, high = min(scores, default=0.0), max(scores, default=1.0)
    return ticks(high, low=_begin(low, high)) if high else [0.0, 0.25, 0.5, 0.75, 1.0]


def _begin(low: float, high: float) -> float:
    """Where an axis begins: at 0, unless everything would then lie at its end."""
    return low if low > high / 2 else 0.0


def _line(best: Sequence[CostPoint], across: Scale, up: Scale) -> str:
    """Steps: between two points of the frontier one gets what the cheaper one gives."""
    if len(best) < 2:
        return ""
    path = [f"M{across.at(best[0].cost_usd):.1f} {up.at(best[0].score):.1f}"]
    path += [f"H{across.at(point.cost_usd):.1f}V{up.at(point.score):.1f}" for point in best[1:]]
    return element("path", class_="frontier", d="".join(path))


def _summary(points: Sequence[CostPoint], drawn: Sequence[CostPoint], best: Sequence[CostPoint]) -> str:
    if not points:
        return "No group has both a known cost and a score."
    named = ", ".join(f"{point.label} ({cost(point.cost_usd)}, {point.score:.2f})" for point in best[:6])
    more = ", …" if len(best) > 6 else ""
    left = (
        f" The {len(points) - len(drawn)} smallest others are not drawn." if len(points) > len(drawn) else ""
    )
    return f"{len(points)} groups. On the efficient frontier, cheapest first: {named}{more}.{left}"
