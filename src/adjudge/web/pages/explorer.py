"""The Data Explorer: any runs, put together by anything, drawn, and taken away."""

from __future__ import annotations

from typing import Annotated, Any, Literal
from urllib.parse import parse_qsl

from fastapi import APIRouter, Form, HTTPException, Request, Response
from fastapi.responses import RedirectResponse
from markupsafe import Markup

from adjudge.records.exploring import FIELDS, GROUPS, MEASURES, SCORED, Operator, field_of
from adjudge.records.user import Role
from adjudge.reports.charts.svg import Chart
from adjudge.reports.sheets import SHEET_FORMATS, Sheet
from adjudge.store.views import ViewTable
from adjudge.web.access.identity import needs
from adjudge.web.dependencies import CurrentUser, Explorers, Store, remove_saved
from adjudge.web.explorequery import PAGE, ExploreQuery, in_words
from adjudge.web.live import answer_if_changed
from adjudge.web.rendering import render_part
from adjudge.workflows.exploring import PLOTS, draw, group_page, row_page, row_sheet

__all__ = ["drawn", "router"]

router = APIRouter()

_OPERATORS = {
    Operator.IS: "is",
    Operator.IS_NOT: "is not",
    Operator.CONTAINS: "contains",
    Operator.AT_LEAST: "at least",
    Operator.AT_MOST: "at most",
    Operator.KNOWN: "is known",
    Operator.UNKNOWN: "is not known",
}


def drawn(chart: Chart) -> dict[str, Any]:
    """A chart as templates show it: its markup was escaped when it was drawn."""
    return {"svg": Markup(chart.svg), "summary": chart.summary, "sheet": chart.table}


@router.get("/explore", dependencies=[needs(Role.VIEWER)])
def explore(request: Request, store: Store, explorer: Explorers) -> Response:
    """Groups of runs, or single ones, with a plot of them."""
    given = request.query_params.multi_items()
    query = ExploreQuery.parse(given)
    if any(not value for key, value in given if key != "v"):
        # What a form sends with fields left empty, at the address that says the same.
        return RedirectResponse(query.url(), 303)
    sort, descending = query.by
    context: dict[str, Any] = {}
    if query.show == "groups":
        context["groups"] = group_page(
            explorer, query.wanted, sort=sort, descending=descending, limit=PAGE, skip=query.skip
        )
        plot_sort = (sort, descending)
    else:
        context["runs"] = row_page(
            explorer, query.wanted.where, query.columns, query.order, limit=PAGE, skip=query.skip
        )
        plot_sort = ("runs", True)
    charts = draw(
        explorer,
        query.plot,
        query.wanted,
        sort=plot_sort[0],
        descending=plot_sort[1],
        measure=query.measure,
    )
    tags = [f"tag:{key}" for key in explorer.tag_keys()[:40]]
    context |= {
        "query": query,
        "charts": [drawn(chart) for chart in charts],
        "plots": PLOTS,
        "fields": {**FIELDS, **{tag: field_of(tag) for tag in tags}},
        "groupings": {**GROUPS, **{tag: field_of(tag).title for tag in tags}},
        "measures": MEASURES,
        "scored": {name: MEASURES[name] for name in SCORED},
        "operators": _OPERATORS,
        "in_words": in_words,
        "formats": SHEET_FORMATS,
        "views": ViewTable(store.database).all("explore"),
    }
    return answer_if_changed(request, render_part(request, "explore.html", **context))


@router.get("/explore/download", dependencies=[needs(Role.VIEWER)])
def download(
    request: Request,
    explorer: Explorers,
    format: Literal["csv", "json", "parquet"] = "csv",
    what: Literal["page", "all", "plot"] = "page",
    number: int = 0,
) -> Response:
    """What an address shows, to take away: the lines of its page, all lines, or the values of its plot."""
    query = ExploreQuery.parse(request.query_params.multi_items())
    sort, descending = query.by
    sheet: Sheet
    if what == "plot":
        charts = draw(
            explorer,
            query.plot,
            query.wanted,
            sort=sort if query.show == "groups" else "runs",
            descending=descending or query.show != "groups",
            measure=query.measure,
        )
        if not 0 <= number < len(charts):
            raise HTTPException(404, "there is no such plot")
        sheet = charts[number].sheet
    elif query.show == "groups":
        whole = what == "all"
        sheet = group_page(
            explorer,
            query.wanted,
            sort=sort,
            descending=descending,
            limit=None if whole else PAGE,
            skip=0 if whole else query.skip,
        ).sheet
    elif what == "all":
        sheet = row_sheet(explorer, query.wanted.where, query.columns, query.order)
    else:
        sheet = row_page(
            explorer, query.wanted.where, query.columns, query.order, limit=PAGE, skip=query.skip
        ).sheet
    form = SHEET_FORMATS[format]
    name = f"adjudge-{query.plot.value if what == 'plot' else query.show}.{form.suffix}"
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(form.render(sheet), media_type=form.media_type, headers=headers)


@router.post("/explore/views", dependencies=[needs(Role.REVIEWER)])
def save_view(
    store: Store,
    user: CurrentUser,
    name: Annotated[str, Form()] = "",
    query: Annotated[str, Form(max_length=8000)] = "",
) -> Response:
    """Give the view that is shown a name."""
    asked = ExploreQuery.parse(_items(query))
    ViewTable(store.database).add(name, "explore", asked.url().partition("?")[2], user.name)
    return RedirectResponse(asked.url(), 303)


@router.post("/explore/views/{view_id}/remove", dependencies=[needs(Role.REVIEWER)])
def remove_view(store: Store, user: CurrentUser, view_id: str) -> Response:
    """Forget a view: one's own, or, for admins, anybody's."""
    remove_saved(store, user, view_id)
    return RedirectResponse("/explore", 303)


def _items(query: str) -> list[tuple[str, str]]:
    try:
        return parse_qsl(query, keep_blank_values=True, max_num_fields=200)
    except ValueError:
        raise HTTPException(400, "that is no address of the explorer") from None
