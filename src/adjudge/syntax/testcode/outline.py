"""From the bytes of a test file to what it checks, for the languages whose tests are read by their syntax."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable
from typing import Final

from tree_sitter import Node

from adjudge.records.testcode import SuiteOutline
from adjudge.syntax.grammars import MAX_SOURCE_BYTES, grammar_of, parse_source
from adjudge.syntax.testcode.go import read_go
from adjudge.syntax.testcode.java import read_java
from adjudge.syntax.testcode.javascript.suite import read_javascript
from adjudge.syntax.testcode.nodes import Passes, first_error, forget_texts
from adjudge.syntax.testcode.python.suite import read_python
from adjudge.syntax.testcode.ruby import read_ruby
from adjudge.syntax.testcode.rust import read_rust

__all__ = ["outline_change", "outline_tests", "reads_tests_of"]

_READERS: Final[dict[str, Callable[[Node, Passes], SuiteOutline]]] = {
    "python": read_python,
    "javascript": read_javascript,
    "typescript": read_javascript,
    "tsx": read_javascript,
    "go": read_go,
    "java": read_java,
    "rust": read_rust,
    "ruby": read_ruby,
}
_SAYS_NOTHING = re.compile(
    rb'\s*(?:(?:import|from|use|package|require)\b.*|"[^"]*"|#(?![\[!]).*|[/*].*|[()]|)\s*'
)
"""Lines outside of tests that change nothing of what the tests check."""


def reads_tests_of(path: str) -> bool:
    """Whether tests in a file of this name are read by their syntax."""
    grammar = grammar_of(path)
    return grammar is not None and grammar.name in _READERS


def outline_tests(path: str, source: bytes) -> SuiteOutline | None:
    """The tests of a file; None when its language is not read, or it is too large or too deep."""
    root = _parsed(path, source)
    try:
        return None if root is None else _read(path, root, lambda node, test: False)
    finally:
        forget_texts()


def outline_change(
    old_path: str, before: bytes, path: str, after: bytes
) -> tuple[SuiteOutline | None, SuiteOutline | None]:
    """The tests of a file before and after, those left out that are the same on both sides.

    Where what surrounds the tests changed, every test is read: a helper or a constant may be in any of them.
    """
    roots = [_parsed(old_path, before), _parsed(path, after)]
    if roots[0] is None or roots[1] is None:
        return outline_tests(old_path, before), outline_tests(path, after)
    paths = (old_path, path)
    found = [_listed(one, root) for one, root in zip(paths, roots, strict=True) if root is not None]
    same: frozenset[bytes] = frozenset()
    if None not in found:
        (old, around_old), (new, around_new) = (one for one in found if one is not None)
        if around_old == around_new:
            same = frozenset(text for text, count in old.items() if new[text] == count == 1)
    try:
        outlines = [
            _read(one, root, lambda node, test: test and (node.text or b"") in same)
            for one, root in zip(paths, roots, strict=True)
            if root is not None
        ]
    finally:
        forget_texts()
    before_after = [
        one.model_copy(update={"unchanged": len(same)}) if one is not None else None for one in outlines
    ]
    return before_after[0], before_after[1]


def _parsed(path: str, source: bytes) -> Node | None:
    grammar = grammar_of(path)
    if grammar is None or grammar.name not in _READERS or len(source) > MAX_SOURCE_BYTES:
        return None
    return parse_source(grammar, source)


def _read(path: str, root: Node, passes: Passes) -> SuiteOutline | None:
    grammar = grammar_of(path)
    assert grammar is not None
    try:
        outline = _READERS[grammar.name](root, passes)
    except RecursionError:
        return None
    return outline.model_copy(update={"error_line": first_error(root)})


def _listed(path: str, root: Node) -> tuple[Counter[bytes], str] | None:
    """The texts of the tests of a file, and what surrounds them; None where one may hide another."""
    spans: list[Node] = []

    def note(node: Node, test: bool) -> bool:
        if test:
            spans.append(node)
        return True

    outline = _read(path, root, note)
    if outline is None or root.has_error or any(test.why_not for test in outline.tests):
        return None
    source = root.text or b""
    around, place = b"", 0
    for node in sorted(spans, key=lambda one: one.start_byte):
        around += source[place : max(place, node.start_byte)] + b"\n"
        place = max(place, node.end_byte)
    around += source[place:]
    lines = [line.strip() for line in around.split(b"\n") if not _SAYS_NOTHING.fullmatch(line)]
    digest = hashlib.sha256(b"\n".join(lines)).hexdigest()
    return Counter(node.text or b"" for node in spans), digest
