"""Plain text: whatever an agent printed, as what it said. The last resort, so it recognises everything."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, ClassVar

from adjudge.records.trace import MAX_TEXT, Message, TraceItem

__all__ = ["PlainText"]


class PlainText:
    """Output without a structure of its own."""

    name: ClassVar[str] = "text"

    def recognises(self, head: bytes, filename: str) -> bool:
        """Whether the beginning looks like text."""
        return b"\x00" not in head

    def events(self, stream: BinaryIO) -> Iterator[TraceItem]:
        """One message with everything, its middle left out when it is long."""
        head = stream.read(2 * MAX_TEXT)
        tail = b""
        size = len(head)
        while chunk := stream.read(2 * MAX_TEXT):
            size += len(chunk)
            tail = (tail + chunk)[-2 * MAX_TEXT :]
        text = (head + tail).decode("utf-8-sig", "replace")
        if not text.strip():
            return
        yield Message(role="assistant", text=text, dropped=size - len(head) - len(tail))
