"""Makes the tests of a JavaScript file false, as `syntax.python.falsify` does for Python.

File, line, name and id of a test stay; one expected literal gets another value of its type, or, where none is
written down, the comparison is turned round. Files are trusted ones: nobody else's are parsed here.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Collection, Iterable, Sequence

from adjudge.syntax.grammars import MAX_SOURCE_BYTES, grammar_of, parse_source
from adjudge.syntax.javascript.assertions import Site, find_sites, is_certain
from adjudge.syntax.javascript.definitions import WHOLE_FILE, Definition, Definitions
from adjudge.syntax.javascript.rows import falsify_rows
from adjudge.syntax.python.falsify import Falsification
from adjudge.syntax.python.source import Edit

__all__ = ["SUFFIXES", "JavaScriptFile"]

SUFFIXES = (".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx")
_EXPORTS = re.compile(rb"^[ \t]*(?:module\.exports\b|exports\.\w|export\s+[\w{*])", re.MULTILINE)


class JavaScriptFile:
    """One test file and what can be done to its tests.

    Args:
        data: The file as it should run.
        seed: Fixes every random choice in this file.
        path: Where it lies; the suffix says how it is parsed.
        known: Names of its tests in the order in which they are reported, where that is known; needed to hide
            the values of `it.each` in names, and to find the names again.
    """

    def __init__(self, data: bytes, seed: str, path: str = "tests.js", known: Sequence[str] = ()) -> None:
        self._data = data
        self._seed = seed
        self._known = tuple(known)
        self._plans: dict[str, Falsification] = {}
        self.unreadable = ""
        self._definitions: Definitions | None = None
        grammar = grammar_of(path)
        if grammar is None:
            self.unreadable = "its language is not known"
            return
        if len(data) > MAX_SOURCE_BYTES:
            self.unreadable = f"it has more than {MAX_SOURCE_BYTES >> 10} KiB"
            return
        root = parse_source(grammar, data)
        if root.has_error:
            self.unreadable = "it has syntax that is not understood"
            return
        self._definitions = Definitions(root)

    @property
    def tests(self) -> tuple[str, ...]:
        """Names of the tests that are written down."""
        return self._definitions.tests if self._definitions is not None else ()

    @property
    def unittest_tests(self) -> tuple[str, ...]:
        """None: unittest is Python's."""
        return ()

    def definition(self, test: str) -> str | None:
        """The name of the definition behind a test."""
        if self._definitions is None:
            return None
        if test == WHOLE_FILE:
            return test if test in self._definitions.tests else None
        return next((found.name for found in self._definitions.named(test)), None)

    def elsewhere(self, test: str) -> list[tuple[str, str]]:
        """Nowhere: what another file defines is reported as that file's."""
        return []

    def mentions(self, definition: str) -> set[str]:
        """Names of the tests that run inside of a test, and fail it when they fail."""
        if self._definitions is None:
            return set()
        below = [child for found in self._definitions.named(definition) for child in found.children]
        names = set()
        while below:
            child = below.pop()
            below += child.children
            if not child.suite:
                names.add(child.name)
        return names

    def always_runs(self, definition: str, other: str) -> bool:
        """Whether a test runs another one, which is written in it, whenever it passes."""
        if self._definitions is None:
            return False
        return any(
            child.name == other and found.body is not None and is_certain(child.call, found.body, calls)
            for found in self._definitions.named(definition)
            for calls in [self._definitions.calls]
            for child in found.children
        )

    def declares_skip(self, test: str) -> bool:
        """Whether the file itself says that this test may be skipped, or is still to be done."""
        if self._definitions is None:
            return False
        return self._definitions.only or any(found.may_skip for found in self._definitions.named(test))

    def plan(self, definition: str) -> Falsification:
        """What can be done to a definition."""
        if definition not in self._plans:
            self._plans[definition] = self._make_plan(definition)
        return self._plans[definition]

    def render(self, falsified: Collection[str], *, all_planned: Iterable[str]) -> bytes:
        """The file with the definitions named in `falsified` made false; nothing else differs."""
        data = self._data
        edits = {edit for name in falsified for edit in self.plan(name).edits}
        edits |= {edit for name in all_planned for edit in self.plan(name).neutral}
        for edit in sorted(edits, key=lambda edit: (edit.start, edit.end), reverse=True):
            data = data[: edit.start] + edit.text.encode() + data[edit.end :]
        return data

    def _make_plan(self, name: str) -> Falsification:
        if self._definitions is None:
            return Falsification(name, unproven=f"the file cannot be parsed: {self.unreadable}")
        seed = hashlib.sha256(f"{self._seed}\0{name}".encode("utf-8", "surrogateescape")).digest()
        random_ = random.Random(seed)
        if name == WHOLE_FILE:
            if _EXPORTS.search(self._data):
                # `node --test test/` starts helpers, too; what is changed in one fails those that load it.
                return Falsification(name, unproven="other files load it")
            bodies = [self._definitions.root]
        else:
            found = self._definitions.named(name)
            bodies = [definition.body for definition in found if definition.body is not None]
            if not found or len(bodies) < len(found):
                return Falsification(name, unproven="its code is not written where it is defined")
            if any(definition.inverted for definition in found):
                return Falsification(name, unproven="it is expected to fail")
            table = self._table(found, random_)
            if table is not None:
                return table
        plans = [self._chosen(find_sites(body, self._definitions.calls, random_), random_) for body in bodies]
        if not all(plans):
            return Falsification(name, unproven="it asserts nothing that can be changed")
        sites = [site for plan in plans for site in plan]
        edits: tuple[Edit, ...] = tuple(edit for site in sites for edit in site.edits)
        return Falsification(
            name,
            edits=edits,
            strong=all(site.strong for site in sites),
            wide=all(site.strong and site.wide for site in sites),
            certain=all(site.certain for site in sites),
        )

    def _table(self, found: list[Definition], random_: random.Random) -> Falsification | None:
        """What can be done to the rows of `it.each`, where the body itself holds no value."""
        assert self._definitions is not None
        if len(found) != 1 or found[0].table is None or found[0].body is None:
            return None
        sites = find_sites(found[0].body, self._definitions.calls, random_)
        if any(site.certain and site.strong for site in sites):
            return None
        names = [name for name in self._known if self._definitions.named(name) == found]
        return falsify_rows(found[0], names, self._definitions.calls, random_)

    def _chosen(self, sites: list[Site], random_: random.Random) -> list[Site]:
        """One site that is certain to be reached, one with a value rather; else one for each assertion."""
        for strong in (True, False):
            certain = [site for site in sites if site.certain and site.strong is strong]
            if certain:
                return [random_.choice(certain)]
        per_statement: dict[int, Site] = {}
        for site in random_.sample(sites, len(sites)):
            per_statement.setdefault(site.statement, site)
        return list(per_statement.values())
