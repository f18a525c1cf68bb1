"""A stream of bytes as a `BlobRef`, described while it passes: digest, size, both ends, never held whole."""

from __future__ import annotations

import hashlib

from adjudge.records.base import BlobRef

__all__ = ["BlobDescriber", "UnstoredBlob"]

_END_BYTES = 4096
"""How much of each end a `BlobRef` carries: enough for a failing assertion and its traceback."""


class BlobDescriber:
    """Takes bytes in as they pass and describes them at the end."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()
        self._size = 0
        self._head = b""
        self._tail = b""

    @property
    def digest(self) -> str:
        """Digest of what was taken in so far."""
        return f"sha256:{self._hash.hexdigest()}"

    def update(self, data: bytes) -> None:
        """Take `data` in."""
        self._hash.update(data)
        self._size += len(data)
        if len(self._head) < _END_BYTES:
            taken = _END_BYTES - len(self._head)
            self._head += data[:taken]
            data = data[taken:]
        self._tail = (self._tail + data[-_END_BYTES:])[-_END_BYTES:]

    def describe(self, *, size_bytes: int | None = None, stored: bool) -> BlobRef:
        """The reference. `size_bytes` says how many bytes there were in all when some were dropped."""
        total = self._size if size_bytes is None else size_bytes
        return BlobRef(
            digest=self.digest,
            size_bytes=total,
            head=self._head.decode("utf-8", "replace"),
            tail=self._tail.decode("utf-8", "replace"),
            truncated=total > self._size,
            stored=stored,
        )


class UnstoredBlob:
    """A `contracts.BlobWriter` without a store: what passed is described, the bytes are forgotten."""

    def __init__(self) -> None:
        self._describer = BlobDescriber()

    def write(self, data: bytes) -> None:
        """Take `data` in."""
        self._describer.update(data)

    def commit(self, *, size_bytes: int | None = None) -> BlobRef:
        """Describe what was taken in."""
        return self._describer.describe(size_bytes=size_bytes, stored=False)

    def abort(self) -> None:
        """Nothing to forget."""
