"""The tests of a Java file: JUnit 3, 4 and 5 and TestNG, with AssertJ, Hamcrest and Mockito."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from tree_sitter import Node

from adjudge.records.testcode import Check, CheckState, SkipCondition, SkipMark, SuiteOutline, WrittenTest
from adjudge.syntax.bodies import text_of
from adjudge.syntax.testcode.conditions import asked_by
from adjudge.syntax.testcode.flow import called_checks, new_reading, read_block
from adjudge.syntax.testcode.nodes import (
    UNKNOWN_CASES,
    Passes,
    arguments_of,
    body_identity,
    called_names,
    children,
    descendants,
    line_of,
    literals_in,
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
    truth,
    when,
)

__all__ = ["read_java"]

_TESTS = frozenset(
    {"Test", "ParameterizedTest", "RepeatedTest", "TestFactory", "TestTemplate", "Property", "Theory"}
)
_OFF = frozenset({"Disabled", "Ignore", "Ignored"})
_EQUALS = frozenset(
    {"assertEquals", "assertSame", "assertArrayEquals", "assertIterableEquals", "assertLinesMatch",
     "assertNotEquals", "assertNotSame"}
)  # fmt: skip
_PLAIN: Final[dict[str, tuple[str, int]]] = {
    "assertNull": ("is None", 4), "assertNotNull": ("is not None", 1),
    "assertInstanceOf": ("instance", 2), "assertDoesNotThrow": ("no raise", 2),
}  # fmt: skip
_MATCHERS: Final[dict[str, tuple[str, int]]] = {
    "isEqualTo": ("==", 5), "isSameAs": ("==", 5), "containsExactly": ("==", 5), "hasToString": ("==", 5),
    "isEqualToComparingFieldByField": ("==", 5), "isNotEqualTo": ("!=", 2), "isNotSameAs": ("!=", 2),
    "isNotNull": ("is not None", 1), "isNull": ("is None", 4), "isTrue": ("truthy", 3),
    "isFalse": ("falsy", 4), "contains": ("in", 3), "containsOnly": ("same items", 4),
    "containsExactlyInAnyOrder": ("same items", 4), "doesNotContain": ("not in", 2),
    "hasSize": ("length", 4), "isEmpty": ("empty", 4), "isNotEmpty": ("not empty", 1),
    "isNotBlank": ("not empty", 1), "startsWith": ("starts", 3), "endsWith": ("ends", 3),
    "matches": ("matches", 3), "isInstanceOf": ("instance", 2), "isGreaterThan": (">", 3),
    "isGreaterThanOrEqualTo": (">=", 3), "isLessThan": ("<", 3), "isLessThanOrEqualTo": ("<=", 3),
    "isPositive": (">", 3), "isZero": ("empty", 4), "isCloseTo": ("almost ==", 4), "isBetween": ("in", 3),
    "hasMessage": ("error says", 5), "hasMessageContaining": ("error says", 4), "hasValue": ("==", 5),
    "isPresent": ("not empty", 1), "containsKey": ("in", 3), "containsEntry": ("in", 4),
    "hasFieldOrPropertyWithValue": ("in", 4), "isThrownBy": ("raises", 4),
    # Hamcrest's and Truth's
    "is": ("==", 5), "equalTo": ("==", 5), "sameInstance": ("==", 5), "not": ("!=", 2),
    "notNullValue": ("is not None", 1), "nullValue": ("is None", 4), "containsString": ("in", 3),
    "hasItem": ("in", 3), "hasItems": ("in", 3), "instanceOf": ("instance", 2), "anything": ("always", 0),
    "greaterThan": (">", 3), "lessThan": ("<", 3), "closeTo": ("almost ==", 4), "empty": ("empty", 4),
    "hasEntry": ("in", 4), "containsInAnyOrder": ("same items", 4), "isIn": ("in", 3),
}  # fmt: skip
_THAT = frozenset({"assertThat", "then", "assertWithMessage", "assertThatCode", "assertThatObject"})
_THROWN = frozenset({"assertThatThrownBy", "assertThatExceptionOfType", "catchThrowable"})
_CATCH_ALL = re.compile(r"\b(?:AssertionError|Throwable|Error|AssertionFailedError)\b")
_PLATFORM = re.compile(
    r"\bos\.name\b|\bOS\b|\bJRE\b|\bisWindows\b|\bjava\.(?:version|specification)|OnOs|OnJre|Architecture"
)
_ENVIRONMENT = re.compile(
    r"\bgetenv\b|\bgetProperty\b|EnvironmentVariable|SystemProperty|\bBoolean \. getBoolean\b"
)
_ASSUMES = {"assumeTrue": False, "assumeFalse": True, "assumeThat": None, "assumeNotNull": None}
_ABORTS = re.compile(r"\b(?:SkipException|TestAbortedException|AssumptionViolatedException)\b")


@dataclass(frozen=True, slots=True)
class _Method:
    node: Node
    names: tuple[str, ...]
    owner: Node

    @property
    def annotations(self) -> Mapping[str, Node]:
        return _annotations(self.node)


def read_java(root: Node, passes: Passes) -> SuiteOutline:
    """The tests of a file."""
    methods = list(_methods(root))
    functions = {one.names[-1]: one.node for one in methods if not _is_test(one)}
    reading = Reading(_JAVA, known=_helpers(functions), constants=_constants(root))
    tests: list[WrittenTest] = []
    helpers: list[WrittenTest] = []
    for one in methods:
        if passes(one.node, _is_test(one)):
            continue
        written = _read_method(one, reading, functions)
        if _is_test(one):
            tests.append(written)
        else:
            helpers.append(written.model_copy(update={"collected": False}))
    return SuiteOutline(
        tests=tuple(tests),
        helpers=tuple(helpers),
        skips=tuple(_class_skips(root)),
        defined=tuple(sorted(functions)),
    )


def _methods(root: Node) -> Iterator[_Method]:
    pending: list[tuple[Node, tuple[str, ...]]] = [(root, ())]
    while pending:
        node, names = pending.pop()
        if node.type in (
            "class_declaration",
            "record_declaration",
            "interface_declaration",
            "enum_declaration",
        ):
            inside = (*names, text_of(node.child_by_field_name("name")))
            for child in children(node.child_by_field_name("body")):
                if child.type == "method_declaration":
                    yield _Method(child, (*inside, text_of(child.child_by_field_name("name"))), node)
                elif len(inside) < 20:
                    pending.append((child, inside))
        elif node.type == "program":
            for child in node.named_children:
                if child.type == "method_declaration":
                    yield _Method(child, (text_of(child.child_by_field_name("name")),), node)
                else:
                    pending.append((child, names))


def _annotations(node: Node) -> dict[str, Node]:
    modifiers = next((child for child in node.named_children if child.type == "modifiers"), None)
    return {
        text_of(part.child_by_field_name("name")).rpartition(".")[2]: part
        for part in (modifiers.named_children if modifiers is not None else ())
        if part.type in ("marker_annotation", "annotation")
    }


def _modifiers(node: Node) -> str:
    return " ".join(text_of(child) for child in node.named_children if child.type == "modifiers")


def _is_test(method: _Method) -> bool:
    known = method.annotations
    if not _TESTS.isdisjoint(known):
        return not re.search(r"\bprivate\b", _modifiers(method.node))
    if method.names[-1].startswith("test"):
        base = text_of(method.owner.child_by_field_name("superclass"))
        return base.endswith("TestCase") and "public" in _modifiers(method.node)
    # TestNG: a mark on the class is one on its public methods.
    return (
        "Test" in _annotations(method.owner)
        and re.search(r"\bpublic\b(?!.*@(?:Before|After|Data))", _modifiers(method.node)) is not None
    )


def _helpers(functions: Mapping[str, Node]) -> dict[str, Helper]:
    return {
        name: Helper(
            body,
            tuple(
                text_of(part.child_by_field_name("name"))
                for part in children(node.child_by_field_name("parameters"))
            ),
        )
        for name, node in functions.items()
        if (body := node.child_by_field_name("body")) is not None
    }


def _constants(root: Node) -> dict[str, str]:
    found: dict[str, str] = {}
    for node in descendants(root, stop=("method_declaration",)):
        if node.type == "field_declaration":
            for part in children(node):
                for name, value in _assigned(part):
                    if value is not None and is_literal(plain(value)):
                        found[name] = plain(value)
    return found


def _class_skips(root: Node) -> Iterator[SkipMark]:
    for node in descendants(root, stop=("method_declaration",)):
        if node.type == "class_declaration":
            for found in _skips_of(node):
                yield found.model_copy(update={"scope": text_of(node.child_by_field_name("name"))})


def _skips_of(node: Node) -> Iterator[SkipMark]:
    for name, annotation in _annotations(node).items():
        text = text_of(annotation)
        if name in _OFF or (name == "Test" and re.search(r"\benabled\s*=\s*false\b", text)):
            yield mark(annotation)
        elif re.match(r"(?:Enabled|Disabled)(?:If|On|For|In)", name):
            condition = SkipCondition.OTHER
            if _PLATFORM.search(name) or "Jre" in name:
                condition = SkipCondition.PLATFORM
            elif _ENVIRONMENT.search(name):
                condition = SkipCondition.ENVIRONMENT
            yield mark(annotation, condition)


def _read_method(method: _Method, module: Reading, functions: Mapping[str, Node]) -> WrittenTest:
    node = method.node
    body = node.child_by_field_name("body")
    parts = list(descendants(node))
    reading = new_reading(module, body, parts)
    reading.skips += _skips_of(node)
    cases: list[str] = []
    for name, annotation in method.annotations.items():
        reading.checks += _annotated_checks(name, annotation)
        if name.endswith("Source") or name == "Parameters":
            rows = _rows(annotation)
            cases += rows or [UNKNOWN_CASES]
    if body is not None:
        read_block(reading, body, Around(), 0)
    if not cases and reading.looped:
        cases = [UNKNOWN_CASES]
    called = called_names(parts)
    further = [
        part for name in sorted(called & functions.keys())[:20] for part in descendants(functions[name])
    ]
    return WrittenTest(
        name=".".join(method.names)[-300:],
        line=line_of(node),
        checks=tuple(reading.checks),
        skips=tuple(reading.skips),
        cases=tuple(cases[:1000]),
        narrowed=tuple(reading.narrowed),
        calls=tuple(sorted(called | called_names(further))),
        literals=tuple(sorted(literals_in((*parts, *further)))),
        body=body_identity(body),
    )


def _rows(annotation: Node) -> list[str]:
    for part in descendants(annotation):
        if part.type == "element_value_array_initializer":
            return [plain(row) for row in children(part)]
    return []


def _annotated_checks(name: str, annotation: Node) -> Iterator[Check]:
    """`@Test(expected = …, timeout = …)`."""
    if name not in ("Test", "Timeout"):
        return
    for pair in descendants(annotation):
        if pair.type == "element_value_pair":
            key, value = (plain(pair.child_by_field_name(field)) for field in ("key", "value"))
            if key in ("expected", "expectedExceptions"):
                strength = 2 if re.match(r"(?:Exception|Throwable) ", value) else 4
                yield make_check(pair, "raises", "the block", value, strength, CheckState.LIVE)
            elif key in ("timeout", "timeOut") and number_in(value.rstrip("lL")) is not None:
                limit = number_in(value.rstrip("lL"))
                yield make_check(pair, "within", "the test", "", 3, CheckState.LIVE, limit)
    if name == "Timeout":
        limit = number_in(plain(annotation.child_by_field_name("arguments")).strip("() "))
        yield make_check(annotation, "within", "the test", "", 3, CheckState.LIVE, limit)


def _assigned(node: Node) -> list[tuple[str, Node | None]]:
    if node.type == "variable_declarator":
        value = node.child_by_field_name("value")
        return [(text_of(node.child_by_field_name("name")), value)] if value is not None else []
    if node.type == "assignment_expression":
        left = node.child_by_field_name("left")
        if left is not None and left.type == "identifier":
            return [(text_of(left), node.child_by_field_name("right"))]
    return []


def _statement(reading: Reading, node: Node, around: Around, depth: int) -> bool:
    if node.type == "assert_statement":
        parts = children(node)
        if parts:
            asked = asked_by(reading, resolved(reading, parts[0]))
            reading.checks.append(
                make_check(node, asked.operator, asked.subject, asked.expected, asked.strength, around.state)
            )
        return True
    if node.type == "throw_statement" and _ABORTS.search(text_of(node)):
        reading.skips.append(mark(node, when(reading, around)))
        return True
    return node.type in ("class_declaration", "method_declaration")


def _expression(reading: Reading, node: Node, around: Around, depth: int) -> bool:
    if node.type != "method_invocation":
        return False
    name = text_of(node.child_by_field_name("name"))
    if name in _ASSUMES:
        if around.state is not CheckState.DEAD:
            reading.skips.append(mark(node, _assumed(reading, node, name, around)))
        return True
    found = list(_checks_of(reading, node, name, around.state))
    if found:
        reading.checks += found
        return True
    owner = text_of(node.child_by_field_name("object"))
    helper = reading.known.get(name) if owner in ("", "this") else None
    if helper is not None:
        given = [("", part) for part in arguments_of(node)]
        reading.checks += called_checks(reading, node, helper, given, around.state)
    return False


def _assumed(reading: Reading, node: Node, name: str, around: Around) -> SkipCondition:
    arguments = arguments_of(node)
    text = (
        plain(arguments[-1] if len(arguments) > 1 and arguments[0].type == "string_literal" else arguments[0])
        if arguments
        else ""
    )
    value = truth(reading, text)
    if value is not None and _ASSUMES[name] is not None:
        return when(reading, around) if value is _ASSUMES[name] else SkipCondition.NEVER
    if _PLATFORM.search(text):
        return SkipCondition.PLATFORM
    return SkipCondition.ENVIRONMENT if _ENVIRONMENT.search(text) else SkipCondition.OTHER


def _checks_of(reading: Reading, node: Node, name: str, state: CheckState) -> Iterator[Check]:
    chain = _chain(node)
    root = text_of(chain[0].child_by_field_name("name"))
    if root in _THAT or root in _THROWN:
        yield from _fluent(reading, node, chain, root, state)
    elif root in ("verify", "verifyNoInteractions", "verifyNoMoreInteractions"):
        subject = plain(chain[0].child_by_field_name("arguments"))
        yield make_check(node, "called with" if len(chain) > 1 else "called", subject, plain(node), 4, state)
    elif name in _EQUALS:
        yield _equality(reading, node, name, state)
    elif name in ("assertTrue", "assertFalse"):
        arguments = [
            part for part in arguments_of(node) if part.type not in ("string_literal", "lambda_expression")
        ]
        text = resolved(reading, arguments[0] if arguments else None)
        asked = asked_by(reading, text if name == "assertTrue" else f"! ( {text} )")
        yield make_check(node, asked.operator, asked.subject, asked.expected, asked.strength, state)
    elif name in _PLAIN:
        operator, strength = _PLAIN[name]
        arguments = [part for part in arguments_of(node) if part.type != "string_literal"]
        yield make_check(
            node, operator, resolved(reading, arguments[-1] if arguments else None), "", strength, state
        )
    elif name in ("assertThrows", "assertThrowsExactly", "expectThrows"):
        error = plain(arguments_of(node)[0]) if arguments_of(node) else ""
        strength = 2 if re.match(r"(?:Exception|Throwable) ", error) else 4
        yield make_check(node, "raises", "the block", error, strength, state)
    elif name in ("assertTimeout", "assertTimeoutPreemptively"):
        digits = re.search(r"\d[\d_]*", plain(node))
        yield make_check(
            node, "within", "the block", "", 3, state, float(digits[0].replace("_", "")) if digits else None
        )
    elif name == "fail":
        yield make_check(node, "fails", "", "", 3, state)


def _chain(node: Node) -> list[Node]:
    """The calls of `a().b().c()`, the innermost first."""
    chain = [node]
    for _ in range(40):
        inner = chain[-1].child_by_field_name("object")
        if inner is None or inner.type != "method_invocation":
            break
        chain.append(inner)
    return chain[::-1]


def _fluent(reading: Reading, node: Node, chain: list[Node], root: str, state: CheckState) -> Iterator[Check]:
    given = arguments_of(chain[0])
    if given and given[0].type == "string_literal" and len(given) == 3:
        given = given[1:]
    subject = resolved(reading, given[0]) if given else ""
    if root in _THROWN:
        text = " ".join(plain(call.child_by_field_name("arguments")) for call in chain)
        error = next(iter(re.findall(r"([\w.]+) \. class", text)), "")
        strength = 2 if error in ("", "Exception", "Throwable") else 4
        yield make_check(node, "raises", "the block", error, strength, state)
        return
    if root in _THAT and len(given) == 2 and len(chain) == 1:
        yield _hamcrest(reading, node, subject, given[1], state)
        return
    for call in chain[1:]:
        matcher = text_of(call.child_by_field_name("name"))
        if matcher not in _MATCHERS:
            continue
        operator, strength = _MATCHERS[matcher]
        arguments = arguments_of(call)
        expected = resolved(reading, arguments[0]) if arguments else ""
        if operator == "==" and expected in ("true", "false"):
            operator, strength, expected = ("truthy", 3, "") if expected == "true" else ("falsy", 4, "")
        tolerance = None
        if operator == "almost ==" and len(arguments) > 1:
            digits = re.search(r"\d[\d.]*", plain(arguments[1]))
            tolerance = number_in(digits[0]) if digits else None
        same = bool(given and arguments) and plain(given[0]) == plain(arguments[0])
        strength = 0 if same and operator == "==" else strength
        yield make_check(call, operator, subject, expected, strength, state, tolerance)


def _hamcrest(reading: Reading, node: Node, subject: str, matcher: Node, state: CheckState) -> Check:
    for _ in range(4):
        name = text_of(matcher.child_by_field_name("name")) if matcher.type == "method_invocation" else ""
        inner = arguments_of(matcher)
        if name != "is" or not inner or text_of(inner[0].child_by_field_name("name")) not in _MATCHERS:
            break
        matcher = inner[0]
    operator, strength = _MATCHERS.get(name, (name, 3))
    expected = resolved(reading, inner[0]) if inner else ""
    if name == "not" and "nullValue" in expected:
        operator, strength = "is not None", 1
    strength = 0 if operator == "==" and expected == subject and is_literal(subject) else strength
    return make_check(node, operator, subject, expected, strength, state)


def _equality(reading: Reading, node: Node, name: str, state: CheckState) -> Check:
    arguments = arguments_of(node)
    if len(arguments) > 2:
        # A message: last in JUnit 5 and TestNG, first in JUnit 4.
        if arguments[-1].type in ("string_literal", "lambda_expression", "binary_expression"):
            arguments = arguments[:-1]
        elif arguments[0].type == "string_literal":
            arguments = arguments[1:]
    tolerance = number_in(plain(arguments[2]).rstrip("dfDF")) if len(arguments) > 2 else None
    left, right = (*(resolved(reading, part) for part in arguments[:2]), "", "")[:2]
    subject, expected = (right, left) if is_literal(left) else (left, right)
    operator, strength = ("!=", 2) if "Not" in name else ("==", 5)
    if tolerance is not None and operator == "==":
        operator, strength = "almost ==", 4
    same = len(arguments) > 1 and plain(arguments[0]) == plain(arguments[1])
    return make_check(
        node, operator, subject, expected, 0 if same and operator != "!=" else strength, state, tolerance
    )


def _swallows(handler: Node) -> bool:
    caught = next(
        (plain(part) for part in handler.named_children if part.type == "catch_formal_parameter"), ""
    )
    if not _CATCH_ALL.search(caught):
        return False
    body = handler.child_by_field_name("body")
    text = text_of(body)
    return not re.search(r"\bthrow\b|\bfail\s*\(|\bassert\w*\s*\(|=[^=]", text)


_JAVA = Dialect(
    assigned=_assigned,
    statement=_statement,
    expression=_expression,
    swallows=_swallows,
    functions=frozenset({"lambda_expression"}),
    environment=_ENVIRONMENT,
    platform=_PLATFORM,
)
