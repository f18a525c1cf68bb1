"""The list of runs."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from adjudge.records.listing import SortColumn
from adjudge.records.run import RunStatus
from adjudge.records.score import Verdict
from adjudge.records.user import Role
from adjudge.web.access.identity import needs
from adjudge.web.dependencies import Store
from adjudge.web.live import answer_if_changed
from adjudge.web.query import BOUNDS, RunQuery
from adjudge.web.rendering import render_part
from adjudge.workflows.browsing import read_runs

__all__ = ["router"]

router = APIRouter()

_ALWAYS_SHOWN = {"q", "objective", "judge", "run", "sort", "after", "before", "limit"}
_QUICKLY, _SLOWLY = 2000, 15_000
"""After how many milliseconds a page looks again: while anything runs, and otherwise."""
_UNITS = {"score": "", "reward": "", "cost": "US$", "tokens": "", "time": "s"}


@router.get("/", dependencies=[needs(Role.VIEWER)])
def first() -> Response:
    """Where one begins."""
    return RedirectResponse("/runs", 303)


@router.get("/runs", dependencies=[needs(Role.VIEWER)])
def list_runs(request: Request, store: Store) -> Response:
    """Runs, newest first unless asked otherwise."""
    query = RunQuery.parse(request.query_params.multi_items())
    page = read_runs(
        store, query.wanted, query.sort, after=query.after, before=query.before, limit=query.limit
    )
    follow = _QUICKLY if store.has_unfinished_runs() else _SLOWLY
    context: dict[str, Any] = {
        "query": query,
        "page": page,
        "follow": follow,
        "chosen": (chosen := dict(query.items())),
        "more": bool(chosen.keys() - _ALWAYS_SHOWN),
        "columns": SortColumn,
        "verdicts": [verdict.value for verdict in Verdict],
        "statuses": [status.value for status in RunStatus],
        "bounds": {name: _UNITS[name] for name in BOUNDS},
    }
    return answer_if_changed(request, render_part(request, "runs.html", **context))
