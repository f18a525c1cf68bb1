"""The tests of a Go file: `TestXxx` functions, with the checks they make and where they skip.

Checks are calls of `t.Errorf` and its relatives, read with the condition they stand under, and testify's.
What stands in a subtest belongs to the test it is in, as does what a helper of the file checks for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from tree_sitter import Node

from adjudge.records.testcode import Check, CheckState, SkipCondition, SkipMark, SuiteOutline, WrittenTest
from adjudge.syntax.bodies import COMMENTS, text_of
from adjudge.syntax.testcode.flow import called_checks, new_reading, read_block
from adjudge.syntax.testcode.nodes import (
    NO_ROWS,
    Passes,
    arguments_of,
    body_identity,
    called_names,
    children,
    descendants,
    line_of,
    literals_in,
    names_in,
    number_in,
    plain,
)
from adjudge.syntax.testcode.reading import (
    Around,
    Dialect,
    Helper,
    Reading,
    is_literal,
    make_check,
    mark,
    resolved,
    when,
)

__all__ = ["read_go"]

_ONE_SIDED = frozenset({
    "True", "False", "Nil", "NotNil", "NoError", "NilError", "Error", "Empty", "NotEmpty", "Zero", "NotZero",
    "Panics", "NotPanics", "Positive", "Negative", "FileExists", "NoFileExists", "DirExists", "NoDirExists",
})  # fmt: skip
"""Checks of one value."""
_TEST = re.compile(r"(?:Test|Example|Fuzz|Benchmark)(?:[^a-z]|$)")
_FAILS = frozenset({"Error", "Errorf", "Fatal", "Fatalf", "Fail", "FailNow"})
_SKIPS = frozenset({"Skip", "Skipf", "SkipNow"})
_TESTIFY: dict[str, tuple[str, int]] = {
    "Equal": ("==", 5), "EqualValues": ("==", 5), "Exactly": ("==", 5), "JSONEq": ("==", 5),
    "YAMLEq": ("==", 5), "EqualExportedValues": ("==", 4), "DeepEqual": ("==", 5),
    "NotEqual": ("!=", 2), "NotEqualValues": ("!=", 2), "NotSame": ("!=", 2),
    "True": ("truthy", 3), "False": ("falsy", 4), "Nil": ("nil", 4), "NotNil": ("not nil", 1),
    "NoError": ("nil", 4), "NilError": ("nil", 4),
    "Error": ("not nil", 3), "ErrorIs": ("error is", 5), "ErrorContains": ("error says", 4),
    "EqualError": ("error says", 5), "ErrorAs": ("error is", 4), "Contains": ("in", 3),
    "NotContains": ("not in", 2),
    "Len": ("length", 4), "Empty": ("empty", 4), "NotEmpty": ("not empty", 1), "Zero": ("empty", 4),
    "NotZero": ("not empty", 1), "InDelta": ("almost ==", 4), "InEpsilon": ("almost ==", 4),
    "ElementsMatch": ("same items", 4), "Greater": (">", 3), "GreaterOrEqual": (">=", 3), "Less": ("<", 3),
    "LessOrEqual": ("<=", 3), "Panics": ("panics", 3), "NotPanics": ("no panic", 3), "IsType": ("type", 2),
    "Implements": ("type", 2), "Regexp": ("matches", 3), "Same": ("==", 5), "Eventually": ("eventually", 3),
    "Fail": ("fails", 3), "FailNow": ("fails", 3), "Subset": ("in", 3), "WithinDuration": ("almost ==", 4),
    "InDeltaSlice": ("almost ==", 4), "InDeltaMapValues": ("almost ==", 4),
    "InEpsilonSlice": ("almost ==", 4),
    "WithinRange": ("almost ==", 3), "NotErrorIs": ("error is not", 2), "NotErrorAs": ("error is not", 2),
    "NotRegexp": ("not matches", 2), "NotSubset": ("not in", 2), "NotElementsMatch": ("!=", 2),
    "PanicsWithValue": ("panics", 4), "PanicsWithError": ("panics", 4), "Never": ("never", 3),
    "EventuallyWithT": ("eventually", 3), "Condition": ("truthy", 2), "Positive": (">", 3),
    "Negative": ("<", 3), "FileExists": ("exists", 3), "NoFileExists": ("exists not", 3),
    "DirExists": ("exists", 3), "NoDirExists": ("exists not", 3), "NotImplements": ("type", 2),
    "IsIncreasing": ("ordered", 3), "IsDecreasing": ("ordered", 3), "IsNonIncreasing": ("ordered", 3),
    "IsNonDecreasing": ("ordered", 3), "HTTPSuccess": ("answers", 3), "HTTPError": ("answers", 3),
    "HTTPRedirect": ("answers", 3), "HTTPStatusCode": ("answers", 4), "HTTPBodyContains": ("answers", 3),
    "HTTPBodyNotContains": ("answers", 2),
}  # fmt: skip
_OPPOSITE = {"!=": ("==", 5), "==": ("!=", 2), "<": (">=", 3), ">": ("<=", 3), "<=": (">", 3), ">=": ("<", 3)}
_STRENGTHS = {"==": 5, "!=": 2, "<": 3, ">": 3, "<=": 3, ">=": 3}
_PLATFORM = re.compile(r"\bruntime ?\. ?(?:GOOS|GOARCH|Version)\b|\btesting ?\. ?Short\b")
_ENVIRONMENT = re.compile(r"\bos ?\. ?(?:Getenv|LookupEnv|Environ)\b")
_BUILD = re.compile(r"//\s*(?:go:build|\+build)\s+(.*)")
_TAGS = frozenset(
    {"linux", "darwin", "windows", "freebsd", "netbsd", "openbsd", "dragonfly", "solaris", "illumos", "aix",
     "android", "ios", "js", "wasip1", "plan9", "nacl", "unix", "amd64", "386", "arm", "arm64", "ppc64",
     "ppc64le", "mips", "mipsle", "mips64", "mips64le", "riscv64", "s390x", "wasm", "loong64", "cgo", "race",
     "msan", "asan", "gc", "gccgo", "tinygo", "purego", "appengine"}
)  # fmt: skip
"""Tags that the toolchain sets by itself."""
_ASSERTING = re.compile(r"(?:assert|require|is|s|suite|a|r)(?:\.\w+\(\))?")
_ERRORS = {"errors . Is": 5, "errors . As": 4}
_MADE_FOR_TEST = re.compile(r"\. New \(")
"""Assertions that know their test, as `assert.New(t)` gives them, are not handed it."""
_T = re.compile(r"(?!(?:fmt|log|err|errs|zap|klog|glog|true|nil)\b)[a-z]\w{0,3}(?:\.T\(\))?")
"""A name that tests give their `testing.T`; packages with functions of the same names are none."""
_MAX_ROWS = 1000

_KIND = re.compile(r"(?:(?:\[ \]|\*|&|map \[ \S+ \]) )*(?:interface \{ \} |(?:\w+ \. )?[A-Za-z]\w* )(?=\{)")
"""What kind of value is written down in braces."""


def read_go(root: Node, passes: Passes) -> SuiteOutline:
    """The tests of a file."""
    functions = {
        text_of(node.child_by_field_name("name")): node
        for node in root.named_children
        if node.type in ("function_declaration", "method_declaration")
    }
    reading = Reading(_GO, known=_helpers(functions), constants=_constants(root))
    tests: list[WrittenTest] = []
    helpers: list[WrittenTest] = []
    loose: list[SkipMark] = []
    for node in root.named_children:
        if node.type in COMMENTS:
            built = _BUILD.match(text_of(node))
            if built and not (loose and "+build" in text_of(node)):
                # The old form says the same once more.
                loose.append(mark(node, _build_condition(built[1])))
        elif node.type in ("function_declaration", "method_declaration"):
            if passes(node, bool(_TEST.match(text_of(node.child_by_field_name("name"))))):
                continue
            written = _read_function(node, reading, functions)
            (tests if written.collected else helpers).append(written)
    return SuiteOutline(
        tests=tuple(tests),
        helpers=tuple(helpers),
        skips=tuple(loose),
        defined=tuple(sorted(name for name in functions if not _TEST.match(name))),
    )


def _build_condition(expression: str) -> SkipCondition:
    """What a build constraint keeps out: nothing here, other systems, or everybody who sets no tag."""
    tags = re.findall(r"(!?)\s*([\w.]+)", expression)
    wanted = [tag for negated, tag in tags if not negated and not _is_known(tag)]
    if not wanted:
        return SkipCondition.PLATFORM
    if any(tag in ("ignore", "never", "none", "disabled", "skip") for tag in wanted):
        return SkipCondition.ALWAYS
    return SkipCondition.OTHER if "||" in expression else SkipCondition.ENVIRONMENT


def _is_known(tag: str) -> bool:
    return tag in _TAGS or bool(re.fullmatch(r"go1(?:\.\d+)*", tag))


def _helpers(functions: Mapping[str, Node]) -> dict[str, Helper]:
    return {
        name: Helper(body, tuple(_parameters(node)))
        for name, node in functions.items()
        if not _TEST.match(name) and (body := node.child_by_field_name("body")) is not None
    }


def _parameters(node: Node) -> Iterator[str]:
    for part in children(node.child_by_field_name("parameters")):
        for name in part.children_by_field_name("name"):
            yield text_of(name)


def _constants(root: Node) -> dict[str, str]:
    return {
        name: plain(value)
        for node in root.named_children
        if node.type in ("const_declaration", "var_declaration")
        for part in descendants(node)
        for name, value in _assigned(part)
        if value is not None and is_literal(plain(value))
    }


def _read_function(node: Node, module: Reading, functions: Mapping[str, Node]) -> WrittenTest:
    name = text_of(node.child_by_field_name("name"))
    parameters = plain(node.child_by_field_name("parameters"))
    receiver = plain(node.child_by_field_name("receiver"))
    body = node.child_by_field_name("body")
    parts = list(descendants(node))
    reading = new_reading(module, body, parts)
    if body is not None:
        read_block(reading, body, Around(), 0)
    given = (
        bool(re.search(r"testing ?\. ?[TBF]\b", parameters)) or name.startswith("Example") or bool(receiver)
    )
    called = called_names(parts)
    further = [
        part
        for helper in sorted((called | names_in(parts)) & functions.keys())[:20]
        if helper != name
        for part in descendants(functions[helper])
    ]
    rows = list(_table_rows(parts))
    return WrittenTest(
        name=f"{receiver}.{name}" if receiver else name,
        line=line_of(node),
        collected=bool(_TEST.match(name)) and given,
        checks=tuple(reading.checks),
        skips=tuple(reading.skips),
        cases=tuple(rows[:_MAX_ROWS]),
        narrowed=(*reading.narrowed, *_settings(parts), *_empty_tables(parts)),
        calls=tuple(sorted(called | called_names(further))),
        literals=tuple(sorted(literals_in((*parts, *further)))),
        body=body_identity(body),
    )


def _settings(parts: Iterable[Node]) -> Iterator[str]:
    """How often a property is tried."""
    for part in parts:
        if part.type == "composite_literal" and text_of(part).startswith("quick.Config"):
            yield f"settings {plain(part.child_by_field_name('body'))}"


def _assigned(node: Node) -> list[tuple[str, Node | None]]:
    if node.type in ("short_var_declaration", "assignment_statement"):
        left, right = children(node.child_by_field_name("left")), children(node.child_by_field_name("right"))
    elif node.type in ("var_spec", "const_spec"):
        left, right = node.children_by_field_name("name"), children(node.child_by_field_name("value"))
    else:
        return []
    if any(part.type == "func_literal" for part in right):
        return []
    if len(left) == len(right):
        return [(text_of(name), value) for name, value in zip(left, right, strict=True)]
    # Each of them is some part of the value.
    whole = right[0] if len(right) == 1 and node.type == "short_var_declaration" else None
    return [(text_of(name), whole) for name in left if text_of(name) != "_"]


def _table_rows(parts: Iterable[Node]) -> Iterator[str]:
    """The rows of tables that a test goes through; a map inside of a row is a value.

    The kinds of values are left out, for an inner one need not be said again.
    """
    end = 0
    for node in parts:
        if node.type != "composite_literal":
            continue
        kind, value = node.child_by_field_name("type"), node.child_by_field_name("body")
        if kind is None or value is None or kind.type not in ("slice_type", "map_type"):
            continue
        is_map = kind.type == "map_type"
        if is_map and node.start_byte < end:
            continue
        if is_map or "struct" in text_of(kind)[:200] or re.search(r"case|test|tt", text_of(kind).lower()):
            end = max(end, node.end_byte)
            yield from (_KIND.sub("", plain(row)) for row in children(value))


def _empty_tables(parts: Iterable[Node]) -> Iterator[str]:
    """Tables of structures that a test goes through, and that have nothing in them."""
    for node in parts:
        if node.type != "composite_literal":
            continue
        kind, value = node.child_by_field_name("type"), node.child_by_field_name("body")
        if kind is None or kind.type != "slice_type" or value is None or children(value):
            continue
        if "struct" in text_of(kind)[:200]:
            yield f"{NO_ROWS}{plain(node)}"[:200]


def _statement(reading: Reading, node: Node, around: Around, depth: int) -> bool:
    return False


def _expression(reading: Reading, node: Node, around: Around, depth: int) -> bool:
    if node.type != "call_expression":
        return False
    function = node.child_by_field_name("function")
    if function is not None and function.type == "selector_expression":
        owner = text_of(function.child_by_field_name("operand"))
        return _take_call(reading, node, owner, text_of(function.child_by_field_name("field")), around)
    helper = reading.known.get(text_of(function))
    if helper is not None:
        given = [("", part) for part in arguments_of(node)]
        reading.checks += called_checks(reading, node, helper, given, around.state)
    return False


def _take_call(reading: Reading, call: Node, owner: str, name: str, around: Around) -> bool:
    if _ASSERTING.fullmatch(owner) and name.rstrip("f") in _TESTIFY:
        reading.checks.append(_testify(reading, call, owner, name.rstrip("f"), around.state))
        return True
    if _T.fullmatch(owner) and name in _FAILS:
        reading.checks.append(_failing(reading, call, around))
        return True
    if _T.fullmatch(owner) and name in _SKIPS and around.state is not CheckState.DEAD:
        reading.skips.append(mark(call, when(reading, around)))
        return True
    helper = reading.known.get(name)
    if helper is not None:
        # A method of the file.
        given = [("", part) for part in arguments_of(call)]
        reading.checks += called_checks(reading, call, helper, given, around.state)
    return False


def _testify(reading: Reading, call: Node, owner: str, name: str, state: CheckState) -> Check:
    operator, strength = _TESTIFY[name]
    arguments = arguments_of(call)
    made = _MADE_FOR_TEST.search(reading.values.get(owner) or "") is not None
    if arguments and not made and owner in ("assert", "require") and _T.fullmatch(text_of(arguments[0])):
        arguments = arguments[1:]
    asked = arguments[0].child_by_field_name("operator") if arguments else None
    if operator in ("truthy", "falsy") and text_of(asked) in _OPPOSITE:
        return _failing_comparison(reading, call, arguments[0], state, holds=operator == "falsy")
    # What follows is the message.
    sides = [resolved(reading, part) for part in arguments[: 1 if name in _ONE_SIDED else 2]]
    # testify has the expected value first.
    expected, subject = (sides[0], sides[1]) if operator in ("==", "!=") and len(sides) == 2 else ("", "")
    if not subject:
        subject, expected = (*sides, "", "")[:2]
    bare = [plain(part) for part in arguments[:2]]
    if operator in ("==", "almost ==") and len(bare) == 2 and bare[0] == bare[1]:
        strength = 0
    elif operator == "==" and {"true", "false"} & {subject, expected}:
        wanted = "true" if "true" in (subject, expected) else "false"
        subject = expected if subject == wanted else subject
        operator, strength, expected = ("truthy", 3, "") if wanted == "true" else ("falsy", 4, "")
    elif bare[:1] and (operator, bare[0]) in (("truthy", "true"), ("falsy", "false"), ("nil", "nil")):
        strength = 0
    tolerance = number_in(plain(arguments[2])) if operator == "almost ==" and len(arguments) > 2 else None
    return make_check(call, operator, subject, expected, strength, state, tolerance)


def _failing(reading: Reading, call: Node, around: Around) -> Check:
    """`if got != want { t.Errorf(…) }` asks for `got == want`."""
    condition, holds = around.conditions[-1] if around.conditions else (None, True)
    while condition is not None and condition.type == "parenthesized_expression" and children(condition):
        condition = children(condition)[0]
    operator, strength, subject, expected = "reached", 3, "", ""
    if condition is None:
        pass
    elif condition.type == "binary_expression":
        return _failing_comparison(reading, call, condition, around.state, holds=holds)
    elif condition.type == "unary_expression":
        operand = condition.child_by_field_name("operand")
        subject = resolved(reading, operand)
        told = _ERRORS.get(subject.partition(" (")[0])
        sides = arguments_of(operand) if operand is not None and told is not None else []
        if told is not None and len(sides) == 2:
            subject, expected = (resolved(reading, side) for side in sides)
            return make_check(call, "error is", subject, expected, told, around.state)
        deep = re.search(r"\b(?:DeepEqual|Equal)\b", subject)
        operator, strength = ("==", 5) if deep else ("truthy", 3)
    elif plain(condition) == "false":
        operator, strength, subject = "falsy", 0, "false"
    else:
        operator, strength, subject = "falsy", 4, resolved(reading, condition)
    return make_check(call, operator, subject, expected, strength, around.state)


def _failing_comparison(
    reading: Reading, call: Node, condition: Node, state: CheckState, *, holds: bool
) -> Check:
    sign = text_of(condition.child_by_field_name("operator"))
    sides = [condition.child_by_field_name(name) for name in ("left", "right")]
    left, right = (resolved(reading, side) for side in sides)
    operator, strength, subject, expected = "truthy", 2, resolved(reading, condition), ""
    if sign in _OPPOSITE:
        operator, strength = _OPPOSITE[sign] if holds else (sign, _STRENGTHS[sign])
        subject, expected = left, right
        if right == "nil":
            operator, strength, expected = ("nil", 4, "") if operator == "==" else ("not nil", 3, "")
        if plain(sides[0]) == plain(sides[1]) and operator == "==":
            strength = 0
    elif sign in ("&&", "||"):
        # `a || b` fails on either: as strong as the sum; `a && b` only on both.
        operator, strength = ("any of", 5) if sign == "||" else ("both", 3)
        if sign == "&&" and {left, right} & {"false", "0 == 1"}:
            strength = 0
    return make_check(call, operator, subject, expected, strength, state)


def _swallows(handler: Node) -> bool:
    return False


_GO = Dialect(
    assigned=_assigned,
    statement=_statement,
    expression=_expression,
    swallows=_swallows,
    functions=frozenset({"func_literal"}),
    environment=_ENVIRONMENT,
    platform=_PLATFORM,
)
