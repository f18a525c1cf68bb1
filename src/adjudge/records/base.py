"""What all records share: immutability, strictness, digests, and references to bytes kept elsewhere."""

from __future__ import annotations

import hashlib
import importlib
import json
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, ConfigDict, StringConstraints

if TYPE_CHECKING:
    from pydantic import GetJsonSchemaHandler
    from pydantic_core import CoreSchema

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
    )

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """The schema, in which the string under a field describes it.

        Done here rather than with pydantic's `use_attribute_docstrings`, which parses the source of every
        class when it is made: a third of what it took to import the records.
        """
        schema = handler(core_schema)
        importlib.import_module("adjudge.records.fielddocs").describe_fields(
            cls, handler.resolve_ref_schema(schema)
        )
        return schema


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
