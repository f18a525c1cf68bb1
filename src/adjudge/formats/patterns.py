"""Path patterns as recipes write them, and exact paths beside them.

Patterns are shell-style `fnmatch` globs over a path's true bytes, case-sensitive on every machine: `*` and
`?` cross slashes, so `src/*` matches `src/deep/file.py`, and `src/**` matches everything beneath `src`.
Three things are added because authors mean them: `**/` also matches no folder at all (`**/conftest.py`
matches the one at the root), a leading `./` is dropped, and a path that is spelled exactly like the pattern
matches it (`app/[id]/page.tsx`).

What could only be a mistake is refused when a recipe is loaded, because a pattern that never matches makes
`forbid_paths` pass: `..`, absolute paths, gitignore's `!name` and `name/`, brace lists, backslashes.

Which changes a scorer compares with its patterns is the scorer's affair.
"""

from __future__ import annotations

import fnmatch
import itertools
import re
from collections.abc import Iterable
from functools import cached_property, lru_cache
from typing import Annotated

from pydantic import AfterValidator

from adjudge.records.paths import parse_path

__all__ = ["ExactPath", "PathPattern", "PathPatterns", "check_exact_path", "check_pattern"]

_BRACES = re.compile(r"\{[^{}]*,[^{}]*\}")
_BRACKETS = re.compile(r"\[!?\]?[^\]]*\]")
_MAGIC = re.compile(r"[*?\[]")
_MAX_ANY_DEPTH = 4
"""Each `**/` doubles the globs a pattern stands for; nobody writes five."""


def check_pattern(pattern: str) -> str:
    """A pattern in its normal form.

    Raises:
        ValueError: The pattern can match nothing, or means something else than it seems to.
    """
    while pattern.startswith("./"):
        pattern = pattern[2:].lstrip("/")
    if not pattern or pattern == ".":
        raise ValueError("an empty pattern matches nothing; write * for every path")
    if "\0" in pattern:
        raise ValueError("a pattern cannot contain a NUL byte")
    if pattern.startswith("/"):
        raise ValueError(f"{pattern!r} is absolute; patterns are relative to the workspace")
    if pattern.startswith("!"):
        raise ValueError(f"{pattern!r}: patterns are not gitignore rules; write ? for a leading ! in a name")
    bare = _BRACKETS.sub("x", pattern)
    if "\\" in bare:
        raise ValueError(f"{pattern!r}: write / between folders, and [\\] for a backslash in a name")
    if _BRACES.search(bare):
        raise ValueError(f"{pattern!r}: braces are not expanded; write one pattern for each alternative")
    if pattern.endswith("/"):
        raise ValueError(f"{pattern!r} matches nothing; write {pattern}** for everything beneath the folder")
    _check_parts(pattern)
    if len(_any_depth_marks(pattern)) > _MAX_ANY_DEPTH:
        raise ValueError(f"{pattern!r} has more than {_MAX_ANY_DEPTH} `**/`")
    return pattern


def check_exact_path(path: str) -> str:
    """An exact path in its normal form, which stays as the recipe wrote it (`parse_path` reads it).

    A path with bytes that YAML cannot hold is written as git quotes it.

    Raises:
        ValueError: The path is empty, absolute, leaves the workspace, or is the workspace itself.
    """
    if path.startswith('"'):
        path_in_memory = parse_path(path)
        if _normal(path_in_memory) != path_in_memory:
            raise ValueError(f"{path}: write a quoted path without `./` and without a slash at its end")
        return path
    return _normal(path)


PathPattern = Annotated[str, AfterValidator(check_pattern)]
"""A pattern in a scorer's `Config`."""

ExactPath = Annotated[str, AfterValidator(check_exact_path)]
"""An exact path in a scorer's `Config`, in its written form."""


class PathPatterns:
    """Compiled patterns. Accepts what `check_pattern` returned."""

    def __init__(self, patterns: Iterable[str]) -> None:
        self._patterns = tuple(patterns)

    def matching(self, path: str) -> str | None:
        """The first pattern that matches a path, or None."""
        for pattern, regexes in self._compiled:
            if path == pattern:
                return pattern
            for regex in regexes:
                if regex.match(path):
                    return pattern
        return None

    @cached_property
    def _compiled(self) -> tuple[tuple[str, tuple[re.Pattern[str], ...]], ...]:
        return tuple((pattern, _compile(pattern)) for pattern in self._patterns)

    def __contains__(self, path: str) -> bool:
        return self.matching(path) is not None

    def reaching_below(self, path: str) -> str | None:
        """The first pattern that names something beneath `path`, were it a folder.

        Tells whether a symlink at `.github` stands in for what `.github/**` or `.github/*.yml` is about. A
        pattern without a literal folder at its start (`*.pem`) names no place, so it reaches nowhere.
        """
        for pattern in self._patterns:
            if _literal_start(pattern).startswith(f"{path}/"):
                return pattern
        return None

    def may_match_below(self, path: str) -> str | None:
        """The first pattern that something beneath `path` could match, whatever it is called."""
        for pattern in self._patterns:
            start = _literal_start(pattern)
            if start.startswith(f"{path}/") or f"{path}/".startswith(start):
                return pattern
        return None


def _normal(path: str) -> str:
    while path.startswith("./"):
        path = path[2:].lstrip("/")
    path = path.rstrip("/") if path.strip("/") else path
    if not path or path == ".":
        raise ValueError("a path names a file or folder in the workspace; this one is empty")
    if "\0" in path:
        raise ValueError("a path cannot contain a NUL byte")
    if path.startswith("/"):
        raise ValueError(f"{path!r} is absolute; paths are relative to the workspace")
    _check_parts(path)
    return path


def _check_parts(path: str) -> None:
    parts = path.split("/")
    if ".." in parts:
        raise ValueError(f"{path!r} leaves the workspace with ..")
    if "." in parts or "" in parts:
        raise ValueError(f"{path!r} has an empty or `.` part, which no path in the workspace has")


@lru_cache(maxsize=4096)
def _compile(pattern: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(fnmatch.translate(glob)) for glob in _globs(pattern))


def _any_depth_marks(pattern: str) -> list[int]:
    """Where a `**/` stands at the start of a part."""
    return [mark.start() for mark in re.finditer(r"(?:^|(?<=/))\*\*/", pattern)]


def _globs(pattern: str) -> list[str]:
    """The fnmatch globs a pattern stands for: each `**/` as some folders, and as none."""
    marks = _any_depth_marks(pattern)
    found: list[str] = []
    for kept in itertools.product((True, False), repeat=len(marks)):
        glob = pattern
        for start, keep in reversed(list(zip(marks, kept, strict=True))):
            if not keep:
                glob = glob[:start] + glob[start + 3 :]
        found.append(glob)
    return found


def _literal_start(pattern: str) -> str:
    magic = _MAGIC.search(pattern)
    return pattern if magic is None else pattern[: magic.start()]
