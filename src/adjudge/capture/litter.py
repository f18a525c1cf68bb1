"""What is kept apart from an attempt's work: build products, caches, and what the baseline ignores.

Owns our own list, with its reasons, and the reading of the baseline's `.gitignore` files. Only the
baseline's rules count; the final workspace's never do. Everything called litter is still in the change set,
marked.

The list is deliberately short. A path that is wrongly called litter drops out of the diff and of clean
grading, so only names that nobody gives to a file they wrote are on it. `build`, `dist`, `target`, `out`,
`vendor`, `coverage` and the like are not: people keep sources there, and a project that does not lists them
in its own `.gitignore`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from adjudge.capture.entries import Folder, folder_in, read_rules
from adjudge.formats.gitpatterns import IgnoreFile, component_expression, parse_ignore_file

__all__ = ["GROUPS", "BaselineIgnores", "LitterGroup", "own_group"]


@dataclass(frozen=True, slots=True)
class LitterGroup:
    """Names of one origin."""

    name: str
    patterns: tuple[str, ...]
    regenerated: bool
    """Rewritten by running things, so that a change to one that the baseline directory already held is litter
    too. In a commit baseline the path was committed on purpose and is work."""
    reason: str


GROUPS = (
    LitterGroup(
        "bytecode", ("__pycache__/", "*.pyc", "*.pyo"), True, "written by the interpreter on every import"
    ),
    LitterGroup(
        "tool caches",
        (".pytest_cache/", ".mypy_cache/", ".ruff_cache/", ".hypothesis/", ".ipynb_checkpoints/",
         ".eslintcache", ".tox/", ".nox/", ".gradle/"),
        True,
        "written by test runners, linters and build tools as they run",
    ),
    LitterGroup("nested git", (".git",), True, "a repository's own files, rewritten by any git command"),
    LitterGroup(
        "installed packages",
        ("node_modules/", ".venv/", "*.egg-info/"),
        False,
        "put there by package managers; one that the baseline holds is part of the task",
    ),
    LitterGroup(
        "editor and desktop files",
        (".DS_Store", "Thumbs.db", ".*.sw[a-p]", "*~"),
        False,
        "left by editors and file managers",
    ),
)  # fmt: skip

IGNORED_GROUP = "ignored by the baseline"
EMPTY_GROUP = "empty directories"

_PARSED = tuple((group, parse_ignore_file("\n".join(group.patterns).encode())) for group in GROUPS)


_ANY_NAME = re.compile(
    rb"(?:^|/)(?:%b)(?:/|$)"
    % b"|".join(
        component_expression(pattern.removesuffix("/").encode()) or b"(?!)"
        for group in GROUPS
        for pattern in group.patterns
    )
)
"""Any name on the list, anywhere in a path: nearly every path is told to be none of them in one search."""


def own_group(
    path: bytes, *, regenerated_only: bool = False, is_directory: bool = False
) -> LitterGroup | None:
    """The group of our own list that a path, or a directory above it, belongs to."""
    if _ANY_NAME.search(path) is None:
        return None
    parts = path.split(b"/")
    for number, part in enumerate(parts):
        directory = is_directory or number < len(parts) - 1
        for group, names in _PARSED:
            if (group.regenerated or not regenerated_only) and names.decide(part, is_directory=directory):
                return group
    return None


@dataclass(frozen=True, slots=True)
class _Place:
    """What is known about one directory of the repository."""

    ignored: bool
    folder: Folder | None
    """The baseline's directory, where it has one; rules can stand only there."""
    rules: tuple[tuple[int, IgnoreFile], ...]
    """The rules in force here: where paths relative to them start, and the patterns; the nearest last."""


class BaselineIgnores:
    """The baseline's ignore rules.

    Args:
        top: The top directory of the baseline's repository.
        prefix: Where the workspace is in it; empty when it is the top.
    """

    def __init__(self, top: Folder, prefix: bytes = b"") -> None:
        self._prefix = prefix
        self._places = {b"": _Place(False, top, _with_rules((), top, 0))}

    def ignores(self, path: bytes, *, is_directory: bool) -> bool:
        """Whether the rules ignore a path of the workspace, itself or with a directory above it."""
        full = b"%b/%b" % (self._prefix, path) if self._prefix else path
        place = self._place(full.rpartition(b"/")[0])
        return place.ignored or _decide(place.rules, full, is_directory=is_directory)

    def _place(self, directory: bytes) -> _Place:
        unknown: list[bytes] = []
        while directory not in self._places:
            unknown.append(directory)
            directory = directory.rpartition(b"/")[0]
        place = self._places[directory]
        for directory in reversed(unknown):
            ignored = place.ignored or _decide(place.rules, directory, is_directory=True)
            folder = folder_in(place.folder, directory.rpartition(b"/")[2])
            place = _Place(ignored, folder, _with_rules(place.rules, folder, len(directory) + 1))
            self._places[directory] = place
        return place


def _with_rules(
    rules: tuple[tuple[int, IgnoreFile], ...], folder: Folder | None, start: int
) -> tuple[tuple[int, IgnoreFile], ...]:
    data = read_rules(folder, b".gitignore")
    return rules if data is None else (*rules, (start, parse_ignore_file(data)))


def _decide(rules: tuple[tuple[int, IgnoreFile], ...], path: bytes, *, is_directory: bool) -> bool:
    for start, file in reversed(rules):
        decision = file.decide(path[start:], is_directory=is_directory)
        if decision is not None:
            return decision
    return False
