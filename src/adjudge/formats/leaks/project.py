"""What is known of the task's own project: where the answer to it may lie ready."""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["Project", "even_name"]

_VERSION = re.compile(r"(?:^|[^\w.])v?(\d+(?:\.\d+)+)(?![\w-]*\.\w*[a-z]/)")
_COPY = re.compile(
    r"(?:^|/)(?:(?:site|dist)-packages/|node_modules/|registry/src/[^/]+/|gems/|pkg/mod/)(.+)", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Project:
    """The names that a project goes by, and where its workspace is."""

    names: frozenset[str] = frozenset()
    """As packages are called, evened out."""
    repositories: frozenset[str] = frozenset()
    """`owner/name`, in lower case."""
    shown_at: tuple[str, ...] = ("/workspace",)
    """Where the workspace is for the agent; what lies below it is no grader's."""
    hidden: frozenset[str] = frozenset()
    """Paths of the scenario's own files, relative to its folder."""
    files: frozenset[str] = frozenset()
    """Names of files in the workspace, without folders."""
    version: str = ""
    """What the manifest says."""
    instruction: str = ""
    """What the task says; what it names is there to be used."""

    def is_named(self, name: str) -> bool:
        """Whether a package is the project's own."""
        return even_name(name) in self.names

    def repository_in(self, path: str) -> str | None:
        """The part of an address' path after the project's own repository; None where it is not in it."""
        low = path.lower()
        for repository in self.repositories:
            found = re.search(
                rf"(?:^|[/:]){re.escape(repository)}(?:\.git)?(?=[/?#@:]|\.(?:patch|diff)|$)", low
            )
            if found is not None:
                return low[found.end() :]
        if not self.repositories:
            parts = low.split("/")
            if len(parts) > 1 and self.is_named(parts[1].removesuffix(".git")):
                return "/" + "/".join(parts[2:])
        return None

    def is_copy(self, path: str) -> bool:
        """Whether a path lies in an installed copy of the project."""
        if self.is_below(path) and "/node_modules/" not in path:
            return False
        found = _COPY.search(path)
        if found is None:
            return False
        rest = found[1].rpartition("node_modules/")[2].lower()
        return any(
            re.match(rf"{re.escape(name)}(?:@v?\d[^/]*|-\d[^/]*)?/[^/]", even_name(rest)) is not None
            for name in self.names
        )

    def is_below(self, path: str) -> bool:
        """Whether a path is in the workspace."""
        return any(path == place or path.startswith(f"{place}/") for place in self.shown_at)

    def later_version(self, word: str) -> bool:
        """Whether a word names a version that comes after the project's own."""
        own = _numbers(self.version)
        if not own:
            return False
        early = re.search(r"[a-z]", self.version.lower().lstrip("v")) is not None
        for found in _VERSION.findall(word):
            other = _numbers(found)
            if other > own or (early and other == own):
                return True
        return False

    def orders(self, *words: str) -> bool:
        """Whether the task's text has one of these words or phrases, as patterns."""
        return any(re.search(word, self.instruction, re.IGNORECASE) is not None for word in words)


def even_name(name: str) -> str:
    """A package's name with its separators evened out."""
    return re.sub(r"[-_.]+", "-", name.strip().lower())


def _numbers(version: str) -> tuple[int, ...]:
    found = re.match(r"v?(\d{1,9}(?:\.\d{1,9})+)", version.strip())
    numbers = tuple(int(part) for part in found[1].split(".")) if found else ()
    return _without_zeros(numbers)


def _without_zeros(numbers: tuple[int, ...]) -> tuple[int, ...]:
    kept = list(numbers)
    while len(kept) > 1 and kept[-1] == 0:
        kept.pop()
    return tuple(kept)
