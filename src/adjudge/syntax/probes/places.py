"""Where probes go: functions, the forks in them and their arms, in the words of each grammar.

An arm is code that runs only if a fork is decided for it: a block of an `if`, an operand that may be skipped,
a case, a handler. Where one of them ends with an error there is no fork. A look-up is one, too, without any
code of its own: it finds something or does not. Loops are none: how often one goes round says nothing of
what is told apart.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from tree_sitter import Node

__all__ = ["PROBED", "How", "Place", "find_places"]

PROBED: Final = frozenset({"python", "javascript", "typescript", "tsx", "go"})
"""Grammars that probes can be put in for."""
_MAX_PLACES: Final = 4000
_MAX_DEPTH: Final = 180

_FUNCTIONS: Final = frozenset(
    {
        "function_definition", "lambda",
        "function_declaration", "function_expression", "arrow_function", "method_definition",
        "generator_function", "generator_function_declaration",
        "method_declaration", "func_literal",
    }
)  # fmt: skip
_CHOICES: Final = frozenset({"if_statement", "elif_clause", "conditional_expression", "ternary_expression"})
_SHORT_CIRCUITS: Final = frozenset({"boolean_operator", "binary_expression"})
_SKIPPING: Final = frozenset({"and", "or", "&&", "||", "??"})
_SWITCHES: Final = frozenset(
    {"match_statement", "switch_statement", "expression_switch_statement", "type_switch_statement"}
)
_CASES: Final = frozenset(
    {"case_clause", "switch_case", "switch_default", "expression_case", "type_case", "default_case"}
)
_TRIES: Final = frozenset({"try_statement"})
_HANDLERS: Final = frozenset({"except_clause", "except_group_clause", "catch_clause"})
_BLOCKS: Final = frozenset({"block", "statement_block"})
_OPAQUE: Final = frozenset(
    {"interpolation", "type", "type_annotation", "decorator", "template_substitution", "type_arguments"}
)
"""What is left as it is: text in text, and what is no code that runs."""
_COMMENTS: Final = frozenset({"comment"})
_GIVES_ERROR: Final = re.compile(rb"\b(?:err|\w+\.Err[A-Z]\w*|Err[A-Z]\w*|fmt\.Errorf\(|errors\.New\()")
"""What Go gives back beside nothing."""
_LOOK_UPS: Final[Mapping[tuple[str, str], tuple[tuple[int, ...], int]]] = {
    ("attribute", "get"): ((1, 2), 1),
    ("attribute", "pop"): ((2,), 1),
    ("identifier", "next"): ((2,), 1),
    ("identifier", "getattr"): ((3,), 2),
}
"""Calls in Python that look something up: with how many arguments, and which is given back for nothing."""
_READING: Final = frozenset(
    {
        "return_statement", "assignment", "argument_list", "boolean_operator", "parenthesized_expression",
        "expression_list", "pair", "list", "tuple", "binary_operator", "comparison_operator", "call",
        "conditional_expression", "lambda", "keyword_argument", "attribute",
        "variable_declarator", "arguments", "arrow_function", "array", "binary_expression",
        "ternary_expression",
    }
)  # fmt: skip
"""In what a subscript is read."""
_KEYS: Final = frozenset(
    {"identifier", "call", "attribute", "tuple", "call_expression", "member_expression", "template_string"}
)
"""What a key is that is not written down."""


class How(StrEnum):
    """What a probe stands in front of."""

    BLOCK = "block"
    """Statements in a block of their own; the node is the block."""
    CASE = "case"
    """Statements behind a colon; the node is the case."""
    STATEMENT = "statement"
    """A single statement without a block."""
    EXPRESSION = "expression"
    CONDITION = "condition"
    """An expression that decides; in brackets of its own where the language wants them."""
    FOUND = "found"
    """A look-up that finds something, or does not: the node is what is called, or the whole of it. The place
    that follows is its other end."""
    MISSED = "missed"


@dataclass(frozen=True, slots=True)
class Place:
    """One place for a probe."""

    node: Node
    how: How
    function: int
    """Index of the function's place; -1 outside of any."""
    fork: int = -1
    """Of an arm: index of the place that says its fork was reached, -1 where only the function does."""
    above: int = -1
    """Of an arm: index of the arm around it in the same function."""
    default: int = 0
    """Of a look-up: which argument is given back when nothing is found; 0 where nothing is."""
    is_arm: bool = False
    is_function: bool = False
    line: int = 0


@dataclass
class _Walk:
    grammar: str
    found: list[Place]

    def place(self, node: Node, how: How, function: int, **more: int | bool) -> int:
        if len(self.found) >= _MAX_PLACES:
            return -1
        line = int(more.pop("line", 0)) or node.start_point[0] + 1
        self.found.append(Place(node, how, function, line=line, **more))  # type: ignore[arg-type]
        return len(self.found) - 1

    def walk(self, node: Node, function: int, above: int, depth: int) -> None:
        if depth > _MAX_DEPTH or len(self.found) >= _MAX_PLACES:
            return
        kind = node.type
        if kind in _OPAQUE:
            return
        if kind in _FUNCTIONS:
            self._function(node, depth)
        elif kind in _CHOICES:
            self._choice(node, function, above, depth)
        elif kind in _SHORT_CIRCUITS and _operator(node) in _SKIPPING and self.grammar != "go":
            self._short_circuit(node, function, above, depth)
        elif kind in _SWITCHES:
            self._switch(node, function, above, depth)
        elif kind in _TRIES:
            self._try(node, function, above, depth)
        else:
            self._look_up(node, function, above)
            self._children(node, function, above, depth)

    def _look_up(self, node: Node, function: int, above: int) -> None:
        found = _looked_up(node, self.grammar) if function >= 0 else None
        if found is not None and len(self.found) < _MAX_PLACES - 1:
            part, default = found
            self.place(part, How.FOUND, function, above=above, is_arm=True, default=default)
            self.place(part, How.MISSED, function, above=above, is_arm=True)

    def _children(self, node: Node, function: int, above: int, depth: int) -> None:
        for child in node.named_children:
            self.walk(child, function, above, depth + 1)

    def _function(self, node: Node, depth: int) -> None:
        body = node.child_by_field_name("body")
        for child in node.named_children:
            if child != body:
                # Defaults run where the function is made.
                self.walk(child, -1, -1, depth + 1)
        if body is None:
            return
        how = How.BLOCK if body.type in _BLOCKS else How.EXPRESSION
        index = self.place(body, how, -1, line=node.start_point[0] + 1, is_function=True)
        if index >= 0:
            self.walk(body, index, -1, depth + 1)

    def _arm(self, node: Node, how: How, function: int, fork: int, above: int, depth: int) -> None:
        index = self.place(node, how, function, fork=fork, above=above, is_arm=True)
        if index >= 0:
            self._inside(node, function, index, depth)

    def _inside(self, node: Node, function: int, above: int, depth: int) -> None:
        if node.type in _BLOCKS or node.type in _CASES:
            self._children(node, function, above, depth)
        else:
            self.walk(node, function, above, depth + 1)

    def _choice(self, node: Node, function: int, above: int, depth: int) -> None:
        condition, arms = _parts(node)
        fork = -1
        if any(map(_refuses, arms)):
            for part in (condition, *arms):
                if part is not None:
                    self._inside(part, function, above, depth)
            return
        if condition is not None:
            fork = self.place(condition, How.CONDITION, function)
            self.walk(condition, function, above, depth + 1)
        for arm in arms:
            if arm.type in ("elif_clause", "if_statement"):
                # Whatever follows depends on this one's condition, which is the first place in it.
                fork = len(self.found)
                self.walk(arm, function, above, depth + 1)
            else:
                how = _how(arm, statement=node.type == "if_statement" or node.type == "elif_clause")
                self._arm(arm, how, function, fork, above, depth)
        initial = node.child_by_field_name("initializer")
        if initial is not None:
            self.walk(initial, function, above, depth + 1)

    def _short_circuit(self, node: Node, function: int, above: int, depth: int) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None:
            return
        fork = self.place(left, How.EXPRESSION, function)
        self.walk(left, function, above, depth + 1)
        self._arm(right, How.EXPRESSION, function, fork, above, depth)

    def _switch(self, node: Node, function: int, above: int, depth: int) -> None:
        fork = -1
        subject = node.child_by_field_name("value") if node.type == "switch_statement" else None
        if subject is not None:
            fork = self.place(subject, How.CONDITION, function)
            self.walk(subject, function, above, depth + 1)
        holders = [node, *(child for child in node.named_children if child.type in (*_BLOCKS, "switch_body"))]
        for holder in holders:
            for child in holder.named_children:
                if child.type in _CASES:
                    body = child.child_by_field_name("consequence") if child.type == "case_clause" else child
                    if body is not None:
                        how = How.BLOCK if body.type in _BLOCKS else How.CASE
                        self._arm(body, how, function, fork, above, depth)

    def _try(self, node: Node, function: int, above: int, depth: int) -> None:
        body = node.child_by_field_name("body")
        fork = -1
        if body is not None:
            fork = self.place(body, How.BLOCK, function)
            self._children(body, function, above, depth)
        for child in node.named_children:
            if child == body:
                continue
            if child.type in _HANDLERS:
                block = next((one for one in child.named_children if one.type in _BLOCKS), None)
                if block is not None and _refuses(block):
                    self._inside(block, function, above, depth)
                elif block is not None:
                    self._arm(block, How.BLOCK, function, fork, above, depth)
            else:
                self.walk(child, function, above, depth + 1)


def find_places(grammar: str, root: Node) -> list[Place]:
    """Every place of a file, each function before what is in it and each fork before its arms."""
    walk = _Walk(grammar, [])
    walk.walk(root, -1, -1, 0)
    return walk.found


def _parts(node: Node) -> tuple[Node | None, list[Node]]:
    """The condition of a choice, and its arms."""
    if node.type == "conditional_expression":
        operands = [child for child in node.named_children if child.type not in _COMMENTS]
        return (operands[1], [operands[0], operands[2]]) if len(operands) == 3 else (None, [])
    condition = node.child_by_field_name("condition")
    arms: list[Node] = []
    consequence = node.child_by_field_name("consequence")
    if consequence is not None:
        arms.append(consequence)
    for child in node.children_by_field_name("alternative"):
        if child.type == "else_clause":
            arms += [inner for inner in child.named_children if inner.type not in _COMMENTS][-1:]
        else:
            arms.append(child)
    return condition, arms


def _refuses(node: Node) -> bool:
    """Whether code ends with an error: what it turns away is told by the error, not by the way."""
    parts = [child for child in node.named_children if child.type not in _COMMENTS]
    if parts and (node.type in _BLOCKS or node.type == "statement_list"):
        return _refuses(parts[-1])
    text = (node.text or b"")[:400]
    return (
        node.type in ("raise_statement", "throw_statement")
        or (node.type == "return_statement" and _GIVES_ERROR.search(text) is not None)
        or (node.type == "expression_statement" and text.startswith(b"panic("))
    )


def _how(node: Node, *, statement: bool) -> How:
    if node.type in _BLOCKS:
        return How.BLOCK
    return How.STATEMENT if statement else How.EXPRESSION


def _looked_up(node: Node, grammar: str) -> tuple[Node, int] | None:
    """What a look-up is seen by, and which of its arguments stands for nothing found; None for no look-up."""
    if grammar == "python" and node.type == "call":
        called, given = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if called is None or given is None or given.type != "argument_list":
            return None
        number = len([one for one in given.named_children if one.type not in _COMMENTS])
        name = called.child_by_field_name("attribute") if called.type == "attribute" else called
        word = (name.text or b"").decode("utf-8", "replace") if name is not None else ""
        wanted = _LOOK_UPS.get((called.type, word))
        return (called, wanted[1]) if wanted is not None and number in wanted[0] else None
    if node.type == "call_expression" and grammar != "go":
        called, given = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if called is None or given is None or called.type != "member_expression":
            return None
        name = called.child_by_field_name("property")
        return (
            (node, 0) if name is not None and name.text == b"get" and given.named_child_count == 1 else None
        )
    if node.type in ("subscript", "subscript_expression"):
        return (node, 0) if _is_read(node) and _is_keyed(node) else None
    return None


def _is_read(node: Node) -> bool:
    """Whether what a subscript names is read, and only that."""
    parent = node.parent
    if parent is None or parent.type not in _READING:
        return False
    return parent.child_by_field_name("left") != node and parent.child_by_field_name("function") != node


def _is_keyed(node: Node) -> bool:
    """Whether a subscript asks for what a name stands for, of a name."""
    table = node.child_by_field_name("value") or node.child_by_field_name("object")
    keys = node.children_by_field_name("subscript") or node.children_by_field_name("index")
    return (
        table is not None
        and table.type in ("identifier", "attribute", "member_expression")
        and all(key.type != "slice" for key in keys)
        and any(key.type in _KEYS for key in keys)
    )


def _operator(node: Node) -> str:
    operator = node.child_by_field_name("operator")
    return operator.type if operator is not None else ""
