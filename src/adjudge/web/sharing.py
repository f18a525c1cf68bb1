"""Documents to share: one HTML file with everything in it, with the look of the view and no script.

The same cards, diffs and charts as on the pages. Such a file is opened from a disk, where no server can send
a policy: it brings its own, under which nothing in it can run or fetch anything.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from heapq import nsmallest
from typing import Any, NamedTuple

from markupsafe import Markup

from adjudge.records.listing import RunFilter, RunSummary
from adjudge.records.score import Verdict
from adjudge.reports.charts.distribution import Bin, distribution_chart
from adjudge.reports.charts.frontier import CostPoint, frontier_chart
from adjudge.reports.charts.heatmap import HeatCell, HeatRow, heatmap_chart
from adjudge.reports.charts.matrix import matrix_chart
from adjudge.reports.charts.passrates import PassRate, pass_rate_chart
from adjudge.reports.charts.svg import Chart, charts_css
from adjudge.reports.runs import agent_of
from adjudge.stats.experiments import Report
from adjudge.store.runs import RunDatabase
from adjudge.version import __version__
from adjudge.web.agenttrace.cards import judge_card, reward_card, scorers_card
from adjudge.web.agenttrace.fileviews import FileView, file_views
from adjudge.web.agenttrace.links import DocumentLinks
from adjudge.web.agenttrace.placing import notes_of
from adjudge.web.agenttrace.reading import RunReader
from adjudge.web.agenttrace.showing import ShownRun, shown_run
from adjudge.web.agenttrace.stepviews import StepView, step_view
from adjudge.web.agenttrace.timeline import TimelineQuery
from adjudge.web.rendering import make_environment
from adjudge.web.static import StaticFiles
from adjudge.workflows.inspecting import SeenRun, inspect_run
from adjudge.workflows.reporting import report_from

__all__ = ["share_report", "share_run"]

_SHEETS = ("tokens", "base", "run", "code", "document")
_BINS = 10
_MAX_GROUPS = 40
_MAX_TASKS = 60
_MAX_COLUMNS = 12
_STEPS = 400
"""Steps of a trace in the document of one run."""
_RUN_ROWS, _REPORT_ROWS = 4_000, 300
"""Lines of a diff in the document of one run, and for each run of a report."""
_FILES = 200
_RESPONSE = 20_000


class _Drawn(NamedTuple):
    """A chart in a document."""

    title: str
    markup: Markup
    summary: str


@dataclass(frozen=True, slots=True)
class _Item:
    """A run in a document."""

    shown: ShownRun
    links: DocumentLinks
    scorers: Any
    judge: Any
    reward: Any
    response: str
    files: list[FileView] | None
    changed: int
    steps: list[StepView]
    total_steps: int
    first_error: int | None


def share_run(store: RunDatabase, given: str) -> str:
    """One run as a document.

    Raises:
        UsageError: There is no such run.
        StoreError: Part of it cannot be read.
    """
    seen = inspect_run(store, given)
    reader = RunReader(store.blobs)
    try:
        item = _item(seen, reader, prefix="", rows=_RUN_ROWS, steps=_STEPS)
    finally:
        reader.close()
    return _document("run", seen.run.task.name, item=item)


def share_report(store: RunDatabase, wanted: RunFilter, *, k: int | None, runs: int) -> str:
    """What runs add up to as a document, with some of them in full.

    Args:
        store: Where they are kept.
        wanted: Which.
        k: For pass@k; None: as many trials as every task has.
        runs: How many are shown in full at most.
    """
    gathered = _Gathered(runs)
    found = report_from(store, wanted, k=k, observe=gathered.add)
    reader = RunReader(store.blobs)
    try:
        items = [
            _item(inspect_run(store, id_), reader, prefix=f"r{number}-", rows=_REPORT_ROWS, steps=0)
            for number, id_ in enumerate(gathered.chosen(), start=1)
        ]
    finally:
        reader.close()
    charts = [
        _Drawn(chart.sheet.title, Markup(chart.svg), chart.summary)
        for chart in _charts(found.report, gathered)
    ]
    return _document(
        "report", found.title, report=found.report, notes=found.notes, charts=charts, items=items
    )


class _Gathered:
    """What charts and the choice of runs need, in one pass over all runs."""

    def __init__(self, runs: int) -> None:
        self.bins = [Counter[str]() for _ in range(_BINS)]
        self.unscored = 0
        self.gates: Counter[tuple[str, str]] = Counter()
        self._most = runs
        self._ranked: list[tuple[int, int, str]] = []
        self._seen = 0

    def add(self, row: RunSummary) -> None:
        """Take a run; newer ones come first."""
        self._seen += 1
        if row.objective is not None and row.judge is not None:
            self.gates[row.objective, row.judge] += 1
        if row.score is None:
            self.unscored += 1
        else:
            verdict = {"PASS": "passed", "FAIL": "failed"}.get(row.objective or "", "other")
            self.bins[min(int(row.score * _BINS), _BINS - 1)][verdict] += 1
        if row.evaluation_id is None or not self._most:
            return
        self._ranked.append((_rank(row), self._seen, row.id))
        if len(self._ranked) > 4 * self._most + 64:
            self._ranked = nsmallest(self._most, self._ranked)

    def chosen(self) -> list[str]:
        """The runs that are shown in full, those most worth reading first."""
        return [id_ for _, _, id_ in nsmallest(self._most, self._ranked)]


def _rank(row: RunSummary) -> int:
    if {row.objective, row.judge} == {Verdict.PASS.value, Verdict.FAIL.value}:
        return 0
    if row.integrity in ("tampered", "suspect"):
        return 1
    return {Verdict.FAIL.value: 2, Verdict.ERROR.value: 3}.get(row.objective or "", 4)


def _charts(report: Report, gathered: _Gathered) -> Iterator[Chart]:
    names = [agent_of(group.agent, group.model) for group in report.groups]
    if report.groups:
        rates = [
            PassRate(
                name,
                group.count("passed"),
                group.count("graded"),
                group.count("errors"),
                group.count("unfinished") + group.count("not_applicable"),
            )
            for name, group in zip(names, report.groups, strict=True)
        ]
        yield pass_rate_chart(
            rates[:_MAX_GROUPS], title="Objective pass rate, with 95% intervals", what="agents"
        )
    counted = [
        Bin(at / _BINS, (at + 1) / _BINS, found["passed"], found["failed"], found["other"])
        for at, found in enumerate(gathered.bins)
    ]
    if any(found.runs for found in counted):
        yield distribution_chart(counted, missing=gathered.unscored)
    points = [
        CostPoint(name, cost, score, group.count("runs"))
        for name, group in zip(names, report.groups, strict=True)
        if (cost := group.cost_usd.mean) is not None and (score := group.score.mean) is not None
    ]
    if len(points) > 1:
        yield frontier_chart(points)
    if any(judge != Verdict.NA for _, judge in gathered.gates):
        yield matrix_chart(gathered.gates, "objective", "judge")
    if report.tasks and report.groups:
        yield heatmap_chart(
            [_heat(row.name, row.cells[:_MAX_COLUMNS]) for row in report.tasks[:_MAX_TASKS]],
            names[:_MAX_COLUMNS],
            left_out=_left_out(report),
        )


def _heat(name: str, cells: Sequence[Any]) -> HeatRow:
    return HeatRow(
        name,
        tuple(
            None if cell is None else HeatCell(cell.passed, cell.graded, cell.errors, cell.unfinished)
            for cell in cells
        ),
    )


def _left_out(report: Report) -> str:
    parts = [
        f"{count - most} {what}"
        for what, count, most in (
            ("tasks", len(report.tasks), _MAX_TASKS),
            ("agents", len(report.groups), _MAX_COLUMNS),
        )
        if count > most
    ]
    return f"{' and '.join(parts)} are not drawn." if parts else ""


def _item(seen: SeenRun, reader: RunReader, *, prefix: str, rows: int, steps: int) -> _Item:
    evaluation = seen.evaluation
    files: list[FileView] | None = None
    changed = 0
    if reader.has_diff(seen.run):
        with reader.diff(seen.run) as diff:
            changed = len(diff.files)
            files = file_views(
                diff, diff.files[:_FILES], notes_of(evaluation), room=rows, each=rows // 2, prefix=prefix
            )
    views: list[StepView] = []
    total, first_error = 0, None
    if steps and reader.has_trace(seen.run):
        with reader.timeline(seen.run) as timeline:
            page = timeline.page(TimelineQuery(limit=steps))
            views = [step_view(shown, page.started_s) for shown in page.steps]
            total = page.total
            first_error = page.first_error if (page.first_error or 0) <= len(views) else None
    response = (seen.run.attempt.response if seen.run.attempt is not None else None) or ""
    return _Item(
        shown=shown_run(seen),
        links=DocumentLinks(prefix, _places(files or ())),
        scorers=None if evaluation is None else scorers_card(evaluation),
        judge=None if evaluation is None else judge_card(evaluation),
        reward=None if evaluation is None else reward_card(evaluation),
        response=response[:_RESPONSE],
        files=files,
        changed=changed,
        steps=views,
        total_steps=total,
        first_error=first_error,
    )


def _places(files: Iterable[FileView]) -> dict[tuple[int, int], str]:
    """Where in the document each finding is."""
    places = {}
    for file in files:
        for note in file.elsewhere:
            places[note.position, note.number] = file.anchor
        for row in file.rows:
            for note in row.notes:
                places[note.position, note.number] = row.anchor
    return places


def _document(template: str, title: str, **context: Any) -> str:
    static = StaticFiles()
    sheets = [found.data.decode() for name in _SHEETS if (found := static.get(f"css/{name}.css")) is not None]
    css = "\n".join((*sheets, charts_css()))
    page = make_environment(static).get_template(f"documents/{template}.html")
    return (
        page.render(
            title=title,
            version=__version__,
            written_at=datetime.now(UTC),
            # Ours, and no markup: a style sheet is not escaped in HTML.
            css=Markup(css),
            **context,
        )
        + "\n"
    )
