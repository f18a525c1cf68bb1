"""The tests of a Ruby file: RSpec's examples, and the methods of minitest and test-unit."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from tree_sitter import Node

from adjudge.records.testcode import Check, CheckState, SkipCondition, SkipMark, SuiteOutline, WrittenTest
from adjudge.syntax.bodies import text_of
from adjudge.syntax.testcode.conditions import asked_by
from adjudge.syntax.testcode.flow import called_checks, new_reading, read_block, table_rows
from adjudge.syntax.testcode.nodes import (
    MAX_DEPTH,
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
    shown,
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

__all__ = ["read_ruby"]

_SUITES = frozenset(
    {"describe", "context", "feature", "shared_examples", "shared_context", "shared_examples_for"}
)
_EXAMPLES = frozenset({"it", "specify", "example", "scenario", "test", "should"})
_HOOKS = frozenset({"before", "after", "around", "setup", "teardown"})
_MATCHERS: Final[dict[str, tuple[str, int]]] = {
    "eq": ("==", 5), "eql": ("==", 5), "equal": ("==", 5), "be": ("truthy", 2), "be_truthy": ("truthy", 2),
    "be_falsey": ("falsy", 4), "be_falsy": ("falsy", 4), "be_nil": ("nil", 4), "include": ("in", 3),
    "match": ("matches", 3), "match_array": ("same items", 4), "contain_exactly": ("same items", 4),
    "raise_error": ("raises", 3), "raise_exception": ("raises", 3), "be_a": ("instance", 2),
    "be_an": ("instance", 2), "be_kind_of": ("instance", 2), "be_instance_of": ("instance", 2),
    "have_attributes": ("in", 4), "be_empty": ("empty", 4), "respond_to": ("responds", 1),
    "start_with": ("starts", 3), "end_with": ("ends", 3), "receive": ("called", 3), "change": ("changes", 3),
    "have_received": ("called", 3), "be_within": ("almost ==", 4), "be_between": ("in", 3),
    "output": ("in", 4), "be_present": ("not empty", 1), "exist": ("defined", 1), "satisfy": ("truthy", 3),
}  # fmt: skip
_ASSERTS: Final[dict[str, tuple[str, int]]] = {
    "assert_equal": ("==", 5), "assert_same": ("==", 5), "refute_equal": ("!=", 2),
    "assert_not_equal": ("!=", 2),
    "assert_nil": ("nil", 4), "refute_nil": ("not nil", 1), "assert_not_nil": ("not nil", 1),
    "assert_includes": ("in", 3), "assert_include": ("in", 3), "refute_includes": ("not in", 2),
    "assert_match": ("matches", 3), "refute_match": ("not matches", 2), "assert_empty": ("empty", 4),
    "refute_empty": ("not empty", 1), "assert_instance_of": ("instance", 2),
    "assert_kind_of": ("instance", 2),
    "assert_respond_to": ("responds", 1), "assert_in_delta": ("almost ==", 4),
    "assert_in_epsilon": ("almost ==", 4), "assert_raises": ("raises", 4), "assert_raise": ("raises", 4),
    "assert_nothing_raised": ("no raise", 2), "assert_true": ("truthy", 3), "assert_false": ("falsy", 4),
    "assert_predicate": ("truthy", 3), "assert_operator": ("operator", 3), "flunk": ("fails", 3),
    "must_equal": ("==", 5), "wont_equal": ("!=", 2), "must_be_nil": ("nil", 4),
    "wont_be_nil": ("not nil", 1), "must_include": ("in", 3), "must_match": ("matches", 3),
    "must_be": ("truthy", 3), "must_raise": ("raises", 4),
}  # fmt: skip
_OPPOSITE = {
    "==": ("!=", 2), "truthy": ("falsy", 4), "falsy": ("truthy", 2), "nil": ("not nil", 1),
    "in": ("not in", 2), "raises": ("no raise", 2), "called": ("not called", 4), "empty": ("not empty", 1),
    "matches": ("not matches", 2),
}  # fmt: skip
_OFF = re.compile(r"^x(?=it$|describe$|context$|specify$|example$|feature$|scenario$)")
_FOCUSED = re.compile(r"^f(?=it$|describe$|context$|specify$|example$|feature$|scenario$)")
_SKIPS = frozenset({"skip", "pending", "omit", "pend"})
_PLATFORM = re.compile(
    r"\bRUBY_(?:PLATFORM|VERSION|ENGINE)\b|\bwin_platform\b|\bRbConfig\b|\bGem :: Version\b"
)
_ENVIRONMENT = re.compile(r"\bENV\b")
_CALLS = frozenset({"call", "identifier"})


def read_ruby(root: Node, passes: Passes) -> SuiteOutline:
    """The tests of a file."""
    functions = {
        text_of(node.child_by_field_name("name")): node
        for node in descendants(root)
        if node.type == "method" and not text_of(node.child_by_field_name("name")).startswith("test_")
    }
    reading = Reading(_RUBY, known=_helpers(functions), constants=_constants(root))
    tests: list[WrittenTest] = []
    loose: list[SkipMark] = []
    pending: list[tuple[Node, tuple[str, ...], tuple[str, ...]]] = [(root, (), ())]
    while pending:
        node, names, rows = pending.pop()
        if node.type in ("class", "module") and len(names) < MAX_DEPTH:
            inside = (*names, text_of(node.child_by_field_name("name")))
            pending.extend(
                (child, inside, rows) for child in reversed(children(node.child_by_field_name("body")))
            )
            continue
        if node.type == "method":
            is_test = text_of(node.child_by_field_name("name")).startswith("test_")
            if is_test and not passes(node, True):
                tests.append(_read_method(node, names, reading, functions))
            continue
        if node.type == "call":
            kind = _kind(node)
            body = _block_of(node)
            if kind in _SUITES and body is not None and len(names) < MAX_DEPTH:
                loose += _definition_marks(node)
                pending.append((body, (*names, _title(node)), rows))
                continue
            if kind in _EXAMPLES and (body is not None or arguments_of(node)) and _is_bare(node):
                if passes(node, True):
                    continue
                tests.append(_read_example(node, body, names, rows, reading, functions))
                continue
            if kind in _HOOKS and body is not None:
                tests += _read_hook(node, kind, body, names, reading, functions)
                continue
            receiver = node.child_by_field_name("receiver")
            if text_of(node.child_by_field_name("method")) in ("each", "map", "each_with_index") and receiver:
                rows = (*rows, *table_rows(reading, receiver))
        pending.extend((child, names, rows) for child in reversed(node.named_children))
    return SuiteOutline(
        tests=tuple(tests),
        helpers=tuple(
            _read_helper(name, node, reading) for name, node in functions.items() if not passes(node, False)
        ),
        skips=tuple(loose),
        defined=tuple(sorted(functions)),
    )


def _kind(call: Node) -> str:
    """What a call defines, whatever is in front of its name."""
    return _FOCUSED.sub("", _OFF.sub("", text_of(call.child_by_field_name("method"))))


def _is_bare(call: Node) -> bool:
    return text_of(call.child_by_field_name("receiver")) in ("", "RSpec")


def _block_of(call: Node) -> Node | None:
    block = call.child_by_field_name("block")
    return block.child_by_field_name("body") if block is not None else None


def _title(call: Node) -> str:
    arguments = arguments_of(call)
    return plain(arguments[0]).strip('"') if arguments else ""


def _definition_marks(call: Node) -> Iterator[SkipMark]:
    name = text_of(call.child_by_field_name("method"))
    text = shown(call).partition(" do ")[0].partition("{")[0][:100]
    found = mark(call).model_copy(update={"text": text})
    if _FOCUSED.match(name):
        yield found.model_copy(update={"focus": True})
    if _OFF.match(name):
        yield found
    for part in arguments_of(call)[1:]:
        if part.type == "simple_symbol" and text_of(part) in (":skip", ":pending", ":focus"):
            yield found.model_copy(update={"focus": text_of(part) == ":focus"})
        key = text_of(part.child_by_field_name("key")).strip(": ") if part.type == "pair" else ""
        value = plain(part.child_by_field_name("value")) if key else ""
        if key in ("skip", "pending", "focus") and value not in ("false", "nil"):
            constant = value == "true" or value.startswith('"')
            condition = SkipCondition.ALWAYS if constant else SkipCondition.OTHER
            if not constant and _ENVIRONMENT.search(value):
                condition = SkipCondition.ENVIRONMENT
            yield found.model_copy(update={"focus": key == "focus", "when": condition})
        elif (key, value) in (("if", "false"), ("unless", "true")):
            yield found


def _helpers(functions: Mapping[str, Node]) -> dict[str, Helper]:
    return {
        name: Helper(
            body,
            tuple(
                text_of(part.child_by_field_name("name") or part)
                for part in children(node.child_by_field_name("parameters"))
            ),
        )
        for name, node in functions.items()
        if (body := node.child_by_field_name("body")) is not None
    }


def _constants(root: Node) -> dict[str, str]:
    return {
        text_of(node.child_by_field_name("left")): plain(node.child_by_field_name("right"))
        for node in descendants(root, stop=("method",))
        if node.type == "assignment"
        and text_of(node.child_by_field_name("left"))[:1].isupper()
        and is_literal(plain(node.child_by_field_name("right")))
    }


def _read_method(
    node: Node, names: tuple[str, ...], module: Reading, functions: Mapping[str, Node]
) -> WrittenTest:
    body = node.child_by_field_name("body")
    reading = new_reading(module, body)
    if body is not None:
        _read_body(reading, body)
    name = text_of(node.child_by_field_name("name"))
    return _written((*names, name), ".", node, body, reading, (), functions)


def _read_body(reading: Reading, body: Node) -> None:
    if any(child.type == "rescue" for child in body.named_children):
        # A method may have its handlers without a `begin`.
        from_rescue = any(_swallows(child) for child in body.named_children if child.type == "rescue")
        read_block(reading, body, Around(state=CheckState.SWALLOWED if from_rescue else CheckState.LIVE), 0)
    else:
        read_block(reading, body, Around(), 0)


def _read_example(
    call: Node,
    body: Node | None,
    names: tuple[str, ...],
    rows: tuple[str, ...],
    module: Reading,
    functions: Mapping[str, Node],
) -> WrittenTest:
    reading = new_reading(module, body)
    reading.skips += _definition_marks(call)
    if body is None:
        # An example without a body is pending.
        reading.skips.append(mark(call))
    else:
        _read_body(reading, body)
    title = _title(call) or plain(body)[:80]
    return _written((*names, title), " > ", call, body, reading, rows, functions)


def _read_hook(
    call: Node,
    kind: str,
    body: Node,
    names: tuple[str, ...],
    module: Reading,
    functions: Mapping[str, Node],
) -> Iterator[WrittenTest]:
    """What is checked around every example, as if it were one; where nothing is, nothing."""
    reading = new_reading(module, body)
    _read_body(reading, body)
    if reading.checks or reading.skips:
        yield _written((*names, f"({kind})"), " > ", call, body, reading, (), functions)


def _written(
    names: tuple[str, ...],
    between: str,
    whole: Node,
    body: Node | None,
    reading: Reading,
    rows: tuple[str, ...],
    functions: Mapping[str, Node],
) -> WrittenTest:
    parts = list(descendants(whole))
    called = called_names(parts)
    further = [
        part for name in sorted(called & functions.keys())[:20] for part in descendants(functions[name])
    ]
    cases = rows or ((UNKNOWN_CASES,) if reading.looped else ())
    return WrittenTest(
        name=between.join(names)[-300:],
        line=line_of(whole),
        checks=tuple(reading.checks),
        skips=tuple(reading.skips),
        cases=cases[:1000],
        narrowed=tuple(reading.narrowed),
        calls=tuple(sorted(called)),
        literals=tuple(sorted(literals_in((*parts, *further)))),
        body=body_identity(body),
    )


def _read_helper(name: str, node: Node, module: Reading) -> WrittenTest:
    body = node.child_by_field_name("body")
    reading = new_reading(module, body)
    if body is not None:
        read_block(reading, body, Around(), 0)
    return WrittenTest(
        name=name[-300:],
        line=line_of(node),
        collected=False,
        checks=tuple(reading.checks),
        calls=tuple(sorted(called_names(descendants(node)))),
        body=body_identity(body),
    )


def _assigned(node: Node) -> list[tuple[str, Node | None]]:
    if node.type == "assignment":
        left = node.child_by_field_name("left")
        if left is not None and left.type in ("identifier", "constant"):
            return [(text_of(left), node.child_by_field_name("right"))]
    elif node.type == "operator_assignment":
        return [(text_of(node.child_by_field_name("left")), None)]
    return []


def _statement(reading: Reading, node: Node, around: Around, depth: int) -> bool:
    if node.type == "identifier" and text_of(node) in _SKIPS:
        reading.skips.append(mark(node, when(reading, around)))
        return True
    return node.type in ("method", "class")


def _expression(reading: Reading, node: Node, around: Around, depth: int) -> bool:
    if node.type == "identifier" and text_of(node) in reading.known and _is_statement(node):
        reading.checks += called_checks(reading, node, reading.known[text_of(node)], (), around.state)
        return True
    if node.type != "call":
        return False
    name = text_of(node.child_by_field_name("method"))
    receiver = node.child_by_field_name("receiver")
    if name in _SKIPS and receiver is None:
        if around.state is not CheckState.DEAD:
            reading.skips.append(mark(node, when(reading, around)))
        return True
    check = _check_of(reading, node, name, receiver, around.state)
    if check is not None:
        reading.checks.append(check)
        return True
    if receiver is None and name in reading.known:
        given = [("", part) for part in arguments_of(node)]
        reading.checks += called_checks(reading, node, reading.known[name], given, around.state)
    return False


def _is_statement(node: Node) -> bool:
    return node.parent is not None and node.parent.type in (
        "body_statement",
        "then",
        "block_body",
        "if_modifier",
    )


def _check_of(
    reading: Reading, node: Node, name: str, receiver: Node | None, state: CheckState
) -> Check | None:
    arguments = arguments_of(node)
    if name in ("to", "not_to", "to_not") and receiver is not None:
        expectation = text_of(receiver)
        if not re.match(r"(?:expect|is_expected|allow|_)\b", expectation) or expectation.startswith("allow"):
            return None
        given = arguments_of(receiver) if receiver.type == "call" else []
        subject = resolved(reading, given[0]) if given else "the block" if "{" in expectation else expectation
        return _matched(reading, node, subject, given, arguments, state, negative=name != "to")
    if name in ("should", "should_not") and receiver is not None:
        subject = resolved(reading, receiver)
        return _matched(reading, node, subject, [receiver], arguments, state, negative=name != "should")
    if name in ("it_behaves_like", "include_examples", "it_should_behave_like"):
        return make_check(node, "behaves like", plain(node), "", 4, state)
    if name in ("assert", "refute") and receiver is None and arguments:
        text = resolved(reading, arguments[0])
        asked = asked_by(reading, text if name == "assert" else f"! ( {text} )")
        return make_check(node, asked.operator, asked.subject, asked.expected, asked.strength, state)
    if name in _ASSERTS:
        return _asserted(reading, node, name, receiver, arguments, state)
    return None


def _asserted(
    reading: Reading, node: Node, name: str, receiver: Node | None, arguments: list[Node], state: CheckState
) -> Check:
    operator, strength = _ASSERTS[name]
    texts = [resolved(reading, part) for part in arguments]
    if name.startswith(("must", "wont")):
        subject, expected = resolved(reading, receiver), (*texts, "")[0]
    elif operator in ("==", "!=", "almost ==", "matches", "not matches", "instance"):
        # minitest has the expected value first.
        expected, subject = (*texts, "", "")[:2]
    elif operator == "raises":
        subject, expected = "the block", (*texts, "")[0]
        strength = 2 if expected in ("", "StandardError", "Exception") else strength
    else:
        subject, expected = (*texts, "", "")[:2]
    tolerance = number_in(texts[2]) if operator == "almost ==" and len(texts) > 2 else None
    same = len(arguments) > 1 and operator == "==" and plain(arguments[0]) == plain(arguments[1])
    return make_check(node, operator, subject, expected, 0 if same else strength, state, tolerance)


def _matched(
    reading: Reading,
    node: Node,
    subject: str,
    given: list[Node],
    arguments: list[Node],
    state: CheckState,
    *,
    negative: bool,
) -> Check:
    """What a matcher of RSpec asks."""
    matcher = arguments[0] if arguments else None
    tolerance: float | None = None
    inner = matcher
    for _ in range(10):
        # `be_within(0.1).of(3)`, `raise_error(E).with_message(…)`: the innermost names the matcher.
        below = inner.child_by_field_name("receiver") if inner is not None and inner.type == "call" else None
        if below is None or below.type not in _CALLS:
            break
        inner = below
    name = text_of(inner.child_by_field_name("method") or inner) if inner is not None else ""
    values = arguments_of(inner) if inner is not None and inner.type == "call" else []
    expected = resolved(reading, values[0]) if values else ""
    operator, strength = _MATCHERS.get(name, (name[:40], 3))
    if name == "be" and values:
        operator, strength = "==", 5
    if name in ("raise_error", "raise_exception"):
        strength = 4 if expected and expected not in ("StandardError", "Exception") else 2
    if name == "be_within" and matcher is not None:
        near = arguments_of(matcher)
        tolerance, expected = number_in(expected), resolved(reading, near[0] if near else None)
    if matcher is not None and matcher.type == "binary":
        # `be > 3`
        operator, strength = text_of(matcher.child_by_field_name("operator")), 3
        expected = resolved(reading, matcher.child_by_field_name("right"))
    if operator == "==" and expected in ("true", "false", "nil"):
        operator, strength = {"true": ("truthy", 3), "false": ("falsy", 4), "nil": ("nil", 4)}[expected]
        expected = ""
    if negative:
        operator, strength = _OPPOSITE.get(operator, (f"not {operator}", 2))
    constant = (
        bool(given) and given[0].type in ("true", "integer", "string") and operator in ("truthy", "not nil")
    )
    same = bool(given and values) and plain(given[0]) == plain(values[0]) and operator == "=="
    return make_check(
        node, operator, subject, expected, 0 if constant or same else strength, state, tolerance
    )


def _swallows(handler: Node) -> bool:
    """Whether a `rescue` takes a failed assertion; only those of all exceptions do."""
    caught = " ".join(
        plain(part) for part in children(handler) if part.type not in ("then", "exception_variable")
    )
    if not re.search(r"\bException\b|Minitest :: Assertion|ExpectationNotMetError", caught):
        return False
    return not re.search(
        r"\braise\b|\bflunk\b|\bassert|\bexpect\b|=[^>=]", text_of(handler.child_by_field_name("body"))
    )


_RUBY = Dialect(
    assigned=_assigned,
    statement=_statement,
    expression=_expression,
    swallows=_swallows,
    functions=frozenset({"do_block", "block", "lambda"}),
    environment=_ENVIRONMENT,
    platform=_PLATFORM,
)
