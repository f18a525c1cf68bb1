"""Blobs in a directory: content-addressed bytes, zstd-compressed, written once and never changed.

    ab/cdef….zst      the bytes whose sha256 is abcdef…
    .incoming-…       bytes on their way in; what a killed process left there is swept by `gc`

Equal bytes are one file. The digest is checked while a blob is read, so damage never passes for content.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import re
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast

import zstandard

from adjudge.errors import StoreError, boundary
from adjudge.formats.blobs import BlobDescriber
from adjudge.records.base import BlobRef

__all__ = ["CHUNK", "LEVEL", "BlobDirectory", "BlobFile", "VerifiedBlob", "digest_at", "place_of"]

_INCOMING = ".incoming-"
_NAME = re.compile(r"^([0-9a-f]{2})/([0-9a-f]{62})\.zst$")
CHUNK = 128 * 1024
_MAX_WINDOW = 1 << 27
"""What a frame may ask a reader to hold; ours ask for far less."""
LEVEL = 3
"""How hard zstd tries; higher ones take several times as long for a tenth less."""


def place_of(digest: str) -> str:
    """Where a blob lies, relative to the root of its store."""
    hexadecimal = digest.removeprefix("sha256:")
    return f"{hexadecimal[:2]}/{hexadecimal[2:]}.zst"


def digest_at(place: str) -> str | None:
    """The digest of the blob at a place; None for what is no blob's place."""
    match = _NAME.match(place)
    return None if match is None else f"sha256:{match[1]}{match[2]}"


class BlobDirectory:
    """A `contracts.KeptBlobs` in a directory.

    Args:
        root: The directory; made when the first blob is written.
        durable: Whether a blob has to survive a loss of power once it is committed.
    """

    def __init__(self, root: Path, *, durable: bool = False) -> None:
        self._root = root
        self._durable = durable

    def __str__(self) -> str:
        return str(self._root)

    def writer(self) -> BlobFile:
        """Start a new blob, streamed to a temporary file beside its final place."""
        return BlobFile(self._root, durable=self._durable)

    def open(self, ref: BlobRef) -> BinaryIO:
        """Open a stored blob for reading; its digest is checked when the end is reached."""
        with boundary(StoreError, f"blob {ref.digest} cannot be read"):
            file = (self._root / place_of(ref.digest)).open("rb")
        return cast("BinaryIO", io.BufferedReader(VerifiedBlob(file, ref.digest), CHUNK))

    def has(self, digest: str) -> bool:
        """Whether a blob is here."""
        return (self._root / place_of(digest)).is_file()

    def age_s(self, digest: str) -> float | None:
        """For how long a blob has been here since it was last written; None when it is not."""
        try:
            return max(0.0, time.time() - (self._root / place_of(digest)).stat().st_mtime)
        except FileNotFoundError:
            return None

    def digests(self) -> Iterator[str]:
        """Every blob, in no order."""
        with boundary(StoreError, f"blob store {self._root} cannot be listed"):
            folders = sorted(self._root.iterdir()) if self._root.is_dir() else []
            for folder in folders:
                if len(folder.name) != 2 or not folder.is_dir():
                    continue
                for file in sorted(folder.iterdir()):
                    if (digest := digest_at(f"{folder.name}/{file.name}")) is not None:
                        yield digest

    def remove(self, digest: str) -> int:
        """Remove a blob; returns how many bytes became free."""
        file = self._root / place_of(digest)
        with boundary(StoreError, f"blob {digest} cannot be removed"):
            try:
                size = file.stat().st_size
                file.unlink()
            except FileNotFoundError:
                return 0
        return size

    def sweep(self, older_than_s: float) -> int:
        """Remove what writers that are no more left unfinished; returns how many files."""
        if not self._root.is_dir():
            return 0
        removed = 0
        with boundary(StoreError, f"blob store {self._root} cannot be swept"):
            for file in self._root.glob(f"{_INCOMING}*"):
                with contextlib.suppress(FileNotFoundError):
                    if time.time() - file.stat().st_mtime >= older_than_s:
                        file.unlink()
                        removed += 1
        return removed


class BlobFile:
    """A blob being written."""

    def __init__(self, root: Path, *, durable: bool = False) -> None:
        self._root = root
        self._durable = durable
        with boundary(StoreError, f"blob store {root} cannot be written"):
            root.mkdir(parents=True, exist_ok=True)
            descriptor, name = tempfile.mkstemp(prefix=_INCOMING, dir=root)
        self._file = os.fdopen(descriptor, "wb")
        self._compressed: Any = zstandard.ZstdCompressor(level=LEVEL).stream_writer(self._file, closefd=False)
        self._temporary = Path(name)
        self._describer = BlobDescriber()
        self._done = False

    def write(self, data: bytes) -> None:
        """Append `data`."""
        with boundary(StoreError, "blob cannot be written"):
            self._compressed.write(data)
        self._describer.update(data)

    def commit(self, *, size_bytes: int | None = None) -> BlobRef:
        """Move the bytes to their final place, atomically.

        What lies there already is replaced: it has the same content, unless it was damaged, and `gc` goes by
        when a blob was last written.
        """
        digest = self._describer.digest
        target = self._root / place_of(digest)
        with boundary(StoreError, f"blob {digest} cannot be kept"):
            self._compressed.close()
            if self._durable:
                self._file.flush()
                os.fsync(self._file.fileno())
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
        with contextlib.suppress(zstandard.ZstdError):
            self._compressed.close()
        self._file.close()
        with contextlib.suppress(FileNotFoundError):
            self._temporary.unlink()


class VerifiedBlob(io.RawIOBase):
    """The bytes of a compressed blob, whose digest is checked at their end.

    Reading raises `StoreError` where the bytes turn out not to be those that were kept.
    """

    def __init__(self, compressed: BinaryIO, digest: str) -> None:
        self._compressed = compressed
        self._digest = digest
        self._hash = hashlib.sha256()
        self._reader: Any = zstandard.ZstdDecompressor(max_window_size=_MAX_WINDOW).stream_reader(
            compressed, read_across_frames=False
        )

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # every buffer is one here
        """Fill `buffer`; 0 at the end, and only when the digest is right."""
        with boundary(StoreError, f"blob {self._digest} is damaged"):
            count: int = self._reader.readinto(buffer)
        if count:
            self._hash.update(buffer[:count])
        elif f"sha256:{self._hash.hexdigest()}" != self._digest:
            raise StoreError(
                f"blob {self._digest} is damaged: its content has another digest",
                hint="`adjudge store check` names what needs it",
            )
        return count

    def close(self) -> None:
        """Let go of the file."""
        if not self.closed:
            self._reader.close()
            self._compressed.close()
        super().close()
