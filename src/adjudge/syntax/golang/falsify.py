"""Makes the tests of a Go file false, as `syntax.python.falsify` does for Python.

File, line, name and id of a test stay; an expected literal gets another value of its type, or, where none is
written down, the test is told to fail where it asserts. Files are trusted: nobody else's are parsed here.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Collection, Iterable, Sequence
from functools import cached_property

from tree_sitter import Node

from adjudge.syntax.golang.assertions import Finder, Helper, Site
from adjudge.syntax.golang.bindings import Names
from adjudge.syntax.golang.definitions import Definition, Definitions, test_parameter
from adjudge.syntax.golang.literals import other_text
from adjudge.syntax.golang.nodes import FAILING, called, inside, text
from adjudge.syntax.grammars import MAX_SOURCE_BYTES, Grammar, parse_source
from adjudge.syntax.python.falsify import Falsification
from adjudge.syntax.python.source import Edit

__all__ = ["SUFFIX", "GoFile"]

SUFFIX = "_test.go"
_SKIPPING = ("Skip", "Skipf", "SkipNow")


class GoFile:
    """One test file and what can be done to its tests.

    Args:
        data: The file as it should run.
        seed: Fixes every random choice in this file.
        beside: The other test files of its folder.
    """

    def __init__(self, data: bytes, seed: str, beside: Sequence[bytes] = ()) -> None:
        self._data = data
        self._seed = seed
        self._beside_data = beside
        self._plans: dict[str, Falsification] = {}
        self.unreadable = ""
        self._root: Node | None = None
        if len(data) > MAX_SOURCE_BYTES:
            self.unreadable = f"it has more than {MAX_SOURCE_BYTES >> 10} KiB"
            return
        root = parse_source(Grammar("go"), data)
        if root.has_error:
            self.unreadable = "it has syntax that is not understood"
            return
        self._root = root

    @cached_property
    def _beside(self) -> tuple[Node, ...]:
        return tuple(
            parse_source(Grammar("go"), data) for data in self._beside_data if len(data) <= MAX_SOURCE_BYTES
        )

    @cached_property
    def _definitions(self) -> Definitions | None:
        if self._root is None:
            return None
        return Definitions(self._root, frozenset(self._functions_that(_SKIPPING)))

    @cached_property
    def _helpers(self) -> dict[str, Helper]:
        return {
            name: Helper(_parameter_names(function))
            for name, function in self._functions_that((*FAILING, "assert", "require")).items()
        }

    @property
    def tests(self) -> tuple[str, ...]:
        """Names that are written down, in tables too, of tests that always run."""
        return self._tests

    @cached_property
    def _tests(self) -> tuple[str, ...]:
        names: dict[str, None] = {}
        pending = (
            [(found, found.name) for found in reversed(self._definitions.tops)] if self._definitions else []
        )
        while pending:
            found, name = pending.pop()
            names[name] = None
            if found.body is None or not found.children:
                continue
            finder = self._finder(found, random.Random(0))
            for child in reversed(found.children):
                if finder.is_certain(child.call):
                    pending += [(child, f"{name}/{part}") for part in reversed(finder.names_of(child))]
        return tuple(names)

    @property
    def unittest_tests(self) -> tuple[str, ...]:
        """None: unittest is Python's."""
        return ()

    def definition(self, test: str) -> str | None:
        """The name of the definition behind a test."""
        return next((found.name for found in self._named(test)), None)

    def elsewhere(self, test: str) -> list[tuple[str, str]]:
        """Nowhere: a test is defined in one file."""
        return []

    def mentions(self, definition: str) -> set[str]:
        """Names of the subtests of a test, and of theirs."""
        below = [child for found in self._named(definition) for child in found.children]
        names = set()
        while below:
            child = below.pop()
            below += child.children
            names.add(child.name)
        return names

    def always_runs(self, definition: str, other: str) -> bool:
        """Whether a test runs a subtest whenever it passes."""
        for found in self._named(definition):
            for child in found.children:
                if child.name == other and found.body is not None:
                    return self._finder(found, random.Random(0)).is_certain(child.call) is True
        return False

    def declares_skip(self, test: str) -> bool:
        """Whether the file itself says that this test may be skipped."""
        return any(found.may_skip for found in self._named(test))

    def plan(self, definition: str) -> Falsification:
        """What can be done to a definition."""
        if definition not in self._plans:
            self._plans[definition] = self._make_plan(definition)
        return self._plans[definition]

    def render(self, falsified: Collection[str], *, all_planned: Iterable[str]) -> bytes:
        """The file with the definitions named in `falsified` made false; nothing else differs."""
        edits: dict[tuple[int, int], Edit] = {}
        for name in sorted(falsified):
            for edit in self.plan(name).edits:
                # Two subtests may share a table, or a test and its subtest an assertion: once is enough.
                edits.setdefault((edit.start, edit.end), edit)
        data = self._data
        for edit in sorted(edits.values(), key=lambda edit: (edit.start, edit.end), reverse=True):
            data = data[: edit.start] + edit.text.encode() + data[edit.end :]
        return data

    def _named(self, test: str) -> list[Definition]:
        return self._definitions.named(test) if self._definitions is not None else []

    def _make_plan(self, name: str) -> Falsification:
        if self._definitions is None:
            return Falsification(name, unproven=f"the file cannot be parsed: {self.unreadable}")
        seed = hashlib.sha256(f"{self._seed}\0{name}".encode("utf-8", "surrogateescape")).digest()
        random_ = random.Random(seed)
        found = self._named(name)
        if not found or any(definition.body is None for definition in found):
            return Falsification(name, unproven="its code is not written where it is defined")
        plans = [self._chosen(definition, random_) for definition in found]
        if not all(plans):
            return Falsification(name, unproven="it asserts nothing that can be changed")
        sites = [site for plan in plans for site in plan]
        return Falsification(
            name,
            edits=tuple(edit for site in sites for edit in site.edits),
            strong=all(site.strong for site in sites),
            wide=all(site.strong and site.wide for site in sites),
            certain=all(site.certain for site in sites),
        )

    def _finder(self, definition: Definition, random_: random.Random) -> Finder:
        assert self._definitions is not None
        assert self._root is not None
        names = Names(definition.top.call, self._root, self._beside)
        return Finder(definition, self._definitions.calls, names, self._helpers, random_)

    def _chosen(self, definition: Definition, random_: random.Random) -> list[Site]:
        """One site that is certain to be reached, one with a value rather; else one for each assertion."""
        if definition.output:
            return _example(definition.output, random_)
        sites = self._finder(definition, random_).sites()
        for strong in (True, False):
            certain = [site for site in sites if site.certain and site.strong is strong]
            if certain:
                return [random_.choice(certain)]
        per_statement: dict[int, Site] = {}
        for site in random_.sample(sites, len(sites)):
            per_statement.setdefault(site.statement, site)
        return list(per_statement.values())

    def _functions_that(self, names: Sequence[str]) -> dict[str, Node]:
        """Functions of the package's test files that are given a test and call one of some methods."""
        found: dict[str, Node] = {}
        for root in (self._root, *self._beside):
            for function in root.named_children if root is not None else ():
                if function.type != "function_declaration" or not test_parameter(function):
                    continue
                calls = (called(node) for node in inside(function) if node.type == "call_expression")
                if any(name in names or before in names for before, name in calls if before):
                    found[text(function.child_by_field_name("name"))] = function
        return {name: node for name, node in found.items() if not name.startswith(("Test", "Fuzz"))}


def _parameter_names(function: Node) -> tuple[str, ...]:
    listed = function.child_by_field_name("parameters")
    return tuple(
        text(name)
        for node in (listed.named_children if listed is not None else ())
        for name in node.children_by_field_name("name")
    )


def _example(comments: Sequence[Node], random_: random.Random) -> list[Site]:
    """What an example says it prints, with one letter or digit changed."""
    choices: list[Edit] = []
    for at, comment in enumerate(comments):
        written = text(comment)
        start = written.lower().index("output:") + len("output:") if at == 0 else 2
        end = len(written) - 2 if written.startswith("/*") else len(written)
        new = other_text(written[start:end], random_)
        if new is not None:
            choices.append(Edit(comment.start_byte, comment.end_byte, written[:start] + new + written[end:]))
    if not choices:
        last = comments[0]
        choices.append(Edit(last.end_byte, last.end_byte, f" {random_.choice('abcdefgh')}"))
        if text(last).startswith("/*"):
            return []
    return [Site((random_.choice(choices),), comments[0].start_byte, strong=True, wide=True, certain=True)]
