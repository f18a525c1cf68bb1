"""Names of git objects: which contents a repository holds can be told without reading any of them."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator

__all__ = ["blob_id", "packed_ids"]

_MAGIC = b"\xfftOc\x00\x00\x00\x02"
_ID_BYTES = 20


def blob_id(data: bytes) -> str:
    """The name that git gives to a file's content."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def packed_ids(index: bytes) -> Iterator[str]:
    """The names of all objects that the index of a pack lists; none when it is not such an index."""
    start = len(_MAGIC) + 256 * 4
    if not index.startswith(_MAGIC) or len(index) < start:
        return
    (count,) = struct.unpack(">I", index[start - 4 : start])
    for number in range(min(count, (len(index) - start) // _ID_BYTES)):
        place = start + number * _ID_BYTES
        yield index[place : place + _ID_BYTES].hex()
