"""Classes of a test file that agree to anything, as with an `__eq__` that is always true."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from tree_sitter import Node

from adjudge.syntax.bodies import text_of
from adjudge.syntax.testcode.nodes import children, plain

__all__ = ["lenient_parts"]

_HOLDS = {
    "__eq__": "True", "__bool__": "True", "__contains__": "True", "__exit__": "True", "__ne__": "False",
    "__lt__": "True", "__le__": "True", "__gt__": "True", "__ge__": "True", "wasSuccessful": "True",
}  # fmt: skip
_HEARS = re.compile(r"add(?:Failure|Error|SubTest)$|assert[A-Z]\w*$|fail$")


def lenient_parts(parts: Iterable[Node]) -> dict[str, frozenset[str]]:
    """Every class of a file, with those of its parts that hold for anything."""
    return {
        text_of(node.child_by_field_name("name")): frozenset(_parts(node))
        for node in parts
        if node.type == "class_definition"
    }


def _parts(node: Node) -> Iterator[str]:
    for member in children(node.child_by_field_name("body")):
        function = (
            member.child_by_field_name("definition") if member.type == "decorated_definition" else member
        )
        if function is not None and function.type == "function_definition":
            name = text_of(function.child_by_field_name("name"))
            if name in _HOLDS and _gives(function) == _HOLDS[name]:
                yield name
            elif _HEARS.match(name) and _gives(function) in ("", "None"):
                yield "addFailure" if name.startswith("add") else name
        elif "compare = False" in plain(member) or "eq = False" in plain(member):
            yield f"{plain(member).partition(' ')[0]} is not compared"


def _gives(function: Node) -> str | None:
    """What a function that does nothing else gives back; None for one that does something."""
    statements = [
        part
        for part in children(function.child_by_field_name("body"))
        if not (part.type == "expression_statement" and children(part)[0].type in ("string", "ellipsis"))
    ]
    if not statements or (len(statements) == 1 and statements[0].type == "pass_statement"):
        return ""
    if len(statements) == 1 and statements[0].type == "return_statement":
        return " ".join(plain(part) for part in children(statements[0]))
    return None
