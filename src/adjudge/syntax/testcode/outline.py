"""From the bytes of a test file to what it checks, for the languages whose tests are read by their syntax."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tree_sitter import Node

from adjudge.records.testcode import SuiteOutline
from adjudge.syntax.grammars import MAX_SOURCE_BYTES, grammar_of, parse_source
from adjudge.syntax.testcode.go import read_go
from adjudge.syntax.testcode.javascript.suite import read_javascript
from adjudge.syntax.testcode.nodes import first_error
from adjudge.syntax.testcode.python.suite import read_python

__all__ = ["outline_tests", "reads_tests_of"]

_READERS: Final[dict[str, Callable[[Node], SuiteOutline]]] = {
    "python": read_python,
    "javascript": read_javascript,
    "typescript": read_javascript,
    "tsx": read_javascript,
    "go": read_go,
}


def reads_tests_of(path: str) -> bool:
    """Whether tests in a file of this name are read by their syntax."""
    grammar = grammar_of(path)
    return grammar is not None and grammar.name in _READERS


def outline_tests(path: str, source: bytes) -> SuiteOutline | None:
    """The tests of a file; None when its language is not read, or it is too large or too deep."""
    grammar = grammar_of(path)
    if grammar is None or grammar.name not in _READERS or len(source) > MAX_SOURCE_BYTES:
        return None
    root = parse_source(grammar, source)
    try:
        outline = _READERS[grammar.name](root)
    except RecursionError:
        return None
    return outline.model_copy(update={"error_line": first_error(root)})
