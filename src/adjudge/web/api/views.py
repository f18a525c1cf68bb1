"""Saved views over the API."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from adjudge.records.savedview import SavedView
from adjudge.records.user import Role
from adjudge.store.views import ViewTable
from adjudge.web.access.identity import needs
from adjudge.web.api.models import NewView
from adjudge.web.dependencies import CurrentUser, Store, remove_saved

__all__ = ["router"]

router = APIRouter(tags=["views"], prefix="/views")


@router.get("", dependencies=[needs(Role.VIEWER)])
def list_views(
    store: Store, page: Annotated[str, Query(pattern=r"^[a-z-]{1,32}$")] = "explore"
) -> list[SavedView]:
    """The saved views of a page, by name."""
    return ViewTable(store.database).all(page)


@router.post("", dependencies=[needs(Role.REVIEWER)], status_code=201)
def save_view(store: Store, user: CurrentUser, view: NewView) -> SavedView:
    """Give an address a name; one's own view of that name is replaced."""
    return ViewTable(store.database).add(view.name, view.page, view.query, user.name)


@router.delete("/{view_id}", dependencies=[needs(Role.REVIEWER)], status_code=204)
def remove_view(store: Store, user: CurrentUser, view_id: str) -> Response:
    """Forget a view: one's own, or, for admins, anybody's."""
    remove_saved(store, user, view_id)
    return Response(status_code=204)
