"""The tests of a JavaScript or TypeScript file: `it`, `test`, `describe`, with their checks and skips.

Understood are the assertions of Jest, Vitest, Jasmine and Playwright (`expect(…).toBe(…)`), Chai's
(`expect(…).to.equal(…)`, `assert.equal`), node's `assert`, and those of AVA and tap (`t.is`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from tree_sitter import Node

from adjudge.records.testcode import Check, CheckState, SkipCondition, SkipMark, SuiteOutline, WrittenTest
from adjudge.syntax.bodies import text_of
from adjudge.syntax.testcode.nodes import (
    MAX_DEPTH,
    UNKNOWN_CASES,
    arguments_of,
    body_identity,
    called_names,
    children,
    descendants,
    line_of,
    number_in,
    plain,
    shown,
)

__all__ = ["read_javascript"]

_TESTS = frozenset({"it", "test", "specify", "bench"})
_SUITES = frozenset({"describe", "context", "suite"})
_OFF = re.compile(r"^x(?=it$|test$|describe$|context$|specify$)")
_FOCUSED = re.compile(r"^f(?=it$|test$|describe$|context$|specify$)")
_SKIPS = frozenset({"skip", "todo", "fixme", "fails", "failing"})
_MAYBE = frozenset({"skipIf", "runIf"})
_FUNCTIONS = frozenset({"arrow_function", "function_expression", "generator_function"})
_DECLARED = frozenset({"function_declaration", "generator_function_declaration"})
_MATCHERS: dict[str, tuple[str, int]] = {
    "toBe": ("==", 5), "toEqual": ("==", 5), "toStrictEqual": ("==", 5), "equal": ("==", 5),
    "equals": ("==", 5),
    "eql": ("==", 5), "eq": ("==", 5), "strictEqual": ("==", 5), "deepEqual": ("==", 5),
    "deepStrictEqual": ("==", 5), "is": ("==", 5), "same": ("==", 5), "toHaveText": ("==", 5),
    "toHaveValue": ("==", 5), "toBeTruthy": ("truthy", 2), "ok": ("truthy", 2), "isOk": ("truthy", 2),
    "isTrue": ("truthy", 2), "true": ("truthy", 2), "truthy": ("truthy", 2), "assert": ("truthy", 2),
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
    "fail": ("fails", 3),
}  # fmt: skip
_OPPOSITE = {
    "==": ("!=", 2), "truthy": ("falsy", 4), "falsy": ("truthy", 2), "null": ("defined", 1),
    "undefined": ("defined", 1), "defined": ("undefined", 4), "called": ("not called", 4), "!=": ("==", 5),
}  # fmt: skip
_CHAI_WORDS = frozenset(
    {"to", "be", "been", "is", "that", "which", "and", "has", "have", "with", "at", "of", "deep", "own",
     "resolves", "rejects", "not", "eventually", "a", "an"}
)  # fmt: skip
_NAMES_OF_T = frozenset({"t", "assert", "test"})
_FALSE = frozenset({"false", "0", "null", "undefined", '""', "! true", "!1"})
_TRUE = frozenset({"true", "1", "! false"})
_CONSTANTS = frozenset({"true", "number", "string", "array", "object"})
_PLATFORM = re.compile(r"\bprocess ?\. ?(?:platform|version|versions|arch)\b|\bisWindows\b|\bos ?\.")
_ENVIRONMENT = re.compile(r"\bprocess ?\. ?env\b|\bimport ?\. ?meta ?\. ?env\b")


@dataclass(frozen=True, slots=True)
class _Around:
    state: CheckState = CheckState.LIVE
    conditional: str | None = None
    awaited: bool = False


@dataclass(slots=True)
class _Reading:
    locals: dict[str, str | None]
    checks: list[Check] = field(default_factory=list)
    skips: list[SkipMark] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Defined:
    """A call that defines a test or a suite."""

    call: Node
    suite: bool
    title: str
    body: Node | None
    mark: SkipMark | None
    cases: tuple[str, ...]


def read_javascript(root: Node) -> SuiteOutline:
    """The tests of a file."""
    tests: list[WrittenTest] = []
    helpers: list[WrittenTest] = []
    loose: list[SkipMark] = []
    pending: list[tuple[Node, tuple[str, ...]]] = [(root, ())]
    while pending:
        node, names = pending.pop()
        if node.type == "call_expression":
            defined = _defined(node)
            if defined is not None and defined.suite:
                if defined.mark is not None:
                    loose.append(defined.mark)
                if defined.body is not None and len(names) < MAX_DEPTH:
                    inside = defined.body.child_by_field_name("body") or defined.body
                    pending.append((inside, (*names, defined.title)))
                continue
            if defined is not None:
                tests.append(_read_test(defined, names))
                continue
        if node.type in _DECLARED or (node.type in _FUNCTIONS and not names):
            helpers.append(_read_helper(node, names))
            if node.type in _DECLARED:
                continue
        pending.extend((child, names) for child in reversed(node.named_children))
    return SuiteOutline(tests=tuple(tests), helpers=tuple(helpers), skips=tuple(loose))


def _defined(call: Node) -> _Defined | None:
    function = call.child_by_field_name("function")
    chain, tables = _chain(function)
    if not chain:
        return None
    base = _FOCUSED.sub("", _OFF.sub("", chain[0]))
    suite = base in _SUITES or (base == "test" and "describe" in chain[1:])
    if base not in _TESTS and not suite:
        return None
    arguments = arguments_of(call)
    body = next((part for part in reversed(arguments) if part.type in _FUNCTIONS), None)
    titled = bool(arguments) and arguments[0].type in (
        "string",
        "template_string",
        "identifier",
        "binary_expression",
    )
    if not titled and body is None:
        return None
    options = [part for part in arguments if part.type == "object"]
    return _Defined(
        call=call,
        suite=suite,
        title=plain(arguments[0]).strip('"') if titled else "",
        body=body,
        mark=_definition_mark(call, chain, options),
        cases=tuple(row for table in tables for row in _rows(table)),
    )


def _chain(node: Node | None) -> tuple[list[str], list[Node]]:
    """The names of `it.skip.each([…])`, and the tables in it."""
    names: list[str] = []
    tables: list[Node] = []
    for _ in range(12):
        if node is None:
            break
        if node.type == "identifier":
            names.append(text_of(node))
            return names[::-1], tables
        if node.type == "member_expression":
            names.append(text_of(node.child_by_field_name("property")))
            node = node.child_by_field_name("object")
        elif node.type == "call_expression":
            tables += arguments_of(node)[:1]
            node = node.child_by_field_name("function")
        else:
            break
    return [], []


def _rows(table: Node) -> list[str]:
    if table.type == "array":
        return [plain(row) for row in children(table)][:1000]
    return [UNKNOWN_CASES]


def _definition_mark(call: Node, chain: list[str], options: list[Node]) -> SkipMark | None:
    line, text = line_of(call), _head(call)
    if _FOCUSED.match(chain[0]) or "only" in chain:
        return SkipMark(line=line, text=text, focus=True)
    if _OFF.match(chain[0]) or not _SKIPS.isdisjoint(chain):
        return SkipMark(line=line, text=text)
    if not _MAYBE.isdisjoint(chain):
        condition = plain(call.child_by_field_name("function"))
        always = re.search(r"skipIf \( true|runIf \( false", condition)
        when = SkipCondition.PLATFORM if _PLATFORM.search(condition) else SkipCondition.OTHER
        return SkipMark(line=line, text=text, when=SkipCondition.ALWAYS if always else when)
    for pair in (part for option in options for part in children(option) if part.type == "pair"):
        key, value = plain(pair.child_by_field_name("key")), plain(pair.child_by_field_name("value"))
        if key in ("skip", "todo", "only") and value not in _FALSE:
            constant = value in _TRUE or value.startswith('"')
            when = SkipCondition.PLATFORM if _PLATFORM.search(value) else SkipCondition.OTHER
            return SkipMark(
                line=line,
                text=text,
                when=SkipCondition.ALWAYS if constant else when,
                focus=key == "only",
            )
    return None


def _head(call: Node) -> str:
    return shown(call).partition("=>")[0].partition("function")[0][:100].rstrip(" ({,")


def _read_test(defined: _Defined, names: tuple[str, ...]) -> WrittenTest:
    reading = _Reading(_locals_of(defined.body))
    if defined.mark is not None:
        reading.skips.append(defined.mark)
    if defined.body is not None:
        _read_function(reading, defined.body)
    return WrittenTest(
        name=" > ".join((*names, defined.title))[-300:],
        line=line_of(defined.call),
        checks=tuple(reading.checks),
        skips=tuple(reading.skips),
        cases=defined.cases,
        calls=tuple(sorted(called_names(descendants(defined.body)))) if defined.body is not None else (),
        body=body_identity(defined.body),
    )


def _read_helper(node: Node, names: tuple[str, ...]) -> WrittenTest:
    reading = _Reading(_locals_of(node))
    _read_function(reading, node)
    name = text_of(node.child_by_field_name("name"))
    parent = node.parent
    if not name and parent is not None and parent.type == "variable_declarator":
        name = text_of(parent.child_by_field_name("name"))
    return WrittenTest(
        name=".".join((*names, name))[-300:],
        line=line_of(node),
        collected=False,
        checks=tuple(reading.checks),
        calls=tuple(sorted(called_names(descendants(node)))),
        body=body_identity(node),
    )


def _locals_of(body: Node | None) -> dict[str, str | None]:
    found: dict[str, str | None] = {}
    for node in descendants(body) if body is not None else ():
        if node.type == "variable_declarator":
            name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        elif node.type in ("assignment_expression", "augmented_assignment_expression"):
            name, value = node.child_by_field_name("left"), None
        else:
            continue
        if name is not None and name.type == "identifier":
            key = text_of(name)
            held = plain(value).removeprefix("await ")
            found[key] = None if key in found or not held else held
    return found


def _read_function(reading: _Reading, function: Node) -> None:
    body = function.child_by_field_name("body")
    if body is None:
        return
    if body.type == "statement_block":
        _read_block(reading, body, _Around(), 0)
    else:
        _read_expression(reading, body, _Around(awaited=True))


def _read_block(reading: _Reading, block: Node, around: _Around, depth: int) -> None:
    for statement in children(block):
        _read_statement(reading, statement, around, depth)
        if statement.type in ("return_statement", "throw_statement", "break_statement", "continue_statement"):
            around = replace(around, state=CheckState.DEAD)


def _read_statement(reading: _Reading, node: Node, around: _Around, depth: int) -> None:
    kind = node.type
    if depth > MAX_DEPTH:
        return
    if kind == "if_statement":
        condition = plain(node.child_by_field_name("condition"))
        for name, never in (("consequence", _FALSE), ("alternative", _TRUE)):
            part = node.child_by_field_name(name)
            if part is None:
                continue
            inner = replace(around, conditional=condition)
            if condition in never:
                inner = replace(inner, state=CheckState.DEAD)
            elif _ENVIRONMENT.search(condition) and around.state is CheckState.LIVE:
                inner = replace(inner, state=CheckState.GATED)
            _read_statement(reading, part, inner, depth + 1)
    elif kind == "try_statement":
        handler = node.child_by_field_name("handler")
        inner = around
        if handler is not None and _swallows(handler) and around.state is not CheckState.DEAD:
            inner = replace(around, state=CheckState.SWALLOWED)
        for name in ("body", "handler", "finalizer"):
            part = node.child_by_field_name(name)
            if part is not None:
                block = part.child_by_field_name("body") or part
                _read_block(reading, block, inner if name == "body" else around, depth + 1)
    elif kind in (
        "for_statement",
        "for_in_statement",
        "while_statement",
        "do_statement",
        "labeled_statement",
    ):
        body = node.child_by_field_name("body")
        if body is not None:
            _read_statement(reading, body, around, depth + 1)
    elif kind in (
        "statement_block",
        "else_clause",
        "switch_statement",
        "switch_body",
        "switch_case",
        "switch_default",
    ):
        _read_block(reading, node, around, depth + 1)
    elif kind in ("return_statement", "expression_statement", "lexical_declaration", "variable_declaration"):
        _read_expression(reading, node, replace(around, awaited=kind == "return_statement"))
    else:
        _read_expression(reading, node, around)


def _swallows(handler: Node) -> bool:
    body = handler.child_by_field_name("body")
    if body is None:
        return False
    for inner in descendants(body):
        if inner.type in ("throw_statement", "assignment_expression"):
            return False
        if inner.type == "call_expression" and re.match(
            r"(?:expect|assert|fail|done|reject|t\.)\b", text_of(inner.child_by_field_name("function"))
        ):
            return False
    return True


def _read_expression(reading: _Reading, node: Node, around: _Around) -> None:
    """Checks and skips among the calls of a statement; an outer one stands for the calls it is made of."""
    pending = [(node, around)]
    while pending:
        current, near = pending.pop()
        if current.type == "await_expression":
            near = replace(near, awaited=True)
        if current.type == "call_expression":
            function = text_of(current.child_by_field_name("function"))
            if re.fullmatch(r"(?:this|t|ctx|test|it|pending)(?:\.skip)?", function) and (
                function == "pending" or function.endswith(".skip")
            ):
                if near.state is not CheckState.DEAD:
                    reading.skips.append(
                        SkipMark(line=line_of(current), text=shown(current), when=_when(near.conditional))
                    )
                continue
            check = _check_of(reading, current, near)
            if check is not None:
                reading.checks.append(check)
                continue
        if current.type in _FUNCTIONS:
            body = current.child_by_field_name("body")
            if body is not None and body.type == "statement_block":
                _read_block(reading, body, replace(near, awaited=False), 1)
                continue
        if current.type == "member_expression":
            check = _property_check(reading, current, near)
            if check is not None:
                reading.checks.append(check)
                continue
        pending.extend((child, near) for child in reversed(current.named_children))


def _when(condition: str | None) -> SkipCondition:
    if condition is None or condition in _TRUE:
        return SkipCondition.ALWAYS
    return SkipCondition.PLATFORM if _PLATFORM.search(condition) else SkipCondition.OTHER


def _check_of(reading: _Reading, call: Node, around: _Around) -> Check | None:
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
    expect, words = _expectation(function.child_by_field_name("object"))
    if expect is not None:
        subject = arguments_of(expect)
        state = around.state
        if {"resolves", "rejects", "eventually"} & set(words) and not around.awaited:
            state = CheckState.UNAWAITED if state is CheckState.LIVE else state
        return _matched(reading, call, matcher, words, subject[:1], arguments, state)
    root = text_of(function.child_by_field_name("object"))
    if (
        root in ("assert", "chai.assert", "assert.strict", "t", "test", "assert.deep")
        and matcher in _MATCHERS
    ):
        if _MATCHERS[matcher][0] in ("truthy",) and arguments and root != "t":
            return _asserted(reading, call, arguments[0], around)
        state = around.state
        if matcher in ("rejects", "doesNotReject") and not around.awaited and state is CheckState.LIVE:
            state = CheckState.UNAWAITED
        return _matched(reading, call, matcher, (), arguments[:1], arguments[1:], state)
    return None


def _property_check(reading: _Reading, node: Node, around: _Around) -> Check | None:
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
    reading: _Reading,
    node: Node,
    matcher: str,
    words: tuple[str, ...],
    subject: list[Node],
    expected: list[Node],
    state: CheckState,
) -> Check:
    operator, strength = _MATCHERS.get(matcher, (matcher, 3))
    looked_at = _resolved(reading, subject[0]) if subject else ""
    wanted = _resolved(reading, expected[0]) if expected else ""
    tolerance: float | None = None
    if operator == "==" and wanted in ("true", "false", "null", "undefined"):
        operator, strength = {"true": ("truthy", 3), "false": ("falsy", 4)}.get(wanted, (wanted, 4))
        wanted = ""
    if operator == "throws":
        strength = 4 if wanted else 3
    if operator == "almost ==":
        digits = number_in(_resolved(reading, expected[1])) if len(expected) > 1 else 2.0
        if digits is not None and -300 < digits < 300:
            tolerance = digits if matcher == "closeTo" else 10.0**-digits
    if "not" in words:
        operator, strength = _OPPOSITE.get(operator, (f"not {operator}", 2))
    constant = bool(subject) and subject[0].type in ("true", "number", "string")
    if (operator == "==" and looked_at == wanted and looked_at) or (
        constant and (operator in ("truthy", "defined") or (operator == "==" and looked_at == wanted))
    ):
        strength = 0
    return Check(
        line=line_of(node),
        text=shown(node),
        operator=operator,
        subject=looked_at,
        expected=wanted,
        strength=strength,
        tolerance=tolerance,
        state=state,
    )


def _asserted(reading: _Reading, call: Node, condition: Node, around: _Around) -> Check:
    """`assert(condition)`."""
    while condition.type == "parenthesized_expression" and children(condition):
        condition = children(condition)[0]
    operator, strength, subject, expected = "truthy", 2, _resolved(reading, condition), ""
    if condition.type in _CONSTANTS:
        strength = 0
    elif condition.type == "binary_expression":
        sign = text_of(condition.child_by_field_name("operator"))
        left = _resolved(reading, condition.child_by_field_name("left"))
        right = _resolved(reading, condition.child_by_field_name("right"))
        known = {"===": ("==", 5), "==": ("==", 5), "!==": ("!=", 2), "!=": ("!=", 2)}
        if sign in known:
            operator, strength = known[sign]
            subject, expected = left, right
            strength = 0 if left == right and operator == "==" else strength
        elif sign in ("<", ">", "<=", ">="):
            operator, strength, subject, expected = sign, 3, left, right
        elif sign == "||":
            strength = 0 if _TRUE & {left, right} else 1
    elif condition.type == "unary_expression" and text_of(condition).startswith("!"):
        operator, strength = "falsy", 4
        subject = _resolved(reading, condition.child_by_field_name("argument"))
        strength = 0 if subject in _FALSE else strength
    return Check(
        line=line_of(call),
        text=shown(call),
        operator=operator,
        subject=subject,
        expected=expected,
        strength=strength,
        state=around.state,
    )


def _resolved(reading: _Reading, node: Node | None) -> str:
    text = plain(node)
    for _ in range(4):
        held = reading.locals.get(text)
        if not held:
            break
        text = held
    return text.removeprefix("await ")
