"""Source code as coloured pieces: Pygments' classes, our bounds.

What is highlighted was written by an attempt, and a lexer is a set of regular expressions that some text
drives to its worst. So only lexers of common languages are used, on short texts with short lines, and the
clock is looked at between tokens; what does not fit is shown without colour.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from markupsafe import Markup
from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import STANDARD_TYPES, Token

from adjudge.web.rendering import text

__all__ = ["Piece", "highlight", "language_of", "markup"]

MAX_CHARS = 24_000
"""Of a text that is highlighted."""
MAX_LINE = 400
"""Of its longest line."""
MAX_SECONDS = 0.25
"""Spent on a text."""

_BY_SUFFIX = {
    "bash": "bash", "c": "c", "cc": "cpp", "cfg": "ini", "cpp": "cpp", "cs": "csharp", "css": "css",
    "go": "go", "h": "c", "hpp": "cpp", "htm": "html", "html": "html", "ini": "ini", "java": "java",
    "js": "javascript", "json": "json", "jsonl": "json", "jsx": "javascript", "kt": "kotlin",
    "mjs": "javascript", "php": "php", "py": "python", "pyi": "python", "rb": "ruby", "rs": "rust",
    "sh": "bash", "sql": "sql", "swift": "swift", "toml": "toml", "ts": "typescript", "tsx": "typescript",
    "xml": "xml", "yaml": "yaml", "yml": "yaml", "zsh": "bash",
}  # fmt: skip
_BY_NAME = {"dockerfile": "docker", "makefile": "make"}


class Piece(NamedTuple):
    """Some characters of one line, and the class of their colour."""

    style: str
    text: str


Line = tuple[Piece, ...]


def language_of(path: str) -> str | None:
    """The language of a file by its name; None: shown without colour."""
    name = path.rpartition("/")[2].lower()
    return _BY_NAME.get(name) or _BY_SUFFIX.get(name.rpartition(".")[2] if "." in name else "")


def highlight(lines: Sequence[str], language: str | None) -> list[Line]:
    """Lines (without their ends) as pieces, one list entry for each line given."""
    bare = [(Piece("", line),) if line else () for line in lines]
    if (
        language is None
        or sum(map(len, lines)) > MAX_CHARS
        or any(len(line) > MAX_LINE or "\n" in line or "\r" in line for line in lines)
    ):
        return list(bare)
    coloured = _coloured("\n".join(lines), language)
    # A lexer that lost or made up a line has misread the text.
    if coloured is None or len(coloured) != len(lines):
        return list(bare)
    for given, made in zip(lines, coloured, strict=True):
        if "".join(piece.text for piece in made) != given:
            return list(bare)
    return coloured


def _coloured(source: str, language: str) -> list[Line] | None:
    until = time.monotonic() + MAX_SECONDS
    done: list[Line] = []
    line: list[Piece] = []
    for kind, value in _lexer(language).get_tokens(source):
        if time.monotonic() > until:
            return None
        style = _style(kind)
        first, *rest = value.split("\n")
        if first:
            line.append(Piece(style, first))
        for part in rest:
            done.append(tuple(line))
            line = [Piece(style, part)] if part else []
    if line:
        done.append(tuple(line))
    # Lexers end what they read with a newline.
    return done[: source.count("\n") + 1]


@functools.lru_cache(maxsize=64)
def _lexer(language: str) -> Lexer:
    lexer: Lexer = get_lexer_by_name(language, stripnl=False, stripall=False, ensurenl=True)
    return lexer


@functools.lru_cache(maxsize=512)
def _style(kind: Any) -> str:
    """The short class of a token, of its nearest kind that has one; empty for ordinary text."""
    while kind not in STANDARD_TYPES:
        kind = kind.parent
    if kind in Token.Text or kind in Token.Error:
        return ""
    style: str = STANDARD_TYPES[kind]
    return style


def markup(line: Iterable[Piece]) -> Markup:
    """A line as HTML: every character escaped, control characters spelled out, colours as classes."""
    return Markup("").join(_spans(line))


def _spans(line: Iterable[Piece]) -> Iterator[Markup]:
    for style, part in line:
        shown = text(part)
        yield Markup('<span class="{}">{}</span>').format(style, shown) if style else shown
