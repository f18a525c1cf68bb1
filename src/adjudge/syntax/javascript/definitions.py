"""The tests that a JavaScript or TypeScript file defines: `test`, `it`, `describe`, `t.test`, `it.each`.

Names are those that our reporters of node:test, Jest and Vitest report, with ` > ` between a suite or test
and what is in it. A name that is put together at run time is a pattern, which stands for all that fit it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from tree_sitter import Node

__all__ = ["WHOLE_FILE", "Definition", "Definitions", "inside", "node_text"]

WHOLE_FILE = "(file)"
"""The name of a file that defines no test: node:test then reports the file itself."""

_SEPARATOR = " > "
_TESTS = ("test", "it")
_SUITES = ("describe", "suite")
_SHORT = {"xit": "it", "xtest": "test", "fit": "it", "xdescribe": "describe", "fdescribe": "describe"}
"""Jest's other names, which mean `skip` (x) or `only` (f)."""
_TABLES = ("each", "for")
_CONDITIONS = ("skipIf", "runIf")
_INVERTED = ("failing", "fails")
"""Passes when its body fails."""
_NAMED_ELSEWHERE = ("identifier", "member_expression", "binary_expression", "call_expression")
"""What a name may be that is not written down: a class, a constant, something put together."""
_FUNCTIONS = ("arrow_function", "function_expression", "generator_function")
_SKIPS = ("skip", "todo")
_RUNNER = re.compile(r"""['"](?:(?:node:)?test|vitest|@jest/globals)['"]""")
_RUNNERS = r"""['"](?:node:test|vitest|@jest/globals)['"]"""
_REQUIRED = re.compile(r"""^require\(\s*['"]node:test['"]\s*\)""")
_ALIASES = (
    re.compile(r"""\bimport\s+(?:\*\s*as\s+)?(\w+)\s*(?:,\s*\{[^}]*\}\s*)?from\s*['"]node:test['"]"""),
    re.compile(r"""\b(?:const|let|var)\s+(\w+)\s*=\s*require\(\s*['"]node:test['"]\s*\)"""),
    re.compile(rf"""\b(?:test|it)\s+as\s+(\w+)[^}}]*\}}\s*from\s*{_RUNNERS}"""),
    re.compile(rf"""\b(?:test|it)\s*:\s*(\w+)[^}}]*\}}\s*=\s*require\(\s*{_RUNNERS}"""),
)
"""Other names that a file gives to the runner's own functions."""
_SKIPS_ITSELF = re.compile(r"(?<!test)(?<!it)(?<!describe)(?<!suite)\.(?:skip|todo)\s*\(")
"""Of the context that a test is given, not of a test defined in it."""
_AGAIN = re.compile(r" #\d+$")
_FIELDS = re.compile(r"%%|%[sdifjoOpc#$]|\$\#?[\w.]*")
"""What a title of `each` has in place of values."""


@dataclass
class Definition:
    """One call that defines a test or a suite."""

    name: str
    """With the names of what it stands in."""
    call: Node
    body: Node | None
    """What runs; None when it is not written in the call."""
    suite: bool
    fixed: bool
    """Whether the name is written down, rather than put together."""
    pattern: re.Pattern[str]
    may_skip: bool
    table: Node | None = None
    """The rows of `it.each`: a list, or a template."""
    title: Node | None = None
    inverted: bool = False
    """Whether it is expected to fail."""
    children: list[Definition] = field(default_factory=list)


class Definitions:
    """The definitions of one file, by name."""

    def __init__(self, root: Node) -> None:
        self.root = root
        text = node_text(root)
        self._uses_runner = _RUNNER.search(text) is not None
        self._aliases = frozenset(name for form in _ALIASES for name in form.findall(text))
        self.only = re.search(r"\.only\b|\bf(?:it|describe)\(", text) is not None
        """Whether the file itself leaves out tests that others are preferred to."""
        self._all: list[Definition] = []
        self._read(root, None)

    @cached_property
    def tests(self) -> tuple[str, ...]:
        """Names of the tests that are written down, in their order."""
        if not self._all and not self._uses_runner:
            return (WHOLE_FILE,)
        return tuple(dict.fromkeys(found.name for found in self._all if found.fixed and not found.suite))

    @cached_property
    def calls(self) -> frozenset[int]:
        """Where tests are defined: ids of the nodes of the calls."""
        return frozenset(found.call.id for found in self._all)

    def named(self, test: str) -> list[Definition]:
        """The definitions behind the name of a test; several only when they share it."""
        for name in dict.fromkeys((test, _AGAIN.sub("", test))):
            exact = [found for found in self._all if found.name == name and not found.suite]
            if exact:
                return exact
        fitting = [found for found in self._all if not found.suite and found.pattern.fullmatch(test)]
        return fitting if len({found.name for found in fitting}) == 1 else []

    def _read(self, node: Node, parent: Definition | None) -> None:
        # A list of what is still to be read, for source can be nested deeper than Python's stack.
        pending = [(node, parent)]
        while pending:
            at, owner = pending.pop()
            found = _definition(at, owner, self._aliases) if at.type == "call_expression" else None
            if found is not None:
                self._all.append(found)
                if owner is not None:
                    owner.children.append(found)
            pending += [(child, found or owner) for child in reversed(at.named_children)]


def inside(node: Node, without: frozenset[int] = frozenset()) -> Iterator[Node]:
    """A node and all below it in the order of the text, but nothing of the calls named in `without`."""
    pending = [node]
    while pending:
        at = pending.pop()
        if at.id in without:
            continue
        yield at
        pending += reversed(at.named_children)


def _definition(call: Node, owner: Definition | None, aliases: frozenset[str]) -> Definition | None:
    function, arguments = call.child_by_field_name("function"), call.child_by_field_name("arguments")
    if function is None or arguments is None or arguments.type != "arguments":
        return None
    table = None
    if function.type == "call_expression":
        # `it.each(rows)(name, body)`, `it.skipIf(condition)(name, body)`
        table, function = function.child_by_field_name("arguments"), function.child_by_field_name("function")
        if function is None or table is None:
            return None
    kind, marks = _kind(function, owner, aliases)
    given = [argument for argument in arguments.named_children if argument.type != "comment"]
    if not kind or not given or bool(marks & {*_TABLES, *_CONDITIONS}) != (table is not None):
        return None
    if not marks & {*_TABLES}:
        table = None
    name = _name(given[0], printed=table is not None)
    if name is None and given[0].type in _NAMED_ELSEWHERE and len(given) > 1 and given[1].type in _FUNCTIONS:
        name = (node_text(given[0]), ".*", False)
    if name is None:
        return None
    text, pattern, fixed = name
    body = next((argument for argument in given[1:] if argument.type in _FUNCTIONS), None)
    options = next((argument for argument in given[1:] if argument.type == "object"), None)
    may_skip = (
        bool(marks & {*_SKIPS, *_CONDITIONS})
        or body is None
        or (owner is not None and owner.suite and owner.may_skip)
        or (options is not None and any(word in node_text(options) for word in _SKIPS))
        or (kind == "test" and _SKIPS_ITSELF.search(node_text(body)) is not None)
    )
    prefix = owner.name + _SEPARATOR if owner is not None else ""
    before = owner.pattern.pattern + re.escape(_SEPARATOR) if owner is not None else ""
    return Definition(
        name=prefix + text,
        call=call,
        body=body,
        suite=kind == "suite",
        fixed=fixed and (owner is None or owner.fixed),
        pattern=re.compile(before + pattern, re.DOTALL),
        may_skip=may_skip,
        table=_rows(table),
        title=given[0],
        inverted=bool(marks & {*_INVERTED}) or (owner is not None and owner.inverted),
    )


def _rows(table: Node | None) -> Node | None:
    if table is None or table.type == "template_string":
        return table
    return table.named_children[0] if table.named_child_count == 1 else None


def _kind(function: Node, owner: Definition | None, aliases: frozenset[str]) -> tuple[str, set[str]]:
    """`test`, `suite` or nothing, and what stands behind the dot (`skip`, `todo`, `only`, `each`)."""
    words = _REQUIRED.sub("test", node_text(function)).split(".")
    first, rest = words[0], words[1:]
    if first in _SHORT:
        rest = [*rest, "skip" if first.startswith("x") else "only"]
        first = _SHORT[first]
    if not all(word in _MARKS for word in rest):
        return "", set()
    if first in _SUITES or (rest and rest[0] in _SUITES):
        return "suite", set(rest)
    if first in _TESTS or first in aliases:
        return "test", set(rest)
    if owner is not None and len(rest) >= 1 and rest[0] == "test" and first.isidentifier():
        # The context that a test is given: `t.test(...)`.
        return "test", set(rest[1:])
    return "", set()


_MARKS = frozenset((
    "skip", "todo", "only", "test", "it", "describe", "suite", "concurrent", "sequential", "shuffle",
    *_TABLES, *_CONDITIONS, *_INVERTED,
))  # fmt: skip


def _name(node: Node, *, printed: bool = False) -> tuple[str, str, bool] | None:
    """The name, a pattern of it, and whether it is written down."""
    if node.type == "string":
        text = _string(node)
        if text is not None and printed and _FIELDS.search(text):
            return text, _fields(text), False
        return (text, re.escape(text), True) if text is not None else None
    if node.type != "template_string":
        return None
    parts = node.named_children
    pattern = "".join(
        ".*" if part.type == "template_substitution" else (_fields if printed else re.escape)(node_text(part))
        for part in parts
    )
    if any(part.type == "escape_sequence" for part in parts):
        return None
    fixed = all(part.type == "string_fragment" for part in parts)
    if printed and _FIELDS.search(node_text(node)):
        fixed = False
    return node_text(node)[1:-1], pattern, fixed


def _fields(text: str) -> str:
    """A pattern of a title in which values are filled in."""
    found, at = "", 0
    for field_ in _FIELDS.finditer(text):
        found += re.escape(text[at : field_.start()])
        found += re.escape("%") if field_[0] == "%%" else ".*"
        at = field_.end()
    return found + re.escape(text[at:])


def _string(node: Node) -> str | None:
    text = node_text(node)[1:-1]
    if "\\" not in text:
        return text
    plain = re.sub(r"\\(['\"\\`])", r"\1", text)
    return plain if "\\" not in re.sub(r"\\(['\"\\`])", "", text) else None


def node_text(node: Node) -> str:
    """The source of a node."""
    return (node.text or b"").decode("utf-8", "replace")
