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

from collections.abc import Callable
from dataclasses import dataclass

from adjudge.capture.entries import Entry, is_folder, read_rules
from adjudge.capture.gitpatterns import IgnoreFile, parse_ignore_file

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


def own_group(
    path: bytes, *, regenerated_only: bool = False, is_directory: bool = False
) -> LitterGroup | None:
    """The group of our own list that a path, or a directory above it, belongs to."""
    parts = path.split(b"/")
    for number, part in enumerate(parts):
        directory = is_directory or number < len(parts) - 1
        for group, names in _PARSED:
            if (group.regenerated or not regenerated_only) and names.decide(part, is_directory=directory):
                return group
    return None


class BaselineIgnores:
    """The baseline's ignore rules.

    Args:
        lookup: Finds an entry of the baseline by its path from the top of the repository.
        prefix: Where the workspace is in the repository; empty when it is the top.
    """

    def __init__(self, lookup: Callable[[bytes], Entry | None], prefix: bytes = b"") -> None:
        self._lookup = lookup
        self._prefix = prefix
        self._files: dict[bytes, IgnoreFile | None] = {}
        self._directories: dict[bytes, bool] = {b"": False}

    def ignores(self, path: bytes, *, is_directory: bool) -> bool:
        """Whether the rules ignore a path of the workspace, itself or with a directory above it."""
        full = b"%b/%b" % (self._prefix, path) if self._prefix else path
        parent = full.rpartition(b"/")[0]
        return self._directory_ignored(parent) or self._decide(full, is_directory=is_directory)

    def _directory_ignored(self, directory: bytes) -> bool:
        unknown: list[bytes] = []
        while directory not in self._directories:
            unknown.append(directory)
            directory = directory.rpartition(b"/")[0]
        ignored = self._directories[directory]
        for directory in reversed(unknown):
            ignored = ignored or self._decide(directory, is_directory=True)
            self._directories[directory] = ignored
        return ignored

    def _decide(self, path: bytes, *, is_directory: bool) -> bool:
        folder = path
        while folder:
            folder = folder.rpartition(b"/")[0]
            rules = self._rules(folder)
            if rules is None:
                continue
            relative = path[len(folder) + 1 :] if folder else path
            decision = rules.decide(relative, is_directory=is_directory)
            if decision is not None:
                return decision
        return False

    def _rules(self, folder: bytes) -> IgnoreFile | None:
        if folder not in self._files:
            # No rules can lie below a folder that the baseline does not have.
            known = not folder or is_folder(self._lookup(folder))
            data = read_rules(self._lookup, folder, b".gitignore") if known else None
            self._files[folder] = None if data is None else parse_ignore_file(data)
        return self._files[folder]
