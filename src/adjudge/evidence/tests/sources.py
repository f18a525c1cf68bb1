"""Trusted test files, whatever language they are in: what each defines and how its tests are made false."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Protocol

from adjudge.syntax.golang.falsify import SUFFIX as GO
from adjudge.syntax.golang.falsify import GoFile
from adjudge.syntax.javascript.falsify import SUFFIXES as JAVASCRIPT
from adjudge.syntax.javascript.falsify import JavaScriptFile
from adjudge.syntax.python.falsify import FalsifiableFile, Falsification

__all__ = ["Source", "has_parameters", "read_source"]


class Source(Protocol):
    """One test file. Names are what stands behind `path::` in an id."""

    @property
    def tests(self) -> tuple[str, ...]:
        """Names of the tests that are written down."""

    @property
    def unittest_tests(self) -> tuple[str, ...]:
        """Those that unittest runs."""

    def definition(self, test: str) -> str | None:
        """The name of the definition behind a test; tests that share one are falsified together."""

    def elsewhere(self, test: str) -> list[tuple[str, str]]:
        """Where a test that is not defined here may be imported from: modules, and its name in each."""

    def mentions(self, definition: str) -> set[str]:
        """Names of other tests that a definition's own code runs."""

    def always_runs(self, definition: str, other: str) -> bool:
        """Whether one definition runs another one whenever it passes, and fails with it."""

    def declares_skip(self, test: str) -> bool:
        """Whether the file itself says that this test may be skipped."""

    def plan(self, definition: str) -> Falsification:
        """What can be done to a definition."""

    def render(self, falsified: Collection[str], *, all_planned: Iterable[str]) -> bytes:
        """The file with the definitions named in `falsified` made false; nothing else differs."""


_LANGUAGES: tuple[tuple[tuple[str, ...], Callable[[str, Mapping[str, bytes], str], Source]], ...] = (
    ((".py",), lambda path, files, seed: FalsifiableFile(files[path], seed)),
    (JAVASCRIPT, lambda path, files, seed: JavaScriptFile(files[path], seed, path)),
    ((GO,), lambda path, files, seed: GoFile(files[path], seed, _beside(path, files))),
)
"""Suffixes, and how a file with one of them is read: from its path, all trusted files and a seed."""


def read_source(path: str, files: Mapping[str, bytes], seed: str) -> Source | None:
    """Read a test file; None when nothing in it could be falsified."""
    return next((read(path, files, seed) for suffixes, read in _LANGUAGES if path.endswith(suffixes)), None)


def _beside(path: str, files: Mapping[str, bytes]) -> list[bytes]:
    """The other Go files of a folder: one package, whose functions know each other."""
    folder = path.rpartition("/")[0]
    return [
        data
        for other, data in files.items()
        if other != path and other.endswith(GO) and other.rpartition("/")[0] == folder
    ]


def has_parameters(path: str) -> bool:
    """Whether brackets at the end of an id of this file are parameters. In other languages they are names."""
    return not any(path.endswith(suffixes) for suffixes, _ in _LANGUAGES if suffixes != (".py",))
