"""Charts: what is drawn, what is said of it, and that nothing in a label is markup."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest

from adjudge.reports.charts.distribution import Bin, distribution_chart
from adjudge.reports.charts.frontier import CostPoint, efficient, frontier_chart
from adjudge.reports.charts.heatmap import HeatCell, HeatRow, heatmap_chart
from adjudge.reports.charts.matrix import matrix_chart
from adjudge.reports.charts.passrates import PassRate, pass_rate_chart
from adjudge.reports.charts.svg import Chart, Scale, charts_css, ticks

pytestmark = pytest.mark.anyone

HOSTILE = '</text><script>alert("1")</script>\u202e\x00\x1b[2J\ud800&amp;'


def classes(chart: Chart) -> list[str]:
    return [item.get("class", "") for item in ElementTree.fromstring(chart.svg).iter()]


def texts(chart: Chart) -> list[str]:
    return [item.text or "" for item in ElementTree.fromstring(chart.svg).iter() if item.tag.endswith("text")]


EMPTY = {
    "pass rates": pass_rate_chart([]),
    "distribution": distribution_chart([]),
    "frontier": frontier_chart([]),
    "matrix": matrix_chart({}, "objective", "judge"),
    "heat map": heatmap_chart([], []),
}
HOSTILE_CHARTS = {
    "pass rates": pass_rate_chart([PassRate(HOSTILE, 1, 2)], title=HOSTILE),
    "distribution": distribution_chart([Bin(0.0, 1.0, 1, 1)], title=HOSTILE),
    "frontier": frontier_chart([CostPoint(HOSTILE, 1.0, 0.5, 1)], title=HOSTILE),
    "matrix": matrix_chart({("PASS", "FAIL"): 1}, HOSTILE, HOSTILE),
    "heat map": heatmap_chart([HeatRow(HOSTILE, (HeatCell(1, 1),))], [HOSTILE], title=HOSTILE),
}


@pytest.mark.parametrize("kind", EMPTY)
@pytest.mark.parametrize("charts", [EMPTY, HOSTILE_CHARTS], ids=["empty", "hostile"])
def test_every_chart_is_labelled_and_well_formed(charts: dict[str, Chart], kind: str) -> None:
    chart = charts[kind]
    root = ElementTree.fromstring(chart.svg)
    assert root.get("role") == "img"
    named = {item.get("id"): item.text for item in root.iter() if item.get("id")}
    label, described = (root.get("aria-labelledby") or "").split()
    assert named[label]
    assert named[described]
    assert {item.tag.rpartition("}")[2] for item in root.iter()} <= {
        "svg", "title", "desc", "g", "line", "rect", "circle", "path", "text", "defs", "pattern",
    }  # fmt: skip
    # A strict Content-Security-Policy takes no inline style, and a chart loads nothing.
    assert all(not {"style", "href", "onload"} & set(item.attrib) for item in root.iter())
    assert "\u202e" not in chart.svg


def test_pass_rates_have_intervals_and_coverage() -> None:
    chart = pass_rate_chart([PassRate("a", 8, 10, errors=1, missing=2), PassRate("b", 0, 0, errors=3)])
    assert chart.sheet.columns == (
        "group", "passed", "graded", "errors", "missing", "pass_rate", "low", "high",
    )  # fmt: skip
    first, second = chart.sheet.rows
    assert first[:6] == ("a", 8, 10, 1, 2, 0.8)
    assert list(first[6:]) == pytest.approx([0.4902, 0.9433], abs=1e-4)
    assert second == ("b", 0, 0, 3, 0, None, None, None)
    assert "80.0% (49.0\N{EN DASH}94.3)" in texts(chart)
    assert "nothing graded" in texts(chart)
    assert classes(chart).count("point") == 1
    assert chart.summary == "2 groups. Highest: a with 80.0%. 1 without graded runs."


def test_a_distribution_divides_its_bars() -> None:
    bins = [Bin(0.0, 0.5, 0, 3, 1), Bin(0.5, 1.0, 5, 0)]
    chart = distribution_chart(bins, missing=4)
    assert chart.sheet.rows == ((0.0, 0.5, 0, 3, 1, 4), (0.5, 1.0, 5, 0, 0, 5))
    # One of each in the legend.
    assert [classes(chart).count(name) for name in ("bar-pass", "bar-fail", "bar-other")] == [2, 2, 2]
    assert chart.summary == (
        "Scores of 9 runs. Most, 5 of them, are from 0.5 to 1. 4 runs have none and are left out."
    )


def test_the_frontier_is_what_nothing_beats() -> None:
    cheap, good = CostPoint("cheap", 0.1, 0.4, 9), CostPoint("good", 1.0, 0.9, 9)
    dear, bad, twin = (
        CostPoint("dear", 2.0, 0.9, 9),
        CostPoint("bad", 0.5, 0.3, 9),
        cheap._replace(label="twin"),
    )
    assert efficient([dear, good, bad, cheap, twin]) == (cheap, twin, good)
    assert efficient([]) == ()
    chart = frontier_chart([dear, good, bad, cheap])
    assert [(row[1], row[5]) for row in chart.sheet.rows] == [
        ("cheap", True), ("bad", False), ("good", True), ("dear", False),
    ]  # fmt: skip
    assert classes(chart).count("dot on") == 2
    assert "cheap ($0.10, 0.40), good ($1.00, 0.90)" in chart.summary


def test_a_crowd_keeps_the_frontier() -> None:
    crowd = [CostPoint(f"p{number}", 1.0 + number, 0.1, 100) for number in range(40)]
    best = [CostPoint("tiny", 0.01, 0.5, 1), CostPoint("dear", 90.0, 1.0, 1)]
    chart = frontier_chart([*crowd, *best])
    assert [row[1] for row in chart.sheet.rows if row[5]] == ["tiny", "dear"]
    assert len(chart.sheet.rows) == 18
    assert "24 smallest others are not drawn" in chart.summary


def test_a_matrix_marks_disagreement() -> None:
    chart = matrix_chart(
        {("PASS", "PASS"): 6, ("PASS", "FAIL"): 2, ("FAIL", "PASS"): 1, ("NA", "PASS"): 1},
        "objective",
        "judge",
    )
    assert chart.sheet.rows[0] == ("PASS", 6, 2, 0, 0)
    assert chart.sheet.rows[2] == ("NA", 1, 0, 0, 0)
    assert classes(chart).count("apart") == 2
    assert "they differ on 3 (33.3%): 2 pass the objective gate and fail the judge gate, 1 the other" in (
        chart.summary
    )


def test_a_heat_map_says_counts_in_words() -> None:
    chart = heatmap_chart(
        [
            HeatRow("one", (HeatCell(2, 2), HeatCell(0, 3, errors=1))),
            HeatRow("two", (None, HeatCell(0, 0, unfinished=2))),
        ],
        ["a", "b"],
    )
    assert {"2/2", "0/3 1!", "…"} <= set(texts(chart))
    assert [name for name in classes(chart) if name.startswith("h")] == ["h5", "h0", "h-none"]
    assert chart.sheet.rows == (
        ("one", "a", 2, 2, 0, 0, 1.0),
        ("one", "b", 0, 3, 1, 0, 0.0),
        ("two", "b", 0, 0, 0, 2, None),
    )
    assert chart.summary.startswith("2 tasks by 2 agents. 1 of the tasks nobody passed.")


@pytest.mark.parametrize(
    ("high", "expected"),
    [(0, [0, 1]), (1, [0, 0.2, 0.4, 0.6, 0.8, 1]), (7, [0, 2, 4, 6, 8]), (0.03, [0, 0.01, 0.02, 0.03])],
)
def test_ticks_are_round_and_reach_the_end(high: float, expected: list[float]) -> None:
    assert ticks(high) == pytest.approx(expected)


def test_scales_run_both_ways() -> None:
    assert [Scale(0, 10, 100, 0).at(value) for value in (0, 5, 10)] == [100, 50, 0]
    assert Scale(0.01, 100, 0, 40, logarithmic=True).at(1) == 20
    assert Scale(3, 3, 0, 40).at(3) == 0


def test_the_style_sheet_colours_what_is_drawn() -> None:
    css = charts_css()
    drawn = {
        name
        for charts in (HOSTILE_CHARTS, EMPTY)
        for chart in charts.values()
        for value in classes(chart)
        for name in value.split()
    }
    assert [name for name in drawn - {"on-m0", "on-h-none"} if f".{name}" not in css] == []
    assert "prefers-color-scheme: dark" in css
