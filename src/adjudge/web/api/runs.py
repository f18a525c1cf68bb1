"""Runs over the API."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel

from adjudge.records.user import Role
from adjudge.web.access.identity import needs
from adjudge.web.api.models import RunList, RunParameters, run_row
from adjudge.web.dependencies import Store
from adjudge.web.query import RunQuery
from adjudge.workflows.browsing import read_runs

__all__ = ["router"]

router = APIRouter(tags=["runs"])

_MAX_NAMES = 1000
_COLUMNS = {"task": "task_name", "agent": "agent", "model": "model"}


class Names(BaseModel):
    """Names that runs have."""

    names: list[str]


@router.get("/runs", dependencies=[needs(Role.VIEWER)])
def list_runs(request: Request, store: Store, parameters: Annotated[RunParameters, Query()]) -> RunList:
    """Runs with the three gates of their current evaluations, newest first unless asked otherwise."""
    query = RunQuery.parse(request.query_params.multi_items())
    page = read_runs(
        store, query.wanted, query.sort, after=query.after, before=query.before, limit=query.limit
    )
    later = None if page.later is None else query.at(after=page.later).url("/api/v1/runs")
    return RunList(runs=[run_row(row) for row in page.rows], next=later)


@router.get("/names/{column}", dependencies=[needs(Role.VIEWER)])
def list_names(store: Store, column: Literal["task", "agent", "model"]) -> Names:
    """Tasks, agents or models that runs have, at most 1,000 of them."""
    return Names(names=store.names(_COLUMNS[column])[:_MAX_NAMES])
