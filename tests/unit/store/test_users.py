"""Users of the view, their tokens and sessions."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import insert, select, update

from adjudge.errors import UsageError
from adjudge.records.user import Role
from adjudge.settings import Settings
from adjudge.store import schema
from adjudge.store.opening import store_for
from adjudge.store.users import UserTable

pytestmark = pytest.mark.anyone


@pytest.fixture
def users(store_settings: Settings) -> Iterator[UserTable]:
    with store_for(store_settings) as store:
        yield UserTable(store.database)


def test_tokens_and_sessions(users: UserTable) -> None:
    assert not users.any()
    token = users.add("ada@example.org", Role.EDITOR)
    users.add("Bob", Role.VIEWER)
    assert users.any()
    assert {(user.name, user.role) for user in users.all()} == {
        ("Bob", Role.VIEWER),
        ("ada@example.org", Role.EDITOR),
    }
    found = users.by_token(token)
    assert found is not None
    assert (found.name, found.role) == ("ada@example.org", Role.EDITOR)
    key = users.start_session(found.name)
    assert users.by_session(key) == found
    assert users.by_session(token) is None
    assert users.by_token(key) is None
    users.end_session(key)
    assert users.by_session(key) is None
    again = users.start_session(found.name)
    other = users.renew(found.name)
    assert users.by_token(token) is None
    assert users.by_session(again) is None
    assert users.by_token(other) == found
    users.remove(found.name)
    assert users.by_token(other) is None


def test_nothing_kept_opens_a_door(users: UserTable) -> None:
    token = users.add("ada", Role.ADMIN)
    key = users.start_session("ada")
    with users._database.reading("look") as connection:
        kept = [
            str(value)
            for table in (schema.users, schema.sessions)
            for row in connection.execute(select(table))
            for value in row
        ]
    for secret in (token, key):
        assert not any(secret in value for value in kept)
    for value in kept:
        assert users.by_token(value) is None
        assert users.by_session(value) is None


def test_a_session_ends_by_itself(users: UserTable) -> None:
    users.add("ada", Role.ADMIN)
    key = users.start_session("ada")
    with users._database.writing("age") as connection:
        connection.execute(
            update(schema.sessions).values(expires_at=datetime.now(UTC) - timedelta(seconds=1))
        )
    assert users.by_session(key) is None
    users.start_session("ada")
    with users._database.reading("look") as connection:
        assert len(connection.execute(select(schema.sessions.c.digest)).all()) == 1


def test_names_that_are_none(users: UserTable) -> None:
    for name in ("", "-x", "a b", "a\n", "a" * 65, "<b>", "\u00e9"):
        with pytest.raises(UsageError, match="cannot be a user"):
            users.add(name, Role.VIEWER)


def test_who_is_not_there_is_said(users: UserTable) -> None:
    users.add("ada", Role.VIEWER)
    with pytest.raises(UsageError, match="there is a user 'ada' already"):
        users.add("ada", Role.ADMIN)
    for change in (users.remove, users.renew):
        with pytest.raises(UsageError, match="no user 'bob'") as refused:
            change("bob")
        assert refused.value.hint == "known: ada"


def test_a_session_of_nobody_cannot_be_kept(users: UserTable) -> None:
    row = {
        "digest": "x",
        "user_name": "nobody",
        "created_at": datetime.now(UTC),
        "expires_at": datetime.now(UTC),
    }
    with (
        pytest.raises(Exception, match="cannot be kept"),
        users._database.writing("it cannot be kept") as connection,
    ):
        connection.execute(insert(schema.sessions), [row])
