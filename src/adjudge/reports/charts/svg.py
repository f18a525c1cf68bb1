"""The few pieces every chart is made of: elements, escaped text, axes."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from importlib import resources
from typing import NamedTuple

from adjudge.reports.plain import plain
from adjudge.reports.sheets import Sheet

__all__ = ["WIDTH", "Chart", "Scale", "chart", "charts_css", "element", "shown", "ticks", "written"]

WIDTH = 720
"""Of every chart, in its own units; the page scales it."""

Attribute = str | int | float


class Chart(NamedTuple):
    """A drawn chart."""

    svg: str
    """Markup, with everything in it escaped."""
    summary: str
    """What it shows, in a sentence or two: its description, too."""
    sheet: Sheet
    """Its values, a line each: for programs."""
    table: Sheet
    """Its values as people read them; the sheet itself where it has no better form."""


def charts_css() -> str:
    """The style sheet of charts; colours are custom properties of the page where it has them."""
    return resources.files(__name__.rpartition(".")[0]).joinpath("charts.css").read_text(encoding="utf-8")


def shown(text: str, width: int) -> str:
    """Hostile text as one short line of markup."""
    line = plain(text)
    line = line if len(line) <= width else f"{line[: width - 1]}…"
    return html.escape(line.encode("utf-8", "backslashreplace").decode("utf-8"))


def element(name: str, *inside: str, **attributes: Attribute) -> str:
    """An element; `class_` and `text_anchor` are written as SVG has them, numbers are kept short."""
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{_value(value)}"' for key, value in attributes.items()
    )
    return f"<{name}{given}>{''.join(inside)}</{name}>" if inside else f"<{name}{given}/>"


def written(
    text: str, x: float, y: float, class_: str = "", *, anchor: str = "start", width: int = 60
) -> str:
    """A line of text."""
    more: dict[str, Attribute] = {"class_": class_} if class_ else {}
    if anchor != "start":
        more["text_anchor"] = anchor
    return element("text", shown(text, width), x=x, y=y, **more)


def chart(
    name: str,
    title: str,
    summary: str,
    height: float,
    parts: Sequence[str],
    sheet: Sheet,
    table: Sheet | None = None,
) -> Chart:
    """A chart from its parts.

    Args:
        name: Letters and dashes; the ids in the markup begin with it, so it is once on a page.
        title: What it is.
        summary: What can be seen in it.
        height: In units of `WIDTH`.
        parts: Markup.
        sheet: Its values.
        table: The same in a form for people, where it has one.
    """
    svg = element(
        "svg",
        element("title", shown(title, 200), id=f"{name}-title"),
        element("desc", shown(summary, 600), id=f"{name}-desc"),
        *parts,
        xmlns="http://www.w3.org/2000/svg",
        class_="chart",
        role="img",
        viewBox=f"0 0 {WIDTH} {_value(height)}",
        aria_labelledby=f"{name}-title {name}-desc",
    )
    return Chart(svg, summary, sheet, table or sheet)


class Scale:
    """Where values lie on an axis."""

    def __init__(
        self, low: float, high: float, start: float, end: float, *, logarithmic: bool = False
    ) -> None:
        self._turned = math.log10 if logarithmic else float
        self._low, self._high = self._turned(low), self._turned(high)
        self._start, self._end = start, end

    def at(self, value: float) -> float:
        """The coordinate of a value."""
        span = self._high - self._low or 1.0
        return self._start + (self._turned(value) - self._low) / span * (self._end - self._start)


def ticks(high: float, wanted: int = 5, *, low: float = 0.0) -> list[float]:
    """Round values around what lies between `low` and `high`."""
    if not high > 0:
        return [0.0, 1.0]
    rough = (high - low if high > low else high) / wanted
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * times for times in (1, 2, 2.5, 5, 10) if power * times >= rough * (1 - 1e-9))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [step * number for number in range(first, max(last, first + 1) + 1)]


def _value(value: Attribute) -> str:
    if isinstance(value, float):
        return f"{value:.1f}".removesuffix(".0")
    return html.escape(str(value))
