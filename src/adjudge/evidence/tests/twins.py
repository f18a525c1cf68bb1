"""The falsified copies: which test is false in which session, and how its ids read outside.

The split follows from a seed that never enters a sandbox. In every pair of sessions each definition that can
be falsified is false in exactly one; the files of both look alike in everything else.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from adjudge.evidence.tests.goids import GoIds
from adjudge.evidence.tests.sources import Source, has_parameters, read_source
from adjudge.syntax.javascript.falsify import JavaScriptFile
from adjudge.syntax.python.falsify import FalsifiableFile, Falsification

__all__ = ["Located", "TestFiles", "Twins"]

_DEEPEST = 8
"""How many imports of a test are followed from file to file."""


@dataclass(frozen=True)
class Located:
    """A test id, taken apart: the file that defines it, and its name in there without parameters."""

    path: str
    name: str


class TestFiles:
    """The trusted test files of a run.

    Args:
        files: Content by path relative to the workspace, as it should run.
        seed: Fixes what is changed where.
        expected: Ids that will be asked for; parametrised ones have to be found again.
        collected: Ids of all tests in the order in which they are reported, where that is known.
    """

    __test__ = False

    def __init__(
        self,
        files: Mapping[str, bytes],
        seed: str,
        expected: Collection[str] = (),
        collected: Sequence[str] = (),
    ) -> None:
        known: dict[str, dict[str, list[str]]] = {}
        for id_ in expected:
            base, bracket, parameters = id_.partition("[")
            path, _, name = base.partition("::")
            if bracket:
                known.setdefault(path, {}).setdefault(name, []).append(parameters.removesuffix("]"))
        self._files: dict[str, Source] = {}
        for path, data in files.items():
            source = read_source(path, files, f"{seed}\0{path}")
            if source is None:
                continue
            if isinstance(source, JavaScriptFile):
                names = [id_.partition("::")[2] for id_ in collected if id_.startswith(f"{path}::")]
                self._files[path] = JavaScriptFile(data, f"{seed}\0{path}", path, names) if names else source
                continue
            asked: dict[str, list[str]] = {}
            for name, parameters_ in known.get(path, {}).items() if has_parameters(path) else ():
                asked.setdefault(source.definition(name) or name, []).extend(parameters_)
            self._files[path] = (
                FalsifiableFile(data, f"{seed}\0{path}", known_parameters=asked) if asked else source
            )
        self._modules = _modules(self._files)
        self._go = GoIds(self._files)

    def locate(self, id_: str) -> Located | None:
        """The file and name behind an id: `path::name` (parameters or not), or unittest's `a.b.C.m`."""
        id_ = self._go.full(id_) or id_
        path, separator, name = self.base(id_).partition("::")
        if separator:
            return Located(path, name) if path in self._files else None
        parts = id_.split(".")
        for end in range(len(parts) - 1, 0, -1):
            found = self._modules.get(".".join(parts[:end]))
            if found is not None:
                return Located(found, "::".join(parts[end:]))
        return None

    def base(self, id_: str) -> str:
        """An id without parameters, where it can have any."""
        return id_.partition("[")[0] if has_parameters(id_.partition("::")[0]) else id_

    def file(self, path: str) -> Source:
        """One of the files."""
        return self._files[path]

    @property
    def paths(self) -> list[str]:
        """All of the files."""
        return list(self._files)

    def definition(self, located: Located, depth: int = 0) -> tuple[str, str] | None:
        """What is falsified for a test: file and name of its definition, there or in another trusted file."""
        file = self._files[located.path]
        name = file.definition(located.name)
        if name is not None:
            return (located.path, name)
        for module, there in file.elsewhere(located.name) if depth < _DEEPEST else ():
            path = self._module(module, located.path)
            found = self.definition(Located(path, there), depth + 1) if path is not None else None
            if found is not None:
                return found
        return None

    def _module(self, name: str, importer: str) -> str | None:
        """The trusted file behind a module that a file imports from."""
        bare = name.lstrip(".")
        dots = len(name) - len(bare)
        if not dots:
            return self._modules.get(bare)
        folder = (
            PurePosixPath(importer).parents[dots - 1]
            if dots <= len(PurePosixPath(importer).parents)
            else None
        )
        if folder is None:
            return None
        path = folder.joinpath(*bare.split(".")) if bare else folder
        for candidate in (f"{path}.py", f"{path}/__init__.py"):
            if candidate in self._files:
                return candidate
        return None

    def mentioned(self, definition: tuple[str, str]) -> set[tuple[str, str]]:
        """Definitions of other tests that a definition's own code names."""
        path, name = definition
        found = {self.definition(Located(path, other)) for other in self._files[path].mentions(name)}
        return {other for other in found if other is not None and other != definition}

    def always_runs(self, definition: tuple[str, str], other: tuple[str, str]) -> bool:
        """Whether one definition runs another one whenever it passes, and fails with it."""
        file = self._files[definition[0]]
        return definition[0] == other[0] and file.always_runs(definition[1], other[1])

    def plan(self, definition: tuple[str, str]) -> Falsification:
        """What can be done to a definition."""
        return self._files[definition[0]].plan(definition[1])

    def declares_skip(self, located: Located) -> bool:
        """Whether the test's file, or the one that defines it, says that it may be skipped."""
        definition = self.definition(located)
        return self._files[located.path].declares_skip(located.name) or (
            definition is not None and self._files[definition[0]].declares_skip(definition[1])
        )

    def tests(self, runner: str) -> list[str]:
        """Ids (in pytest's form, without parameters) of every test the files define for a runner."""
        return [
            f"{path}::{name}"
            for path, file in self._files.items()
            for name in (file.unittest_tests if runner == "unittest" else file.tests)
        ]

    def canonical(self, id_: str) -> str:
        """An id in pytest's form, whichever runner wrote it."""
        if full := self._go.full(id_):
            return full
        located = None if "::" in id_ else self.locate(id_)
        return id_ if located is None else f"{located.path}::{located.name}"


class Twins:
    """The versions of the test files for a pair of sessions, or for a single one.

    Args:
        files: The trusted files.
        wanted: Definitions that some expected test comes from.
        seed: Fixes the split.
        single: One session only, in which nothing is false.
    """

    def __init__(
        self, files: TestFiles, wanted: Sequence[tuple[str, str]], seed: str, *, single: bool = False
    ) -> None:
        self.files = files
        self.falsifiable = frozenset(
            definition for definition in wanted if not single and not files.plan(definition).unproven
        )
        self._mentioned = {definition: files.mentioned(definition) for definition in dict.fromkeys(wanted)}
        sessions: list[set[tuple[str, str]]] = [set()] if single else [set(), set()]
        for group in _connected(self._mentioned):
            # A test that runs another one is false wherever that one is.
            path, name = min(group)
            text = f"{seed}\0{path}\0{name}"
            bit = hashlib.sha256(text.encode("utf-8", "surrogateescape")).digest()[0] & 1
            for definition in group & self.falsifiable:
                sessions[bit].add(definition)
        self.falsified = tuple(frozenset(session) for session in sessions)
        """Per session, the definitions that are false in it."""
        self._hidden = {
            f"{path}::{shown}": f"{path}::{real}"
            for path, name in self.falsifiable
            if not has_parameters(path)
            for shown, real in files.plan((path, name)).ids.items()
        }

    def false(self, definition: tuple[str, str], session: int) -> Falsification | None:
        """What was done to a test in a session, itself or a test that it runs; None where nothing was."""
        if definition in self.falsified[session]:
            return self.files.plan(definition)
        seen = {definition}
        reached = list(self._mentioned.get(definition, ()))
        while reached:
            other = reached.pop()
            if other in self.falsified[session]:
                plan = self.files.plan(other)
                return replace(
                    plan, certain=plan.certain and self.files.always_runs(definition, other), wide=False
                )
            if other not in seen:
                seen.add(other)
                reached += self._mentioned.get(other, ())
        return None

    def write(self, session: int, directory: Path) -> None:
        """Write a session's test files below `directory`."""
        for path in self.files.paths:
            here = [name for where, name in self.falsifiable if where == path]
            false = [name for where, name in self.falsified[session] if where == path]
            data = self.files.file(path).render(false, all_planned=here)
            target = directory / PurePosixPath(path)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)

    def real_id(self, id_: str) -> str:
        """An id as it reads outside: words that stand for hidden parameters put back."""
        base = self.files.base(id_)
        bracket, parameters = id_[len(base) : len(base) + 1], id_[len(base) + 1 :]
        if not bracket:
            return self._hidden.get(id_) or self.files.canonical(id_)
        located = self.files.locate(base)
        definition = self.files.definition(located) if located is not None else None
        if definition is None or definition not in self.falsifiable:
            return id_
        for word, part in self.files.plan(definition).ids.items():
            parameters = parameters.replace(word, part)
        return base + bracket + parameters


def _connected(links: Mapping[tuple[str, str], set[tuple[str, str]]]) -> list[frozenset[tuple[str, str]]]:
    """Groups of definitions that are linked with each other, in either direction, over any way."""
    group_of: dict[tuple[str, str], set[tuple[str, str]]] = {}
    for definition, others in links.items():
        joined = {definition}
        for member in (definition, *others):
            joined |= group_of.get(member, {member})
        for member in joined:
            group_of[member] = joined
    return list({frozenset(group) for group in group_of.values()})


def _modules(files: Iterable[str]) -> dict[str, str]:
    """Module names that lead to exactly one file, whatever folder the runner starts in."""
    found: dict[str, list[str]] = {}
    for path in files:
        if not path.endswith(".py"):
            continue
        parts = PurePosixPath(path).with_suffix("").parts
        if parts[-1] == "__init__":
            parts = parts[:-1]
        for start in range(len(parts)):
            found.setdefault(".".join(parts[start:]), []).append(path)
    return {module: paths[0] for module, paths in found.items() if len(paths) == 1}
