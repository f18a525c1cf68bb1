"""What an assertion in JavaScript asks: Jest's, Vitest's, Jasmine's, Chai's, node's, AVA's and tap's."""

from __future__ import annotations

import re

from tree_sitter import Node

from adjudge.records.testcode import Check, CheckState
from adjudge.syntax.bodies import text_of
from adjudge.syntax.testcode.nodes import arguments_of, children, number_in, plain
from adjudge.syntax.testcode.reading import Around, Reading, make_check, resolved

__all__ = ["check_of", "property_check"]

_MATCHERS: dict[str, tuple[str, int]] = {
    "toBe": ("==", 5), "toEqual": ("==", 5), "toStrictEqual": ("==", 5), "equal": ("==", 5),
    "equals": ("==", 5),
    "eql": ("==", 5), "eq": ("==", 5), "strictEqual": ("==", 5), "deepEqual": ("==", 5),
    "deepStrictEqual": ("==", 5), "is": ("==", 5), "same": ("==", 5), "toHaveText": ("==", 5),
    "toHaveValue": ("==", 5), "toBeTruthy": ("truthy", 2), "ok": ("truthy", 2), "isOk": ("truthy", 2),
    "isTrue": ("truthy", 3), "true": ("truthy", 3), "truthy": ("truthy", 2), "assert": ("truthy", 2),
    "toBeFalsy": ("falsy", 4), "false": ("falsy", 4), "isFalse": ("falsy", 4), "falsy": ("falsy", 4),
    "toBeDefined": ("defined", 1), "exist": ("defined", 1), "exists": ("defined", 1), "toBeNull": ("null", 4),
    "toBeUndefined": ("undefined", 4), "undefined": ("undefined", 4), "null": ("null", 4),
    "toContain": ("in", 3), "include": ("in", 3), "contain": ("in", 3), "toContainEqual": ("in", 3),
    "toMatchObject": ("in", 3), "like": ("in", 3), "toHaveProperty": ("has", 3), "property": ("has", 3),
    "toMatch": ("matches", 3), "match": ("matches", 3), "regex": ("matches", 3),
    "toHaveLength": ("length", 4),
    "lengthOf": ("length", 4), "toBeCloseTo": ("almost ==", 4), "closeTo": ("almost ==", 4),
    "toBeGreaterThan": (">", 3), "toBeGreaterThanOrEqual": (">=", 3), "toBeLessThan": ("<", 3),
    "toBeLessThanOrEqual": ("<=", 3), "toBeInstanceOf": ("instance", 2), "instanceOf": ("instance", 2),
    "toThrow": ("throws", 3), "toThrowError": ("throws", 3), "throw": ("throws", 3), "throws": ("throws", 3),
    "rejects": ("throws", 3), "toHaveBeenCalled": ("called", 2), "toBeCalled": ("called", 2),
    "toHaveBeenCalledTimes": ("called times", 4), "toHaveBeenCalledWith": ("called with", 4),
    "toHaveBeenLastCalledWith": ("called with", 4), "toMatchSnapshot": ("snapshot", 4),
    "toMatchInlineSnapshot": ("snapshot", 4), "snapshot": ("snapshot", 4), "notEqual": ("!=", 2),
    "notStrictEqual": ("!=", 2), "notDeepEqual": ("!=", 2), "notDeepStrictEqual": ("!=", 2),
    "fail": ("fails", 3), "strictSame": ("==", 5), "notOk": ("falsy", 4), "notSame": ("!=", 2),
    "hasStrict": ("in", 3), "ifError": ("null", 4), "matchSnapshot": ("snapshot", 4),
}  # fmt: skip
_OPPOSITE = {
    "==": ("!=", 2), "truthy": ("falsy", 4), "falsy": ("truthy", 2), "null": ("defined", 1),
    "undefined": ("defined", 1), "defined": ("undefined", 4), "called": ("not called", 4), "!=": ("==", 5),
}  # fmt: skip
_FALSE = frozenset({"false", "0", "null", "undefined", '""', "! true", "!1"})
_TRUE = frozenset({"true", "1", "! false"})
_CONSTANTS = frozenset({"true", "number", "string", "array", "object", "arrow_function"})
_WHOLE = re.compile(r"/\^(?!.*(?<!\\)[.)\]][*+]).{8,}\$/[a-z]*")
"""A pattern for all of a text that leaves little open."""
_ANYTHING = re.compile(r"\bexpect \. (?:anything|any) \(")
_OF_TEST = re.compile(r"t\d?|tt|st|test")
_ASSERTS = re.compile(rf"(?:[\w$]+\.)?assert(?:\.strict|\.deep)?|{_OF_TEST.pattern}")
"""What assertions are called on: a module, or what a runner hands to a test (`t`, `t.assert`)."""
_TAP = re.compile(r"""(?:\bfrom\s+|\brequire\(\s*)["'](?:tap|libtap)["']""")
_HEAD = 4000
_MAX_CHAIN = 8
_ENDS_TEST = re.compile(r"done|cb|callback|next|end|reject")
"""What a test calls when it is over, with what went wrong."""


def check_of(reading: Reading, call: Node, around: Around) -> Check | None:
    """The check that a call is, if it is one."""
    function = call.child_by_field_name("function")
    if function is None:
        return None
    arguments = arguments_of(call)
    if function.type == "identifier":
        if text_of(function) != "assert" or not arguments:
            return None
        return _asserted(reading, call, arguments[0], around)
    if function.type != "member_expression":
        return None
    matcher = text_of(function.child_by_field_name("property"))
    if matcher == "fail" and len(arguments) == 1 and arguments[0].type == "identifier":
        # An error that was caught is handed on.
        return None
    expect, words = _expectation(function.child_by_field_name("object"))
    if expect is not None:
        subject = arguments_of(expect)
        state = around.state
        if {"resolves", "rejects", "eventually"} & set(words) and not _is_waited_for(call, around):
            state = CheckState.UNAWAITED if state is CheckState.LIVE else state
        return _matched(reading, call, matcher, words, subject[:1], arguments, state)
    root = text_of(function.child_by_field_name("object"))
    if _ASSERTS.fullmatch(root) and matcher in _MATCHERS:
        if (
            _MATCHERS[matcher][0] == "truthy"
            and arguments
            and (not _OF_TEST.fullmatch(root) or arguments[0].type == "binary_expression")
        ):
            return _asserted(reading, call, arguments[0], around)
        state = around.state
        if matcher in ("rejects", "doesNotReject") and not _is_waited_for(call, around):
            state = CheckState.UNAWAITED if state is CheckState.LIVE else state
        return _matched(reading, call, matcher, (), arguments[:1], arguments[1:], state)
    return None


def _is_waited_for(call: Node, around: Around) -> bool:
    """Whether somebody waits for a promise, or it ends its test itself: `.then(done).catch(done)`."""
    if around.awaited or _is_of_tap(call):
        return True
    at = call
    for _ in range(_MAX_CHAIN):
        member = at.parent
        chained = member.parent if member is not None and member.type == "member_expression" else None
        if member is None or chained is None or chained.type != "call_expression":
            return False
        named = [text_of(one) for one in arguments_of(chained) if one.type == "identifier"]
        then = text_of(member.child_by_field_name("property")) in ("then", "catch")
        if then and any(_ENDS_TEST.fullmatch(name) for name in named):
            return True
        at = chained
    return False


def _is_of_tap(call: Node) -> bool:
    """Whether it is an assertion of tap, which waits for promises that it was given."""
    if not _OF_TEST.fullmatch(text_of(call.child_by_field_name("function")).partition(".")[0]):
        return False
    at = call
    while at.parent is not None:
        at = at.parent
    return _TAP.search(text_of(at)[:_HEAD]) is not None


def property_check(reading: Reading, node: Node, around: Around) -> Check | None:
    """Chai's checks without a call: `expect(x).to.be.true`."""
    matcher = text_of(node.child_by_field_name("property"))
    expect, words = _expectation(node.child_by_field_name("object"))
    if expect is None or matcher not in _MATCHERS:
        return None
    return _matched(reading, node, matcher, words, arguments_of(expect)[:1], [], around.state)


def _expectation(node: Node | None) -> tuple[Node | None, tuple[str, ...]]:
    """The `expect(…)` at the root of a chain, and the words between."""
    words: list[str] = []
    for _ in range(20):
        if node is None:
            break
        if node.type == "member_expression":
            words.append(text_of(node.child_by_field_name("property")))
            node = node.child_by_field_name("object")
        elif node.type == "call_expression":
            name = text_of(node.child_by_field_name("function"))
            if name in ("expect", "expect.soft", "expectTypeOf", "expect.poll"):
                return node, tuple(words)
            node = node.child_by_field_name("function")
        else:
            break
    return None, ()


def _matched(
    reading: Reading,
    node: Node,
    matcher: str,
    words: tuple[str, ...],
    subject: list[Node],
    expected: list[Node],
    state: CheckState,
) -> Check:
    operator, strength = _MATCHERS.get(matcher, (matcher, 3))
    looked_at = resolved(reading, subject[0]) if subject else ""
    wanted = resolved(reading, expected[0]) if expected else ""
    tolerance: float | None = None
    if operator == "==" and wanted in ("true", "false", "null", "undefined"):
        operator, strength = {"true": ("truthy", 3), "false": ("falsy", 4)}.get(wanted, (wanted, 4))
        wanted = ""
    if operator == "throws":
        strength = 4 if wanted else 3
    if operator == "matches" and expected and _WHOLE.fullmatch(text_of(expected[0])):
        strength = 5
    if operator == "almost ==":
        digits = number_in(resolved(reading, expected[1])) if len(expected) > 1 else 2.0
        if digits is not None and -300 < digits < 300:
            tolerance = digits if matcher == "closeTo" else 10.0**-digits
    if "not" in words:
        operator, strength = _OPPOSITE.get(operator, (f"not {operator}", 2))
    constant = bool(subject) and subject[0].type in ("true", "number", "string")
    itself = bool(subject and expected) and plain(subject[0]) == plain(expected[0])
    if (operator == "==" and itself) or (constant and operator in ("truthy", "defined")):
        strength = 0
    if subject and plain(subject[0]) in reading.known and operator in ("truthy", "defined"):
        strength = 0
    if operator == "==" and _ANYTHING.search(wanted):
        strength = 1 if wanted.startswith("expect") else 3
    return make_check(node, operator, looked_at, wanted, strength, state, tolerance)


def _asserted(reading: Reading, call: Node, condition: Node, around: Around) -> Check:
    """`assert(condition)`."""
    while condition.type == "parenthesized_expression" and children(condition):
        condition = children(condition)[0]
    operator, strength, subject, expected = "truthy", 2, resolved(reading, condition), ""
    if condition.type in _CONSTANTS:
        strength = 0
    elif condition.type == "binary_expression":
        sign = text_of(condition.child_by_field_name("operator"))
        left = resolved(reading, condition.child_by_field_name("left"))
        right = resolved(reading, condition.child_by_field_name("right"))
        known = {"===": ("==", 5), "==": ("==", 5), "!==": ("!=", 2), "!=": ("!=", 2)}
        if sign in known:
            operator, strength = known[sign]
            subject, expected = left, right
            sides = [plain(condition.child_by_field_name(side)) for side in ("left", "right")]
            strength = 0 if sides[0] == sides[1] and operator == "==" else strength
        elif sign in ("<", ">", "<=", ">="):
            operator, strength, subject, expected = sign, 3, left, right
        elif sign == "||":
            strength = 0 if _TRUE & {left, right} else 1
    elif condition.type == "unary_expression" and text_of(condition).startswith("!"):
        operator, strength = "falsy", 4
        subject = resolved(reading, condition.child_by_field_name("argument"))
        strength = 0 if subject in _FALSE else strength
    return make_check(call, operator, subject, expected, strength, around.state)
