"""The tests that a Go file defines: `TestX`, `FuzzX` and `ExampleX`, and the subtests written in them.

Names are those that `go test` reports: `TestX/name`, blanks as underscores. A subtest whose name is put
together at run time is `TestX/*`; it stands for every subtest that is not written down otherwise.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from tree_sitter import Node

from adjudge.syntax.golang.nodes import arguments, called, inside, string_value, text

__all__ = ["Definition", "Definitions", "reported_name", "test_parameter"]

_KINDS = ("Test", "Fuzz", "Example")
_SKIPS = re.compile(r"\.\s*Skip(?:f|Now)?\s*\(")
_OUTPUT = re.compile(r"(?://|/\*)\s*(?:unordered\s+)?output:", re.IGNORECASE)
_TESTING = re.compile(r"\*?(?:testing\.)?(?:T|F|TB)")
_AGAIN = r"(?:#\d\d+)?"
"""What is added to a name that was used before."""


@dataclass
class Definition:
    """One test or subtest as it is written."""

    name: str
    """With the names of what it stands in."""
    call: Node
    """The function, or the call that makes it a subtest."""
    body: Node | None
    """What runs; None when it is not written there."""
    t: str
    """What the body calls its `*testing.T`; empty when it has no name for it."""
    fixed: bool
    """Whether the name is written down, rather than put together."""
    pattern: re.Pattern[str]
    may_skip: bool
    output: tuple[Node, ...] = ()
    """The comments in which an example says what it prints."""
    parent: Definition | None = None
    children: list[Definition] = field(default_factory=list)

    @property
    def top(self) -> Definition:
        """The function that it is written in."""
        return self if self.parent is None else self.parent.top


class Definitions:
    """The definitions of one file.

    Args:
        root: The file.
        skipping: Names of functions, in any test file of the package, that skip the test they are given.
    """

    def __init__(self, root: Node, skipping: frozenset[str] = frozenset()) -> None:
        self.root = root
        self.functions = {
            text(node.child_by_field_name("name")): node
            for node in root.named_children
            if node.type == "function_declaration"
        }
        self._skipping = skipping
        self._all: list[Definition] = []
        for name, function in self.functions.items():
            found = self._function(name, function)
            if found is not None:
                self._all.append(found)
                self._read(found)
        self.calls = frozenset(found.call.id for found in self._all if found.parent is not None)
        """Where subtests are defined: ids of the nodes of the calls."""

    @property
    def tops(self) -> list[Definition]:
        """The functions, without their subtests."""
        return [found for found in self._all if found.parent is None]

    def named(self, test: str) -> list[Definition]:
        """The definitions behind the name of a test; several only when they share their name."""
        exact = [found for found in self._all if found.name == test]
        if exact:
            return exact
        fitting = [found for found in self._all if found.pattern.fullmatch(test)]
        if not fitting:
            return []
        # What is written down before what is not, and what is deeper before what is around it.
        best = max(fitting, key=lambda found: (found.name.count("/"), found.fixed))
        return [found for found in fitting if found.name == best.name]

    def _function(self, name: str, function: Node) -> Definition | None:
        kind = next((kind for kind in _KINDS if name.startswith(kind)), None)
        body = function.child_by_field_name("body")
        if kind is None or body is None or name[len(kind) : len(kind) + 1].islower():
            return None
        given = [node for node in inside(_parameters(function)) if node.type == "parameter_declaration"]
        output: tuple[Node, ...] = ()
        t = ""
        if kind == "Example":
            output = _output(body)
            if given or not output:
                return None
        else:
            if len(given) != 1 or (parameter := test_parameter(function)) is None:
                return None
            t = parameter
        return Definition(
            name=name,
            call=function,
            body=body,
            t=t,
            fixed=True,
            pattern=re.compile(re.escape(name)),
            may_skip=self._skips(body),
            output=output,
        )

    def _read(self, top: Definition) -> None:
        assert top.body is not None
        pending = [(child, top) for child in reversed(top.body.named_children)]
        while pending:
            at, owner = pending.pop()
            found = self._subtest(at, owner) if at.type == "call_expression" else None
            if found is not None:
                self._all.append(found)
                owner.children.append(found)
            pending += [(child, found or owner) for child in reversed(at.named_children)]

    def _subtest(self, call: Node, owner: Definition) -> Definition | None:
        before, name = called(call)
        given = arguments(call)
        if name == "Run" and len(given) == 2 and before == owner.t and owner.t:
            written = string_value(given[0])
            function = given[1]
        elif name == "Fuzz" and len(given) == 1 and before == owner.t and owner.t:
            written, function = None, given[0]
        else:
            return None
        t = test_parameter(function) if function.type == "func_literal" else None
        part = "*" if written is None else reported_name(written)
        rest = ".+" if written is None else re.escape(part) + _AGAIN
        body = function.child_by_field_name("body") if t is not None else None
        return Definition(
            name=f"{owner.name}/{part}",
            call=call,
            body=body,
            t=t or "",
            fixed=owner.fixed and written is not None,
            pattern=re.compile(f"{owner.pattern.pattern}/{rest}", re.DOTALL),
            may_skip=body is None or self._skips(body),
            parent=owner,
        )

    def _skips(self, body: Node) -> bool:
        if _SKIPS.search(text(body)) is not None:
            return True
        calls = (called(node) for node in inside(body) if node.type == "call_expression")
        return any(not before and name in self._skipping for before, name in calls)


def test_parameter(function: Node) -> str | None:
    """What a function calls the `*testing.T` it is given first; None when it is given none."""
    for node in _parameters(function).named_children:
        if node.type != "parameter_declaration":
            continue
        if _TESTING.fullmatch(text(node.child_by_field_name("type"))) is None:
            return None
        name = text(node.child_by_field_name("name"))
        return "" if name == "_" else name
    return None


def _parameters(function: Node) -> Node:
    return function.child_by_field_name("parameters") or function


def _output(body: Node) -> tuple[Node, ...]:
    """The comments at the end of an example, from the one that begins its output."""
    last: list[Node] = []
    for node in reversed(body.named_children):
        if node.type != "comment":
            break
        last.insert(0, node)
    for at, comment in enumerate(last):
        if _OUTPUT.match(text(comment)):
            return tuple(last[at:])
    return ()


def reported_name(name: str) -> str:
    """A name as `go test` reports it."""
    if not name:
        return "#00"
    return "".join("_" if char.isspace() else char for char in name)
