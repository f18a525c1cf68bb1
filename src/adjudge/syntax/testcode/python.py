"""The tests of a Python file: pytest's and unittest's, with their checks and skips."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
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

__all__ = ["read_python"]

_SKIP = re.compile(
    r"(?:^|\.)(?:skip|skipif|xfail|skipIf|skipUnless|expectedFailure|importorskip|skipTest|SkipTest)$"
)
_CONDITIONAL = re.compile(r"(?:^|\.)(?:skipif|skipIf|skipUnless|xfail|importorskip)$")
_PLATFORM = re.compile(
    r"\bsys ?\. ?(?:platform|version_info|implementation)\b|\bplatform ?\.|\bos ?\. ?name\b"
    r"|^\"(?:sys\.|os\.name)"
)
_ENVIRONMENT = re.compile(r"\benviron\b|\bgetenv\b")
_TRUE = frozenset({"True", "1", "not False", "not None", "not 0", '"True"', '"1"', "... is ..."})
_FALSE = frozenset({"False", "0", "None", '""', "not True", "[ ]", "( )", "{ }"})
_CONSTANTS = frozenset({"true", "string", "integer", "float", "concatenated_string", "ellipsis"})
_CATCH_ALL = re.compile(r"\b(?:Exception|BaseException|AssertionError)\b")
_FUNCTIONS = frozenset({"function_definition", "lambda", "class_definition"})
_EQUALS = {
    "assertEqual", "assertEquals", "assertListEqual", "assertDictEqual", "assertTupleEqual", "assertSetEqual",
    "assertSequenceEqual", "assertMultiLineEqual", "assertIs", "assert_equal", "assert_array_equal",
    "assert_frame_equal", "assert_series_equal", "assert_index_equal",
}  # fmt: skip
_METHODS: dict[str, tuple[str, int]] = {
    "assertNotEqual": ("!=", 2), "assertIsNot": ("!=", 2), "assertIn": ("in", 3),
    "assertNotIn": ("not in", 2),
    "assertIsNone": ("is None", 4), "assertIsNotNone": ("is not None", 1), "assertFalse": ("falsy", 4),
    "assertIsInstance": ("isinstance", 2), "assertNotIsInstance": ("not isinstance", 2),
    "assertGreater": (">", 3), "assertGreaterEqual": (">=", 3), "assertLess": ("<", 3),
    "assertLessEqual": ("<=", 3), "assertRegex": ("matches", 3), "assertNotRegex": ("not matches", 2),
    "assertCountEqual": ("same items", 4), "assertRaises": ("raises", 4), "assertRaisesRegex": ("raises", 5),
    "assertWarns": ("warns", 4), "assertWarnsRegex": ("warns", 5), "assertLogs": ("logs", 3),
    "assertNoLogs": ("no logs", 3), "assertAlmostEqual": ("almost ==", 4),
    "assertNotAlmostEqual": ("not almost ==", 2), "assert_allclose": ("almost ==", 4),
    "assert_almost_equal": ("almost ==", 4), "assert_called": ("called", 2),
    "assert_called_once": ("called", 3),
    "assert_called_with": ("called with", 4), "assert_called_once_with": ("called with", 5),
    "assert_any_call": ("called with", 3), "assert_has_calls": ("called with", 4),
    "assert_not_called": ("not called", 4), "assert_awaited_once_with": ("called with", 5),
    "assert_awaited_once": ("called", 3), "assert_awaited": ("called", 2), "fail": ("fails", 3),
}  # fmt: skip
_COMPARISONS = {
    "==": 5,
    "is": 5,
    "!=": 2,
    "is not": 2,
    "in": 3,
    "not in": 2,
    "<": 3,
    "<=": 3,
    ">": 3,
    ">=": 3,
}
_TOLERANCES = ("abs", "rel", "delta", "atol", "rtol", "abs_tol", "rel_tol")
_DIGITS = ("places", "decimal")
_MAX_CALLS_DEEP = 3
_MAX_CALLED_CHECKS = 50
_MAX_ARGUMENTS = 20
_MAX_WORDS = 120
_COARSE = re.compile(r"(?:set|int|len|bool|round|type|sorted|Counter) \(")
_TEST_CLASS = re.compile(r"^Test|Tests?$|TestCase$")


@dataclass(frozen=True, slots=True)
class _Around:
    """What stands around a statement."""

    state: CheckState = CheckState.LIVE
    conditional: str | None = None
    """The condition it stands under."""


@dataclass(slots=True)
class _Reading:
    """What a function turns out to hold."""

    locals: dict[str, str | None]
    """Names that are given one value once, with it; None for those given more."""
    known: Mapping[str, _Definition] = field(default_factory=dict)
    """Functions of the file, by name: what one of them checks, the test that calls it checks."""
    depth: int = 0
    """How many calls lie between the test and what is read."""
    looped: bool = False
    """Whether a check stands in a loop, and so is made for more than one value."""
    checks: list[Check] = field(default_factory=list)
    skips: list[SkipMark] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Definition:
    node: Node
    names: tuple[str, ...]
    decorators: tuple[Node, ...]
    in_class: Node | None


def read_python(root: Node) -> SuiteOutline:
    """The tests of a module."""
    aliases = _skip_aliases(root)
    definitions = list(_definitions(root))
    known = {
        definition.names[-1]: definition for definition in definitions if not _looks_like_test(definition)
    }
    last = {definition.names: definition.node.start_byte for definition in definitions}
    tests: list[WrittenTest] = []
    helpers: list[WrittenTest] = []
    loose = list(_loose_skips(root, aliases))
    for definition in definitions:
        written = _read_function(definition, aliases, known)
        if not _looks_like_test(definition):
            helpers.append(written.model_copy(update={"collected": False, "skips": ()}))
            loose.extend(written.skips)
        elif last[definition.names] != definition.node.start_byte:
            why = "is shadowed by another of the same name further down"
            tests.append(written.model_copy(update={"collected": False, "why_not": why}))
        else:
            tests.append(written)
    return SuiteOutline(tests=tuple(tests), helpers=tuple(helpers), skips=tuple(loose))


def _looks_like_test(definition: _Definition) -> bool:
    if not definition.names[-1].startswith("test"):
        return False
    owner = definition.in_class
    if owner is None:
        return len(definition.names) == 1
    bases = text_of(owner.child_by_field_name("superclasses"))
    return bool(_TEST_CLASS.search(definition.names[-2])) or "Test" in bases or bool(bases)


def _definitions(root: Node) -> Iterator[_Definition]:
    """Functions at the top level and in classes, in the order of the text."""
    pending: list[tuple[Node, tuple[str, ...], tuple[Node, ...], Node | None]] = [(root, (), (), None)]
    while pending:
        node, names, decorators, owner = pending.pop()
        if node.type == "function_definition":
            name = text_of(node.child_by_field_name("name"))
            yield _Definition(node, (*names, name), decorators, owner)
        elif node.type == "class_definition":
            name = text_of(node.child_by_field_name("name"))
            inside = children(node.child_by_field_name("body"))
            if len(names) < MAX_DEPTH:
                pending.extend((child, (*names, name), (), node) for child in reversed(inside))
        elif node.type == "decorated_definition":
            marks = tuple(child for child in node.named_children if child.type == "decorator")
            definition = node.child_by_field_name("definition")
            if definition is not None:
                pending.append((definition, names, marks, owner))
        elif node.type in (
            "module",
            "block",
            "if_statement",
            "else_clause",
            "try_statement",
            "except_clause",
        ):
            pending.extend((child, names, (), owner) for child in reversed(node.named_children))


def _read_function(
    definition: _Definition, aliases: dict[str, SkipMark], known: Mapping[str, _Definition]
) -> WrittenTest:
    node = definition.node
    body = node.child_by_field_name("body")
    reading = _Reading(_locals_of(body), known)
    cases: list[str] = []
    for decorator in definition.decorators:
        mark = _decorator_skip(decorator, aliases)
        if mark is not None:
            reading.skips.append(mark)
        rows = _parametrized(decorator)
        if rows:
            cases = [f"{case} {row}".strip() for case in cases or [""] for row in rows[:1000]][:1000]
            reading.skips.extend(_skips_within(decorator))
    if body is not None:
        _read_block(reading, body, _Around(), 0)
    parameters = plain(node.child_by_field_name("parameters")).split(" ")
    if not cases and (reading.looped or any(_has_rows(known.get(name)) for name in parameters)):
        cases = [UNKNOWN_CASES]
    decorated = {name for mark in definition.decorators for name in re.findall(r"\w+", text_of(mark)[:200])}
    called = set(called_names(body)) if body is not None else set()
    for helper in [known[name].node for name in sorted(called & known.keys())[:_MAX_ARGUMENTS]]:
        called.update(called_names(helper))
    return WrittenTest(
        name=".".join(definition.names)[-300:],
        line=line_of(node),
        checks=tuple(reading.checks),
        skips=tuple(reading.skips),
        cases=tuple(cases),
        calls=tuple(sorted(called | decorated)),
        body=body_identity(body),
    )


def _has_rows(definition: _Definition | None) -> bool:
    """Whether a name is a fixture with rows of its own."""
    return definition is not None and any("params" in text_of(mark) for mark in definition.decorators)


def _locals_of(body: Node | None) -> dict[str, str | None]:
    """Names that a function gives a value once, as `total` in `total = add(1, 2)`."""
    found: dict[str, str | None] = {}
    for node in descendants(body, stop=_FUNCTIONS) if body is not None else ():
        if node.type not in ("assignment", "augmented_assignment", "named_expression"):
            continue
        name = text_of(node.child_by_field_name("left") or node.child_by_field_name("name"))
        value = plain(node.child_by_field_name("right") or node.child_by_field_name("value"))
        if name.isidentifier():
            found[name] = None if name in found or node.type == "augmented_assignment" else value
    return found


def _read_block(reading: _Reading, block: Node, around: _Around, depth: int) -> None:
    for statement in children(block):
        _read_statement(reading, statement, around, depth)
        # What follows at this level is never reached, whatever leads here.
        if statement.type in ("return_statement", "raise_statement", "break_statement", "continue_statement"):
            around = replace(around, state=CheckState.DEAD)


def _read_statement(reading: _Reading, node: Node, around: _Around, depth: int) -> None:
    kind = node.type
    if kind == "decorated_definition":
        node = node.child_by_field_name("definition") or node
        kind = node.type
    if depth > MAX_DEPTH or kind in ("class_definition", "decorated_definition"):
        return
    if kind == "function_definition":
        body = node.child_by_field_name("body")
        if body is not None:
            _read_block(reading, body, around, depth + 1)
    elif kind == "if_statement":
        _read_if(reading, node, around, depth)
    elif kind == "try_statement":
        _read_try(reading, node, around, depth)
    elif kind == "with_statement":
        _read_with(reading, node, around, depth)
    elif kind in ("for_statement", "while_statement"):
        over = _resolved(reading, node.child_by_field_name("right") or node.child_by_field_name("condition"))
        inner = replace(around, state=CheckState.DEAD) if over in _FALSE else around
        known = len(reading.checks)
        for part in children(node):
            if part.type in ("block", "else_clause"):
                _read_block(reading, part.child_by_field_name("body") or part, inner, depth + 1)
        reading.looped |= any(check.effective for check in reading.checks[known:])
    elif kind in ("match_statement", "case_clause", "block", "else_clause", "finally_clause"):
        _read_block(reading, node, around, depth + 1)
    elif kind == "assert_statement":
        parts = children(node)
        if parts:
            reading.checks.append(_condition(reading, parts[0], node, around.state))
    else:
        _read_expressions(reading, node, around)


def _read_if(reading: _Reading, node: Node, around: _Around, depth: int) -> None:
    condition = plain(node.child_by_field_name("condition"))
    for part in children(node):
        if part.type == "block":
            inner = replace(around, conditional=condition)
            if condition in _FALSE:
                inner = replace(inner, state=CheckState.DEAD)
            elif _ENVIRONMENT.search(condition) and around.state is CheckState.LIVE:
                inner = replace(inner, state=CheckState.GATED)
            _read_block(reading, part, inner, depth + 1)
        elif part.type in ("elif_clause", "else_clause"):
            inner = replace(around, conditional=condition)
            if condition in _TRUE:
                inner = replace(inner, state=CheckState.DEAD)
            body = part.child_by_field_name("consequence") or part.child_by_field_name("body")
            if body is not None:
                _read_block(reading, body, inner, depth + 1)


def _read_try(reading: _Reading, node: Node, around: _Around, depth: int) -> None:
    swallows = any(_swallows(part) for part in children(node) if part.type == "except_clause")
    for part in children(node):
        inner = around
        if part.type == "block" and swallows and around.state is not CheckState.DEAD:
            inner = replace(around, state=CheckState.SWALLOWED)
        if part.type == "block":
            _read_block(reading, part, inner, depth + 1)
        else:
            for block in children(part):
                if block.type == "block":
                    _read_block(reading, block, around, depth + 1)


def _swallows(clause: Node) -> bool:
    """Whether an `except` takes a failed assertion and says nothing of it."""
    parts = children(clause)
    caught = [plain(part) for part in parts if part.type != "block"]
    if caught and not any(_CATCH_ALL.search(text) for text in caught):
        return False
    for block in (part for part in parts if part.type == "block"):
        for inner in descendants(block, stop=_FUNCTIONS):
            if inner.type in ("raise_statement", "assert_statement"):
                return False
            if inner.type == "call" and re.search(
                r"(?:^|\.)(?:fail|assert\w*|exit)$", text_of(inner.child_by_field_name("function"))
            ):
                return False
            # A caught error that is kept is looked at further down.
            if inner.type in ("assignment", "augmented_assignment") or (
                inner.type == "call" and text_of(inner.child_by_field_name("function")).endswith(".append")
            ):
                return False
    return True


def _read_with(reading: _Reading, node: Node, around: _Around, depth: int) -> None:
    inner = around
    for part in children(node):
        if part.type == "with_clause":
            _read_expressions(reading, part, around)
            if (
                re.search(r"\bsuppress \( .*\b(?:Exception|BaseException|AssertionError)\b", plain(part))
                and around.state is not CheckState.DEAD
            ):
                inner = replace(around, state=CheckState.SWALLOWED)
        elif part.type == "block":
            _read_block(reading, part, inner, depth + 1)


def _read_expressions(reading: _Reading, node: Node, around: _Around) -> None:
    """Checks and skips among the calls of a statement."""
    for part in descendants(node, stop=_FUNCTIONS):
        if part.type in ("identifier", "attribute"):
            text = text_of(part)
            raised = node.type == "raise_statement" and _SKIP.search(text)
            if raised or re.search(r"(?:^|\.)mark\.(?:skip|skipif|xfail)$", text):
                reading.skips.append(_mark(node, _call_condition(around)))
                return
        if part.type != "call":
            continue
        name = text_of(part.child_by_field_name("function"))
        last = name.rpartition(".")[2]
        if _SKIP.search(name) and (
            "." in name or last in ("skip", "xfail", "importorskip", "skipTest", "SkipTest")
        ):
            if around.state is not CheckState.DEAD:
                conditional = SkipCondition.OTHER if last == "importorskip" else _call_condition(around)
                reading.skips.append(_mark(part, conditional))
            if "mark" in name or node.type == "raise_statement":
                return
            continue
        if last in reading.known and name in (last, f"self.{last}", f"cls.{last}"):
            reading.checks.extend(_called_checks(reading, part, reading.known[last], around.state))
            continue
        check = _call_check(reading, part, name, around.state)
        if check is not None:
            reading.checks.append(check)


def _called_checks(reading: _Reading, call: Node, helper: _Definition, state: CheckState) -> Iterator[Check]:
    """What a helper of the file checks when it is called so, with what its parameters are given."""
    body = helper.node.child_by_field_name("body")
    if body is None or reading.depth >= _MAX_CALLS_DEEP:
        return
    values: dict[str, str | None] = dict(_locals_of(body))
    names = [
        text_of(part.child_by_field_name("name") or (children(part) or [part])[0])
        for part in children(helper.node.child_by_field_name("parameters"))
    ]
    if names and names[0] in ("self", "cls"):
        names = names[1:]
    positional = iter(names)
    for argument in arguments_of(call)[:_MAX_ARGUMENTS]:
        name, _ = _keyword(argument)
        value = argument.child_by_field_name("value") if name else argument
        name = name or next(positional, "")
        if name and name not in values:
            values[name] = _resolved(reading, value)
    inner = _Reading(values, reading.known, reading.depth + 1)
    _read_block(inner, body, _Around(state=state), 1)
    reading.looped |= inner.looped
    for check in inner.checks[:_MAX_CALLED_CHECKS]:
        yield check.model_copy(update={"line": line_of(call)})


def _call_condition(around: _Around) -> SkipCondition:
    condition = around.conditional
    if condition is None or condition in _TRUE:
        return SkipCondition.ALWAYS
    return SkipCondition.PLATFORM if _PLATFORM.search(condition) else SkipCondition.OTHER


def _call_check(reading: _Reading, call: Node, name: str, state: CheckState) -> Check | None:
    last = name.rpartition(".")[2]
    arguments = arguments_of(call)
    places = [part for part in arguments if part.type not in ("keyword_argument", "dictionary_splat")]
    if name in ("pytest.raises", "raises", "pytest.warns", "pytest.deprecated_call"):
        strength = 5 if any(_keyword(part)[0] == "match" for part in arguments) else 4
        subject = plain(places[0]) if places else ""
        return _raising(call, "warns" if "warn" in name else "raises", subject, strength, state)
    if name in ("pytest.fail", "fail"):
        return _check(call, "fails", "", "", 3, state)
    if last in ("assertTrue", "assert_", "assert_true") and places:
        return _condition(reading, places[0], call, state)
    sides = [_resolved(reading, part) for part in places]
    first, second = (*sides, "", "")[:2]
    if last in _EQUALS:
        return _compared(call, "==", first, second, state)
    if last in _METHODS:
        operator, strength = _METHODS[last]
        if operator in ("raises", "warns"):
            return _raising(call, operator, first, strength, state)
        if operator.startswith("called") or operator == "not called":
            first, second = name.rpartition(".")[0], plain(call.child_by_field_name("arguments"))
        tolerance = _tolerance(arguments) if "almost" in operator else None
        if operator in ("in", "not in"):
            first, second = second, first
        return _check(call, operator, first, second, strength, state, tolerance)
    if re.match(r"_*assert", last) or re.match(r"_*(?:expect|verify|check)_?", last):
        # A helper: how much it asks is not known here.
        whole = plain(call)
        return _check(call, last, whole, "", 3, state) if re.match(r"_*assert", last) else None
    return None


def _raising(call: Node, operator: str, error: str, strength: int, state: CheckState) -> Check:
    """What a block is to raise; the block itself is the subject."""
    strength = 2 if error in ("Exception", "BaseException") else strength
    return _check(call, operator, "the block", error, strength, state)


def _condition(reading: _Reading, node: Node, whole: Node, state: CheckState, depth: int = 0) -> Check:
    """What `assert node` asks."""
    node = _inner(node)
    text = plain(node)
    if _always_holds(node) or re.search(r"\bif (?:False|0)\b|^all \( [\[(] [\])] \)", text):
        return _check(whole, "always", text, "", 0, state)
    if node.type == "boolean_operator" and depth < MAX_DEPTH:
        operator = text_of(node.child_by_field_name("operator"))
        sides = [
            _inner(side)
            for side in (node.child_by_field_name("left"), node.child_by_field_name("right"))
            if side
        ]
        parts = [_condition(reading, side, whole, state, depth + 1) for side in sides]
        strengths = [part.strength for part in parts]
        strength = max(strengths) if operator == "and" else max(0, min(strengths) - 1)
        strongest = parts[strengths.index(max(strengths))]
        return _check(whole, operator, strongest.subject, text, strength, state)
    if node.type == "not_operator":
        argument = node.child_by_field_name("argument")
        return _check(whole, "falsy", _resolved(reading, argument), "", 4, state)
    if node.type == "comparison_operator":
        sides = children(node)
        operators = [
            " ".join(text_of(child).split())
            for child in node.children
            if not child.is_named or child.type in _COMPARISONS
        ]
        if len(sides) == 2:
            left, right = (_resolved(reading, side) for side in sides)
            operator = " ".join(operators)
            tolerance = next((_tolerance(arguments_of(side)) for side in sides if _is_approx(side)), None)
            if any(_is_approx(side) for side in sides):
                bare = [
                    plain(arguments_of(side)[0]) if _is_approx(side) and arguments_of(side) else said
                    for side, said in zip(sides, (left, right), strict=True)
                ]
                return _check(whole, "almost ==", bare[0], bare[1], 4, state, tolerance)
            return _compared(whole, operator, left, right, state)
    if node.type == "call":
        name = text_of(node.child_by_field_name("function"))
        arguments = arguments_of(node)
        if name == "isinstance" and len(arguments) == 2:
            return _check(
                whole, "isinstance", _resolved(reading, arguments[0]), plain(arguments[1]), 2, state
            )
        if name in ("math.isclose", "np.isclose", "np.allclose", "isclose") and len(arguments) >= 2:
            first, second = plain(arguments[0]), plain(arguments[1])
            return _check(whole, "almost ==", first, second, 4, state, _tolerance(arguments))
        compared = {"operator.eq": "==", "operator.is_": "is", "operator.ne": "!="}.get(name)
        if compared is not None and len(arguments) == 2:
            left, right = (_resolved(reading, argument) for argument in arguments)
            return _compared(whole, compared, left, right, state)
        if name == "callable":
            return _check(
                whole, "callable", _resolved(reading, arguments[0] if arguments else None), "", 1, state
            )
        if name == "any":
            return _check(whole, "any", text, "", 2, state)
        if name == "all":
            return _check(whole, "all", text, "", 3, state)
    asked = _resolved(reading, node)
    if asked.startswith("lambda "):
        return _check(whole, "predicate", asked, "", 4, state)
    return _check(whole, "truthy", asked, "", 2, state)


def _compared(whole: Node, operator: str, left: str, right: str, state: CheckState) -> Check:
    if right in ("None", "True", "False") or left in ("None", "True", "False"):
        subject, value = (left, right) if right in ("None", "True", "False") else (right, left)
        if operator in ("is not", "!="):
            return _check(whole, f"is not {value}", subject, "", 1, state)
        if operator in ("is", "=="):
            known = {"None": ("is None", 4), "True": ("truthy", 2), "False": ("falsy", 4)}
            return _check(whole, known[value][0], subject, "", known[value][1], state)
    strength = _COMPARISONS.get(operator, 3)
    if operator in ("in", "not in"):
        return _check(whole, operator, right, left, strength, state)
    if operator == "==" and _COARSE.match(left) and left.split(" ", 1)[0] == right.split(" ", 1)[0]:
        # Both sides are made coarser first.
        strength = 3
    if left == right and operator in ("==", "is", "<=", ">=", "in"):
        strength = 0
    if operator == "is":
        operator = "=="
    elif operator == "is not":
        operator = "!="
    if (operator, right) in ((">", "0"), (">=", "0"), ("!=", "0"), (">=", "1")) and left.startswith("len ("):
        strength = 0 if operator == ">=" and right == "0" else 2
    return _check(whole, operator, left, right, strength, state)


def _check(
    node: Node,
    operator: str,
    subject: str,
    expected: str,
    strength: int,
    state: CheckState,
    tolerance: float | None = None,
) -> Check:
    return Check(
        line=line_of(node),
        text=shown(node),
        operator=operator,
        subject=subject,
        expected=expected,
        strength=strength,
        state=state,
        tolerance=tolerance,
    )


def _inner(node: Node) -> Node:
    for _ in range(MAX_DEPTH):
        if node.type not in ("parenthesized_expression", "await") or len(children(node)) != 1:
            break
        node = children(node)[0]
    return node


def _always_holds(node: Node, depth: int = 0) -> bool:
    node = _inner(node)
    if depth > MAX_DEPTH:
        return False
    if node.type in _CONSTANTS:
        return plain(node) not in _FALSE and node.type != "concatenated_string"
    if node.type in ("tuple", "list", "dictionary", "set", "lambda"):
        return bool(children(node))
    if node.type == "boolean_operator":
        sides = [
            side for side in (node.child_by_field_name("left"), node.child_by_field_name("right")) if side
        ]
        hold = [_always_holds(side, depth + 1) for side in sides]
        return any(hold) if text_of(node.child_by_field_name("operator")) == "or" else all(hold)
    if node.type == "not_operator":
        return plain(node.child_by_field_name("argument")) in _FALSE
    if node.type == "comparison_operator":
        sides = children(node)
        same = len(sides) == 2 and plain(sides[0]) == plain(sides[1])
        return same and any(child.type in ("==", "is", "<=", ">=") for child in node.children)
    if node.type == "conditional_expression":
        return all(_always_holds(side, depth + 1) for side in (children(node)[0], children(node)[-1]))
    return False


def _resolved(reading: _Reading, node: Node | None) -> str:
    """The text of a node; for a plain local, of what it holds."""
    words = plain(node).split(" ")
    for _ in range(3):
        held = [_held(reading, words, index) for index in range(min(len(words), _MAX_WORDS))]
        if not any(held):
            break
        words = " ".join(value or word for value, word in zip(held, words, strict=False)).split(" ")
    return " ".join(words[:_MAX_WORDS]).removeprefix("await ")


def _held(reading: _Reading, words: list[str], index: int) -> str | None:
    """What the name at a place in an expression holds; an attribute or a keyword is no such name."""
    if (index and words[index - 1] == ".") or (index + 1 < len(words) and words[index + 1] == "="):
        return None
    held = reading.locals.get(words[index])
    # A name that is given a value made of itself, or a long one, stays a name.
    return (
        held.removeprefix("await ")
        if held and words[index] not in held.split(" ") and len(held) < 200
        else None
    )


def _is_approx(node: Node) -> bool:
    return node.type == "call" and text_of(node.child_by_field_name("function")).endswith("approx")


def _keyword(node: Node) -> tuple[str, str]:
    if node.type != "keyword_argument":
        return "", ""
    return text_of(node.child_by_field_name("name")), plain(node.child_by_field_name("value"))


def _tolerance(arguments: list[Node]) -> float | None:
    found: list[float] = []
    for argument in arguments:
        name, value = _keyword(argument)
        number = number_in(value)
        if number is None:
            continue
        if name in _TOLERANCES:
            found.append(number)
        elif name in _DIGITS and -300 < number < 300:
            found.append(10.0**-number)
    return max(found) if found else None


def _mark(node: Node, when: SkipCondition) -> SkipMark:
    return SkipMark(line=line_of(node), text=shown(node), when=when)


def _decorator_skip(decorator: Node, aliases: dict[str, SkipMark]) -> SkipMark | None:
    inner = children(decorator)
    if not inner:
        return None
    call = inner[0]
    name = text_of(call.child_by_field_name("function") if call.type == "call" else call)
    if name in aliases:
        return _mark(decorator, aliases[name].when)
    return _mark(decorator, _skip_condition(call, name)) if _SKIP.search(name) else None


def _skip_condition(call: Node, name: str) -> SkipCondition:
    """When a mark applies: what its condition says."""
    if call.type != "call" or not _CONDITIONAL.search(name):
        return SkipCondition.ALWAYS
    positional = [part for part in arguments_of(call) if part.type != "keyword_argument"]
    named = [_keyword(part)[1] for part in arguments_of(call) if _keyword(part)[0] == "condition"]
    condition = plain(positional[0]) if positional else (named[0] if named else "")
    last = name.rpartition(".")[2]
    if last == "skipUnless":
        condition = "True" if condition in _FALSE else condition
    if not condition or condition in _TRUE or _tautology(condition):
        return SkipCondition.ALWAYS
    return SkipCondition.PLATFORM if _PLATFORM.search(condition) else SkipCondition.OTHER


def _tautology(condition: str) -> bool:
    numbers = re.fullmatch(r"(\w+) == (\w+)", condition)
    return bool(numbers and numbers[1] == numbers[2]) or bool(re.search(r"\bor True\b", condition))


def _parametrized(decorator: Node) -> list[str]:
    """The rows of a `parametrize`, where they are written down."""
    inner = children(decorator)
    if not inner or inner[0].type != "call":
        return []
    name = text_of(inner[0].child_by_field_name("function"))
    if not name.endswith(("parametrize", "parameterized.expand")):
        return []
    arguments = arguments_of(inner[0])
    if name.endswith("parametrize"):
        arguments = arguments[1:]
    rows = next((part for part in arguments if part.type in ("list", "tuple", "set")), None)
    return [UNKNOWN_CASES] if rows is None else [plain(row) for row in children(rows)]


def _skips_within(decorator: Node) -> Iterator[SkipMark]:
    """Marks on single rows."""
    for part in descendants(decorator):
        if part.type == "attribute" and re.search(r"\bmark\.(?:skip|skipif|xfail)$", text_of(part)):
            parent = part.parent
            call = parent if parent is not None and parent.type == "call" else part
            yield _mark(part, _skip_condition(call, text_of(part)))


def _skip_aliases(root: Node) -> dict[str, SkipMark]:
    """Names of the file that stand for a mark."""
    found: dict[str, SkipMark] = {}
    for statement in children(root):
        for node in children(statement) if statement.type == "expression_statement" else ():
            if node.type != "assignment":
                continue
            value = node.child_by_field_name("right")
            if value is None:
                continue
            name = text_of(value.child_by_field_name("function") if value.type == "call" else value)
            if _SKIP.search(name) and "importorskip" not in name:
                found[text_of(node.child_by_field_name("left"))] = _mark(node, _skip_condition(value, name))
    return found


def _loose_skips(root: Node, aliases: dict[str, SkipMark]) -> Iterator[SkipMark]:
    """Marks on classes and on the file."""
    for node in descendants(root, stop=("function_definition", "lambda")):
        if node.type == "decorated_definition":
            definition = node.child_by_field_name("definition")
            if definition is not None and definition.type == "class_definition":
                for decorator in node.named_children:
                    if decorator.type == "decorator":
                        mark = _decorator_skip(decorator, aliases)
                        if mark is not None:
                            name = text_of(definition.child_by_field_name("name"))
                            yield mark.model_copy(update={"scope": name})
        elif node.type == "assignment":
            yield from _assigned_skips(node, aliases)
        elif node.type in ("expression_statement", "raise_statement") and _at_top(node):
            reading = _Reading({})
            conditional = _enclosing_condition(node)
            _read_expressions(reading, node, _Around(conditional=conditional))
            yield from reading.skips or _applied_skips(node, node, aliases)


def _at_top(node: Node) -> bool:
    """Whether a statement runs when the file is loaded."""
    inner = children(node)
    return bool(inner) and inner[0].type in ("call", "identifier", "attribute")


def _enclosing_condition(node: Node) -> str | None:
    above = node.parent
    for _ in range(6):
        if above is None:
            return None
        if above.type == "if_statement":
            return plain(above.child_by_field_name("condition"))
        if above.type in ("except_clause", "try_statement"):
            return "an import that fails"
        above = above.parent
    return None


def _assigned_skips(node: Node, aliases: dict[str, SkipMark]) -> Iterator[SkipMark]:
    name = text_of(node.child_by_field_name("left"))
    value = node.child_by_field_name("right")
    if value is None:
        return
    if (name == "__test__" and plain(value) == "False") or (
        name in ("collect_ignore", "collect_ignore_glob") and plain(value) not in _FALSE
    ):
        yield _mark(node, SkipCondition.ALWAYS)
    elif name == "pytestmark":
        for part in descendants(value):
            if part.type in ("attribute", "identifier"):
                text = text_of(part)
                if text in aliases:
                    yield _mark(node, aliases[text].when)
                elif re.search(r"(?:^|\.)mark\.(?:skip|skipif|xfail)$", text):
                    parent = part.parent
                    call = parent if parent is not None and parent.type == "call" else part
                    yield _mark(node, _skip_condition(call, text))
    elif any(
        part.type == "call" and text_of(part.child_by_field_name("function")).endswith("importorskip")
        for part in (value,)
    ):
        yield _mark(node, SkipCondition.OTHER)
    else:
        yield from _applied_skips(node, value, aliases)


def _applied_skips(statement: Node, value: Node, aliases: dict[str, SkipMark]) -> Iterator[SkipMark]:
    """Marks put on a test by a call instead of a decorator: `Suite.test_a = skip("why")(Suite.test_a)`."""
    for part in descendants(value):
        function = part.child_by_field_name("function") if part.type == "call" else None
        if function is None:
            continue
        if text_of(function) in aliases:
            yield _mark(statement, aliases[text_of(function)].when)
        elif function.type == "call":
            name = text_of(function.child_by_field_name("function"))
            if _SKIP.search(name) and "importorskip" not in name:
                yield _mark(statement, _skip_condition(function, name))
