"""Marks that keep Python tests from running or from failing: on tests, classes, files and single rows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from tree_sitter import Node

from adjudge.records.testcode import ELSEWHERE, SkipCondition, SkipMark
from adjudge.syntax.bodies import text_of
from adjudge.syntax.testcode.nodes import arguments_of, children, descendants, plain
from adjudge.syntax.testcode.python.checks import keyword
from adjudge.syntax.testcode.reading import Reading, depends, mark, truth

__all__ = [
    "ENVIRONMENT",
    "PLATFORM",
    "SKIP",
    "applied_skips",
    "assigned_skips",
    "class_skips",
    "decorator_skip",
    "row_skips",
    "skip_aliases",
]

SKIP = re.compile(
    r"(?:^|\.)(?:skip|skipif|xfail|skipIf|skipUnless|expectedFailure|importorskip|skipTest|SkipTest)$"
)
PLATFORM = re.compile(
    r"\bsys ?\. ?(?:platform|version_info|implementation|_is_gil_enabled|maxsize)\b|\bplatform ?\."
    r"|\bos ?\. ?(?:name|geteuid|getuid|sep)\b|^\"(?:sys\.|os\.name)"
    r"|\b(?:IS_)?(?:WIN(?:DOWS)?|MAC(?:OS)?|LINUX|PYPY)\b"
)
ENVIRONMENT = re.compile(r"\benviron\b|\bgetenv\b")
_CONDITIONAL = re.compile(r"(?:^|\.)(?:skipif|skipIf|skipUnless|xfail|importorskip)$")
_ON_A_ROW = re.compile(r"(?:^|\.)mark\.(?:skip|skipif|xfail)$")
_RUNNER = re.compile(r"\b(?:pytest|unittest|nose|SkipTest|skipTest)\b")
_HERE = re.compile(
    r"sys \. version_info \[ 0 \] >=? [23]|sys \. version_info (?:\[ : 2 \] )?>=? \( [23](?: [0-9])? \)"
    r"|\"\w+\" in sys \. modules|os \. name in \( (?=.*\"posix\")(?=.*\"nt\").*\)"
)
"""Conditions that hold wherever tests run today."""


def _skip_condition(reading: Reading, call: Node, name: str) -> SkipCondition:
    """When a mark applies: what its condition says."""
    if call.type != "call" or not _CONDITIONAL.search(name):
        return SkipCondition.ALWAYS
    places = [part for part in arguments_of(call) if part.type != "keyword_argument"]
    named = [keyword(part)[1] for part in arguments_of(call) if keyword(part)[0] == "condition"]
    condition = plain(places[0]) if places else (named[0] if named else "")
    value = truth(reading, condition) if condition else True
    if name.rpartition(".")[2] == "skipUnless":
        value = None if value is None else not value
    if value or _HERE.fullmatch(condition) or (value is None and not depends(condition)):
        return SkipCondition.ALWAYS
    if value is False:
        return SkipCondition.NEVER
    if PLATFORM.search(condition):
        return SkipCondition.PLATFORM
    return SkipCondition.ENVIRONMENT if ENVIRONMENT.search(condition) else SkipCondition.OTHER


def decorator_skip(reading: Reading, decorator: Node, aliases: Mapping[str, SkipMark]) -> SkipMark | None:
    """The mark that a decorator is, if it is one."""
    inner = children(decorator)
    if not inner:
        return None
    call = inner[0]
    name = text_of(call.child_by_field_name("function") if call.type == "call" else call)
    if name in aliases:
        return mark(decorator, aliases[name].when)
    return mark(decorator, _skip_condition(reading, call, name)) if SKIP.search(name) else None


def row_skips(reading: Reading, decorator: Node, aliases: Mapping[str, SkipMark]) -> Iterator[SkipMark]:
    """Marks on single rows."""
    for part in descendants(decorator):
        if part.type == "identifier" and text_of(part) in aliases:
            yield mark(part, aliases[text_of(part)].when)
        if part.type == "attribute" and _ON_A_ROW.search(text_of(part)):
            parent = part.parent
            call = parent if parent is not None and parent.type == "call" else part
            yield mark(part, _skip_condition(reading, call, text_of(part)))


def skip_aliases(reading: Reading, root: Node) -> dict[str, SkipMark]:
    """Names of the file that stand for a mark."""
    found: dict[str, SkipMark] = {}
    for statement in children(root):
        for node in children(statement) if statement.type == "expression_statement" else ():
            value = node.child_by_field_name("right") if node.type == "assignment" else None
            if value is None:
                continue
            name = text_of(value.child_by_field_name("function") if value.type == "call" else value)
            if SKIP.search(name) and "importorskip" not in name:
                condition = _skip_condition(reading, value, name)
                found[text_of(node.child_by_field_name("left"))] = mark(node, condition)
    return found


def class_skips(reading: Reading, node: Node, aliases: Mapping[str, SkipMark]) -> Iterator[SkipMark]:
    """Marks on a class that is decorated."""
    definition = node.child_by_field_name("definition")
    if definition is None or definition.type != "class_definition":
        return
    for decorator in node.named_children:
        found = decorator_skip(reading, decorator, aliases) if decorator.type == "decorator" else None
        if found is not None:
            yield found.model_copy(update={"scope": text_of(definition.child_by_field_name("name"))})


def assigned_skips(reading: Reading, node: Node, aliases: Mapping[str, SkipMark]) -> Iterator[SkipMark]:
    """Marks that an assignment puts on the file or on a test."""
    name = text_of(node.child_by_field_name("left"))
    value = node.child_by_field_name("right")
    if value is None:
        return
    if name == "__test__" and plain(value) == "False":
        if not _is_no_test(node):
            yield mark(node)
    elif name in ("collect_ignore", "collect_ignore_glob") and plain(value) not in ("[ ]", "None"):
        yield mark(node).model_copy(update={"scope": ELSEWHERE})
    elif name == "pytestmark":
        for part in descendants(value):
            if part.type in ("attribute", "identifier"):
                text = text_of(part)
                if text in aliases:
                    yield mark(node, aliases[text].when)
                elif _ON_A_ROW.search(text):
                    parent = part.parent
                    call = parent if parent is not None and parent.type == "call" else part
                    yield mark(node, _skip_condition(reading, call, text))
    elif value.type == "call" and text_of(value.child_by_field_name("function")).endswith("importorskip"):
        yield mark(node, SkipCondition.OTHER)
    else:
        yield from applied_skips(reading, node, value, aliases)


def applied_skips(
    reading: Reading, statement: Node, value: Node, aliases: Mapping[str, SkipMark]
) -> Iterator[SkipMark]:
    """Marks put on a test by a call instead of a decorator: `Suite.test_a = skip("why")(Suite.test_a)`."""
    for part in descendants(value):
        function = part.child_by_field_name("function") if part.type == "call" else None
        if function is None:
            continue
        if text_of(function) in aliases:
            yield mark(statement, aliases[text_of(function)].when).model_copy(update={"scope": ELSEWHERE})
        elif function.type == "call":
            name = text_of(function.child_by_field_name("function"))
            if SKIP.search(name) and "importorskip" not in name:
                condition = _skip_condition(reading, function, name)
                if _chooses(reading, part, name):
                    condition = SkipCondition.OTHER
                yield mark(statement, condition).model_copy(update={"scope": ELSEWHERE})


def _chooses(reading: Reading, call: Node, name: str) -> bool:
    """Whether it is a function of the file that says, case by case, which of a table are not supported.

    It is asked in a lambda that somebody is given, and has nothing to do with a runner itself.
    """
    helper = reading.known.get(name)
    if helper is None or _RUNNER.search(text_of(helper.body)):
        return False
    above = call.parent
    while above is not None and above.type != "lambda":
        above = above.parent
    given = above.parent if above is not None else None
    return given is not None and given.type in ("keyword_argument", "argument_list")


def _is_no_test(node: Node) -> bool:
    """Whether an assignment stands in a class that has a test's name and nothing to run."""
    above = node.parent
    while above is not None and above.type != "class_definition":
        above = above.parent
    if above is None:
        return False
    tests = (
        part.type == "function_definition" and text_of(part.child_by_field_name("name")).startswith("test")
        for part in descendants(above)
    )
    bases = {text_of(base).partition("[")[0] for base in children(above.child_by_field_name("superclasses"))}
    return bases <= {"object", "Protocol", "NamedTuple", "TypedDict", "Exception", "Enum"} and not any(tests)
