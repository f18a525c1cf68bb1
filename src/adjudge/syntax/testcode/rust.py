"""The tests of a Rust file, in files of their own or beside what they test."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

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
    resolved_text,
)

__all__ = ["read_rust"]

_TEST = re.compile(r"(?:\w+::)*(?:test|rstest|test_case|quickcheck|wasm_bindgen_test|bench)$")
_EQUAL = {
    "assert_eq": ("==", 5),
    "debug_assert_eq": ("==", 5),
    "assert_ne": ("!=", 2),
    "prop_assert_eq": ("==", 5),
}
_ALMOST = re.compile(r"assert_(?:relative_eq|abs_diff_eq|ulps_eq|approx_eq|float_\w+|almost_eq)$")
_CALLED = re.compile(r"([A-Za-z_]\w*) !? ?\(")
_PLATFORM = re.compile(r"\b(?:target_\w+|unix|windows|debug_assertions|miri|panic|not \( windows|cfg ! )\b")
_ENVIRONMENT = re.compile(r"\benv :: (?:var|var_os)\b|\boption_env\b|\benv ! \(")


@dataclass(frozen=True, slots=True)
class _Function:
    node: Node
    names: tuple[str, ...]
    attributes: tuple[Node, ...]

    @property
    def is_test(self) -> bool:
        return any(_TEST.match(_attribute(one)[0]) for one in self.attributes)


def read_rust(root: Node, passes: Passes) -> SuiteOutline:
    """The tests of a file."""
    functions, loose = _functions(root)
    known = {one.names[-1]: one.node for one in functions if not one.is_test}
    reading = Reading(_RUST, known=_helpers(known), constants=_constants(root))
    tests: list[WrittenTest] = []
    helpers: list[WrittenTest] = []
    for one in functions:
        if passes(one.node, one.is_test):
            continue
        written = _read_function(one, reading, known)
        if one.is_test:
            tests.append(written)
        else:
            helpers.append(written.model_copy(update={"collected": False}))
    return SuiteOutline(
        tests=tuple(tests), helpers=tuple(helpers), skips=tuple(loose), defined=tuple(sorted(known))
    )


def _functions(root: Node) -> tuple[list[_Function], list[SkipMark]]:
    """Functions with their attributes, and what keeps whole modules out."""
    found: list[_Function] = []
    loose: list[SkipMark] = []
    pending: list[tuple[Node, tuple[str, ...]]] = [(root, ())]
    while pending:
        place, names = pending.pop()
        attributes: list[Node] = []
        for node in children(place):
            if node.type in ("attribute_item", "inner_attribute_item"):
                if node.type == "inner_attribute_item":
                    loose += _skips([node], names[-1] if names else "")
                else:
                    attributes.append(node)
                continue
            if node.type == "function_item":
                name = text_of(node.child_by_field_name("name"))
                found.append(_Function(node, (*names, name), tuple(attributes)))
            elif node.type in ("mod_item", "impl_item"):
                name = text_of(node.child_by_field_name("name") or node.child_by_field_name("type"))
                loose += _skips(attributes, name)
                body = node.child_by_field_name("body")
                if body is not None and len(names) < 20:
                    pending.append((body, (*names, name)))
            attributes = []
    return found, loose


def _attribute(item: Node) -> tuple[str, str]:
    """The name of an attribute, and what it is given."""
    inner = next((child for child in item.named_children if child.type == "attribute"), None)
    if inner is None:
        return "", ""
    parts = children(inner)
    name = text_of(parts[0]).replace(" ", "") if parts else ""
    given = inner.child_by_field_name("arguments") or inner.child_by_field_name("value")
    return name, plain(given)


def _skips(attributes: list[Node] | tuple[Node, ...], scope: str = "") -> Iterator[SkipMark]:
    for item in attributes:
        name, given = _attribute(item)
        if name == "ignore":
            yield mark(item).model_copy(update={"scope": scope})
        elif (name == "cfg_attr" and re.search(r"\bignore\b", given)) or (
            name == "cfg" and given != "( test )"
        ):
            yield mark(item, _cfg(given)).model_copy(update={"scope": scope})


def _cfg(given: str) -> SkipCondition:
    """What is left out of the build by a condition."""
    if re.search(r"\bany \( \)|\bFALSE\b|\bfalse\b|not \( test \)|not \( all \( \) \)", given):
        return SkipCondition.ALWAYS
    if re.search(r"\b(?:target_\w+|unix|windows|debug_assertions|miri|panic)\b", given):
        return SkipCondition.PLATFORM
    # Features and other names are off unless somebody turns them on.
    return SkipCondition.ENVIRONMENT


def _helpers(functions: Mapping[str, Node]) -> dict[str, Helper]:
    return {
        name: Helper(
            body,
            tuple(
                text_of(part.child_by_field_name("pattern"))
                for part in children(node.child_by_field_name("parameters"))
                if part.type == "parameter"
            ),
        )
        for name, node in functions.items()
        if (body := node.child_by_field_name("body")) is not None
    }


def _constants(root: Node) -> dict[str, str]:
    return {
        text_of(node.child_by_field_name("name")): plain(node.child_by_field_name("value"))
        for node in descendants(root, stop=("function_item",))
        if node.type in ("const_item", "static_item") and is_literal(plain(node.child_by_field_name("value")))
    }


def _read_function(function: _Function, module: Reading, functions: Mapping[str, Node]) -> WrittenTest:
    node = function.node
    body = node.child_by_field_name("body")
    parts = list(descendants(node))
    reading = new_reading(module, body, parts)
    reading.skips += _skips(function.attributes)
    cases: list[str] = []
    for item in function.attributes:
        name, given = _attribute(item)
        if name == "should_panic":
            strength = 5 if "expected" in given else 3
            reading.checks.append(make_check(item, "panics", "the block", given, strength, CheckState.LIVE))
        elif name in ("case", "test_case", "values"):
            cases.append(given)
    if body is not None:
        read_block(reading, body, Around(), 0)
    if not cases and reading.looped:
        cases = [UNKNOWN_CASES]
    called = called_names(parts) | {
        name for part in parts if part.type == "token_tree" for name in _CALLED.findall(plain(part))
    }
    further = [
        part for name in sorted(called & functions.keys())[:20] for part in descendants(functions[name])
    ]
    return WrittenTest(
        name="::".join(function.names).replace("::", ".")[-300:],
        line=line_of(node),
        checks=tuple(reading.checks),
        skips=tuple(reading.skips),
        cases=tuple(cases[:1000]),
        narrowed=tuple(reading.narrowed),
        calls=tuple(sorted(called)),
        literals=tuple(sorted(literals_in((*parts, *further)))),
        body=body_identity(body),
    )


def _assigned(node: Node) -> list[tuple[str, Node | None]]:
    if node.type == "let_declaration":
        pattern, value = node.child_by_field_name("pattern"), node.child_by_field_name("value")
    elif node.type == "assignment_expression":
        pattern, value = node.child_by_field_name("left"), node.child_by_field_name("right")
    elif node.type == "compound_assignment_expr":
        pattern, value = node.child_by_field_name("left"), None
    else:
        return []
    if (
        pattern is None
        or pattern.type != "identifier"
        or (value is not None and value.type == "closure_expression")
    ):
        return []
    return [(text_of(pattern), value)]


def _statement(reading: Reading, node: Node, around: Around, depth: int) -> bool:
    return node.type in ("function_item", "mod_item", "impl_item", "struct_item")


def _expression(reading: Reading, node: Node, around: Around, depth: int) -> bool:
    if node.type == "macro_invocation":
        check = _macro(reading, node, around)
        if check is not None:
            reading.checks.append(check)
        return check is not None
    if node.type == "call_expression":
        helper = reading.known.get(text_of(node.child_by_field_name("function")))
        if helper is not None:
            given = [("", part) for part in arguments_of(node)]
            reading.checks += called_checks(reading, node, helper, given, around.state)
    return False


def _arguments(tree: Node | None) -> list[str]:
    """The arguments of a macro, as texts: its parts are no more than tokens."""
    groups: list[list[str]] = [[]]
    for child in tree.children[1:-1] if tree is not None else ():
        if text_of(child) == ",":
            groups.append([])
        elif child.type not in ("line_comment", "block_comment"):
            groups[-1].append(plain(child) or text_of(child))
    return [_spaced(" ".join(group)) for group in groups if group]


def _tree(node: Node) -> Node | None:
    return next((child for child in node.named_children if child.type == "token_tree"), None)


def _spaced(text: str) -> str:
    """Tokens as the other readings have them: references and borrows say nothing."""
    return re.sub(r"(?:^|(?<=[ (\[]))(?:& (?:mut )?|\* )(?=[\w(\[\"])", "", text).strip()


def _macro(reading: Reading, node: Node, around: Around) -> Check | None:
    name = text_of(node.child_by_field_name("macro")).rpartition("::")[2]
    tree = _tree(node)
    given = _arguments(tree)
    texts = [resolved_text(reading, text) for text in given]
    if name in _EQUAL and len(texts) >= 2:
        operator, strength = _EQUAL[name]
        subject, expected = (texts[1], texts[0]) if is_literal(texts[0]) else (texts[0], texts[1])
        if given[0] == given[1] and operator == "==":
            strength = 0
        return make_check(node, operator, subject, expected, strength, around.state)
    if name in ("assert", "debug_assert", "prop_assert") and texts:
        if texts[0].startswith("matches ! ") and tree is not None:
            looked_at, *patterns = _arguments(_tree(tree)) or [""]
            wanted = " ".join(patterns)
            strength = 0 if wanted == "_" else 4
            return make_check(
                node, "matches", resolved_text(reading, looked_at), wanted, strength, around.state
            )
        asked = asked_by(reading, texts[0])
        if given[0] in ("true", "1 == 1"):
            return make_check(node, "always", given[0], "", 0, around.state)
        return make_check(node, asked.operator, asked.subject, asked.expected, asked.strength, around.state)
    if _ALMOST.match(name) and len(texts) >= 2:
        tolerance = number_in(next((text.rpartition("= ")[2] for text in texts[2:]), ""))
        return make_check(node, "almost ==", texts[0], texts[1], 4, around.state, tolerance)
    if name in ("panic", "unreachable") and around.conditions:
        return make_check(node, "fails", "", plain(around.conditions[-1][0]), 3, around.state)
    if name.startswith("assert"):
        return make_check(node, name, " ".join(texts)[:200], "", 4, around.state)
    return None


def _swallows(handler: Node) -> bool:
    return False


_RUST = Dialect(
    assigned=_assigned,
    statement=_statement,
    expression=_expression,
    swallows=_swallows,
    functions=frozenset({"closure_expression"}),
    environment=_ENVIRONMENT,
    platform=_PLATFORM,
)
