"""Style sheets and scripts, read once when the view starts: no path in a request reaches the file system."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import NamedTuple

from fastapi import APIRouter, HTTPException, Request, Response

from adjudge.reports.charts.svg import charts_css
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


def _file(data: bytes, suffix: str) -> _File:
    return _File(data, _KINDS[suffix], hashlib.sha256(data).hexdigest()[:16])


class StaticFiles:
    """The files below a folder, by their names."""

    def __init__(self, folder: Path = _FOLDER) -> None:
        self._files = {
            file.relative_to(folder).as_posix(): _file(file.read_bytes(), file.suffix)
            for file in sorted(folder.rglob("*"))
            if file.suffix in _KINDS
        }
        # Charts bring their own: reports in one file use it, too.
        self._files["css/charts.css"] = _file(charts_css().encode(), ".css")

    def url(self, name: str) -> str:
        """Where a file is; the address changes with its content, so browsers may keep it.

        A script keeps its plain address: others import it by that; under two it would run twice.
        """
        digest = self._files[name].digest
        return f"/static/{name}" if name.endswith(".js") else f"/static/{name}?v={digest}"

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
