"""Blobs: content-addressed bytes in a directory, written once and never changed."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path
from typing import BinaryIO

from adjudge.errors import StoreError, boundary
from adjudge.formats.blobs import BlobDescriber
from adjudge.records.base import BlobRef

__all__ = ["BlobDirectory", "BlobFile"]


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
        self._describer = BlobDescriber()
        self._done = False

    def write(self, data: bytes) -> None:
        """Append `data`."""
        with boundary(StoreError, "blob cannot be written"):
            self._file.write(data)
        self._describer.update(data)

    def commit(self, *, size_bytes: int | None = None) -> BlobRef:
        """Move the bytes to their final place, atomically."""
        digest = self._describer.digest
        target = self._root / _place(digest)
        with boundary(StoreError, f"blob {digest} cannot be kept"):
            self._file.close()
            target.parent.mkdir(exist_ok=True)
            self._temporary.replace(target)
        self._done = True
        return self._describer.describe(size_bytes=size_bytes, stored=True)

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
