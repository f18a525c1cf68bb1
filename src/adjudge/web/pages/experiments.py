"""Experiments: how far they are, who leads, and how two of them compare."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import RedirectResponse

from adjudge.records.user import Role
from adjudge.reports.comparison import difference_in_words, tasks_apart
from adjudge.web.access.identity import needs
from adjudge.web.dependencies import Explorers, Store, found
from adjudge.web.explorequery import ExploreQuery
from adjudge.web.live import answer_if_changed
from adjudge.web.pages.explorer import drawn
from adjudge.web.rendering import render, render_part
from adjudge.workflows.experiments import MEASURED, find_experiment, list_experiments, look_at
from adjudge.workflows.reporting import compare_experiments

__all__ = ["router"]

router = APIRouter()

_PAGE = 25
_OTHERS = 100
_MAX_TASKS = 50


@router.get("/experiments", dependencies=[needs(Role.VIEWER)])
def list_all(
    request: Request,
    explorer: Explorers,
    before: Annotated[int | None, Query(ge=1, le=1 << 60)] = None,
) -> Response:
    """Experiments, newest first."""
    rows, more = list_experiments(explorer, before=before, limit=_PAGE)
    context: dict[str, Any] = {
        "rows": rows,
        "older": f"/experiments?before={rows[-1].summary.seq}" if rows and more else None,
        "newest": before is None,
        "live": before is None and any(not row.progress.complete for row in rows),
    }
    return answer_if_changed(request, render_part(request, "experiments.html", **context))


@router.get("/experiments/{given}", dependencies=[needs(Role.VIEWER)])
def show(request: Request, store: Store, explorer: Explorers, given: str) -> Response:
    """How an experiment stands."""
    summary = found(find_experiment, store, explorer, given)
    if summary.id != given:
        return RedirectResponse(f"/experiments/{summary.id}", 303)
    page = look_at(explorer, summary)
    context: dict[str, Any] = {
        "page": page,
        "charts": [drawn(chart) for chart in page.charts],
        "measured": MEASURED,
        "others": [item for item in explorer.experiments(limit=_OTHERS) if item.id != summary.id],
        "explore": ExploreQuery.parse([("f", "experiment"), ("o", "is"), ("v", summary.id)]),
    }
    return answer_if_changed(request, render_part(request, "experiment.html", **context))


@router.get("/experiments/{given}/compare", dependencies=[needs(Role.VIEWER)])
def compare(
    request: Request,
    store: Store,
    explorer: Explorers,
    given: str,
    other: Annotated[str, Query(alias="with", max_length=200)] = "",
) -> Response:
    """How an experiment compares with another one, task by task."""
    first = found(find_experiment, store, explorer, given)
    if not other:
        return RedirectResponse(f"/experiments/{first.id}", 303)
    second = found(find_experiment, store, explorer, other)
    comparison = compare_experiments(store, first.id, second.id)
    apart = tasks_apart(comparison.tasks)
    differences = [
        (what, difference_in_words(part, points=points))
        for what, part, points in (
            ("Pass rate", comparison.objective, True),
            ("Score", comparison.score, False),
        )
        if part is not None
    ]
    return render(
        request,
        "compare.html",
        comparison=comparison,
        sides=((first, comparison.first), (second, comparison.second)),
        differences=differences,
        apart=apart[:_MAX_TASKS],
        left=max(len(apart) - _MAX_TASKS, 0),
        only=(
            (comparison.first.label, comparison.only_first),
            (comparison.second.label, comparison.only_second),
        ),
    )
