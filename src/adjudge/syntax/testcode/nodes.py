"""What the readings of all languages share: evened-out text, numbers, names that are called."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Final

from tree_sitter import Node

from adjudge.syntax.bodies import COMMENTS, text_of

__all__ = [
    "MAX_DEPTH",
    "NO_ROWS",
    "UNKNOWN_CASES",
    "Passes",
    "arguments_of",
    "body_identity",
    "called_names",
    "children",
    "descendants",
    "first_error",
    "forget_texts",
    "line_of",
    "literals_in",
    "names_in",
    "number_in",
    "plain",
    "shown",
]

Passes = Callable[[Node, bool], bool]
"""Asked of a function, and of whether it is a test, before it is read; True passes it over."""
MAX_DEPTH: Final = 60
"""Nesting of statements that is followed; what lies deeper is read as if nothing stood around it."""
NO_ROWS: Final = "no rows in "
"""How a table is told of that has nothing in it."""
UNKNOWN_CASES: Final = "*"
"""Stands for rows that are not written down where they are used."""
_MAX_PLAIN: Final = 400
_MAX_SHOWN: Final = 160
_MAX_CALLS: Final = 200
_MAX_LITERALS: Final = 2_000
_NUMBERS = frozenset(
    {"integer", "float", "number", "int_literal", "float_literal", "integer_literal",
     "decimal_integer_literal", "decimal_floating_point_literal", "hex_integer_literal", "char_literal",
     "character_literal",
     "simple_symbol", "rune_literal"}
)  # fmt: skip
_STRINGS = frozenset(
    {"string", "interpreted_string_literal", "raw_string_literal", "template_string", "concatenated_string",
     "string_literal"}
)  # fmt: skip
_CALLS = frozenset(
    {"call", "call_expression", "new_expression", "method_invocation", "object_creation_expression",
     "macro_invocation"}
)  # fmt: skip
_NAMED_BY = ("function", "constructor", "method", "name", "macro", "type")
_OPERATIONS = frozenset(
    {"binary_operator", "binary_expression", "boolean_operator", "unary_operator", "unary_expression",
     "not_operator", "binary", "unary"}
)  # fmt: skip
"""What gives parentheses a meaning."""
_SIGNS = frozenset(
    {"(", ")", "[", "]", "{", "}", ",", ".", ":", ";", "=", "==", "!=", "===", "!==", "<", ">", "<=", ">=",
     "+", "-", "*", "/", "%", "->", "=>", "&&", "||", "+=", "-=", ":="}
)  # fmt: skip
"""Nodes whose kind is their text. One that the parser put there itself has no width."""
_INTERPOLATIONS = frozenset({"interpolation", "template_substitution"})
_BETWEEN_NAMES = re.compile(r"[^\w$]+")
_NUMBER = re.compile(r"-?\d[\d_]*(?:\.\d*)?(?:[eE][-+]?\d+)?")


def line_of(node: Node) -> int:
    """The line a node starts in, from 1."""
    return int(node.start_point[0]) + 1


def shown(node: Node) -> str:
    """A node as it is written, on one line."""
    text = " ".join(text_of(node).split())
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}…"


def plain(node: Node | None) -> str:
    """The text of a node without comments, line breaks and the kind of quotes: equal for equal code.

    Text beyond the cap is told apart by its digest.
    """
    if node is None:
        return ""
    return _plain(node)


@lru_cache(maxsize=4096)
def _plain(node: Node) -> str:
    text = " ".join([word for word in _words(node) if word not in (",", ";")])
    if len(text) <= _MAX_PLAIN:
        return text
    return f"{text[:_MAX_PLAIN]}…{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def forget_texts() -> None:
    """Let go of what `plain` remembers: a tree is kept in memory for as long as one of its nodes is."""
    _plain.cache_clear()


def _words(node: Node) -> list[str]:
    words: list[str] = []
    pending = [node]
    while pending:
        current = pending.pop()
        kind = current.type
        if kind in COMMENTS:
            continue
        if kind in _SIGNS and current.end_byte - current.start_byte == len(kind):
            words.append(kind)
        elif not current.child_count:
            words.append(_unquoted(text_of(current)) if kind in _STRINGS else text_of(current))
        elif kind in _STRINGS and not any(child.type in _INTERPOLATIONS for child in current.named_children):
            words.append(_unquoted(text_of(current)))
        elif (
            kind == "parenthesized_expression"
            and current.named_child_count == 1
            and not (current.parent is not None and current.parent.type in _OPERATIONS)
        ):
            pending.append(current.named_children[0])
        else:
            pending.extend(reversed(current.children))
    return words


def _unquoted(text: str) -> str:
    for quotes in ('"""', "'''", '"', "'", "`"):
        if text.endswith(quotes) and quotes in text and len(text) >= 2 * len(quotes):
            start = text.index(quotes)
            inner = text[start + len(quotes) : -len(quotes)]
            return f'{text[:start]}"{inner}"'
    return text


def children(node: Node | None) -> list[Node]:
    """The parts of a node that are no comments."""
    return [] if node is None else [child for child in node.named_children if child.type not in COMMENTS]


def arguments_of(call: Node) -> list[Node]:
    """The arguments of a call."""
    return children(call.child_by_field_name("arguments"))


def descendants(node: Node, *, stop: Iterable[str] = ()) -> Iterator[Node]:
    """A node and everything in it, in the order of the text; nodes of the kinds in `stop` are not entered."""
    barred = frozenset(stop)
    pending = [node]
    while pending:
        current = pending.pop()
        yield current
        if current.named_child_count and (current is node or not barred or current.type not in barred):
            pending.extend(reversed(current.named_children))


def called_names(parts: Iterable[Node]) -> set[str]:
    """The last part of every name that is called among some nodes."""
    found: set[str] = set()
    for part in parts:
        if part.type in _CALLS:
            function = next(
                (named for field in _NAMED_BY if (named := part.child_by_field_name(field))), None
            )
            name = _BETWEEN_NAMES.split(text_of(function).rstrip("!?"))[-1] if function is not None else ""
            if name:
                found.add(name)
            if len(found) >= _MAX_CALLS:
                break
    return found


def literals_in(parts: Iterable[Node]) -> set[str]:
    """Numbers and texts that are written down among some nodes."""
    found: set[str] = set()
    for part in parts:
        if part.type in _STRINGS:
            found.add(plain(part))
        elif part.type in _NUMBERS:
            found.add(text_of(part))
        if len(found) >= _MAX_LITERALS:
            break
    return found


def names_in(parts: Iterable[Node]) -> set[str]:
    """Names that stand among some nodes."""
    return {text_of(part) for part in parts if part.type in ("identifier", "constant")}


def body_identity(node: Node | None) -> str:
    """Identity of what a body does, whatever its comments and white space."""
    words = _words(node) if node is not None else []
    text = "".join([f"{word}\0" for word in words])
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


def number_in(text: str) -> float | None:
    """The number that a text is, if it is one."""
    cleaned = text.replace(" ", "")
    if not _NUMBER.fullmatch(cleaned):
        return None
    try:
        return float(cleaned.replace("_", ""))
    except (ValueError, OverflowError):
        return None


def first_error(root: Node) -> int | None:
    """The first line that does not parse."""
    if not root.has_error:
        return None
    pending = [root]
    while pending:
        node = pending.pop()
        if node.is_error or node.is_missing:
            return line_of(node)
        pending.extend(reversed([child for child in node.children if child.has_error or child.is_missing]))
    return 1
