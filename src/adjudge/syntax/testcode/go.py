"""The tests of a Go file: `TestXxx` functions, with the checks they make and where they skip.

Checks are calls of `t.Errorf` and its relatives, read with the condition they stand under, and testify's.
What stands in a subtest belongs to the test it is in.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from tree_sitter import Node

from adjudge.records.testcode import Check, CheckState, SkipCondition, SkipMark, SuiteOutline, WrittenTest
from adjudge.syntax.bodies import COMMENTS, text_of
from adjudge.syntax.testcode.nodes import (
    MAX_DEPTH,
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

__all__ = ["read_go"]

_TEST = re.compile(r"(?:Test|Example|Fuzz|Benchmark)(?:[^a-z]|$)")
_FAILS = frozenset({"Error", "Errorf", "Fatal", "Fatalf", "Fail", "FailNow"})
_SKIPS = frozenset({"Skip", "Skipf", "SkipNow"})
_TESTIFY: dict[str, tuple[str, int]] = {
    "Equal": ("==", 5), "EqualValues": ("==", 5), "Exactly": ("==", 5), "JSONEq": ("==", 5),
    "NotEqual": ("!=", 2),
    "True": ("truthy", 2), "False": ("falsy", 4), "Nil": ("nil", 4), "NotNil": ("not nil", 1),
    "NoError": ("nil", 4),
    "Error": ("not nil", 3), "ErrorIs": ("error is", 5), "ErrorContains": ("error says", 4),
    "EqualError": ("error says", 5), "ErrorAs": ("error is", 4), "Contains": ("in", 3),
    "NotContains": ("not in", 2),
    "Len": ("length", 4), "Empty": ("empty", 4), "NotEmpty": ("not empty", 1), "Zero": ("empty", 4),
    "NotZero": ("not empty", 1), "InDelta": ("almost ==", 4), "InEpsilon": ("almost ==", 4),
    "ElementsMatch": ("same items", 4), "Greater": (">", 3), "GreaterOrEqual": (">=", 3), "Less": ("<", 3),
    "LessOrEqual": ("<=", 3), "Panics": ("panics", 3), "NotPanics": ("no panic", 3), "IsType": ("type", 2),
    "Implements": ("type", 2), "Regexp": ("matches", 3), "Same": ("==", 5), "Eventually": ("eventually", 3),
    "Fail": ("fails", 3), "FailNow": ("fails", 3), "Subset": ("in", 3), "WithinDuration": ("almost ==", 4),
}  # fmt: skip
_OPPOSITE = {"!=": ("==", 5), "==": ("!=", 2), "<": (">=", 3), ">": ("<=", 3), "<=": (">", 3), ">=": ("<", 3)}
_PLATFORM = re.compile(r"\bruntime ?\. ?(?:GOOS|GOARCH|Version)\b")
_ENVIRONMENT = re.compile(r"\bos ?\. ?(?:Getenv|LookupEnv)\b")
_BUILD = re.compile(r"//\s*(?:go:build|\+build)\s+(.*)")


@dataclass(frozen=True, slots=True)
class _Around:
    state: CheckState = CheckState.LIVE
    conditions: tuple[Node, ...] = ()


@dataclass(slots=True)
class _Reading:
    locals: dict[str, str | None]
    checks: list[Check] = field(default_factory=list)
    skips: list[SkipMark] = field(default_factory=list)


def read_go(root: Node) -> SuiteOutline:
    """The tests of a file."""
    tests: list[WrittenTest] = []
    helpers: list[WrittenTest] = []
    loose: list[SkipMark] = []
    for node in root.named_children:
        if node.type in COMMENTS:
            built = _BUILD.match(text_of(node))
            if built:
                always = built[1].strip() in ("ignore", "never", "none", "disabled", "skip")
                loose.append(
                    SkipMark(
                        line=line_of(node),
                        text=shown(node),
                        when=SkipCondition.ALWAYS if always else SkipCondition.OTHER,
                    )
                )
        elif node.type in ("function_declaration", "method_declaration"):
            written = _read_function(node)
            (tests if written.collected else helpers).append(written)
    return SuiteOutline(tests=tuple(tests), helpers=tuple(helpers), skips=tuple(loose))


def _read_function(node: Node) -> WrittenTest:
    name = text_of(node.child_by_field_name("name"))
    parameters = plain(node.child_by_field_name("parameters"))
    receiver = plain(node.child_by_field_name("receiver"))
    body = node.child_by_field_name("body")
    reading = _Reading(_locals_of(body))
    if body is not None:
        _read_block(reading, body, _Around(), 0)
    given = (
        bool(re.search(r"testing ?\. ?[TBF]\b", parameters)) or name.startswith("Example") or bool(receiver)
    )
    return WrittenTest(
        name=f"{receiver}.{name}" if receiver else name,
        line=line_of(node),
        collected=bool(_TEST.match(name)) and given,
        checks=tuple(reading.checks),
        skips=tuple(reading.skips),
        cases=tuple(_table_rows(body)),
        calls=tuple(sorted(called_names(descendants(body)))) if body is not None else (),
        body=body_identity(body),
    )


def _locals_of(body: Node | None) -> dict[str, str | None]:
    found: dict[str, str | None] = {}
    for node in descendants(body) if body is not None else ():
        if node.type not in ("short_var_declaration", "assignment_statement"):
            continue
        left, right = children(node.child_by_field_name("left")), children(node.child_by_field_name("right"))
        for index, name in enumerate(left):
            key = text_of(name)
            value = plain(right[index]) if len(left) == len(right) else None
            found[key] = None if key in found else value
    return found


def _table_rows(body: Node | None) -> list[str]:
    """The rows of tables that a test goes through."""
    rows: list[str] = []
    for node in descendants(body) if body is not None else ():
        if node.type != "composite_literal":
            continue
        kind, value = node.child_by_field_name("type"), node.child_by_field_name("body")
        if kind is not None and kind.type in ("slice_type", "map_type") and value is not None:
            table = "struct" in text_of(kind)[:200] or kind.type == "map_type"
            if table or re.search(r"(?:case|test|tt)", text_of(kind).lower()):
                rows += [plain(row) for row in children(value)]
        if len(rows) > 1000:
            break
    return rows[:1000]


def _read_block(reading: _Reading, block: Node, around: _Around, depth: int) -> None:
    if depth > MAX_DEPTH:
        return
    for statement in children(block):
        _read_statement(reading, statement, around, depth)
        if statement.type in ("return_statement", "break_statement", "continue_statement", "goto_statement"):
            around = replace(around, state=CheckState.DEAD)


def _read_statement(reading: _Reading, node: Node, around: _Around, depth: int) -> None:
    kind = node.type
    if kind == "if_statement":
        condition = node.child_by_field_name("condition")
        text = plain(condition)
        start = node.child_by_field_name("initializer")
        if start is not None:
            _read_calls(reading, start, around, depth)
        if condition is not None:
            inner = replace(around, conditions=(*around.conditions, condition)[-8:])
            if _ENVIRONMENT.search(text) and around.state is CheckState.LIVE:
                inner = replace(inner, state=CheckState.GATED)
            consequence = node.child_by_field_name("consequence")
            if consequence is not None:
                _read_block(reading, consequence, inner, depth + 1)
        alternative = node.child_by_field_name("alternative")
        if alternative is not None:
            other = replace(around, state=CheckState.DEAD) if text == "true" else around
            _read_statement(reading, alternative, other, depth + 1)
    elif kind in ("block", "statement_list"):
        _read_block(reading, node, around, depth + 1)
    elif kind in ("for_statement", "labeled_statement"):
        for part in children(node):
            if part.type == "block":
                _read_block(reading, part, around, depth + 1)
            elif part.type == "for_statement":
                _read_statement(reading, part, around, depth + 1)
    elif kind in ("expression_switch_statement", "type_switch_statement", "select_statement",
    "expression_case",
                  "default_case", "type_case", "communication_case"):  # fmt: skip
        _read_block(reading, node, around, depth + 1)
    else:
        _read_calls(reading, node, around, depth)


def _read_calls(reading: _Reading, node: Node, around: _Around, depth: int) -> None:
    pending = [node]
    while pending:
        current = pending.pop()
        if current.type == "func_literal":
            body = current.child_by_field_name("body")
            if body is not None:
                _read_block(reading, body, replace(around, conditions=()), depth + 1)
            continue
        if current.type == "call_expression":
            function = current.child_by_field_name("function")
            if function is not None and function.type == "selector_expression":
                owner = text_of(function.child_by_field_name("operand"))
                name = text_of(function.child_by_field_name("field"))
                if _take_call(reading, current, owner, name, around):
                    continue
        pending.extend(reversed(current.named_children))


def _take_call(reading: _Reading, call: Node, owner: str, name: str, around: _Around) -> bool:
    if (
        re.fullmatch(r"(?:assert|require|is|s|suite|a|r)(?:\.\w+\(\))?", owner)
        and name.rstrip("f") in _TESTIFY
    ):
        reading.checks.append(_testify(reading, call, owner, name.rstrip("f"), around.state))
        return True
    if re.fullmatch(r"[a-z]\w{0,3}", owner) and name in _FAILS:
        reading.checks.append(_failing(reading, call, around))
        return True
    if (
        re.fullmatch(r"[a-z]\w{0,3}(?:\.T\(\))?", owner)
        and name in _SKIPS
        and around.state is not CheckState.DEAD
    ):
        reading.skips.append(SkipMark(line=line_of(call), text=shown(call), when=_when(around)))
        return True
    return False


def _when(around: _Around) -> SkipCondition:
    text = " && ".join(plain(condition) for condition in around.conditions)
    if not text or text in ("true", "1 == 1", "! false"):
        return SkipCondition.ALWAYS
    return SkipCondition.PLATFORM if _PLATFORM.search(text) else SkipCondition.OTHER


def _testify(reading: _Reading, call: Node, owner: str, name: str, state: CheckState) -> Check:
    operator, strength = _TESTIFY[name]
    arguments = arguments_of(call)
    if (
        arguments
        and re.fullmatch(r"[a-z]\w{0,3}(?:\.T\(\))?", text_of(arguments[0]))
        and owner in ("assert", "require")
    ):
        arguments = arguments[1:]
    sides = [_resolved(reading, part) for part in arguments[:2]]
    # testify has the expected value first.
    expected, subject = (sides[0], sides[1]) if operator in ("==", "!=") and len(sides) == 2 else ("", "")
    if not subject:
        subject, expected = (*sides, "", "")[:2]
    if operator in ("==", "almost ==") and subject == expected:
        strength = 0
    if (operator, subject) in (("truthy", "true"), ("falsy", "false"), ("nil", "nil")):
        strength = 0
    tolerance = number_in(plain(arguments[2])) if operator == "almost ==" and len(arguments) > 2 else None
    return Check(
        line=line_of(call),
        text=shown(call),
        operator=operator,
        subject=subject,
        expected=expected,
        strength=strength,
        tolerance=tolerance,
        state=state,
    )


def _failing(reading: _Reading, call: Node, around: _Around) -> Check:
    """`if got != want { t.Errorf(…) }` asks for `got == want`."""
    condition = around.conditions[-1] if around.conditions else None
    while condition is not None and condition.type == "parenthesized_expression" and children(condition):
        condition = children(condition)[0]
    operator, strength, subject, expected = "reached", 3, "", ""
    state = around.state
    if condition is not None:
        operator, strength, subject = "truthy", 2, plain(condition)
        if condition.type == "binary_expression":
            sign = text_of(condition.child_by_field_name("operator"))
            left = _resolved(reading, condition.child_by_field_name("left"))
            right = _resolved(reading, condition.child_by_field_name("right"))
            if sign in _OPPOSITE:
                operator, strength = _OPPOSITE[sign]
                subject, expected = left, right
                if right == "nil":
                    operator, strength, expected = ("nil", 4, "") if sign == "!=" else ("not nil", 3, "")
                if left == right and operator == "==":
                    strength = 0
            elif sign in ("&&", "||"):
                # `a || b` fails on either: as strong as the sum; `a && b` only on both.
                operator, strength = ("any of", 5) if sign == "||" else ("both", 3)
                if sign == "&&" and {left, right} & {"false", "0 == 1"}:
                    strength = 0
        elif condition.type == "unary_expression":
            subject = _resolved(reading, condition.child_by_field_name("operand"))
            deep = re.search(r"\b(?:DeepEqual|Equal)\b", subject)
            operator, strength = ("==", 5) if deep else ("truthy", 2)
        elif plain(condition) == "false":
            strength = 0
        else:
            operator, strength = "falsy", 4
    return Check(
        line=line_of(call),
        text=shown(call),
        operator=operator,
        subject=subject,
        expected=expected,
        strength=strength,
        state=state,
    )


def _resolved(reading: _Reading, node: Node | None) -> str:
    text = plain(node)
    for _ in range(4):
        held = reading.locals.get(text)
        if not held:
            break
        text = held
    return text
