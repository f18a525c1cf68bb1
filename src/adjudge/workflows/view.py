"""What the web view needs to begin: the store, and whether it may be reached from where it is asked to be."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from adjudge.errors import UsageError
from adjudge.settings import load_settings
from adjudge.store.opening import store_for
from adjudge.store.runs import RunDatabase
from adjudge.store.users import UserTable

__all__ = ["opened_for_view"]


@contextmanager
def opened_for_view(address: str | None, *, loopback: bool) -> Iterator[tuple[RunDatabase, UserTable]]:
    """The store, and who may see it.

    Args:
        address: A folder or the URL of a database; None: the project's.
        loopback: Whether only this machine can reach the view.

    Raises:
        UsageError: There is no store, or others could reach the view and nobody has a token.
    """
    settings = load_settings()
    if address is not None:
        # A folder has its blobs in it, wherever those of the project's store are.
        blobs = settings.blobs if "://" in address else None
        settings = replace(settings, store=address, blobs=blobs)
    with store_for(settings, create=False) as store:
        users = UserTable(store.database)
        if not loopback and not users.any():
            raise UsageError(
                "others could reach the view there, and nobody needs a token yet",
                hint="first: adjudge users add NAME --role admin",
            )
        yield store, users
