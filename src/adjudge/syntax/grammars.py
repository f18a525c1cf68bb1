"""Source text as a syntax tree, for the languages we have grammars of.

Trees come from tree-sitter: it reads any bytes, recovers from errors, keeps its stack on the heap, and gives
the same tree whatever Python runs it, so that a file in a newer syntax than ours is still read.

It has no time limit, and recovering from errors is quadratic: 65 kB of Python parsed as JavaScript take 15 s.
Whoever parses what a stranger wrote does so in a process that can be ended.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from functools import cache

from tree_sitter import Language, Node, Parser

__all__ = ["MAX_SOURCE_BYTES", "Grammar", "grammar_of", "parse_source"]

MAX_SOURCE_BYTES = 512 * 1024
"""Beyond this it is generated or data."""

_SUFFIXES = {
    ".py": "python",
    ".js": "javascript", ".jsx": "javascript", ".mjs": "javascript", ".cjs": "javascript",
    ".ts": "typescript", ".mts": "typescript", ".cts": "typescript", ".tsx": "tsx",
    ".go": "go", ".java": "java", ".rs": "rust", ".rb": "ruby",
}  # fmt: skip
_DECLARATIONS_ONLY = (".d.ts", ".d.mts", ".d.cts")


@dataclass(frozen=True, slots=True)
class Grammar:
    """A language that can be parsed."""

    name: str


def grammar_of(path: str) -> Grammar | None:
    """The grammar for a file, by its suffix. Files that only declare (`.pyi`, `.d.ts`) have none."""
    if path.endswith(_DECLARATIONS_ONLY):
        return None
    _, dot, suffix = path.rpartition(".")
    name = _SUFFIXES.get(dot + suffix)
    return Grammar(name) if name is not None else None


def parse_source(grammar: Grammar, source: bytes) -> Node:
    """The root of the tree. Errors in the source are nodes in it."""
    return Parser(_language(grammar.name)).parse(source).root_node


@cache
def _language(name: str) -> Language:
    module = "typescript" if name == "tsx" else name
    factory = {"typescript": "language_typescript", "tsx": "language_tsx"}.get(name, "language")
    return Language(getattr(importlib.import_module(f"tree_sitter_{module}"), factory)())
