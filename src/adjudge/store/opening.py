"""Opening the store: the database and the blobs, where the settings say."""

from __future__ import annotations

import importlib
from pathlib import Path

from adjudge.contracts import KeptBlobs
from adjudge.errors import StoreError, UsageError, boundary
from adjudge.settings import Settings
from adjudge.store.blobs import BlobDirectory
from adjudge.store.database import postgres_database, sqlite_database
from adjudge.store.places import StorePlace, adopt, find_place
from adjudge.store.runs import RunDatabase

__all__ = ["open_blobs", "open_store", "store_for"]


def store_for(settings: Settings, *, create: bool = True) -> RunDatabase:
    """The store of the project one works in; see `adjudge.settings` for where that is.

    Raises:
        UsageError: There is none and `create` is false.
        StoreError: It cannot be opened.
    """
    return open_store(find_place(settings), create=create)


def open_store(place: StorePlace, *, create: bool = True) -> RunDatabase:
    """The store at a place, brought up to date."""
    if not place.exists and not create:
        raise UsageError(
            f"nothing is stored yet: there is no store at {place}",
            hint="`adjudge grade --save` makes one; ADJUDGE_STORE names one elsewhere",
        )
    if place.folder is not None:
        _make_folder(place.folder, place.remember_in)
    blobs = open_blobs(place.blobs)
    if place.url is not None:
        return RunDatabase(postgres_database(place.url, str(place)), blobs)
    assert place.folder is not None
    return RunDatabase(sqlite_database(place.folder / "store.db"), blobs)


def open_blobs(place: str) -> KeptBlobs:
    """The blobs in a folder, or behind an address."""
    if "://" in place:
        # Loaded here: most blobs are on disk.
        found: KeptBlobs = importlib.import_module("adjudge.store.objects").ObjectBlobs(place)
        return found
    return BlobDirectory(Path(place), durable=True)


def _make_folder(folder: Path, remember_in: Path | None) -> None:
    """Make the store's folder, closed to others and left alone by git, and remember it as ours."""
    if folder.is_dir():
        return
    if remember_in is not None:
        adopt(folder, remember_in)
    with boundary(StoreError, f"{folder} cannot be made"):
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        (folder / ".gitignore").write_text("*\n", encoding="utf-8")
