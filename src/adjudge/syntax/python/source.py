"""Python source as text with byte-exact positions, and edits that keep every line where it was.

Positions are those of `ast`: 1-based lines and columns counted in UTF-8 bytes. What the nodes mean is left
to the modules beside this one.
"""

from __future__ import annotations

import ast
import codecs
import io
import tokenize
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

__all__ = ["Edit", "PythonSource", "SourceUnreadable"]


class SourceUnreadable(ValueError):
    """The bytes are not Python that this interpreter can parse."""


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the bytes from `start` to `end` (offsets into the UTF-8 text) with `text`."""

    start: int
    end: int
    text: str


class PythonSource:
    """A parsed source file.

    Raises:
        SourceUnreadable: It cannot be decoded or parsed.
    """

    def __init__(self, data: bytes) -> None:
        try:
            self.encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
            text = data.decode(self.encoding)
            self._bom = data.startswith(codecs.BOM_UTF8)
            self.utf8 = text.encode("utf-8")
            self.tree = _parse(self.utf8.decode("utf-8"))
        except (SyntaxError, UnicodeError, LookupError, ValueError, RecursionError, MemoryError) as error:
            raise SourceUnreadable(f"{type(error).__name__}: {error}") from error

    @cached_property
    def _line_starts(self) -> list[int]:
        starts = [0]
        at = 0
        data = self.utf8
        while at < len(data):
            byte = data[at]
            at += 1
            if byte == 0x0D and at < len(data) and data[at] == 0x0A:
                at += 1
            if byte in (0x0A, 0x0D):
                starts.append(at)
        return starts

    def start(self, node: ast.expr | ast.stmt | ast.keyword | ast.arg) -> int:
        """Offset of a node's first byte."""
        return self._line_starts[node.lineno - 1] + node.col_offset

    def end(self, node: ast.expr | ast.stmt | ast.keyword | ast.arg) -> int:
        """Offset after a node's last byte."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self._line_starts[node.end_lineno - 1] + node.end_col_offset

    def segment(self, node: ast.expr | ast.stmt) -> str:
        """The text of a node."""
        return self.between(self.start(node), self.end(node))

    def between(self, start: int, end: int) -> str:
        """The text between two offsets."""
        return self.utf8[start:end].decode("utf-8")

    def replace(self, node: ast.expr | ast.stmt, text: str) -> Edit:
        """An edit that puts `text` in the place of a node."""
        return Edit(self.start(node), self.end(node), text)

    def edited(self, edits: Iterable[Edit]) -> bytes:
        """The file with `edits` made, in its own encoding.

        Raises:
            ValueError: Edits overlap, change the number of lines, or leave something that does not parse
                or cannot be written in the file's encoding.
        """
        pieces: list[bytes] = []
        at = 0
        for edit in sorted(set(edits), key=lambda edit: (edit.start, edit.end)):
            if edit.start < at:
                raise ValueError("edits overlap")
            new = edit.text.encode("utf-8")
            if _lines(new) != _lines(self.utf8[edit.start : edit.end]):
                raise ValueError("an edit would move the lines after it")
            pieces += (self.utf8[at : edit.start], new)
            at = edit.end
        pieces.append(self.utf8[at:])
        text = b"".join(pieces).decode("utf-8")
        try:
            _parse(text)
        except SyntaxError as error:
            raise ValueError(f"an edit does not parse: {error}") from error
        data = text.encode("utf-8" if self._bom else self.encoding)
        return codecs.BOM_UTF8 + data if self._bom else data


def _parse(text: str) -> ast.Module:
    with warnings.catch_warnings():
        # Invalid escapes and the like are the author's business.
        warnings.simplefilter("ignore")
        return ast.parse(text)


def _lines(data: bytes) -> int:
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n").count(b"\n")
