"""A blob store in memory, for tests that want to see what was kept."""

from __future__ import annotations

import io
from typing import BinaryIO

from adjudge.errors import StoreError
from adjudge.records.base import BlobRef, digest_bytes

__all__ = ["MemoryBlobs"]

_END_BYTES = 4096


class MemoryBlobs:
    """A `contracts.BlobStore` that keeps everything in a dictionary."""

    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}

    def writer(self) -> MemoryBlob:
        """Start a new blob."""
        return MemoryBlob(self.kept)

    def open(self, ref: BlobRef) -> BinaryIO:
        """Open a kept blob."""
        if ref.digest not in self.kept:
            raise StoreError(f"blob {ref.digest} was never kept")
        return io.BytesIO(self.kept[ref.digest])


class MemoryBlob:
    """A blob being written."""

    def __init__(self, kept: dict[str, bytes]) -> None:
        self._kept = kept
        self._data = bytearray()

    def write(self, data: bytes) -> None:
        """Append `data`."""
        self._data += data

    def commit(self, *, size_bytes: int | None = None) -> BlobRef:
        """Keep the bytes under their digest."""
        data = bytes(self._data)
        digest = digest_bytes(data)
        self._kept[digest] = data
        total = len(data) if size_bytes is None else size_bytes
        return BlobRef(
            digest=digest,
            size_bytes=total,
            head=data[:_END_BYTES].decode("utf-8", "replace"),
            tail=data[_END_BYTES:][-_END_BYTES:].decode("utf-8", "replace"),
            truncated=total > len(data),
            stored=True,
        )

    def abort(self) -> None:
        """Forget the bytes."""
        self._data.clear()
