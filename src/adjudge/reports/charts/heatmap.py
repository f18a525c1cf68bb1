"""Tasks by agents: who passes what how often."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from adjudge.reports.charts.svg import WIDTH, Chart, chart, element, written
from adjudge.reports.sheets import Sheet, Value

__all__ = ["HeatCell", "HeatRow", "heatmap_chart"]

_LEFT, _TOP, _ROW = 210, 76, 24
_WIDEST = 120
_STEPS = 6


class HeatCell(NamedTuple):
    """The runs of one agent at one task."""

    passed: int
    graded: int
    errors: int = 0
    unfinished: int = 0


class HeatRow(NamedTuple):
    """A task, and how each agent did at it; None where it did not meet it."""

    label: str
    cells: tuple[HeatCell | None, ...]


def heatmap_chart(
    rows: Sequence[HeatRow],
    columns: Sequence[str],
    *,
    title: str = "Tasks by agents: passed of graded runs",
    name: str = "heat",
    left_out: str = "",
) -> Chart:
    """A cell per task and agent with the counts in it; the stronger its colour, the more often it passed.

    Args:
        rows: Tasks.
        columns: Agents, in the order of every row's cells.
        title: What it is.
        name: Where ids in the markup begin.
        left_out: What is not drawn, in a sentence.
    """
    width = min((WIDTH - 80 - _LEFT) / max(len(columns), 1), _WIDEST)
    parts = []
    for at, label in enumerate(columns):
        x = _LEFT + width * (at + 0.5)
        text = written(label, 0, 0, width=18)
        parts.append(element("g", text, transform=f"translate({x - 6:.0f} {_TOP - 8}) rotate(-28)"))
    for down, row in enumerate(rows):
        y = _TOP + _ROW * down
        parts.append(written(row.label, _LEFT - 10, y + 16, anchor="end", width=27))
        for across, cell in enumerate(row.cells):
            parts += _drawn(cell, _LEFT + width * across, y, width)
    sheet = Sheet(
        title,
        ("task", "agent", "passed", "graded", "errors", "unfinished", "pass_rate"),
        tuple(
            (row.label, column, *_values(cell))
            for row in rows
            for column, cell in zip(columns, row.cells, strict=True)
            if cell is not None
        ),
    )
    table = Sheet(
        title,
        ("task", *columns),
        tuple((row.label, *(None if cell is None else _text(cell) for cell in row.cells)) for row in rows),
    )
    height = _TOP + _ROW * len(rows) + 6
    return chart(name, title, _summary(rows, columns, left_out), height, parts, sheet, table)


def _drawn(cell: HeatCell | None, x: float, y: float, width: float) -> list[str]:
    if cell is None:
        return []
    step = None if not cell.graded else min(int(cell.passed / cell.graded * (_STEPS - 1) + 1e-9), _STEPS - 1)
    shade = "h-none" if step is None else f"h{step}"
    text = _text(cell)
    return [
        element("rect", class_=shade, x=x + 1, y=y + 1, width=width - 2, height=_ROW - 2),
        *([written(text, x + width / 2, y + 16, f"on-{shade}", anchor="middle")] if text else []),
    ]


def _text(cell: HeatCell) -> str:
    parts = (
        f"{cell.passed}/{cell.graded}" if cell.graded else "",
        f"{cell.errors}!" if cell.errors else "",
        "…" if cell.unfinished else "",
    )
    return " ".join(part for part in parts if part)


def _values(cell: HeatCell) -> tuple[Value, ...]:
    share = cell.passed / cell.graded if cell.graded else None
    return cell.passed, cell.graded, cell.errors, cell.unfinished, share


def _summary(rows: Sequence[HeatRow], columns: Sequence[str], left_out: str) -> str:
    solved = [row for row in rows if any(cell is not None and cell.passed for cell in row.cells)]
    said = (
        f"{len(rows)} tasks by {len(columns)} agents. {len(rows) - len(solved)} of the tasks nobody passed."
    )
    if any(cell is not None and cell.errors for row in rows for cell in row.cells):
        said += " A number with an exclamation mark counts runs that could not be graded."
    if any(cell is not None and cell.unfinished for row in rows for cell in row.cells):
        said += " Three dots: runs are not finished."
    return f"{said} {left_out}".rstrip()
