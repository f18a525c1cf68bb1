"""Who a request comes from, and what it may do.

Every route says which role it needs: `dependencies=[needs(Role.VIEWER)]`, or that it is open to anybody:
`dependencies=[open_to_all()]`. A test refuses a route that says nothing.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

from fastapi import Depends, HTTPException, Request
from starlette.concurrency import run_in_threadpool

from adjudge.records.user import Role, User
from adjudge.store.users import UserTable
from adjudge.web.access.guard import is_loopback
from adjudge.web.access.limits import Attempts

__all__ = [
    "LOCAL",
    "Access",
    "Identity",
    "Need",
    "SignInNeeded",
    "address_of",
    "identity_of",
    "needs",
    "open_to_all",
]

LOCAL = User(name="local", role=Role.ADMIN, created_at=datetime(2026, 1, 1, tzinfo=UTC))
"""Whoever uses a view that only this machine can reach and that has no users."""
_SAFE = ("GET", "HEAD", "OPTIONS")


class SignInNeeded(HTTPException):
    """Nobody is signed in, or not validly."""

    def __init__(self, detail: str = "sign in first") -> None:
        super().__init__(401, detail, {"www-authenticate": "Bearer"})


@dataclass(frozen=True, slots=True)
class Identity:
    """Who asks, and how that is known."""

    user: User
    by: Literal["local", "session", "token"]
    csrf: str
    """What a form has to bring back; of no use with a token, which no other site can make a browser send."""


@dataclass(frozen=True, slots=True)
class Access:
    """How a view is reached.

    Args:
        users: Everybody who has a token.
        host: The address it listens at.
        https: Whether browsers reach it by https, through a proxy.
    """

    users: UserTable
    host: str = "127.0.0.1"
    https: bool = False
    attempts: Attempts = field(default_factory=Attempts)
    secret: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    """Of this process; what local forms bring back comes from it."""

    @property
    def cookie(self) -> str:
        """The cookie with the session's key. The prefix has browsers refuse it from anywhere else."""
        return "__Host-adjudge" if self.https else "adjudge"

    def csrf_of(self, key: str) -> str:
        """What forms of a session bring back."""
        return hmac.new(self.secret.encode(), b"csrf " + key.encode(), hashlib.sha256).hexdigest()

    def identify(self, request: Request) -> Identity | None:
        """Who asks; None for nobody we know."""
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme:
            return self._by_token(request, token.strip()) if scheme.lower() == "bearer" else None
        if key := request.cookies.get(self.cookie):
            user = self.users.by_session(key)
            if user is not None:
                return Identity(user, "session", self.csrf_of(key))
        if is_loopback(self.host) and not self.users.any():
            return Identity(LOCAL, "local", self.csrf_of(""))
        return None

    def _by_token(self, request: Request, token: str) -> Identity | None:
        user = self.check_token(address_of(request), token)
        return None if user is None else Identity(user, "token", "")

    def check_token(self, address: str, token: str) -> User | None:
        """Whose token that is.

        Raises:
            HTTPException: That address tried too many wrong ones.
        """
        wait_s = self.attempts.wait_s(address)
        if wait_s > 0:
            raise HTTPException(
                429, "too many wrong tokens; wait a moment", {"retry-after": str(int(wait_s) + 1)}
            )
        user = self.users.by_token(token)
        if user is None:
            self.attempts.fail(address)
        return user


def address_of(request: Request) -> str:
    """Where a request comes from, as far as wrong tokens are counted by it.

    Behind a proxy that is what the proxy says, which is the last address: whoever asks wrote those before it.
    """
    access: Access = request.app.state.access
    if access.https and (given := request.headers.get("x-forwarded-for")):
        return given.rpartition(",")[2].strip()[:64]
    return request.client.host if request.client is not None else "unknown"


class Need:
    """A dependency that lets those pass who have a role, or everybody.

    Args:
        role: The least that suffices; None: anybody, signed in or not.
    """

    def __init__(self, role: Role | None) -> None:
        self.role = role

    async def __call__(self, request: Request) -> None:
        """Let the request pass, or raise what it is answered with."""
        access: Access = request.app.state.access
        identity = await run_in_threadpool(access.identify, request)
        request.state.identity = identity
        if self.role is None:
            return
        if identity is None:
            raise SignInNeeded
        if not identity.user.role.covers(self.role):
            raise HTTPException(403, f"{self.role.value}s may do that; you are {_a(identity.user.role)}")
        if request.method not in _SAFE and identity.by != "token":
            await _check_csrf(request, identity)


def _a(role: Role) -> str:
    return f"{'an' if role.value[0] in 'aeiou' else 'a'} {role.value}"


async def _check_csrf(request: Request, identity: Identity) -> None:
    given = request.headers.get("x-csrf-token")
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if given is None and kind in ("application/x-www-form-urlencoded", "multipart/form-data"):
        field_ = (await request.form()).get("csrf")
        given = field_ if isinstance(field_, str) else None
    if given is None or not hmac.compare_digest(given.encode(), identity.csrf.encode()):
        raise HTTPException(403, "the form is too old, or not from here; go back, reload and try again")


def needs(role: Role) -> Any:
    """What a route says whose role is at least that."""
    return Depends(Need(role))


def open_to_all() -> Any:
    """What a route says that needs no role."""
    return Depends(Need(None))


def identity_of(request: Request) -> Identity | None:
    """Who asks, once the route's role was checked."""
    found: Identity | None = getattr(request.state, "identity", None)
    return found
