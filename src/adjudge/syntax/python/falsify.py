"""Makes tests false: the same file, the same names, ids and lines, but an assertion that cannot hold.

Used to prove results. A test that passes as written and fails falsified was really decided by what the code
under test did; one that passes both ways was decided by something else. So a falsified file must not show
what was done to it: values keep their type and look, lines and names stay, and parametrised ids that would
give the old value away are spelled as meaningless words in *both* versions of the file. The map back to the
real ids stays with the caller.

Which tests are falsified is the caller's choice, made per definition; everything random comes from the seed.
"""

from __future__ import annotations

import ast
import hashlib
import random
import string
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from adjudge.syntax.python.definitions import Definition, Definitions, Function, statements_below
from adjudge.syntax.python.expected import Choice
from adjudge.syntax.python.parametrize import Rows
from adjudge.syntax.python.sites import Site, find_sites
from adjudge.syntax.python.source import Edit, PythonSource, SourceUnreadable

__all__ = ["FalsifiableFile", "Falsification"]

_ID_DEPENDENT = ("node.name", "nodeid", "callspec", "PYTEST_CURRENT_TEST", "snapshot", "cassette", "vcr")
"""A file with one of these may behave differently under other ids."""


@dataclass(frozen=True)
class Falsification:
    """What can be done to one test definition."""

    name: str
    edits: tuple[Edit, ...] = ()
    """What makes it false."""
    honest: tuple[Edit, ...] = ()
    """Made in the version where it is not false, so that the two look alike."""
    neutral: tuple[Edit, ...] = ()
    """Made in every version of the file, falsified or not."""
    ids: Mapping[str, str] = field(default_factory=dict)
    """Words that stand for parts of ids → what they stand for."""
    strong: bool = False
    """Whether a value changes, rather than the sense of a comparison."""
    wide: bool = False
    """Whether the changed value is one of many: failing as written *and* passing with it is no accident."""
    certain: bool = False
    """Whether what changes is reached whenever the test passes as written. If not, passing all the same
    proves nothing either way."""
    unproven: str = ""
    """Why it cannot be falsified; empty when it can."""


class FalsifiableFile:
    """One test file and what can be done to its tests.

    Args:
        data: The file as it should run.
        seed: Fixes every random choice in this file.
        hide_ids: Spell ids that derive from values as meaningless words. Off, they stay what they were.
        known_parameters: Definition → the parts in brackets of its ids that somebody will ask for. Where
            nobody asks for any, rows whose ids cannot be read from the file are given made-up ones.
    """

    def __init__(
        self,
        data: bytes,
        seed: str,
        *,
        hide_ids: bool = True,
        known_parameters: Mapping[str, Collection[str]] | None = None,
    ) -> None:
        self._data = data
        self._known = known_parameters or {}
        self._seed = seed
        self._plans: dict[str, Falsification] = {}
        self.unreadable = ""
        try:
            self._source: PythonSource | None = PythonSource(data)
        except SourceUnreadable as error:
            self._source = None
            self.unreadable = str(error)
            return
        text = self._source.utf8.decode("utf-8")
        self._hide_ids = hide_ids and not any(word in text for word in _ID_DEPENDENT)
        self._definitions = Definitions(self._source.tree)
        self._constants = _constants(self._source.tree)

    @property
    def tests(self) -> tuple[str, ...]:
        """Names that runners collect by default."""
        return self._definitions.tests if self._source is not None else ()

    @property
    def unittest_tests(self) -> tuple[str, ...]:
        """Those of `tests` that are methods of unittest's test cases."""
        return self._definitions.unittest_tests if self._source is not None else ()

    def definition(self, test: str) -> str | None:
        """The name of the definition behind a test; tests that share one are falsified together."""
        if self._source is None:
            return None
        found = self._definitions.definition(test)
        return found.name if found is not None else None

    def elsewhere(self, test: str) -> list[tuple[str, str]]:
        """Where a test that is not defined here may be imported from: modules, and its name in each."""
        return self._definitions.elsewhere(test) if self._source is not None else []

    def mentions(self, definition: str) -> set[str]:
        """Names of other tests in a definition's own code."""
        return self._definitions.mentions(definition) if self._source is not None else set()

    def always_runs(self, definition: str, other: str) -> bool:
        """Not known of functions that call each other."""
        return False

    def declares_skip(self, test: str) -> bool:
        """Whether the file itself says that this test may be skipped."""
        return self._source is not None and self._definitions.declares_skip(test)

    def plan(self, definition: str) -> Falsification:
        """What can be done to a definition."""
        if definition not in self._plans:
            self._plans[definition] = self._make_plan(definition)
        return self._plans[definition]

    def render(self, falsified: Collection[str], *, all_planned: Iterable[str]) -> bytes:
        """The file with the definitions named in `falsified` made false.

        Args:
            falsified: Definitions to falsify; their plans must not be unproven.
            all_planned: Every definition that is falsified in this or in another version of the file; the
                versions then differ in nothing but what is falsified.
        """
        if self._source is None:
            return self._data
        edits: list[Edit] = []
        for name in {*all_planned, *falsified}:
            plan = self.plan(name)
            edits += plan.neutral
            edits += plan.edits if name in falsified else plan.honest
        return self._source.edited(edits)

    def _make_plan(self, name: str) -> Falsification:
        if self._source is None:
            return Falsification(name, unproven=f"the file cannot be parsed: {self.unreadable}")
        found = self._definitions.definition(name)
        if found is None:
            return Falsification(name, unproven="not defined as a function in this file")
        seed = hashlib.sha256(f"{self._seed}\0{name}".encode("utf-8", "surrogateescape")).digest()
        random_ = random.Random(seed)
        plans = [self._plan_node(found, node, random_) for node in found.nodes]
        for plan in plans:
            if plan.unproven:
                return plan
        return Falsification(
            name,
            edits=tuple(edit for plan in plans for edit in plan.edits),
            honest=tuple(edit for plan in plans for edit in plan.honest),
            neutral=tuple(edit for plan in plans for edit in plan.neutral),
            ids={word: id_ for plan in plans for word, id_ in plan.ids.items()},
            strong=all(plan.strong for plan in plans),
            wide=all(plan.wide for plan in plans),
            certain=all(plan.certain for plan in plans),
        )

    def _plan_node(self, found: Definition, node: Function, random_: random.Random) -> Falsification:
        assert self._source is not None
        sites = find_sites(
            self._source,
            self._definitions,
            node,
            found.owners,
            self._constants,
            random_,
            self._known.get(found.name, ()),
        )
        for chosen in _selections(sites, random_):
            choices = [site.choice for site in chosen]
            edits = tuple(edit for choice in choices for edit in choice.edits)
            if not self._hide_ids and not all(rows.certain_ids for choice in choices for rows in choice.rows):
                continue
            edits, honest = self._written_out(choices, edits)
            neutral, ids = self._spelled_ids(choices, random_)
            if self._fits(node, (*edits, *neutral)) and (not honest or self._fits(node, (*honest, *neutral))):
                return Falsification(
                    found.name,
                    edits,
                    honest,
                    neutral,
                    ids,
                    strong=all(site.strong for site in chosen),
                    wide=all(site.strong and site.choice.wide for site in chosen),
                    certain=all(site.certain for site in chosen),
                )
        reason = "nothing in it can be changed safely" if sites else "it asserts nothing that can be changed"
        return Falsification(found.name, unproven=reason)

    def _written_out(
        self, choices: Iterable[Choice], edits: tuple[Edit, ...]
    ) -> tuple[tuple[Edit, ...], tuple[Edit, ...]]:
        """Rows that several tests share by name are written out where this test uses them."""
        assert self._source is not None
        honest: list[Edit] = []
        for rows in {id(rows.call): rows for choice in choices for rows in choice.rows}.values():
            if not rows.elsewhere:
                continue
            changed: list[str] = []
            for element in rows.elements:
                start, end = self._source.start(element), self._source.end(element)
                inside = [edit for edit in edits if start <= edit.start and edit.end <= end]
                text = self._source.utf8[start:end]
                for edit in sorted(inside, key=lambda edit: edit.start, reverse=True):
                    text = text[: edit.start - start] + edit.text.encode() + text[edit.end - start :]
                changed.append(ast.unparse(ast.parse(f"({text.decode()})", mode="eval")))
                edits = tuple(edit for edit in edits if edit not in inside)
            as_written = ", ".join(ast.unparse(element) for element in rows.elements)
            honest.append(self._source.replace(rows.values, f"[{as_written}]"))
            edits = (*edits, self._source.replace(rows.values, f"[{', '.join(changed)}]"))
        return edits, tuple(honest)

    def _spelled_ids(
        self, choices: Iterable[Choice], random_: random.Random
    ) -> tuple[tuple[Edit, ...], dict[str, str]]:
        assert self._source is not None
        edits: list[Edit] = []
        words: dict[str, str] = {}
        seen: set[int] = set()
        for rows in (rows for choice in choices for rows in choice.rows):
            if id(rows.call) in seen or rows.spelled or rows.ids is None:
                continue
            seen.add(id(rows.call))
            spelled: list[str] = []
            for id_ in rows.ids:
                word = id_
                if id_ is not None and self._hide_ids:
                    word = "".join(random_.choice(string.ascii_lowercase) for _ in range(9))
                    words[word] = id_
                spelled.append(repr(word))
            edits.append(self._ids_argument(rows, spelled))
        return tuple(edits), words

    def _ids_argument(self, rows: Rows, spelled: list[str]) -> Edit:
        assert self._source is not None
        values = [*rows.call.args, *(keyword.value for keyword in rows.call.keywords)]
        at = max(self._source.end(value) for value in values)
        return Edit(at, at, f", ids=[{', '.join(spelled)}]")

    def _fits(self, node: Function, edits: tuple[Edit, ...]) -> bool:
        """Whether the function still parses with those edits that lie in it, and no line moves."""
        assert self._source is not None
        first = min([node, *node.decorator_list], key=lambda part: part.lineno)
        start = self._source.start(first) - first.col_offset
        end = self._source.end(node)
        text = self._source.utf8[start:end]
        try:
            for edit in sorted(set(edits), key=lambda edit: (edit.start, edit.end), reverse=True):
                if start <= edit.start and edit.end <= end:
                    old = text[edit.start - start : edit.end - start]
                    new = edit.text.encode()
                    if old.count(b"\n") != new.count(b"\n"):
                        return False
                    text = text[: edit.start - start] + new + text[edit.end - start :]
            PythonSource(b"if 1:\n" + text if node.col_offset else text)
        except SourceUnreadable:
            return False
        return True


def _selections(sites: list[Site], random_: random.Random) -> Iterable[list[Site]]:
    """Sets of sites to try, best first: one certain strong site, one certain weak one, all that remain."""
    for strong in (True, False):
        certain = [site for site in sites if site.certain and site.strong is strong]
        random_.shuffle(certain)
        yield from ([site] for site in certain)
    per_statement: dict[int, Site] = {}
    for site in random_.sample(sites, len(sites)):
        held = per_statement.get(site.statement)
        if held is None or (site.strong and not held.strong):
            per_statement[site.statement] = site
    if per_statement:
        yield list(per_statement.values())


def _constants(tree: ast.Module) -> dict[str, ast.expr]:
    """Module names bound once, and to what."""
    stored: dict[str, int] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            stored[node.id] = stored.get(node.id, 0) + 1
    found: dict[str, ast.expr] = {}
    for statement in statements_below(tree.body):
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if stored.get(name) == 1:
                found[name] = value
            case _:
                pass
    return found
