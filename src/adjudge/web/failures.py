"""Errors as answers: a page for people, a small document for programs. Never a traceback."""

from __future__ import annotations

import logging
from typing import Any
from urllib.parse import quote

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, RedirectResponse
from starlette.exceptions import HTTPException as AnyHTTPException

from adjudge.errors import AdjudgeError, UsageError
from adjudge.web.access.guard import HEADERS
from adjudge.web.access.identity import SignInNeeded
from adjudge.web.rendering import render

__all__ = ["install"]

_LOG = logging.getLogger(__name__)
_TITLES = {
    400: "That cannot be shown",
    401: "Sign in first",
    403: "Not allowed",
    404: "Not found",
    422: "That cannot be shown",
    429: "Too many attempts",
}


def install(app: FastAPI) -> None:
    """Have an application answer errors like this."""
    app.add_exception_handler(AnyHTTPException, _refused)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(AdjudgeError, _ours)
    app.add_exception_handler(Exception, _crashed)


async def _refused(request: Request, error: Any) -> Response:
    assert isinstance(error, AnyHTTPException)
    wants_page = request.method in ("GET", "HEAD") and not _is_api(request)
    if isinstance(error, SignInNeeded) and wants_page:
        here = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        return RedirectResponse(f"/sign-in?next={quote(here, safe='')}", 303)
    return _answer(request, error.status_code, str(error.detail), error.headers)


async def _invalid(request: Request, error: Any) -> Response:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"] if part not in ("query", "path", "body"))
    return _answer(request, 422, f"{where}: {first['msg']}" if where else str(first["msg"]))


async def _ours(request: Request, error: Any) -> Response:
    assert isinstance(error, AdjudgeError)
    if isinstance(error, UsageError):
        return _answer(request, 400, str(error))
    # It may name files and servers, which are no reader's business.
    _LOG.error("%s %s: %s", request.method, request.url.path, error)
    return _answer(request, 503, "that could not be read just now; the view's log says why")


async def _crashed(request: Request, error: Any) -> Response:
    # Sent past the guard, which puts these on everything else.
    return _answer(request, 500, "this is a bug in adjudge; its log says more", dict(HEADERS))


def _is_api(request: Request) -> bool:
    return request.url.path.startswith("/api/")


def _answer(request: Request, status: int, message: str, headers: Any = None) -> Response:
    if _is_api(request):
        return JSONResponse({"detail": message}, status, headers)
    title = _TITLES.get(status, "Something went wrong")
    return render(request, "failure.html", status, headers, title=title, message=message)
