"""Tasks over the API: scenarios as they were when runs began."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, JsonValue

from adjudge.records.user import Role
from adjudge.web.access.identity import needs
from adjudge.web.dependencies import Store, found

__all__ = ["router"]

router = APIRouter(tags=["tasks"])

_DIGEST = r"^sha256:[0-9a-f]{64}$"


class TaskRow(BaseModel):
    """A task, in short."""

    name: str
    digest: str
    recorded_at: datetime


class TaskList(BaseModel):
    """Some tasks, by digest."""

    tasks: list[TaskRow]
    next: str | None
    """What `after` has to be for the next page; null on the last one."""


@router.get("/tasks", dependencies=[needs(Role.VIEWER)])
def list_tasks(
    store: Store,
    name: Annotated[
        str | None, Query(max_length=500, pattern=r"^[^\x00]*$", description="Only tasks of that name.")
    ] = None,
    after: Annotated[str | None, Query(pattern=_DIGEST, description="The digest of a task.")] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> TaskList:
    """Tasks that evaluations were made by, in the order of their digests."""
    rows = store.task_page(name, after=after, limit=limit + 1)
    return TaskList(
        tasks=[
            TaskRow(name=row.name, digest=row.digest, recorded_at=row.recorded_at) for row in rows[:limit]
        ],
        next=rows[limit - 1].digest if len(rows) > limit else None,
    )


@router.get("/tasks/{digest}", dependencies=[needs(Role.VIEWER)])
def read_task(store: Store, digest: Annotated[str, Path(pattern=_DIGEST)]) -> dict[str, JsonValue]:
    """A task: instruction, recipe, limits, and the digests of its files."""
    return found(store.task, digest).model_dump(mode="json")
