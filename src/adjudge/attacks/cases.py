"""What the visible tests expect: calls with literal arguments, and the literal each has to give."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from adjudge.attacks.scanning import closing, is_literal, split_arguments
from adjudge.records.attack import AttackTarget

__all__ = ["Case", "cases_of"]

_MAX_CASES = 200


class Case(NamedTuple):
    """One expectation, in the language's own words."""

    function: str
    arguments: tuple[str, ...]
    expected: str


def cases_of(target: AttackTarget) -> tuple[Case, ...]:
    """Every expectation that can be read off the visible tests, each once, in their order."""
    read = {"python": _python, "javascript": _javascript, "go": _go}.get(target.language or "")
    if read is None:
        return ()
    found = dict.fromkeys(case for path in target.tests for case in read(target.files[path]))
    return tuple(found)[:_MAX_CASES]


def _python(text: str) -> Iterator[Case]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for bound in _bindings(node):
                yield from _python_cases(node, bound)


def _bindings(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[Mapping[str, ast.expr]]:
    """What names stand for: nothing, each row of a parametrisation, each item of a loop over a literal."""
    yield {}
    tables: list[tuple[ast.expr, ast.expr]] = []
    for decorator in function.decorator_list:
        if isinstance(decorator, ast.Call) and len(decorator.args) >= 2:
            tables.append((_parameters(decorator.args[0]), decorator.args[1]))
    tables += [(node.target, node.iter) for node in ast.walk(function) if isinstance(node, ast.For)]
    for names, table in tables:
        for row in getattr(table, "elts", ()):
            if isinstance(names, ast.Name):
                yield {names.id: row}
            elif isinstance(names, ast.Tuple) and isinstance(row, ast.Tuple | ast.List):
                pairs = zip(names.elts, row.elts, strict=False)
                yield {name.id: value for name, value in pairs if isinstance(name, ast.Name)}


def _parameters(given: ast.expr) -> ast.expr:
    """The names of a parametrisation, as the target of a loop would write them."""
    parts: list[str] = []
    if isinstance(given, ast.Constant) and isinstance(given.value, str):
        parts = [part.strip() for part in given.value.split(",")]
    elif isinstance(given, ast.Tuple | ast.List):
        parts = [str(item.value) for item in given.elts if isinstance(item, ast.Constant)]
    elements: list[ast.expr] = [ast.Name(part) for part in parts]
    return ast.Tuple(elements) if len(elements) != 1 else elements[0]


def _python_cases(function: ast.AST, bound: Mapping[str, ast.expr]) -> Iterator[Case]:
    known: dict[str, ast.expr] = dict(bound)
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            known.setdefault(node.targets[0].id, node.value)
    for node in ast.walk(function):
        sides: list[ast.expr] = []
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.Eq | ast.Is):
            sides = [node.left, node.comparators[0]]
        elif isinstance(node, ast.Call) and _name(node.func) in ("assertEqual", "assertEquals", "assertIs"):
            sides = node.args[:2]
        if len(sides) == 2:
            left, right = (known.get(s.id, s) if isinstance(s, ast.Name) else s for s in sides)
            case = _python_case(left, right, bound) or _python_case(right, left, bound)
            if case is not None:
                yield case


def _python_case(call: ast.expr, expected: ast.expr, bound: Mapping[str, ast.expr]) -> Case | None:
    if not isinstance(call, ast.Call) or call.keywords or not (name := _name(call.func)):
        return None
    values = [bound.get(arg.id, arg) if isinstance(arg, ast.Name) else arg for arg in call.args]
    try:
        arguments = tuple(repr(ast.literal_eval(value)) for value in values)
        return Case(name, arguments, repr(ast.literal_eval(expected)))
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None


def _name(node: Any) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


_JS_EQUAL = re.compile(
    r"\b(?:assert\.|t\.)?(?:equal|strictEqual|deepEqual|deepStrictEqual|is|assertEquals)\s*(?=\()"
)
_JS_EXPECT = re.compile(r"\bexpect\s*(?=\()")
_JS_MATCHER = re.compile(r"\)\s*\.\s*(?:toBe|toEqual|toStrictEqual)\s*(?=\()")


def _javascript(text: str) -> Iterator[Case]:
    for match in _JS_EQUAL.finditer(text):
        end = closing(text, match.end())
        parts = split_arguments(text[match.end() + 1 : end]) if end > 0 else []
        if len(parts) >= 2:
            yield from _written_case(parts[0], parts[1])
    for match in _JS_EXPECT.finditer(text):
        end = closing(text, match.end())
        matcher = _JS_MATCHER.match(text, end) if end > 0 else None
        if matcher is not None and (last := closing(text, matcher.end())) > 0:
            yield from _written_case(text[match.end() + 1 : end], text[matcher.end() + 1 : last])


def _written_case(call: str, expected: str) -> Iterator[Case]:
    match = re.match(r"\s*(?:await\s+)?(?:[\w$]+\.)*([\w$]+)\s*(?=\()", call)
    if match is None or closing(call, match.end()) != len(call.rstrip()) - 1:
        return
    arguments = split_arguments(call[match.end() + 1 : closing(call, match.end())])
    if is_literal(expected) and all(map(is_literal, arguments)):
        yield Case(match[1], tuple(arguments), expected.strip())


_GO_COMPARED = re.compile(r"(?P<got>\w+)\s*!=\s*+(?P<want>[^{;&|\n]+)\{")
_GO_CALL = re.compile(r"(?P<got>\w+)\s*:?=\s*(?P<call>(?:\w+\.)?[A-Z]\w*\()")
_GO_DIRECT = re.compile(r"(?P<call>(?:\w+\.)?[A-Z]\w*\()")


def _go(text: str) -> Iterator[Case]:
    for part in re.split(r"(?m)^func ", text):
        calls: dict[str, str] = {}
        for match in _GO_CALL.finditer(part):
            end = closing(part, match.end() - 1)
            if end > 0:
                calls[match["got"]] = part[match.start("call") : end + 1]
        for match in _GO_COMPARED.finditer(part):
            if match["got"] in calls:
                yield from _go_cases(part, calls[match["got"]], match["want"].rstrip())
        for match in _GO_DIRECT.finditer(part):
            end = closing(part, match.end() - 1)
            want = re.compile(r"\)\s*+!=\s*+([^{;&|\n]+)\{").match(part, end) if end > 0 else None
            if want is not None:
                yield from _go_cases(part, part[match.start("call") : end + 1], want[1].rstrip())


def _go_cases(part: str, call: str, want: str) -> Iterator[Case]:
    plain = list(_written_case(call, want))
    if plain:
        yield from plain
        return
    row = re.match(r"(\w+)\.(\w+)$", want.strip())
    if row is None:
        return
    struct = re.search(r"\[\]struct\s*\{(?P<fields>[^}]*)\}\s*(?=\{)", part)
    if struct is None or (end := closing(part, struct.end())) < 0:
        return
    fields = [
        name.strip()
        for line in re.split(r"[\n;]", struct["fields"])
        if line.strip()
        for name in re.sub(r"\s+\S+$", "", line.strip()).split(",")
    ]
    for written in split_arguments(part[struct.end() + 1 : end]):
        values = split_arguments(written.strip("{} \t\n"))
        keyed = dict(value.split(":", 1) for value in values if re.match(r"\w+\s*:", value))
        named = {key.strip(): value.strip() for key, value in keyed.items()} or dict(
            zip(fields, values, strict=False)
        )
        expected = named.get(row[2])
        if expected is not None:
            yield from _written_case(_filled(call, row[1], named), expected)


def _filled(call: str, row: str, named: Mapping[str, str]) -> str:
    """A call with the fields of a row in place of their names."""
    return re.sub(rf"\b{row}\.(\w+)", lambda found: named.get(found[1], "?"), call)
