"""Ids of Go tests in the ways that people write them: by package, or by name alone."""

from __future__ import annotations

import re
from collections.abc import Mapping

from adjudge.evidence.tests.gooutput import top_of
from adjudge.evidence.tests.sources import Source
from adjudge.syntax.golang.falsify import GoFile

__all__ = ["GoIds"]

_BY_PACKAGE = re.compile(r"(?P<package>.*?)(?:::|[./ ])(?P<test>(?:Test|Example|Fuzz)(?:[^a-z.:].*)?)")
"""`example.com/shop/tax::TestX/a`, or with a dot, slash or blank between the two."""


class GoIds:
    """Finds the file behind an id.

    Args:
        files: The trusted test files; those in Go matter.
    """

    def __init__(self, files: Mapping[str, Source]) -> None:
        self._files = files
        self._places: dict[str, list[str]] = {}
        for path, source in files.items():
            if isinstance(source, GoFile):
                for name in source.tests:
                    if "/" not in name:
                        self._places.setdefault(name, []).append(path)

    def full(self, id_: str) -> str | None:
        """The id as `file::name`; None when it is one already, or no single file fits."""
        if not self._places or id_.partition("::")[0] in self._files:
            return None
        found = _BY_PACKAGE.fullmatch(id_)
        package, test = (found["package"], found["test"]) if found is not None else ("", id_)
        paths = self._places.get(top_of(test), [])
        if package not in ("", "."):
            # A package's name ends with its folder; that of the root is the module's.
            nearest = [len(folder) for path in paths if _is_in(package, folder := _folder(path))]
            paths = [
                path
                for path in paths
                if _is_in(package, _folder(path)) and len(_folder(path)) == max(nearest)
            ]
        return f"{paths[0]}::{test}" if len(paths) == 1 else None


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def _is_in(package: str, folder: str) -> bool:
    package = package.removeprefix("./")
    return not folder or package == folder or package.endswith(f"/{folder}")
