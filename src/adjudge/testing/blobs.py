"""A blob store in memory, for tests that want to see what was kept."""

from __future__ import annotations

import io
from typing import BinaryIO

from adjudge.errors import StoreError
from adjudge.formats.blobs import BlobDescriber
from adjudge.records.base import BlobRef

__all__ = ["MemoryBlobs"]


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

    def has(self, digest: str) -> bool:
        """Whether a blob was kept."""
        return digest in self.kept


class MemoryBlob:
    """A blob being written."""

    def __init__(self, kept: dict[str, bytes]) -> None:
        self._kept = kept
        self._data = bytearray()
        self._describer = BlobDescriber()

    def write(self, data: bytes) -> None:
        """Append `data`."""
        self._data += data
        self._describer.update(data)

    def commit(self, *, size_bytes: int | None = None) -> BlobRef:
        """Keep the bytes under their digest."""
        self._kept[self._describer.digest] = bytes(self._data)
        return self._describer.describe(size_bytes=size_bytes, stored=True)

    def abort(self) -> None:
        """Forget the bytes."""
        self._data.clear()
