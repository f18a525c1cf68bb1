"""Small questions about Go syntax that several modules here ask."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

__all__ = [
    "FAILING",
    "arguments",
    "called",
    "failing_call",
    "fails",
    "inside",
    "same",
    "statement_of",
    "string_value",
    "text",
]

FAILING = ("Error", "Errorf", "Fatal", "Fatalf", "Fail", "FailNow")
"""Methods of `testing.T` that fail a test."""

_ESCAPE = re.compile(r'\\(["\\])')


def text(node: Node | None) -> str:
    """The source of a node."""
    return "" if node is None or node.text is None else node.text.decode("utf-8", "replace")


def same(one: Node | None, other: Node | None) -> bool:
    """Whether two nodes are the same one."""
    return one is not None and other is not None and one.id == other.id


def inside(node: Node, without: frozenset[int] = frozenset(), *, nested: bool = True) -> Iterator[Node]:
    """A node and all below it in the order of the text.

    Args:
        node: Where to begin.
        without: Ids of nodes that are left out with all below them.
        nested: Whether to look into functions that are written in it.
    """
    pending = [node]
    while pending:
        at = pending.pop()
        if at.id in without:
            continue
        yield at
        if nested or at.type != "func_literal" or same(at, node):
            pending += reversed(at.named_children)


def called(call: Node) -> tuple[str, str]:
    """What a call calls: what stands before the dot, and the name; both empty for anything else."""
    function = call.child_by_field_name("function")
    if function is None:
        return "", ""
    if function.type == "identifier":
        return "", text(function)
    if function.type != "selector_expression":
        return "", ""
    return text(function.child_by_field_name("operand")), text(function.child_by_field_name("field"))


def arguments(call: Node) -> list[Node]:
    """The arguments of a call."""
    given = call.child_by_field_name("arguments")
    return [] if given is None else [node for node in given.named_children if node.type != "comment"]


def fails(block: Node | None) -> bool:
    """Whether a block, as soon as it is entered, fails the test or panics."""
    return failing_call(block) is not None


def failing_call(block: Node | None) -> Node | None:
    """The call in a block that fails the test, or panics, as soon as the block is entered."""
    if block is None:
        return None
    for listed in block.named_children:
        for statement in listed.named_children if listed.type == "statement_list" else (listed,):
            call = statement.named_children[0] if statement.type == "expression_statement" else None
            if call is None or call.type != "call_expression":
                continue
            before, name = called(call)
            if (before and name in FAILING) or (not before and name == "panic"):
                return call
    return None


def statement_of(node: Node) -> Node | None:
    """The statement in a list of statements that a node is part of, in its own function."""
    at: Node | None = node
    while at is not None and at.type != "func_literal":
        parent = at.parent
        if parent is not None and parent.type in ("statement_list", "block"):
            return at
        at = parent
    return None


def string_value(node: Node) -> str | None:
    """What a string says; None when that takes more than a look."""
    written = text(node)
    if node.type == "raw_string_literal":
        return written[1:-1]
    if node.type != "interpreted_string_literal":
        return None
    plain = _ESCAPE.sub(r"\1", written[1:-1])
    return plain if "\\" not in _ESCAPE.sub("", written[1:-1]) else None
