"""Connections to the database that keeps the records: SQLite in a file, or PostgreSQL by its URL.

Every write is one transaction. On SQLite it takes the write lock when it begins, so that writers queue and
never find out half-way that they are too late; reads see the last committed state and wait for nobody.
"""

from __future__ import annotations

import fcntl
import importlib
import os
import weakref
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, inspect, text
from sqlalchemy.exc import SQLAlchemyError

from adjudge.errors import StoreError

__all__ = ["HEAD", "Database", "postgres_database", "sqlite_database"]

HEAD = "0003"
"""The newest revision of the tables; a test keeps it equal to the newest migration."""

_BUSY_MS = 120_000
"""How long a writer waits for others. Ten writers take turns in milliseconds; a copy of the file may take
long."""
_UPGRADE_KEY, _SWEEP_KEY = 0x61646A01, 0x61646A02
"""Advisory locks of PostgreSQL: one for changing the tables, one between writers and garbage collection."""


class Database:
    """A database in the newest shape. Cheap to hold; connections are made when they are needed."""

    def __init__(self, make: Callable[[], Engine], name: str) -> None:
        self._make = make
        self._name = name
        self._engine = make()
        self._process = os.getpid()
        self._inherited: list[Engine] = []
        weakref.finalize(self, _dispose, self._engine, self._process)

    def __str__(self) -> str:
        return self._name

    @property
    def engine(self) -> Engine:
        """The engine of this process: connections do not survive a fork.

        The parent's is kept, untouched: closing its connections here would act on the parent's behalf.
        """
        if self._process != os.getpid():
            self._inherited.append(self._engine)
            self._engine, self._process = self._make(), os.getpid()
            weakref.finalize(self, _dispose, self._engine, self._process)
        return self._engine

    @property
    def is_sqlite(self) -> bool:
        """Whether it is a file."""
        return self._engine.dialect.name == "sqlite"

    @contextmanager
    def reading(self, doing: str) -> Iterator[Connection]:
        """A connection that sees one state of the database throughout."""
        with self._classified(doing), self.engine.connect() as plain:
            connection = (
                plain if self.is_sqlite else plain.execution_options(isolation_level="REPEATABLE READ")
            )
            with connection.begin():
                yield connection

    @contextmanager
    def writing(self, doing: str, *, sweeping: bool = False) -> Iterator[Connection]:
        """A transaction that is kept whole when the block ends, and not at all when it raises.

        Garbage collection (`sweeping`) and writers exclude each other, so that whatever a writer found when
        it looked is still there when its transaction is kept.
        """
        with self._classified(doing), self.engine.connect() as plain:
            connection = plain.execution_options(adjudge_writes=True)
            with connection.begin():
                if not self.is_sqlite:
                    lock = "pg_advisory_xact_lock" if sweeping else "pg_advisory_xact_lock_shared"
                    connection.execute(text(f"SELECT {lock}(:key)"), {"key": _SWEEP_KEY})
                yield connection

    @contextmanager
    def _classified(self, doing: str) -> Iterator[None]:
        try:
            yield
        except SQLAlchemyError as error:
            # Its own text carries the statement with every value; the driver's is what went wrong.
            cause = str(getattr(error, "orig", None) or error).strip().splitlines()
            raise StoreError(
                f"{doing}: {cause[0] if cause else type(error).__name__} ({self._name})"
            ) from error

    def close(self) -> None:
        """Close every connection."""
        self._engine.dispose()

    def bring_up_to_date(self, alone: Callable[[], AbstractContextManager[None]]) -> None:
        """Make the tables, or bring older ones to the newest shape.

        Args:
            alone: Keeps other processes from doing the same meanwhile.

        Raises:
            StoreError: The tables are of a newer adjudge, or the database cannot be used.
        """
        doing = "the store cannot be opened"
        with self.reading(doing) as connection:
            if _revision(connection) == HEAD:
                return
        with self._classified(doing), alone(), self.engine.connect() as plain:
            connection = plain.execution_options(adjudge_writes=True)
            with connection.begin():
                if not self.is_sqlite:
                    connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _UPGRADE_KEY})
                revision = _revision(connection)
                if revision == HEAD:
                    return
                # Loaded here: a store that is up to date needs no Alembic.
                migrations = importlib.import_module("adjudge.store.migrations")
                if revision is not None and revision not in migrations.known_revisions():
                    raise StoreError(
                        f"the store {self._name} was written by a newer adjudge (its tables are at revision "
                        f"{revision}, known here are those up to {HEAD})",
                        hint="update adjudge",
                    )
                migrations.upgrade(connection)


def _dispose(engine: Engine, process: int) -> None:
    if process == os.getpid():
        engine.dispose()


def _revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    found: str | None = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    return found


def sqlite_database(file: Path) -> Database:
    """The database in a file, made or brought up to date when needed."""

    def make() -> Engine:
        # A connection stays open between transactions: the last one to close folds the log back.
        engine = create_engine(f"sqlite:///{file}", pool_size=2, max_overflow=30)
        event.listen(engine, "connect", _set_up_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
        return engine

    @contextmanager
    def alone() -> Iterator[None]:
        with (file.parent / "store.lock").open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            _use_wal(file)
            yield

    database = Database(make, str(file))
    database.bring_up_to_date(alone)
    return database


def _set_up_sqlite(connection: Any, _record: Any) -> None:
    # Transactions begin where we say, not where the driver guesses.
    connection.isolation_level = None
    cursor = connection.cursor()
    for pragma in (
        f"busy_timeout = {_BUSY_MS}",
        "foreign_keys = ON",
        # What was acknowledged survives a loss of power, too.
        "synchronous = FULL",
        # A file that somebody else made must not run functions of its choice.
        "trusted_schema = OFF",
        "cell_size_check = ON",
    ):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    writes = connection.get_execution_options().get("adjudge_writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _use_wal(file: Path) -> None:
    """Switch the file to a write-ahead log, which it then stays in."""
    sqlite3 = importlib.import_module("sqlite3")
    try:
        connection = sqlite3.connect(file, timeout=_BUSY_MS / 1000)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        finally:
            connection.close()
    except sqlite3.Error as error:
        raise StoreError(f"the store cannot be opened: {error} ({file})") from error


def postgres_database(url: str, name: str) -> Database:
    """The PostgreSQL database behind a URL, its tables made or brought up to date when needed."""
    try:
        importlib.import_module("psycopg")
    except ImportError as error:
        raise StoreError(
            "PostgreSQL is spoken with psycopg, which is not installed",
            hint="pip install 'adjudge[postgres]'",
        ) from error
    address = url.partition("://")[2]

    def make() -> Engine:
        return create_engine(
            f"postgresql+psycopg://{address}", pool_pre_ping=True, pool_size=2, max_overflow=30
        )

    @contextmanager
    def alone() -> Iterator[None]:
        # The lock is taken inside the transaction.
        yield

    database = Database(make, name)
    database.bring_up_to_date(alone)
    return database
