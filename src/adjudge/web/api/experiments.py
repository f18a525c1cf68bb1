"""Experiments over the API."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import JsonValue

from adjudge.records.exploring import ExperimentSummary, Progress
from adjudge.records.user import Role
from adjudge.reports.comparison import comparison_document
from adjudge.web.access.identity import needs
from adjudge.web.api.models import ExperimentDetail, ExperimentList, ExperimentRow
from adjudge.web.dependencies import Explorers, Store, found
from adjudge.workflows.experiments import find_experiment, list_experiments, look_at
from adjudge.workflows.reporting import compare_experiments

__all__ = ["router"]

router = APIRouter(tags=["experiments"], prefix="/experiments")

_PAGE = 25


def _row(summary: ExperimentSummary, progress: Progress) -> ExperimentRow:
    return ExperimentRow(
        id=summary.id,
        name=summary.name,
        created_at=summary.created_at,
        max_cost_usd=summary.max_cost_usd,
        complete=progress.complete,
        waiting=progress.waiting,
        **progress._asdict(),
    )


@router.get("", dependencies=[needs(Role.VIEWER)])
def list_all(
    explorer: Explorers, before: Annotated[int | None, Query(ge=1, le=1 << 60)] = None
) -> ExperimentList:
    """Experiments and how far they are, newest first."""
    rows, more = list_experiments(explorer, before=before, limit=_PAGE)
    later = f"/api/v1/experiments?before={rows[-1].summary.seq}" if rows and more else None
    return ExperimentList(experiments=[_row(*row) for row in rows], next=later)


@router.get("/{given}", dependencies=[needs(Role.VIEWER)])
def read_experiment(store: Store, explorer: Explorers, given: str) -> ExperimentDetail:
    """An experiment by its id, the beginning of it or its name: how far it is, and who leads."""
    page = look_at(explorer, found(find_experiment, store, explorer, given))
    return ExperimentDetail(
        **_row(page.summary, page.progress).model_dump(), leaderboard=list(page.sheet.records())
    )


@router.get("/{given}/record", dependencies=[needs(Role.VIEWER)])
def read_record(store: Store, given: str) -> dict[str, JsonValue]:
    """An experiment's record: its matrix, its judge, what it was started with."""
    return found(store.experiment, given).model_dump(mode="json")


@router.get("/{given}/compare", dependencies=[needs(Role.VIEWER)])
def compare(
    store: Store, explorer: Explorers, given: str, other: Annotated[str, Query(alias="with", max_length=200)]
) -> dict[str, Any]:
    """An experiment against another one, task by task, with what can be said of the difference in words."""
    first, second = (found(find_experiment, store, explorer, name) for name in (given, other))
    return comparison_document(compare_experiments(store, first.id, second.id))
