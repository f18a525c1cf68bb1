"""Objects that are equal to everything, or pose as what `expect` gives."""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from adjudge.records.productcode import Act
from adjudge.syntax.productcode.facts import FileFacts, act_of
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
    body = function.child_by_field_name("body")
    for _ in range(6):
        if body is None:
            return None
        found = literal_of(source, body)
        if found is not None and body.type not in ("expression_list", "argument_list"):
            return found
        parts = [
            part
            for part in children(body)
            if not (
                part.type == "expression_statement"
                and part.named_children
                and part.named_children[0].type == "string"
            )
            and part.type != "pass_statement"
        ]
        if len(parts) != 1:
            return None
        body = parts[0]
    return None


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
