"""The Data Explorer over the API: groups, single runs, values of plots, and what can be asked for."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Query, Request

from adjudge.records.exploring import FIELDS, GROUPS, MEASURES, Operator, field_of
from adjudge.records.user import Role
from adjudge.reports.sheets import Sheet
from adjudge.web.access.identity import needs
from adjudge.web.api.models import ExploredField, ExploreFields, PlotValues, SheetPage, Values
from adjudge.web.dependencies import Explorers
from adjudge.web.explorequery import PAGE, ExploreQuery
from adjudge.workflows.exploring import PLOTS, Plot, draw, group_page, row_page

__all__ = ["router"]

router = APIRouter(tags=["explore"], prefix="/explore")

_FILTER = Query(description="A filter: field `f`, operator `o` and value `v`, repeated in this order.")
Field = Annotated[list[str] | None, _FILTER]


def _page(sheet: Sheet, total: int, following: str | None) -> SheetPage:
    return SheetPage(
        title=sheet.title,
        columns=list(sheet.columns),
        rows=list(sheet.records()),
        total=total,
        next=following,
    )


@router.get("/fields", dependencies=[needs(Role.VIEWER)])
def list_fields(explorer: Explorers) -> ExploreFields:
    """What runs can be filtered and grouped by, and what means are taken of."""
    tags = [f"tag:{key}" for key in explorer.tag_keys()]
    fields = [*FIELDS.values(), *map(field_of, tags)]
    return ExploreFields(
        fields=[
            ExploredField(name=item.name, title=item.title, kind=item.kind, choices=list(item.choices))
            for item in fields
        ],
        operators=[operator.value for operator in Operator],
        groups=[*GROUPS, *tags],
        measures=list(MEASURES),
        plots=[plot.value for plot in PLOTS],
    )


@router.get("/values", dependencies=[needs(Role.VIEWER)])
def list_values(explorer: Explorers, field: Annotated[str, Query(max_length=300)]) -> Values:
    """Some values of a field, to choose from; none of numbers and moments, which have too many."""
    try:
        known = field_of(field)
    except ValueError as error:
        raise HTTPException(400, str(error)) from None
    if known.choices:
        return Values(values=list(known.choices))
    return Values(values=list(explorer.suggestions(field)))


@router.get("/groups", dependencies=[needs(Role.VIEWER)])
def read_groups(
    request: Request,
    explorer: Explorers,
    f: Field = None,
    o: Field = None,
    v: Field = None,
    by: Annotated[list[str] | None, Query(description="What runs are put together by.")] = None,
    m: Annotated[list[str] | None, Query(description="What means are taken of.")] = None,
    sort: Annotated[str, Query(description="A column, with a minus in front to go down.")] = "",
    page: str = "",
) -> SheetPage:
    """Groups of runs: counts, rates and means with their intervals and what each leaves out."""
    query = ExploreQuery.parse([*request.query_params.multi_items(), ("show", "groups")])
    column, descending = query.by
    found = group_page(
        explorer, query.wanted, sort=column, descending=descending, limit=PAGE, skip=query.skip
    )
    later = query.skip + len(found.rows) < found.total
    following = query.at(query.page + 1).url("/api/v1/explore/groups") if later else None
    return _page(found.sheet, found.total, following)


@router.get("/runs", dependencies=[needs(Role.VIEWER)])
def read_rows(
    request: Request,
    explorer: Explorers,
    f: Field = None,
    o: Field = None,
    v: Field = None,
    col: Annotated[list[str] | None, Query(description="The columns.")] = None,
    sort: Annotated[str, Query(description="A column, with a minus in front to go down.")] = "",
    page: str = "",
) -> SheetPage:
    """Single runs, with the columns that are asked for."""
    query = ExploreQuery.parse([*request.query_params.multi_items(), ("show", "runs")])
    found = row_page(explorer, query.wanted.where, query.columns, query.order, limit=PAGE, skip=query.skip)
    following = query.at(query.page + 1).url("/api/v1/explore/runs") if found.more else None
    return _page(found.sheet, found.total, following)


@router.get("/plots/{plot}", dependencies=[needs(Role.VIEWER)])
def read_plot(
    request: Request,
    explorer: Explorers,
    plot: Plot,
    f: Field = None,
    o: Field = None,
    v: Field = None,
    by: Annotated[list[str] | None, Query(description="What runs are put together by.")] = None,
    of: Annotated[str, Query(description="Whose distribution is drawn.")] = "",
) -> list[PlotValues]:
    """The values of a plot, what they show in words, and the plot itself; of gates one for each pair."""
    items: list[Any] = [*request.query_params.multi_items(), ("show", "groups"), ("sort", "")]
    query = ExploreQuery.parse(items)
    column, descending = query.by
    charts = draw(explorer, plot, query.wanted, sort=column, descending=descending, measure=query.measure)
    return [
        PlotValues(
            title=chart.sheet.title,
            summary=chart.summary,
            columns=list(chart.sheet.columns),
            rows=list(chart.sheet.records()),
            svg=chart.svg,
        )
        for chart in charts
    ]
