"""Pages that follow what is going on: scripts ask again and get an answer only when something changed."""

from __future__ import annotations

import hashlib

from fastapi import Request, Response

__all__ = ["answer_if_changed"]


def answer_if_changed(request: Request, body: str, kind: str = "text/html; charset=utf-8") -> Response:
    """A body with an ETag; without the body when the asker has it already."""
    data = body.encode("utf-8", "replace")
    tag = f'"{hashlib.sha256(data).hexdigest()[:24]}"'
    headers = {"etag": tag, "cache-control": "no-cache"}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(data, media_type=kind, headers=headers)
