"""A small server that speaks as much S3 as a blob store needs, on loopback."""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

import pytest


class S3Handler(BaseHTTPRequestHandler):
    """Objects by path; parts of uploads until they are put together."""

    protocol_version = "HTTP/1.1"
    server: Any

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing."""

    def _asked(self) -> tuple[str, dict[str, str]]:
        parts = urlsplit(self.path)
        query = parse_qs(parts.query, keep_blank_values=True)
        return unquote(parts.path).lstrip("/"), {key: values[0] for key, values in query.items()}

    def _body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def _answer(self, code: int, body: bytes = b"", **headers: str) -> None:
        self.send_response(code)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _object(self) -> None:
        key, query = self._asked()
        objects: dict[str, bytes] = self.server.objects
        if query.get("list-type") == "2":
            prefix = f"{key.rstrip('/')}/{query.get('prefix', '')}"
            listed = "".join(
                f"<Contents><Key>{escape(name.partition('/')[2])}</Key><Size>{len(data)}</Size>"
                f"<LastModified>{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.000Z}</LastModified><ETag>{_etag(data)}</ETag></Contents>"
                for name, data in sorted(objects.items())
                if name.startswith(prefix)
            )
            page = f"<ListBucketResult><IsTruncated>false</IsTruncated>{listed}</ListBucketResult>"
            self._answer(200, page.encode())
            return
        if key not in objects:
            self._answer(404, b"<Error><Code>NoSuchKey</Code></Error>")
            return
        data, code, more = objects[key], 200, {}
        if asked := re.match(r"bytes=(\d+)-(\d*)$", self.headers.get("Range") or ""):
            first, last = int(asked[1]), min(int(asked[2] or len(data) - 1), len(data) - 1)
            more = {"Content_Range": f"bytes {first}-{last}/{len(data)}"}
            data, code = data[first : last + 1], 206
        if self.command == "HEAD":
            more["Content_Length"] = str(len(data))
        self._answer(code, data, ETag=_etag(objects[key]), Last_Modified=formatdate(usegmt=True), **more)

    def do_GET(self) -> None:
        """An object or a listing."""
        self._object()

    def do_HEAD(self) -> None:
        """An object's size and age."""
        self._object()

    def do_PUT(self) -> None:
        """An object, or a part of one."""
        key, query = self._asked()
        body = self._body()
        if "partNumber" in query:
            self.server.parts.setdefault(query["uploadId"], {})[int(query["partNumber"])] = body
        else:
            self.server.objects[key] = body
        self._answer(200, ETag=_etag(body))

    def do_POST(self) -> None:
        """The beginning or the end of an upload in parts, or the removal of several objects."""
        key, query = self._asked()
        body = self._body()
        if "delete" in query:
            bucket = key.rstrip("/")
            keys = re.findall(r"<Key>([^<]*)</Key>", body.decode())
            for name in keys:
                self.server.objects.pop(f"{bucket}/{name}", None)
            listed = "".join(f"<Deleted><Key>{escape(name)}</Key></Deleted>" for name in keys)
            self._answer(200, f"<DeleteResult>{listed}</DeleteResult>".encode())
        elif "uploads" in query:
            page = "<InitiateMultipartUploadResult><UploadId>1</UploadId></InitiateMultipartUploadResult>"
            self._answer(200, page.encode())
        else:
            parts = self.server.parts.pop(query["uploadId"])
            self.server.objects[key] = b"".join(parts[number] for number in sorted(parts))
            page = "<CompleteMultipartUploadResult><ETag>x</ETag></CompleteMultipartUploadResult>"
            self._answer(200, page.encode())

    def do_DELETE(self) -> None:
        """The removal of an object."""
        key, _ = self._asked()
        self.server.objects.pop(key, None)
        self._answer(204)


def _etag(data: bytes) -> str:
    return f'"{hashlib.sha256(data).hexdigest()[:32]}"'


@pytest.fixture
def s3_endpoint() -> Iterator[str]:
    """The address of a server without any object."""
    server: Any = ThreadingHTTPServer(("127.0.0.1", 0), S3Handler)
    server.daemon_threads = True
    server.objects, server.parts = {}, {}
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    thread.join()
