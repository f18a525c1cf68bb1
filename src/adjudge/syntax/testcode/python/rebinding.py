"""Tests of a Python file that its end takes back: deleted, given to something else, or switched off."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from adjudge.records.testcode import SkipCondition, SkipMark
from adjudge.syntax.bodies import text_of
from adjudge.syntax.testcode.nodes import children, descendants, plain
from adjudge.syntax.testcode.python.skips import ENVIRONMENT
from adjudge.syntax.testcode.reading import Reading, mark, truth

__all__ = ["gate_of", "taken_back"]

_OWN = r"(?:globals \( \)|vars \( \)|locals \( \)|sys \. modules \[ __name__ \] \. __dict__)"
_BY_KEY = re.compile(
    rf"{_OWN} \[ \"(?P<set>\w+)\" \] = (?P<value>.*)|del {_OWN} \[ \"(?P<del>\w+)\" \]"
    rf"|{_OWN} \. pop \( \"(?P<pop>\w+)\".*"
)
_BY_NAME = re.compile(
    r"setattr \( (?P<owner>\w+) \"(?P<name>\w+)\" (?P<value>.*) \)"
    r"|delattr \( (?P<from>\w+) \"(?P<gone>\w+)\" \)"
)
_ALL = re.compile(rf"{_OWN} \[ \w+ \] = (?:lambda\b|None\b)|del {_OWN} \[ \w+ \]|{_OWN} \. pop \( \w+ ")


def taken_back(root: Node) -> set[str]:
    """Names of tests and of classes of tests that no longer stand for what was defined; `*` for all."""
    found: set[str] = set()
    for statement in children(root):
        if statement.type == "expression_statement":
            for part in children(statement):
                found |= set(_given_away(part))
        elif statement.type == "delete_statement":
            found |= set(_deleted(statement))
        elif statement.type == "for_statement":
            text = " ".join(
                plain(part) for part in descendants(statement) if part.type in ("assignment", "call")
            )
            if _ALL.search(f"{text} {plain(statement)}") and "test" in text_of(statement).lower():
                found.add("*")
    bases = {
        text_of(base)
        for node in descendants(root, stop=("function_definition",))
        if node.type == "class_definition"
        for base in children(node.child_by_field_name("superclasses"))
    }
    # What others are made of is taken out of sight so that it is not run by itself.
    return {name for name in found if name not in bases}


def _given_away(node: Node) -> Iterator[str]:
    text = plain(node)
    if node.type == "assignment":
        name = re.sub(r"\s", "", text_of(node.child_by_field_name("left")))
        value = plain(node.child_by_field_name("right"))
        owner, _, last = name.rpartition(".")
        if last == "__test__" and value == "False" and owner:
            yield owner
        elif re.fullmatch(r"(?:\w+\.)?test\w*|Test\w+", name) and _is_other(value, last):
            yield name
    if (found := _BY_KEY.fullmatch(text)) is not None:
        name = found["set"] or found["del"] or found["pop"]
        if found["set"] is None or _is_other(found["value"], name):
            yield name
    elif (found := _BY_NAME.fullmatch(text)) is not None:
        if found["gone"]:
            yield f"{found['from']}.{found['gone']}"
        elif found["name"] == "__test__" and found["value"] == "False":
            yield found["owner"]
        elif found["name"].startswith("test") and _is_other(found["value"], found["name"]):
            yield f"{found['owner']}.{found['name']}"


def _deleted(node: Node) -> Iterator[str]:
    for part in descendants(node):
        if part.type in ("identifier", "attribute"):
            yield re.sub(r"\s", "", text_of(part))
    if (found := _BY_KEY.fullmatch(plain(node))) is not None and found["del"]:
        yield found["del"]


def _is_other(value: str, name: str) -> bool:
    """Whether a value has nothing to do with what bore the name: a wrapper around a test still runs it."""
    return re.search(rf"\b{re.escape(name)}\b", value) is None


def gate_of(reading: Reading, node: Node) -> SkipMark | None:
    """The condition of the surroundings, or none at all, under which a definition of a file is made."""
    below, at = node, node.parent
    while at is not None:
        if at.type == "if_statement" and at.child_by_field_name("consequence") == below:
            condition = at.child_by_field_name("condition")
            text = plain(condition)
            if truth(reading, text) is False:
                return mark(condition or at, SkipCondition.ALWAYS)
            if ENVIRONMENT.search(text):
                return mark(condition or at, SkipCondition.ENVIRONMENT)
        below, at = at, at.parent
    return None
