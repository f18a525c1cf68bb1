"""Blobs in an object store: S3 and what speaks like it, through obstore.

The same names and the same bytes as in a directory (`adjudge.store.blobs`), so one can be copied to the other
with any tool. How to reach it (keys, region, endpoint) comes from the environment, in the names that its own
tools use, such as AWS_ENDPOINT_URL.
"""

from __future__ import annotations

import importlib
import io
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, BinaryIO, cast

import zstandard

from adjudge.errors import AdjudgeError, ConfigInvalid, StoreError
from adjudge.formats.blobs import BlobDescriber
from adjudge.records.base import BlobRef
from adjudge.store.blobs import CHUNK, LEVEL, VerifiedBlob, digest_at, place_of

__all__ = ["ObjectBlob", "ObjectBlobs"]

_IN_MEMORY = 4 * 1024 * 1024
"""Up to how many compressed bytes a blob waits in memory; what is larger waits in a file."""
_FRESH_S = 3600.0
"""A blob that was written less long ago need not be written again: no garbage collection goes for it."""


class ObjectBlobs:
    """A `contracts.KeptBlobs` behind an address such as `s3://bucket/prefix`.

    Args:
        address: Where.
        store: An obstore store to use instead of the one the address names.
    """

    def __init__(self, address: str, *, store: Any = None) -> None:
        self._address = address
        self._obstore = _load()
        if store is None:
            with _classified(ConfigInvalid, f"ADJUDGE_BLOBS: {address} cannot be used"):
                store = importlib.import_module("obstore.store").from_url(address)
        self._store = store

    def __str__(self) -> str:
        return self._address

    def writer(self) -> ObjectBlob:
        """Start a new blob. It is sent when it is whole, since only then its name is known."""
        return ObjectBlob(self)

    def open(self, ref: BlobRef) -> BinaryIO:
        """Open a stored blob for reading; its digest is checked when the end is reached."""
        with _classified(StoreError, f"blob {ref.digest} cannot be read from {self._address}"):
            reader = self._obstore.open_reader(self._store, place_of(ref.digest))
        source = cast("BinaryIO", io.BufferedReader(_ObjectBytes(reader, self._address), CHUNK))
        return cast("BinaryIO", io.BufferedReader(VerifiedBlob(source, ref.digest), CHUNK))

    def has(self, digest: str) -> bool:
        """Whether a blob is here."""
        return self.age_s(digest) is not None

    def age_s(self, digest: str) -> float | None:
        """For how long a blob has been here since it was last written; None when it is not."""
        with _classified(StoreError, f"blob {digest} cannot be looked up in {self._address}"):
            try:
                found = self._obstore.head(self._store, place_of(digest))
            except FileNotFoundError:
                return None
        return max(0.0, float((datetime.now(UTC) - found["last_modified"]).total_seconds()))

    def digests(self) -> Iterator[str]:
        """Every blob, in no order."""
        with _classified(StoreError, f"{self._address} cannot be listed"):
            for page in self._obstore.list(self._store):
                for item in page:
                    if (digest := digest_at(item["path"])) is not None:
                        yield digest

    def remove(self, digest: str) -> int:
        """Remove a blob; returns how many bytes became free."""
        place = place_of(digest)
        with _classified(StoreError, f"blob {digest} cannot be removed from {self._address}"):
            try:
                size = int(self._obstore.head(self._store, place)["size"])
            except FileNotFoundError:
                return 0
            self._obstore.delete(self._store, place)
        return size

    def sweep(self, older_than_s: float) -> int:
        """Nothing is ever left unfinished: a blob appears whole."""
        return 0

    def put(self, digest: str, data: BinaryIO) -> None:
        """Keep compressed bytes under a digest, unless they have just been kept."""
        age_s = self.age_s(digest)
        if age_s is None or age_s > _FRESH_S:
            with _classified(StoreError, f"blob {digest} cannot be kept in {self._address}"):
                self._obstore.put(self._store, place_of(digest), data)


class ObjectBlob:
    """A blob being written."""

    def __init__(self, blobs: ObjectBlobs) -> None:
        self._blobs = blobs
        # Closed by `commit` or `abort`, one of which ends every writer.
        self._file = tempfile.SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115
        self._compressed: Any = zstandard.ZstdCompressor(level=LEVEL).stream_writer(
            cast("BinaryIO", self._file), closefd=False
        )
        self._describer = BlobDescriber()

    def write(self, data: bytes) -> None:
        """Append `data`."""
        with _classified(StoreError, "blob cannot be written"):
            self._compressed.write(data)
        self._describer.update(data)

    def commit(self, *, size_bytes: int | None = None) -> BlobRef:
        """Send the bytes."""
        with _classified(StoreError, f"blob {self._describer.digest} cannot be kept"):
            self._compressed.close()
            self._file.seek(0)
            self._blobs.put(self._describer.digest, cast("BinaryIO", self._file))
        self._file.close()
        return self._describer.describe(size_bytes=size_bytes, stored=True)

    def abort(self) -> None:
        """Forget the bytes."""
        self._file.close()


class _ObjectBytes(io.RawIOBase):
    """The bytes of an object, as they lie there."""

    def __init__(self, reader: Any, address: str) -> None:
        self._reader = reader
        self._address = address

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        with _classified(StoreError, f"{self._address} cannot be read"):
            data = bytes(self._reader.read(len(buffer)))
        buffer[: len(data)] = data
        return len(data)


def _load() -> Any:
    try:
        return importlib.import_module("obstore")
    except ImportError as error:
        raise StoreError(
            "object stores are reached with obstore, which is not installed",
            hint="pip install 'adjudge[objects]'",
        ) from error


@contextmanager
def _classified(kind: type[AdjudgeError], doing: str) -> Iterator[None]:
    """Like `errors.boundary`, with the first line of what obstore says: the rest is for its developers."""
    try:
        yield
    except (AdjudgeError, FileNotFoundError) as error:
        if isinstance(error, FileNotFoundError):
            raise kind(f"{doing}: it is not there") from error
        raise
    except Exception as error:
        said = (str(error) or type(error).__name__).splitlines()[0]
        raise kind(f"{doing}: {said}") from error
