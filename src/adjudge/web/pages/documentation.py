"""What the API offers, as a document for programs and a page for people."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from adjudge.records.user import Role
from adjudge.web.access.identity import needs
from adjudge.web.rendering import render

__all__ = ["router"]

router = APIRouter()


@router.get("/api/v1/openapi.json", dependencies=[needs(Role.VIEWER)])
def read_openapi(request: Request) -> Response:
    """The API as an OpenAPI document."""
    return JSONResponse(request.app.openapi())


@router.get("/api", dependencies=[needs(Role.VIEWER)])
def show_api(request: Request) -> Response:
    """Every operation of the API, with its parameters."""
    document: dict[str, Any] = request.app.openapi()
    operations = [
        {"method": method.upper(), "path": path, **operation}
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]
    return render(
        request, "api.html", operations=operations, description=document["info"]["description"].split("\n\n")
    )
