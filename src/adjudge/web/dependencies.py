"""What handlers ask for: the store, and records in it that a request names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, TypeVar

from fastapi import Depends, HTTPException, Request

from adjudge.errors import UsageError
from adjudge.records.user import Role, User
from adjudge.store.exploring import Explorer
from adjudge.store.runs import RunDatabase
from adjudge.store.views import ViewTable
from adjudge.web.access.identity import identity_of

__all__ = ["CurrentUser", "Explorers", "Store", "found", "remove_saved", "store_of"]

Found = TypeVar("Found")


def store_of(request: Request) -> RunDatabase:
    """The store that is shown."""
    store: RunDatabase = request.app.state.store
    return store


def explorer_of(request: Request) -> Explorer:
    """What answers questions about many runs of that store at once."""
    explorer: Explorer = request.app.state.explorer
    return explorer


def user_of(request: Request) -> User:
    """Who asks, on a route that needs a role."""
    identity = identity_of(request)
    assert identity is not None
    return identity.user


Explorers = Annotated[Explorer, Depends(explorer_of)]
Store = Annotated[RunDatabase, Depends(store_of)]
CurrentUser = Annotated[User, Depends(user_of)]


def found(look_up: Callable[..., Found], *given: Any) -> Found:
    """What a look-up finds.

    Raises:
        HTTPException: There is no such thing, or several begin like that.
    """
    try:
        return look_up(*given)
    except UsageError as error:
        raise HTTPException(404, str(error)) from None


def remove_saved(store: RunDatabase, user: User, view_id: str) -> None:
    """Forget a saved view: one's own, or, for admins, anybody's.

    Raises:
        HTTPException: There is none, or somebody else saved it.
    """
    views = ViewTable(store.database)
    view = found(views.get, view_id)
    if view.owner != user.name and not user.role.covers(Role.ADMIN):
        raise HTTPException(403, f"{view.owner} saved that view; who did, and admins, may remove it")
    views.remove(view_id)
