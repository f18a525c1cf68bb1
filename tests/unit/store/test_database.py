"""The tables and how they come about."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import text

from adjudge.errors import StoreError
from adjudge.store.database import HEAD, Database, postgres_database, sqlite_database
from adjudge.store.migrations import known_revisions
from adjudge.store.schema import metadata


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Database:
    if request.param == "postgresql":
        return postgres_database(request.getfixturevalue("postgres_url"), "the database")
    return sqlite_database(tmp_path / "store.db")


def test_migrations_lead_to_the_tables(database: Database) -> None:
    with database.reading("compare") as connection:

        def counts(item: Any, name: str, kind: str, reflected: bool, other: Any) -> bool:
            """Not what only SQLite has."""
            return database.is_sqlite or kind != "index" or not name.endswith(("_listed", "_failure_mode"))

        context = MigrationContext.configure(connection, opts={"include_object": counts})
        assert compare_metadata(context, metadata) == []
    database.close()


def test_the_newest_revision_is_known() -> None:
    assert known_revisions()[-1] == HEAD


def test_a_newer_store_is_refused(tmp_path: Path) -> None:
    database = sqlite_database(tmp_path / "store.db")
    with database.writing("pretend") as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    database.close()
    with pytest.raises(StoreError, match="newer adjudge") as caught:
        sqlite_database(tmp_path / "store.db")
    assert caught.value.hint == "update adjudge"


def test_what_is_no_database_is_said(tmp_path: Path) -> None:
    (tmp_path / "store.db").write_bytes(b"not a database" * 1000)
    with pytest.raises(StoreError, match="not a database"):
        sqlite_database(tmp_path / "store.db")


def test_a_server_that_is_not_there_is_said_without_the_password(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot be opened") as caught:
        postgres_database(f"postgresql://ada:secret@/x?host={tmp_path}", "postgresql://ada@/x")
    assert "secret" not in str(caught.value)


def test_a_failed_transaction_leaves_nothing(database: Database) -> None:
    def fail() -> None:
        with database.writing("fail") as connection:
            for table in ("alembic_version", "nothing_of_the_sort"):
                connection.execute(text(f"UPDATE {table} SET version_num = 'x'"))

    with pytest.raises(StoreError, match="nothing_of_the_sort"):
        fail()
    with database.reading("look") as connection:
        assert connection.execute(text("SELECT version_num FROM alembic_version")).scalar() == HEAD
    database.close()
