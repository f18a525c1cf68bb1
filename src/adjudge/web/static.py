"""Style sheets and scripts, read once when the view starts: no path in a request reaches the file system."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import NamedTuple

from fastapi import APIRouter, HTTPException, Request, Response

from adjudge.web.access.identity import open_to_all

__all__ = ["StaticFiles", "router"]

_FOLDER = Path(__file__).parent / "static"
_KINDS = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}

router = APIRouter()


class _File(NamedTuple):
    data: bytes
    kind: str
    digest: str


class StaticFiles:
    """The files below a folder, by their names."""

    def __init__(self, folder: Path = _FOLDER) -> None:
        self._files = {
            file.relative_to(folder).as_posix(): _File(
                file.read_bytes(), _KINDS[file.suffix], hashlib.sha256(file.read_bytes()).hexdigest()[:16]
            )
            for file in sorted(folder.rglob("*"))
            if file.suffix in _KINDS
        }

    def url(self, name: str) -> str:
        """Where a file is; the address changes with its content, so browsers may keep it."""
        return f"/static/{name}?v={self._files[name].digest}"

    def get(self, name: str) -> _File | None:
        """A file."""
        return self._files.get(name)


@router.get("/static/{name:path}", dependencies=[open_to_all()], include_in_schema=False)
def read_static(request: Request, name: str, v: str = "") -> Response:
    """A style sheet or a script."""
    files: StaticFiles = request.app.state.static
    file = files.get(name)
    if file is None:
        raise HTTPException(404, "there is no such file")
    kept = "max-age=31536000, immutable" if v == file.digest else "no-cache"
    headers = {"etag": f'"{file.digest}"', "cache-control": kept}
    if request.headers.get("if-none-match") == headers["etag"]:
        return Response(status_code=304, headers=headers)
    return Response(file.data, media_type=file.kind, headers=headers)
