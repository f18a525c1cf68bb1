"""Where the store is: a folder or a database, found from the settings and never from what is graded.

A folder an agent wrote to may hold a `.adjudge` of its own making. So the state directory remembers, by their
paths, the folders this user made or adopted, and no other is opened unless it is named outright.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from adjudge.errors import ConfigInvalid, StoreError, UsageError, boundary
from adjudge.settings import Settings

__all__ = ["FOLDER", "StorePlace", "adopt", "find_place", "refuse_inside"]

FOLDER = ".adjudge"
_DATABASES = ("postgresql", "postgres")


@dataclass(frozen=True, slots=True)
class StorePlace:
    """Where records and blobs are."""

    folder: Path | None
    """The store's folder. With a database elsewhere it holds the blobs only; None when they are elsewhere,
    too."""
    url: str | None
    """The database, when it is not a file in `folder`."""
    blobs: str
    """A folder, or an address of an object store."""
    remember_in: Path | None = None
    """Where to note the folder when it is made; None when it was named outright."""

    def __str__(self) -> str:
        return hide_password(self.url) if self.url is not None else str(self.folder)

    @property
    def exists(self) -> bool:
        """Whether there is a store already. Of a database nobody knows before asking it."""
        return self.folder is None or self.url is not None or (self.folder / "store.db").is_file()


def find_place(settings: Settings) -> StorePlace:
    """Where the store is.

    Raises:
        ConfigInvalid: ADJUDGE_STORE or ADJUDGE_BLOBS cannot be used.
        UsageError: The current folder has a `.adjudge` that nobody here made.
    """
    given, blobs = settings.store, settings.blobs
    if blobs is not None and "://" not in blobs:
        blobs = os.path.abspath(blobs)
    if given is not None and "://" in given:
        scheme = given.partition("://")[0].partition("+")[0]
        if scheme not in _DATABASES:
            raise ConfigInvalid(
                f"ADJUDGE_STORE: {scheme}:// is not a database adjudge keeps runs in",
                hint="postgresql://user@host/name, or a folder",
            )
        if blobs is not None:
            return StorePlace(None, given, blobs)
        folder = _project(settings) / FOLDER
        return StorePlace(folder, given, str(folder / "blobs"), settings.stores_dir)
    if given is not None:
        folder = Path(os.path.abspath(given))
        return StorePlace(folder, None, blobs or str(folder / "blobs"))
    folder = _project(settings) / FOLDER
    return StorePlace(folder, None, blobs or str(folder / "blobs"), settings.stores_dir)


def _project(settings: Settings) -> Path:
    here = Path(os.path.realpath(settings.folder))
    for folder in (here, *here.parents):
        if _is_ours(folder / FOLDER, settings.stores_dir):
            return folder
    if os.path.lexists(here / FOLDER):
        raise UsageError(
            f"{here / FOLDER} was not made by adjudge for this user, so it is not believed",
            hint="if it is yours (moved, copied, restored): adjudge store adopt",
        )
    return here


def _is_ours(folder: Path, stores_dir: Path) -> bool:
    if folder.is_symlink() or not folder.is_dir():
        return False
    try:
        noted = _note_of(folder, stores_dir).read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return noted == os.fsencode(folder)


def adopt(folder: Path, stores_dir: Path) -> None:
    """Remember a store's folder as this user's.

    Before it is made: whoever sees the folder of somebody who makes it at the same time sees this, too.
    """
    folder = Path(os.path.realpath(folder))
    note = _note_of(folder, stores_dir)
    with boundary(StoreError, f"{folder} cannot be remembered in {stores_dir}"):
        stores_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor, name = tempfile.mkstemp(dir=stores_dir, prefix=".incoming-")
        with os.fdopen(descriptor, "wb") as file:
            file.write(os.fsencode(folder))
        os.replace(name, note)


def _note_of(folder: Path, stores_dir: Path) -> Path:
    return stores_dir / hashlib.sha256(os.fsencode(folder)).hexdigest()[:32]


def refuse_inside(place: StorePlace, workspace: Path) -> None:
    """Refuse a store inside the workspace that is graded: it would be part of what the attempt left.

    Raises:
        UsageError: It lies there.
    """
    inside = Path(os.path.realpath(workspace))
    blobs = None if "://" in place.blobs else Path(place.blobs)
    for folder in (place.folder, blobs):
        if folder is not None and Path(os.path.realpath(folder)).is_relative_to(inside):
            raise UsageError(
                f"the store would lie inside the workspace that is graded: {folder}",
                hint="run adjudge from your project's folder, or set ADJUDGE_STORE to a folder elsewhere",
            )


def hide_password(url: str) -> str:
    """A database's URL without the password in it."""
    scheme, separator, rest = url.partition("://")
    credentials, at, host = rest.rpartition("@")
    user = credentials.partition(":")[0]
    return f"{scheme}{separator}{user}{at}{host}"
