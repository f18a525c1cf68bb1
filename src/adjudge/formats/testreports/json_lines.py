"""Streams of one JSON object a line, as `go test -json` and libtest write them, foreign lines between."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

__all__ = ["read_json_lines"]


def read_json_lines(text: str) -> Iterator[tuple[int, dict[str, Any] | None, str]]:
    """Each line with its number: the object in it, or None and the line itself when it holds none."""
    for number, line in enumerate(text.split("\n"), start=1):
        stripped = line.strip()
        if not stripped:
            continue
        value: object = None
        if stripped.startswith("{"):
            try:
                value = json.loads(stripped)
            except (ValueError, RecursionError):
                value = None
        yield number, value if isinstance(value, dict) else None, line
