"""What can be made false in the body of a JavaScript test: literals that are expected, or the comparison.

Understood are node's `assert` in all its spellings, and the matchers of Jest, Vitest and chai behind
`expect(…)`. What a helper asserts in another place is not looked at.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from adjudge.syntax.javascript.definitions import inside, node_text
from adjudge.syntax.python.literals import changed_literal
from adjudge.syntax.python.source import Edit

__all__ = ["Site", "changed_value", "expected_name", "find_sites", "is_certain"]

_EQUALITIES = {
    "equal": "notEqual",
    "strictEqual": "notStrictEqual",
    "deepEqual": "notDeepEqual",
    "deepStrictEqual": "notDeepStrictEqual",
    "partialDeepStrictEqual": None,
}
_OPPOSITES = {
    "match": "doesNotMatch",
    "doesNotMatch": "match",
    "throws": "doesNotThrow",
    "doesNotThrow": "throws",
    "rejects": "doesNotReject",
    "doesNotReject": "rejects",
    "notEqual": "equal",
    "notStrictEqual": "strictEqual",
    "notDeepEqual": "deepEqual",
    "notDeepStrictEqual": "deepStrictEqual",
}
_MATCHERS = {
    "toBe": (0,), "toEqual": (0,), "toStrictEqual": (0,), "toHaveLength": (0,), "toContain": (0,),
    "toContainEqual": (0,), "toMatchObject": (0,), "toBeCloseTo": (0,), "toHaveBeenCalledTimes": (0,),
    "toBeCalledTimes": (0,), "toHaveReturnedTimes": (0,), "toHaveReturnedWith": (0,),
    "toHaveLastReturnedWith": (0,), "toHaveProperty": (1,), "toHaveBeenCalledWith": (0, 1, 2),
    "toHaveBeenLastCalledWith": (0, 1, 2), "toBeCalledWith": (0, 1, 2), "toHaveBeenNthCalledWith": (1, 2, 3),
    "toHaveBeenCalledExactlyOnceWith": (0, 1, 2), "toMatchInlineSnapshot": (0,), "toMatch": (0,),
    "toThrow": (0,), "toThrowError": (0,), "toThrowErrorMatchingInlineSnapshot": (0,), "toBeInstanceOf": (0,),
    "equal": (0,), "equals": (0,), "eql": (0,), "eq": (0,), "include": (0,), "contain": (0,),
    "lengthOf": (0,), "property": (1,), "throw": (0,), "throws": (0,), "instanceOf": (0,), "instanceof": (0,),
}  # fmt: skip
"""Matchers, and which of their arguments hold what is expected."""
_THROWS = ("toThrow", "toThrowError", "throw", "throws")
_INSTANCES = ("toBeInstanceOf", "instanceOf", "instanceof")
_PARTS = ("toContain", "toMatch", "include", "contain", *_THROWS)
"""A text is looked for in another one, so a short one may be in it by chance."""
_SNAPSHOTS = ("toMatchSnapshot", "toThrowErrorMatchingSnapshot", "toMatchFileSnapshot")
"""What is expected is in another file, and the sense cannot be turned round."""
_INLINE = ("toMatchInlineSnapshot", "toThrowErrorMatchingInlineSnapshot")
_COMPARED = {
    "toBeGreaterThan": "", "toBeGreaterThanOrEqual": "", "toBeLessThan": "-", "toBeLessThanOrEqual": "-",
    "above": "", "least": "", "below": "-", "most": "-",
}  # fmt: skip
"""Where a number that is far off on this side cannot hold."""
_SWAPPED = {
    "toBeTruthy": "toBeFalsy", "toBeFalsy": "toBeTruthy", "toBeDefined": "toBeUndefined",
    "toBeUndefined": "toBeDefined", "toBeNull": "toBeTruthy", "toBeNaN": "toBeNull",
}  # fmt: skip
"""Matchers of which one fails whenever the other passes. Whoever lets both pass is found out, while an
assertion that always holds fails behind `not` as an honest one does."""
_ASYMMETRIC = ("objectContaining", "arrayContaining", "closeTo", "stringContaining")
_ERRORS = ("EvalError", "RangeError", "ReferenceError", "SyntaxError", "TypeError", "URIError", "Error")
_REPLACEMENTS = ("EvalError", "URIError")
"""Errors that no code throws by accident."""
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_PLAIN_STRING = re.compile(r"""(['"])(?:(?!\1)[^\\\n])*\1""")
_COLLECTIONS = ("Set", "Map")
_EQUAL_SIGNS = ("===", "==")
_NESTED = (
    "arrow_function",
    "function_expression",
    "function_declaration",
    "generator_function",
    "method_definition",
)


@dataclass(frozen=True)
class Site:
    """One place that can be changed so that its test fails."""

    edits: tuple[Edit, ...]
    statement: int
    """Which assertion it belongs to."""
    strong: bool
    """A value changes, not the sense of the comparison."""
    wide: bool
    certain: bool
    """It is reached whenever the test passes."""


def find_sites(body: Node, without: frozenset[int], random_: random.Random) -> list[Site]:
    """Every place in a body, which is a function, an expression, or a whole file.

    Args:
        body: What runs.
        without: Calls in it that define tests of their own.
        random_: Where choices come from.
    """
    nodes = list(inside(body, without))
    found: list[Site] = []
    for call in nodes:
        if call.type != "call_expression" or _is_dropped_promise(call):
            continue
        certain = is_certain(call, body, without)
        for edits, strong, wide in _changes(call, nodes, random_):
            found.append(Site(edits, call.start_byte, strong, wide, certain))
    return found


_Change = tuple[tuple[Edit, ...], bool, bool]


def _changes(call: Node, nodes: list[Node], random_: random.Random) -> Iterator[_Change]:
    function, arguments = call.child_by_field_name("function"), call.child_by_field_name("arguments")
    if function is None or arguments is None or arguments.type != "arguments":
        return
    given = [node for node in arguments.named_children if node.type != "comment"]
    if function.type == "member_expression" and (expected := _expectation(function)) is not None:
        yield from _expect(function, expected, given, nodes, random_)
        return
    words = node_text(function).split(".")
    last = words[-1]
    if len(words) > 3 or not all(word.isidentifier() for word in words) or not given:
        return
    if len(words) == 1 and last not in ("assert", *_EQUALITIES, *_OPPOSITES):
        return
    if len(words) > 1 and not any(word in ("assert", "strict") for word in words[:-1]):
        return
    name = function if len(words) == 1 else function.child_by_field_name("property")
    assert name is not None
    if last in ("ok", "assert"):
        yield from _truth(given[0], nodes, random_)
    elif last in _EQUALITIES and len(given) >= 2:
        values = list(_values(given[1], nodes, random_)) or list(_values(given[0], nodes, random_))
        yield from values
        opposite = _EQUALITIES[last]
        if not values and opposite is not None and len(words) > 1:
            yield (_replace(name, opposite),), False, False
    elif last in _OPPOSITES:
        values = (
            list(_errors(given[1], nodes, random_))
            if last in ("throws", "rejects") and len(given) >= 2
            else []
        )
        yield from values
        if not values and len(words) > 1:
            # With an expected error, "does not throw" would still let other errors through as failures.
            yield (_replace(name, _OPPOSITES[last]),), False, False


def _truth(condition: Node, nodes: list[Node], random_: random.Random) -> Iterator[_Change]:
    operator = condition.child_by_field_name("operator")
    if condition.type == "binary_expression" and operator is not None and operator.type in _EQUAL_SIGNS:
        for side in ("right", "left"):
            operand = condition.child_by_field_name(side)
            values = list(_values(operand, nodes, random_)) if operand is not None else []
            if values:
                yield from values
                return
    start, end = (
        Edit(condition.start_byte, condition.start_byte, "!("),
        Edit(condition.end_byte, condition.end_byte, ")"),
    )
    yield (start, end), False, False


def _expectation(function: Node) -> Node | None:
    """The object before the matcher of `expect(x).toBe`, when that is what it is."""
    inner = function.child_by_field_name("object")
    at = inner
    while at is not None and at.type == "member_expression":
        at = at.child_by_field_name("object")
    if at is None or at.type != "call_expression":
        return None
    called = at.child_by_field_name("function")
    return inner if called is not None and node_text(called) == "expect" else None


def _expect(
    function: Node, before: Node, given: list[Node], nodes: list[Node], random_: random.Random
) -> Iterator[_Change]:
    matcher = function.child_by_field_name("property")
    assert matcher is not None
    name = node_text(matcher)
    chain = node_text(before).rpartition(")")[2].split(".")
    if name in _SNAPSHOTS:
        return
    if "not" in chain:
        # Only where nothing stands between: `.not.toBe`, `.to.not.equal`.
        inner = before.child_by_field_name("object")
        if inner is not None and chain[-1] == "not":
            yield (Edit(inner.end_byte, before.end_byte, ""),), False, False
        return
    values: list[_Change] = []
    for at in _MATCHERS.get(name, ()):
        if at < len(given):
            values += _expected(name, given[at], nodes, random_)
    if name in _COMPARED and given and given[0].type == "number":
        values = [
            ((_replace(given[0], f"{_COMPARED[name]}{random_.randrange(10**9, 10**10)}"),), True, False)
        ]
    if name in _THROWS and not given:
        opened = function.end_byte + 1
        word = "".join(random_.choice("bcdfghklmnprstvz") for _ in range(8))
        values = [((Edit(opened, opened, f"'{word}'"),), True, True)]
    yield from values
    if values or name in _INLINE:
        return
    if name in _SWAPPED:
        yield (_replace(matcher, _SWAPPED[name]),), False, False
    else:
        yield (Edit(before.end_byte, before.end_byte, ".not"),), False, False


def _expected(name: str, node: Node, nodes: list[Node], random_: random.Random) -> list[_Change]:
    """Changes of one argument of a matcher."""
    if name in _INSTANCES:
        if node.type != "identifier":
            return []
        return [((_replace(node, random_.choice(_REPLACEMENTS)),), True, False)]
    if name in _THROWS or node.type == "regex":
        found = list(_errors(node, nodes, random_))
        if found or node.type not in _TEXTS:
            return found
    if name in _PARTS and node.type in _TEXTS and len(node_text(node)) < _SHORTEST + 2:
        return []
    return list(_values(node, nodes, random_))


_TEXTS = ("string", "template_string")
_SHORTEST = 3


def expected_name(call: Node) -> str | None:
    """The name that an assertion compares with, where it is nothing but a name."""
    function, arguments = call.child_by_field_name("function"), call.child_by_field_name("arguments")
    if function is None or arguments is None or function.type != "member_expression":
        return None
    given = [node for node in arguments.named_children if node.type != "comment"]
    matcher = function.child_by_field_name("property")
    assert matcher is not None
    before = _expectation(function)
    if before is not None:
        if "not" in node_text(before).rpartition(")")[2].split(".") or node_text(matcher) in _PARTS:
            return None
        at = _MATCHERS.get(node_text(matcher), (len(given),))[0]
    elif node_text(function).split(".")[0] in ("assert", "strict") and node_text(matcher) in _EQUALITIES:
        at = 1
    else:
        return None
    if at >= len(given) or given[at].type != "identifier":
        return None
    return node_text(given[at])


def _is_dropped_promise(call: Node) -> bool:
    """Whether an assertion on a promise is made that nothing waits for.

    It fails when its test is over, and takes the process of its file along.
    """
    function = call.child_by_field_name("function")
    if function is None or not re.search(r"\)\.(?:resolves|rejects)\b", node_text(function)):
        return False
    parent = call.parent
    return parent is not None and parent.type == "expression_statement"


def _values(node: Node, nodes: list[Node], random_: random.Random) -> Iterator[_Change]:
    """Changes of single literals in an expected value."""
    if node.type == "identifier":
        bound = _bound_once(node, nodes)
        if bound is not None:
            yield from _values(bound, [], random_)
        return
    for literal in _literals(node):
        changed = _changed(literal, random_)
        if changed is not None:
            text, wide = changed
            yield (_replace(literal, text),), True, wide


def changed_value(node: Node, random_: random.Random) -> tuple[Edit, bool] | None:
    """A change of one literal in a value, and whether the new one is one of many."""
    found = list(_values(node, [], random_))
    if not found:
        return None
    edits, _, wide = random_.choice(found)
    return edits[0], wide


def _literals(node: Node) -> Iterator[Node]:
    """Literals whose value is part of the node's own: elements, and values of pairs, never keys."""
    pending = [node]
    while pending:
        at = pending.pop()
        match at.type:
            case "number" | "string" | "template_string" | "true" | "false":
                yield at
            case "array" | "parenthesized_expression" | "object":
                pending += at.named_children
            case "unary_expression":
                operand = at.child_by_field_name("argument")
                operator = at.child_by_field_name("operator")
                # The sign stays; zero has none that would show.
                if operand is not None and operator is not None and operator.type == "-":
                    pending.append(operand)
            case "pair":
                value = at.child_by_field_name("value")
                if value is not None:
                    pending.append(value)
            case "call_expression":
                made, arguments = at.child_by_field_name("function"), at.child_by_field_name("arguments")
                if made is not None and arguments is not None and made.type == "member_expression":
                    start, _, kind = node_text(made).partition(".")
                    if start == "expect" and kind in _ASYMMETRIC:
                        pending += arguments.named_children[:1]
            case "new_expression":
                made, arguments = at.child_by_field_name("constructor"), at.child_by_field_name("arguments")
                if made is not None and arguments is not None and node_text(made) in _COLLECTIONS:
                    pending += arguments.named_children
            case _:
                pass


def _changed(literal: Node, random_: random.Random) -> tuple[str, bool] | None:
    """Another literal of the same type, and whether it is one of many."""
    text = node_text(literal)
    if literal.type in ("true", "false"):
        return ("false" if literal.type == "true" else "true"), False
    if literal.type == "number":
        if _NUMBER.fullmatch(text) is None or (len(text) > 1 and text[0] == "0" and text[1] != "."):
            return None
        new = changed_literal(float(text) if "." in text else int(text), text, random_)
        return (new, len(text) >= 2) if new is not None else None
    if literal.type == "template_string":
        letters = [at for at, char in enumerate(text) if char.isascii() and char.isalnum()]
        if len(literal.named_children) != 1 or "\\" in text or not letters:
            return None
        at = random_.choice(letters)
        new = changed_literal(text[at], f"'{text[at]}'", random_)
        return (f"{text[:at]}{new[1:-1]}{text[at + 1 :]}", len(text) > 3) if new is not None else None
    if _PLAIN_STRING.fullmatch(text) is None:
        return None
    new = changed_literal(text[1:-1], text, random_)
    return (new, True) if new is not None else None


def _errors(node: Node, nodes: list[Node], random_: random.Random) -> Iterator[_Change]:
    """Changes of an expected error: its class, or what an object says of it."""
    if node.type == "identifier" and node_text(node) in _ERRORS:
        other = random_.choice([name for name in _REPLACEMENTS if name != node_text(node)])
        yield (_replace(node, other),), True, False
    elif node.type == "object":
        yield from _values(node, nodes, random_)
    elif node.type == "new_expression":
        made, arguments = node.child_by_field_name("constructor"), node.child_by_field_name("arguments")
        if made is not None and arguments is not None and node_text(made) in _ERRORS:
            for argument in arguments.named_children[:1]:
                yield from _values(argument, nodes, random_)
    elif node.type == "regex":
        pattern = node.child_by_field_name("pattern")
        if pattern is not None:
            text = node_text(pattern)
            new = changed_literal(text, f"'{text}'", random_, pattern=True) if "'" not in text else None
            # With alternatives, the one that changed need not be the one that fits.
            if new is not None and not re.search(r"[|\\?*\[]", text):
                yield (_replace(pattern, new[1:-1]),), True, True


def _bound_once(name: Node, nodes: list[Node]) -> Node | None:
    """The value of a constant of the same body that is used here and nowhere else."""
    same = [node for node in nodes if node.type in _NAMES and node.text == name.text]
    if len(same) != 2:
        return None
    declared = same[0].parent
    if declared is None or declared.type != "variable_declarator":
        return None
    if declared.child_by_field_name("name") != same[0] or declared.child_by_field_name("type") is not None:
        return None
    return declared.child_by_field_name("value")


_NAMES = ("identifier", "shorthand_property_identifier", "shorthand_property_identifier_pattern")


def is_certain(call: Node, body: Node, without: frozenset[int]) -> bool:
    """Whether a call stands in the body itself, with nothing before it that could leave.

    Args:
        call: Some call in the body.
        body: A function, or a whole file.
        without: Calls in it that define tests of their own.
    """
    at: Node | None = call.parent
    while at is not None and at.type in _TRANSPARENT:
        at = at.parent
    if at is None:
        return False
    # A statement of the body, or an arrow function whose body is the call.
    if at != body and (at.type != "statement_block" or at.parent != body):
        return False
    return not any(
        node.type == "return_statement" and node.end_byte <= call.start_byte and not _in_nested(node, body)
        for node in inside(body, without)
    )


_TRANSPARENT = ("await_expression", "expression_statement", "parenthesized_expression", "return_statement")


def _in_nested(node: Node, body: Node) -> bool:
    at = node.parent
    while at is not None and at != body:
        if at.type in _NESTED:
            return True
        at = at.parent
    return False


def _replace(node: Node, text: str) -> Edit:
    return Edit(node.start_byte, node.end_byte, text)
