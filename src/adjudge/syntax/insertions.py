"""Texts put into a source file, those around outer nodes outside of those around inner ones."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from tree_sitter import Node

__all__ = ["Insertions", "first_statement", "insert_all", "is_text", "package_name"]

_CLOSES: Final = 0
_BETWEEN: Final = 1
_OPENS: Final = 2


class Insertions:
    """Texts with the bytes they go in front of."""

    def __init__(self) -> None:
        self._parts: list[tuple[int, int, int, int, str]] = []

    def around(self, node: Node, before: str, after: str) -> None:
        """Put texts on both sides of a node."""
        # Of two that open at a byte the larger one is outside; of two that close there, too.
        span = node.end_byte - node.start_byte
        sequence = len(self._parts)
        self._parts.append((node.start_byte, _OPENS, -span, sequence, before))
        self._parts.append((node.end_byte, _CLOSES, span, -sequence, after))

    def put(self, at: int, text: str) -> None:
        """Put a text that stands alone in front of a byte: behind what closes there, before what opens."""
        self._parts.append((at, _BETWEEN, 0, len(self._parts), text))

    def in_order(self) -> tuple[tuple[int, str], ...]:
        """All of them, as they are to be inserted."""
        return tuple((at, text) for at, *_, text in sorted(self._parts))


def insert_all(source: bytes, inserted: Iterable[tuple[int, str]]) -> bytes:
    """A source with texts in front of some of its bytes, which come in order."""
    parts: list[bytes] = []
    done = 0
    for at, text in inserted:
        parts += [source[done:at], text.encode()]
        done = at
    return b"".join((*parts, source[done:]))


def is_text(statement: Node) -> bool:
    """Whether a statement is a text and nothing else, as what describes a module is."""
    inner = statement.named_children
    return statement.type == "expression_statement" and len(inner) == 1 and inner[0].type == "string"


def first_statement(root: Node) -> int:
    """Where the first statement of a Python file begins before which another may stand."""
    for child in root.named_children:
        if child.type not in ("comment", "future_import_statement") and not is_text(child):
            return child.start_byte
    return root.end_byte


def package_name(root: Node) -> str | None:
    """The package that a Go file is of."""
    for child in root.named_children:
        if child.type == "package_clause":
            name = child.named_children[0].text if child.named_children else None
            return name.decode("utf-8", "replace") if name else None
    return None
