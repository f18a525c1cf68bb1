"""Looking after the store: check it, clear it up, move it, take another one over."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from adjudge.errors import UsageError
from adjudge.settings import Settings, load_settings
from adjudge.store.check import Checked, Collected, check_store, collect_garbage
from adjudge.store.oldlayout import import_old_layout, is_old_layout
from adjudge.store.opening import open_store, store_for
from adjudge.store.places import FOLDER, StorePlace, adopt, find_place
from adjudge.store.runs import RunDatabase
from adjudge.store.transfer import Copied, copy_store

__all__ = ["adopt_folder", "check", "collect", "export_to", "import_from", "opened"]

Progress = Callable[[int], None]


@contextmanager
def opened(*, create: bool = False) -> Iterator[RunDatabase]:
    """The store of the project one works in."""
    with store_for(load_settings(), create=create) as store:
        yield store


def check(progress: Progress) -> Checked:
    """Read everything, and compare it with the digests it was kept under."""
    with opened() as store:
        return check_store(store, progress=progress)


def collect(*, older_than_s: float, dry_run: bool) -> Collected:
    """Remove blobs that nothing refers to."""
    with opened() as store:
        return collect_garbage(store, older_than_s=older_than_s, dry_run=dry_run)


def export_to(target: str, blobs: str | None, progress: Progress) -> Copied:
    """Add everything of the project's store to another one, which is made when it is not there."""
    settings = load_settings()
    with opened() as source, open_store(_other(settings, target, blobs)) as other:
        return copy_store(source, other, progress=progress)


def import_from(source: str | None, blobs: str | None, progress: Progress) -> Copied:
    """Add everything of another store, or of the old folders of documents, to the project's store.

    Raises:
        UsageError: There is no store there.
    """
    settings = load_settings()
    folder = settings.state_dir if source is None else Path(source)
    if source is None or "://" not in source:
        if not (folder / "store.db").is_file() and (folder / FOLDER / "store.db").is_file():
            # A project's folder means its store.
            folder = folder / FOLDER
        if not (folder / "store.db").is_file():
            if not is_old_layout(folder):
                raise UsageError(
                    f"{folder} holds neither a store nor evaluations of an older version",
                    hint="name the folder of a store, a database's URL, or what was ADJUDGE_HOME",
                )
            with opened(create=True) as target:
                return import_old_layout(folder, target)
    place = _other(settings, str(folder) if source is None or "://" not in source else source, blobs)
    with open_store(place, create=False) as other, opened(create=True) as target:
        return copy_store(other, target, progress=progress)


def _other(settings: Settings, address: str, blobs: str | None) -> StorePlace:
    """A store that is named outright; the blobs of a database have to be named, too."""
    if "://" in address and blobs is None:
        raise UsageError(
            "a database holds no blobs; where they are has to be said", hint="--blobs FOLDER or s3://…"
        )
    place = find_place(replace(settings, store=address, blobs=blobs))
    ours = find_place(settings)
    if (place.folder, place.url) == (ours.folder, ours.url):
        raise UsageError(f"{place} is the project's own store")
    return place


def adopt_folder(folder: str | None) -> Path:
    """Make the `.adjudge` of a folder (the current one) known as this user's.

    Raises:
        UsageError: There is none.
    """
    given = Path(folder or ".")
    place = given if given.name == FOLDER else given / FOLDER
    if place.is_symlink() or not (place / "store.db").is_file():
        raise UsageError(f"{place} is not a store", hint="name the project's folder")
    adopt(place, load_settings().stores_dir)
    return Path(os.path.realpath(place))
