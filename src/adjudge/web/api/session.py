"""Who asks, as the API sees it."""

from __future__ import annotations

from fastapi import APIRouter, Request
from pydantic import BaseModel

from adjudge.records.user import Role
from adjudge.web.access.identity import identity_of, needs

__all__ = ["Session", "router"]

router = APIRouter(tags=["session"])


class Session(BaseModel):
    """Who asks."""

    user: str
    role: Role
    csrf: str
    """For the header `X-CSRF-Token` of what changes something; empty with a token, which needs none."""


@router.get("/session", dependencies=[needs(Role.VIEWER)])
def read_session(request: Request) -> Session:
    """Who asks, and what they may do."""
    identity = identity_of(request)
    assert identity is not None
    return Session(user=identity.user.name, role=identity.user.role, csrf=identity.csrf)
