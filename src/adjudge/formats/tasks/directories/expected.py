"""Which file an instruction asks for, when it names just one that is not there yet."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

__all__ = ["paths_in", "wanted_output"]

_PART = r"[A-Za-z0-9_][A-Za-z0-9_.-]*"


def paths_in(instruction: str, tops: Iterable[str]) -> list[str]:
    """Every file below one of `tops` that an instruction names, once, in its order."""
    listed = "|".join(re.escape(top) for top in sorted(set(tops), key=len, reverse=True))
    named = re.compile(rf"(?<![\w./-])(?:{listed})(?:/{_PART})+(?!/)")
    found = (match[0].rstrip(".-") for match in named.finditer(instruction))
    return [path for path in dict.fromkeys(found) if "." in path.rpartition("/")[2]]


def wanted_output(instruction: str, tops: Iterable[str], is_seeded: Callable[[str], bool]) -> list[str]:
    """What the instruction asks to be written: files that it names and that the workspace does not have."""
    return [path for path in paths_in(instruction, tops) if not is_seeded(path)]
