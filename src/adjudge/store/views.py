"""Views that people gave a name to."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime

from pydantic import ValidationError
from sqlalchemy import delete, func, insert, select

from adjudge.errors import UsageError
from adjudge.records.savedview import SavedView
from adjudge.store import schema
from adjudge.store.database import Database

__all__ = ["MAX_VIEWS", "ViewTable"]

MAX_VIEWS = 500
"""Of one page: a list that nobody reads helps nobody."""


class ViewTable:
    """Saved views. Everybody sees them all; who saved one can remove it.

    Args:
        database: Where they are kept.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, name: str, page: str, query: str, owner: str) -> SavedView:
        """Keep a view; one of the same name, page and owner is replaced.

        Raises:
            UsageError: It has no name, its name or address is too long, or there are too many.
        """
        try:
            view = SavedView(
                id=secrets.token_hex(8),
                name=name,
                page=page,
                query=query,
                owner=owner,
                created_at=datetime.now(UTC),
            )
        except ValidationError as error:
            first = error.errors()[0]
            raise UsageError(f"the view cannot be saved: {first['loc'][0]}: {first['msg']}") from None
        table = schema.saved_views
        with self._database.writing("the view cannot be saved") as connection:
            connection.execute(
                delete(table).where(
                    table.c.page == view.page, table.c.name == view.name, table.c.owner == view.owner
                )
            )
            held = select(func.count()).select_from(table).where(table.c.page == view.page)
            if connection.execute(held).scalar_one() >= MAX_VIEWS:
                raise UsageError(f"there are {MAX_VIEWS} saved views already", hint="remove some first")
            connection.execute(insert(table), [view.model_dump()])
        return view

    def all(self, page: str) -> list[SavedView]:
        """The views of a page, by name."""
        table = schema.saved_views
        statement = select(table).where(table.c.page == page).limit(MAX_VIEWS)
        with self._database.reading("saved views cannot be listed") as connection:
            found = [SavedView.model_validate(dict(row)) for row in connection.execute(statement).mappings()]
        return sorted(found, key=lambda view: (view.name.casefold(), view.owner, view.id))

    def get(self, view_id: str) -> SavedView:
        """One of them.

        Raises:
            UsageError: There is none.
        """
        statement = select(schema.saved_views).where(schema.saved_views.c.id == view_id)
        with self._database.reading("the saved view cannot be read") as connection:
            row = connection.execute(statement).mappings().first()
        if row is None:
            raise UsageError(f"there is no saved view {view_id!r}")
        return SavedView.model_validate(dict(row))

    def remove(self, view_id: str) -> None:
        """Forget one, if it is there."""
        with self._database.writing("the view cannot be removed") as connection:
            connection.execute(delete(schema.saved_views).where(schema.saved_views.c.id == view_id))
