"""What all records share: immutability, strictness, digests, and references to bytes kept elsewhere."""

from __future__ import annotations

import hashlib
import json
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, StringConstraints

__all__ = ["BlobRef", "Digest", "Record", "digest_bytes", "digest_json"]

Digest = Annotated[str, StringConstraints(pattern=r"^sha256:[0-9a-f]{64}$")]
"""`sha256:` and 64 hexadecimal digits."""


class Record(BaseModel):
    """A frozen noun. Unknown fields are refused; values are finite; nothing here touches the disk."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        defer_build=True,
        allow_inf_nan=False,
        use_attribute_docstrings=True,
    )


class BlobRef(Record):
    """Bytes that may be large, by digest, with enough of both ends to show a reader.

    `head` and `tail` are decoded with replacement: they are for people. Whoever needs the bytes opens the
    blob. `stored` says whether a blob store holds them; output of a run nobody asked to keep is not stored.
    """

    digest: Digest
    """Digest of the bytes kept (see `truncated`)."""
    size_bytes: int
    """How many bytes there were in all, kept or not."""
    head: str = ""
    tail: str = ""
    """The last part; empty when `head` already holds everything."""
    truncated: bool = False
    """Whether bytes beyond a cap were dropped, so that the blob is shorter than `size_bytes`."""
    stored: bool = False

    @property
    def text(self) -> str:
        """Head and tail as one readable text, with a mark where bytes were left out."""
        if not self.tail:
            return self.head
        return f"{self.head}\n[… {self.size_bytes} bytes in all …]\n{self.tail}"


def digest_bytes(data: bytes) -> str:
    """Digest of `data` in the form records use."""
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def digest_json(value: Any) -> str:
    """Digest of a JSON value, independent of key order, white space and machine.

    Canonical form: sorted keys, no insignificant white space, UTF-8, no NaN or infinity.
    """
    canonical = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return digest_bytes(canonical.encode("utf-8", "surrogateescape"))
