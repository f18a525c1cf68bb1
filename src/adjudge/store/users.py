"""Users of the web view and their sessions.

Tokens and session keys are random and long, so their sha256 is kept and nothing that opens a door: whoever
reads the database cannot sign in with what it holds.
"""

from __future__ import annotations

import hashlib
import secrets
from datetime import UTC, datetime, timedelta

from pydantic import ValidationError
from sqlalchemy import delete, insert, select, update

from adjudge.errors import UsageError
from adjudge.records.user import Role, User
from adjudge.store import schema
from adjudge.store.database import Database
from adjudge.store.runs import insert_once

__all__ = ["SESSION", "UserTable"]

SESSION = timedelta(days=7)
"""How long somebody stays signed in."""
_USER = (schema.users.c.name, schema.users.c.role, schema.users.c.created_at)


class UserTable:
    """Who may use the view.

    Args:
        database: Where they are kept.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, name: str, role: Role) -> str:
        """Add somebody; returns their token, which cannot be had again.

        Raises:
            UsageError: The name is taken, or is none.
        """
        token = _new_token()
        try:
            user = User(name=name, role=role, created_at=datetime.now(UTC))
        except ValidationError as error:
            message = str(error.errors()[0]["msg"]).removeprefix("Value error, ")
            raise UsageError(f"{name!r} cannot be a user: {message}") from None
        row = {
            "name": user.name,
            "role": user.role.value,
            "token_digest": _digest(token),
            "created_at": user.created_at,
        }
        with self._database.writing(f"user {name} cannot be kept") as connection:
            if insert_once(connection, schema.users, row) is None:
                raise UsageError(
                    f"there is a user {name!r} already", hint=f"a new token: adjudge users token {name}"
                )
        return token

    def all(self) -> list[User]:
        """Everybody, by name."""
        table = schema.users
        with self._database.reading("users cannot be listed") as connection:
            rows = connection.execute(select(*_USER).order_by(table.c.name)).all()
        return [User(**row._mapping) for row in rows]

    def any(self) -> bool:
        """Whether there is anybody."""
        with self._database.reading("users cannot be listed") as connection:
            return connection.execute(select(schema.users.c.name).limit(1)).first() is not None

    def remove(self, name: str) -> None:
        """Remove somebody and end their sessions.

        Raises:
            UsageError: There is nobody of that name.
        """
        with self._database.writing(f"user {name} cannot be removed") as connection:
            connection.execute(delete(schema.sessions).where(schema.sessions.c.user_name == name))
            found = connection.execute(delete(schema.users).where(schema.users.c.name == name))
            if not found.rowcount:
                raise self._unknown(name)

    def renew(self, name: str) -> str:
        """A new token; the old one and every session made with it end.

        Raises:
            UsageError: There is nobody of that name.
        """
        token = _new_token()
        with self._database.writing(f"the token of {name} cannot be kept") as connection:
            found = connection.execute(
                update(schema.users).where(schema.users.c.name == name).values(token_digest=_digest(token))
            )
            if not found.rowcount:
                raise self._unknown(name)
            connection.execute(delete(schema.sessions).where(schema.sessions.c.user_name == name))
        return token

    def by_token(self, token: str) -> User | None:
        """Whose token that is."""
        with self._database.reading("users cannot be read") as connection:
            row = connection.execute(
                select(*_USER).where(schema.users.c.token_digest == _digest(token))
            ).first()
        return None if row is None else User(**row._mapping)

    # Sessions

    def start_session(self, name: str) -> str:
        """Sign somebody in; returns the key that goes into their cookie."""
        key, now = secrets.token_urlsafe(32), datetime.now(UTC)
        row = {"digest": _digest(key), "user_name": name, "created_at": now, "expires_at": now + SESSION}
        with self._database.writing("the session cannot be kept") as connection:
            connection.execute(delete(schema.sessions).where(schema.sessions.c.expires_at <= now))
            connection.execute(insert(schema.sessions), [row])
        return key

    def by_session(self, key: str) -> User | None:
        """Who is signed in with that key, if it holds still."""
        users, sessions = schema.users, schema.sessions
        with self._database.reading("the session cannot be read") as connection:
            row = connection.execute(
                select(*_USER)
                .join(sessions, sessions.c.user_name == users.c.name)
                .where(sessions.c.digest == _digest(key), sessions.c.expires_at > datetime.now(UTC))
            ).first()
        return None if row is None else User(**row._mapping)

    def end_session(self, key: str) -> None:
        """Sign out."""
        with self._database.writing("the session cannot be ended") as connection:
            connection.execute(delete(schema.sessions).where(schema.sessions.c.digest == _digest(key)))

    def _unknown(self, name: str) -> UsageError:
        known = ", ".join(user.name for user in self.all()[:8])
        return UsageError(f"there is no user {name!r}", hint=f"known: {known or 'none'}")


def _new_token() -> str:
    return f"adjudge-{secrets.token_urlsafe(32)}"


def _digest(secret: str) -> str:
    return f"sha256:{hashlib.sha256(secret.encode('utf-8', 'surrogatepass')).hexdigest()}"
