"""Blobs: content-addressed bytes in a directory, written once and never changed."""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from pathlib import Path
from typing import BinaryIO

from adjudge.errors import StoreError, boundary
from adjudge.records.base import BlobRef

__all__ = ["BlobDirectory", "BlobFile"]

_END_BYTES = 4096
"""How much of each end a `BlobRef` carries: enough for a failing assertion and its traceback."""


class BlobDirectory:
    """A `contracts.BlobStore` in a directory: `ab/cdef…` under the blob's digest."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def writer(self) -> BlobFile:
        """Start a new blob, streamed to a temporary file beside its final place."""
        return BlobFile(self._root)

    def open(self, ref: BlobRef) -> BinaryIO:
        """Open a stored blob for reading."""
        with boundary(StoreError, f"blob {ref.digest} cannot be read"):
            return (self._root / _place(ref.digest)).open("rb")


class BlobFile:
    """A blob being written."""

    def __init__(self, root: Path) -> None:
        self._root = root
        with boundary(StoreError, f"blob store {root} cannot be written"):
            root.mkdir(parents=True, exist_ok=True)
            descriptor, name = tempfile.mkstemp(prefix=".incoming-", dir=root)
        self._file = os.fdopen(descriptor, "wb")
        self._temporary = Path(name)
        self._hash = hashlib.sha256()
        self._size = 0
        self._head = b""
        self._tail = b""
        self._done = False

    def write(self, data: bytes) -> None:
        """Append `data`."""
        with boundary(StoreError, "blob cannot be written"):
            self._file.write(data)
        self._hash.update(data)
        self._size += len(data)
        if len(self._head) < _END_BYTES:
            taken = _END_BYTES - len(self._head)
            self._head += data[:taken]
            data = data[taken:]
        self._tail = (self._tail + data[-_END_BYTES:])[-_END_BYTES:]

    def commit(self, *, size_bytes: int | None = None) -> BlobRef:
        """Move the bytes to their final place, atomically."""
        digest = f"sha256:{self._hash.hexdigest()}"
        target = self._root / _place(digest)
        with boundary(StoreError, f"blob {digest} cannot be kept"):
            self._file.close()
            target.parent.mkdir(exist_ok=True)
            self._temporary.replace(target)
        self._done = True
        total = self._size if size_bytes is None else size_bytes
        return BlobRef(
            digest=digest,
            size_bytes=total,
            head=self._head.decode("utf-8", "replace"),
            tail=self._tail.decode("utf-8", "replace"),
            truncated=total > self._size,
            stored=True,
        )

    def abort(self) -> None:
        """Remove what was written so far."""
        if self._done:
            return
        self._done = True
        self._file.close()
        with contextlib.suppress(FileNotFoundError):
            self._temporary.unlink()


def _place(digest: str) -> str:
    hexadecimal = digest.removeprefix("sha256:")
    return f"{hexadecimal[:2]}/{hexadecimal[2:]}"
