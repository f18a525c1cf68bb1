"""Where a key of a TOML file stands. The standard library's reader does not say."""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["find_line"]

_TABLE = re.compile(r"\s*+\[\[?\s*+([^\[\]\s](?:[^\[\]]*[^\[\]\s])?)\s*+\]\]?\s*(?:#.*)?\Z")
_KEY = re.compile(
    r"""\s*((?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*'))*)\s*="""
)


def find_line(text: str, path: Sequence[str]) -> int:
    """The line of a key, or of the nearest table above it that is written; 1 when nothing is."""
    wanted = [part for part in path if not part.isdigit()]
    best, depth = 1, 0
    table: list[str] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _TABLE.match(line):
            table = here = _split(header[1])
        elif key := _KEY.match(line):
            here = [*table, *_split(key[1])]
        else:
            continue
        same = 0
        while same < min(len(here), len(wanted)) and here[same] == wanted[same]:
            same += 1
        if same == len(here) and same > depth:
            best, depth = number, same
    return best


def _split(key: str) -> list[str]:
    return [part.strip().strip("\"'") for part in key.split(".")]
