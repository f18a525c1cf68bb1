"""Signing in with a token, and out again."""

from __future__ import annotations

import re
from typing import Annotated

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import RedirectResponse

from adjudge.records.user import Role
from adjudge.store.users import SESSION
from adjudge.web.access.identity import Access, address_of, identity_of, needs, open_to_all
from adjudge.web.rendering import render

__all__ = ["router"]

router = APIRouter()

_HERE = re.compile(r"/(?![/\\])[^\x00-\x20\x7f]*")


@router.get("/sign-in", dependencies=[open_to_all()])
def show_sign_in(request: Request, next: str = "/") -> Response:
    """The form for the token."""
    return render(request, "signin.html", next=_within(next), problem="")


@router.post("/sign-in", dependencies=[open_to_all()])
def sign_in(
    request: Request, token: Annotated[str, Form()] = "", next: Annotated[str, Form()] = "/"
) -> Response:
    """Start a session, for who has a token."""
    access: Access = request.app.state.access
    user = access.check_token(address_of(request), token.strip())
    if user is None:
        problem = "Nobody has that token. Ask whoever runs adjudge here for another one."
        return render(request, "signin.html", 401, next=_within(next), problem=problem)
    answer = RedirectResponse(_within(next), 303)
    answer.set_cookie(
        access.cookie,
        access.users.start_session(user.name),
        max_age=int(SESSION.total_seconds()),
        httponly=True,
        samesite="lax",
        secure=access.https,
    )
    return answer


@router.post("/sign-out", dependencies=[needs(Role.VIEWER)])
def sign_out(request: Request) -> Response:
    """End the session."""
    access: Access = request.app.state.access
    identity = identity_of(request)
    if identity is not None and identity.by == "session":
        access.users.end_session(request.cookies[access.cookie])
    answer = RedirectResponse("/sign-in", 303)
    answer.delete_cookie(access.cookie, httponly=True, samesite="lax", secure=access.https)
    return answer


def _within(path: str) -> str:
    """A path of this view; never another site's address."""
    return path if _HERE.fullmatch(path) else "/"
