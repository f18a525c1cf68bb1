"""Text in columns, and the small values that stand in them."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from datetime import datetime

from adjudge.reports.plain import plain

__all__ = ["columns", "cost", "cut", "minute", "number", "percent", "seconds", "short_id"]


def columns(
    titles: Sequence[str], rows: Sequence[Sequence[str]], *, right: frozenset[int] = frozenset()
) -> list[str]:
    """Lines with every column as wide as its widest cell. Cells are shown as they are: make them plain."""
    table = [titles, *rows]
    widths = [max(_width(line[column]) for line in table) for column in range(len(titles))]
    return [
        "  ".join(
            " " * (widths[at] - _width(cell)) + cell
            if at in right
            else cell + " " * (widths[at] - _width(cell))
            for at, cell in enumerate(line)
        ).rstrip()
        for line in table
    ]


def _width(text: str) -> int:
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1
        for char in text
    )


def cut(text: str, width: int) -> str:
    """Hostile text on one line, at most so many characters of it."""
    shown = plain(text)
    return shown if len(shown) <= width else f"{shown[: width - 1]}…"


def short_id(full: str) -> str:
    """An id as it is typed."""
    return full[:12]


def number(value: float | None, digits: int = 2) -> str:
    """A number, or a dash where there is none."""
    return "-" if value is None else f"{value:.{digits}f}"


def percent(value: float | None) -> str:
    """A share, or a dash where there is none."""
    return "-" if value is None else f"{100 * value:.1f}%"


def cost(value: float | None) -> str:
    """Dollars; a dash where nobody knows."""
    return "-" if value is None else f"${value:.2f}" if value >= 0.1 or value == 0 else f"${value:.4f}"


def seconds(value: float | None) -> str:
    """A duration."""
    if value is None:
        return "-"
    if value < 120:
        return f"{value:.1f}s"
    minutes, rest = divmod(round(value), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}h{minutes:02}m" if hours else f"{minutes}m{rest:02}s"


def minute(moment: datetime | None) -> str:
    """A moment, to the minute, in UTC."""
    return "-" if moment is None else f"{moment:%Y-%m-%d %H:%M}"
