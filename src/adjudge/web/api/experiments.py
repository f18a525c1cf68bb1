"""Experiments over the API."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, JsonValue

from adjudge.records.user import Role
from adjudge.web.access.identity import needs
from adjudge.web.dependencies import Store, found

__all__ = ["router"]

router = APIRouter(tags=["experiments"])


class ExperimentRow(BaseModel):
    """An experiment, in short."""

    id: str
    name: str
    created_at: datetime


class ExperimentList(BaseModel):
    """Some experiments, newest first."""

    experiments: list[ExperimentRow]
    next: str | None
    """What `after` has to be for the next page; null on the last one."""


@router.get("/experiments", dependencies=[needs(Role.VIEWER)])
def list_experiments(
    store: Store,
    after: Annotated[str | None, Query(max_length=64, description="The id of an experiment.")] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> ExperimentList:
    """Experiments, newest first."""
    rows = found(lambda: store.experiment_page(after, limit=limit + 1))
    return ExperimentList(
        experiments=[
            ExperimentRow(id=row.id, name=row.name, created_at=row.created_at) for row in rows[:limit]
        ],
        next=rows[limit - 1].id if len(rows) > limit else None,
    )


@router.get("/experiments/{experiment_id}", dependencies=[needs(Role.VIEWER)])
def read_experiment(store: Store, experiment_id: str) -> dict[str, JsonValue]:
    """An experiment's record: its matrix, its judge, what it was started with."""
    return found(store.experiment, experiment_id).model_dump(mode="json")
