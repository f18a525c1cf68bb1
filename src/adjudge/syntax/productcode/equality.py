"""Objects that are equal to everything, or pose as what `expect` gives."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from adjudge.records.productcode import Act
from adjudge.syntax.productcode.facts import BRANCHES, RETURNS, FileFacts, act_of
from adjudge.syntax.productcode.literals import literal_of
from adjudge.syntax.productcode.reading import FUNCTIONS, Place, Source, children

__all__ = ["always_equal", "matcher_pair"]

_EQUALITY = {
    "python": {"__eq__": "true", "__ne__": "false", "__instancecheck__": "true"},
    "javascript": {
        "equals": "true", "isEqual": "true", "equalTo": "true", "asymmetricMatch": "true",
        "[Symbol.hasInstance]": "true", "fantasy-land/equals": "true", "deepEquals": "true",
    },
    "go": {"Equal": "true", "Equals": "true"},
    "java": {"equals": "true"},
    "rust": {"eq": "true", "ne": "false"},
    "ruby": {"==": "true", "eql?": "true", "equal?": "true", "===": "true"},
}  # fmt: skip
_BLOCKS = frozenset(
    {"block", "statement_block", "statement_list", "body_statement", "else_clause", "elif_clause", "else",
     "then", "constructor_body"}
)  # fmt: skip
_IDLE = frozenset({"pass_statement", "identifier", "comment"})
_ALWAYS_TRUE = re.compile(
    r"not False|!0|!!1|!false|bool\(1\)|Boolean\(1\)|(\d+) ?={2,3} ?\1|(\w+) is \2|isinstance\(\w+, ?object|"
    r"True or .*|.* or True|true \|\| .*|.* \|\| true"
)
_MATCHERS = frozenset(
    {"toBe", "toEqual", "toStrictEqual", "toMatchObject", "toHaveBeenCalledWith", "deepStrictEqual"}
)


def always_equal(place: Place, facts: FileFacts) -> Iterator[Act]:
    """A comparison that always says yes."""
    source, node = facts.source, place.node
    named = node.child_by_field_name("name")
    name = source.of(named, 60)
    if node.type in ("lambda", "arrow_function", "function_expression") and place.around:
        bound = place.around[-1]
        if bound.type in ("assignment", "pair"):
            name = source.of(bound.child_by_field_name("left") or bound.child_by_field_name("key"), 60)
    if source.language == "javascript" and name == "[Symbol.toPrimitive]":
        expected: str | None = "*"
    else:
        expected = _EQUALITY.get(source.language, {}).get(name)
    if expected is None:
        yield from _matcher_method(place, facts, name)
        return
    if source.language == "rust" and not any(
        outer.type == "impl_item" and "PartialEq" in source.of(outer.child_by_field_name("trait"), 60)
        for outer in place.around
    ):
        return
    given = _constant_result(node, source)
    if given is None or (expected != "*" and given != expected) or (expected == "*" and given == "none"):
        return
    yield act_of(place, facts, "always-equal", "says of everything that it is equal")


def _constant_result(function: Node, source: Source) -> str | None:
    """The literal that a function gives on every path; None where it does anything else."""
    body = function.child_by_field_name("body")
    if body is None:
        return None
    if body.type not in _BLOCKS:
        return _constant(source, body)
    found: set[str | None] = set()
    pending, steps = [body], 0
    while pending:
        node = pending.pop()
        steps += 1
        if steps > 60:
            return None
        parts = children(node)
        if node.type in RETURNS:
            found.add(_constant(source, parts[0]) if len(parts) == 1 else None)
        elif node.type in _BLOCKS or node.type in BRANCHES:
            pending.extend(part for part in parts if part != node.child_by_field_name("condition"))
        elif node.type == "expression_statement" and parts and parts[0].type in RETURNS:
            pending.append(parts[0])
        elif node.type not in _IDLE and not _is_idle(source, node):
            found.add(_constant(source, node) if source.language in ("rust", "ruby") else None)
    return found.pop() if len(found) == 1 else None


def _is_idle(source: Source, node: Node) -> bool:
    """A docstring, or a local that is given a literal."""
    inner = children(node)
    if node.type == "expression_statement" and len(inner) == 1:
        right = inner[0].child_by_field_name("right")
        return inner[0].type == "string" or (right is not None and literal_of(source, right) is not None)
    return False


def _constant(source: Source, node: Node) -> str | None:
    found = literal_of(source, node)
    if found is None and _ALWAYS_TRUE.fullmatch(source.of(node, 80).strip("() \t")):
        return "true"
    return found


def _matcher_method(place: Place, facts: FileFacts, name: str) -> Iterator[Act]:
    if (
        facts.source.language == "javascript"
        and name in _MATCHERS
        and not facts.tooling
        and place.node.type != "do_block"
    ):
        yield act_of(place, facts, "poses-as-matcher", f"answers to {name}, as what `expect` gives does")


def matcher_pair(place: Place, facts: FileFacts) -> Iterator[Act]:
    """`{toBe: () => …}`."""
    key = facts.source.of(place.node.child_by_field_name("key"), 60).strip("\"'")
    if key in ("toBe", "toEqual", "toStrictEqual") and not facts.tooling:
        value = place.node.child_by_field_name("value")
        if value is not None and value.type in FUNCTIONS:
            yield act_of(place, facts, "poses-as-matcher", f"answers to {key}, as what `expect` gives does")
