"""The baseline's tests, written anew for each run: with other inputs, and so that they write answers down."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from adjudge.contracts import Subject
from adjudge.evidence.outlining import Outliner, OutlineUnavailable
from adjudge.evidence.testcommand import BaselineFiles
from adjudge.evidence.tests.suite import find_files
from adjudge.records.nearby import NearInput, NearSite
from adjudge.syntax.grammars import MAX_SOURCE_BYTES, grammar_of
from adjudge.syntax.nearby.data import MAX_DATA_BYTES, is_table, near_data
from adjudge.syntax.productcode.files import OF_TESTS

__all__ = ["Turn", "Written", "write_turns"]

_TURNS: Final = 12
"""How often tests run with other inputs, and no more than most tests have literals."""
_TABLE_TURNS: Final = 4
"""How often more where tests take their cases from tables in files."""
_MAX_FILES: Final = 60
_MAX_DATA_FILES: Final = 40
_DATA_TURN: Final = 4
"""In every so many runs, files of data among the tests are changed, and no literal."""
_GENERIC: Final = re.compile(r"^go\s+1\.(\d+)", re.MULTILINE)
_FIRST_GENERIC: Final = 18


@dataclass(frozen=True)
class Turn:
    """Test files as they are in one run."""

    number: int
    target: str
    files: Mapping[str, bytes]
    changed: Mapping[tuple[str, int], tuple[str, ...]]
    """What stands instead of a test's own inputs, by file and where the test begins."""


@dataclass
class Written:
    """Tests for all runs."""

    own: list[Turn] = field(default_factory=list)
    """Two with the tests' own inputs."""
    turns: list[Turn] = field(default_factory=list)
    """With others."""
    sites: dict[int, tuple[str, NearSite]] = field(default_factory=dict)
    before: Mapping[int, Sequence[str]] = field(default_factory=dict)
    """What the untouched baseline answers to the tests' own inputs, by place and call."""


@dataclass(frozen=True)
class _Writer:
    """Writes the baseline's tests anew."""

    outliner: Outliner
    files: BaselineFiles
    sources: Mapping[str, bytes]
    data: Mapping[str, bytes]
    """Files that lie among the tests."""
    seed: str
    target: str

    def write(self, number: int, turn: int) -> tuple[Turn, dict[int, tuple[str, NearSite]]]:
        """All test files for one run.

        Args:
            number: Of the run.
            turn: Which inputs; 0 for the tests' own. In one of four, and in those for tables, it is data that
                are changed, where there are any, and nothing else.
        """
        of_data = bool(self.data) and (turn % _DATA_TURN == 0 or turn > _TURNS)
        target = f"{self.target}-{number}"
        texts: dict[str, bytes] = {}
        changed: dict[tuple[str, int], list[NearInput]] = {}
        sites: dict[int, tuple[str, NearSite]] = {}
        for path, source in self.sources.items():
            first = len(sites) + 1
            try:
                made = self.outliner.near(
                    path,
                    source,
                    first=first,
                    turn=0 if of_data else turn,
                    target=target,
                    seed=self.seed,
                    generic=not path.endswith(".go") or _is_generic(path, self.files),
                )
            except OutlineUnavailable:
                continue
            if made is None:
                continue
            sites |= {first + index: (path, site) for index, site in enumerate(made.sites)}
            texts[path] = made.text.encode()
            for one in made.changed:
                changed.setdefault((path, one.unit), []).append(one)
            folder = path.rpartition("/")[0]
            for name, text in made.beside.items():
                texts[f"{folder}/{name}" if folder else name] = text.encode()
        for path, data in self.data.items():
            other = (
                near_data(data, number=_data_number(turn), seed=f"{self.seed} {path}")
                if of_data and turn
                else None
            )
            texts[path] = data if other is None else other
        shown = {key: tuple(f"{one.line}: {one.text}" for one in inputs) for key, inputs in changed.items()}
        return Turn(number, target, texts, shown), sites


def write_turns(files: BaselineFiles, subject: Subject) -> Written:
    """Write the baseline's tests anew for all runs; which inputs are others depends on the attempt."""
    sources = {
        path: text.encode()
        for path in files.test_files()[:_MAX_FILES]
        if (text := files.text(path)) is not None and len(text) <= MAX_SOURCE_BYTES
    }
    seed = subject.change_set.digest.removeprefix("sha256:")[:16]
    written = Written()
    data = _data_of_tests(files)
    turns = _TURNS + (_TABLE_TURNS if any(map(is_table, data.values())) else 0)
    with Outliner() as outliner:
        writer = _Writer(outliner, files, sources, data, seed, f"/tmp/adjudge-near-{secrets.token_hex(8)}")
        for number, turn in enumerate((0, *range(1, turns + 1), 0)):
            made, written.sites = writer.write(number, turn)
            (written.turns if turn else written.own).append(made)
    return written


def _data_number(turn: int) -> int:
    """Which of the turns that change data it is."""
    return turn // _DATA_TURN - 1 if turn <= _TURNS else _TURNS // _DATA_TURN + turn - _TURNS - 1


def _data_of_tests(files: BaselineFiles) -> dict[str, bytes]:
    def wanted(path: str) -> bool:
        return not OF_TESTS.isdisjoint(path.lower().split("/")[:-1]) and grammar_of(path) is None

    found: dict[str, bytes] = {}
    for path in islice(find_files(files.root, wanted), _MAX_DATA_FILES):
        with (files.root / path).open("rb") as file:
            data = file.read(MAX_DATA_BYTES + 1)
        # What has nothing to change is left where it is.
        if near_data(data, number=0, seed="") is not None:
            found[path] = data
    return found


def _is_generic(path: str, files: BaselineFiles) -> bool:
    """Whether the module of a Go file is of a version that has type parameters."""
    folder = path
    while folder:
        folder = folder.rpartition("/")[0]
        text = files.text(f"{folder}/go.mod" if folder else "go.mod")
        if text is not None:
            version = _GENERIC.search(text)
            return version is None or int(version[1]) >= _FIRST_GENERIC
    return True
