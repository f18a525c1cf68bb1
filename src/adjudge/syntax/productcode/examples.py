"""What a test file writes down: literals that stand together in one statement, or in one row of a table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from tree_sitter import Node

from adjudge.records.productcode import Example
from adjudge.syntax.bodies import COMMENTS
from adjudge.syntax.productcode.literals import COMPOSITES, leaves_of, literals_in
from adjudge.syntax.productcode.reading import FUNCTIONS, Source, children

__all__ = ["read_examples"]

_STATEMENTS = frozenset(
    {"expression_statement", "assert_statement", "if_statement", "call", "macro_invocation",
     "call_expression", "method_invocation", "with_statement"}
)  # fmt: skip
_BINDINGS = {
    "assignment": ("left", "right"), "variable_declarator": ("name", "value"),
    "short_var_declaration": ("left", "right"), "let_declaration": ("pattern", "value"),
    "var_spec": ("name", "value"),
}  # fmt: skip
_NAMES = frozenset({"identifier", "constant"})
_BODIES = frozenset({"block", "statement_block", "body_statement", "do_block", "suite"})
_DEFINITIONS = frozenset(
    {"decorated_definition", "function_definition", "function_declaration", "method_declaration",
     "function_item", "method", "arrow_function", "function_expression"}
)  # fmt: skip
_MAX_WHOLE: Final = 40
_MAX_EXAMPLES: Final = 4_000
_MAX_VALUES: Final = 60
_MAX_LITERALS: Final = 400
_MAX_STEPS: Final = 150_000
"""Nodes that are looked at in one file, again and again where it is nested."""


@dataclass(slots=True)
class _Steps:
    left: int


def read_examples(root: Node, source: Source) -> Iterator[Example]:
    """Every group of two or more literals, with what plain locals hold put in their place."""
    steps = _Steps(_MAX_STEPS)
    count = 0
    pending: list[tuple[Node, dict[str, tuple[str, ...]]]] = [(root, {})]
    while pending and steps.left > 0:
        node, known = pending.pop()
        steps.left -= 1
        if node.type in COMMENTS or not node.child_count:
            continue
        if node.type in FUNCTIONS:
            known = {**known, **_locals(node, source, steps)}
        if node.type in _DEFINITIONS:
            values = _values(node, source, known, steps, inside=True)
            if 1 < len(values) <= _MAX_WHOLE:
                yield Example(line=node.start_point[0] + 1, values=values, whole=True)
        if node.type in _STATEMENTS or node.type in COMPOSITES:
            values = _values(node, source, known, steps)
            if len(values) > 1:
                count += 1
                yield Example(line=node.start_point[0] + 1, values=values)
                if count >= _MAX_EXAMPLES:
                    return
        for child in reversed(node.named_children):
            pending.append((child, known))


def _values(
    node: Node, source: Source, known: dict[str, tuple[str, ...]], steps: _Steps, *, inside: bool = False
) -> tuple[str, ...]:
    found: set[str] = set()
    pending, taken = [node], 0
    while pending and taken < _MAX_LITERALS and len(found) < _MAX_VALUES and steps.left > 0:
        current = pending.pop()
        taken += 1
        steps.left -= 1
        if not inside and current is not node and (current.type in _BODIES or current.type in FUNCTIONS):
            continue
        if current.type in _NAMES:
            found.update(known.get(source.of(current, 80), ()))
            continue
        for _, value in literals_in(source, current, 1):
            found.add(value)
            found.update(leaves_of(value))
        pending.extend(current.named_children[:_MAX_VALUES])
    return tuple(sorted(found)[:_MAX_VALUES])


def _locals(function: Node, source: Source, steps: _Steps) -> dict[str, tuple[str, ...]]:
    """What names of a function are made of."""
    found: dict[str, tuple[str, ...]] = {}
    pending, taken = [function], 0
    while pending and taken < 2_000:
        node = pending.pop()
        taken += 1
        steps.left -= 1
        if node is not function and node.type in FUNCTIONS:
            continue
        fields = _BINDINGS.get(node.type)
        if fields is not None:
            name, value = (node.child_by_field_name(field) for field in fields)
            if name is not None and value is not None and len(children(name)) <= 1:
                values = _values(value, source, found, steps)
                if values and len(values) <= 20:
                    found[source.of(name, 80)] = values
            continue
        pending.extend(reversed(node.named_children))
    return found
