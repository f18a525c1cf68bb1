"""Paths inside a workspace, in their true bytes.

In memory a workspace path is a `str` decoded with `surrogateescape`, relative, with `/` between its parts:
two paths are equal exactly when their bytes are. Documents cannot carry lone surrogates, and a reader
cannot read a newline in a name, so paths are written the way git writes them: as they are when they are
plain, else in double quotes with C escapes. A plain path never starts with a double quote, so the written
form is unambiguous and reading it back gives the same bytes.

Paths that people write in a scenario are checked when it is read: `RelativePath` stays inside whatever it is
relative to, `ScenarioFile` also names a file that goes with the scenario.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Protocol

from pydantic import AfterValidator, PlainSerializer, PlainValidator, ValidationInfo, WithJsonSchema

__all__ = [
    "FileLookup",
    "RelativePath",
    "ScenarioFile",
    "WorkspacePath",
    "check_relative",
    "look_up",
    "parse_path",
    "path_bytes",
    "path_from_bytes",
    "render_path",
]

_ESCAPES = {
    0x07: "\\a", 0x08: "\\b", 0x09: "\\t", 0x0A: "\\n", 0x0B: "\\v", 0x0C: "\\f", 0x0D: "\\r",
    0x22: '\\"', 0x5C: "\\\\",
}  # fmt: skip
_UNESCAPES = {escape[1]: byte for byte, escape in _ESCAPES.items()}
_NEEDS_QUOTES = re.compile('[\x00-\x1f\x7f"\\\\\x80-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]')
"""Control characters, quote, backslash, undecodable bytes, and the bidirectional controls that can make a
name read as another one on a terminal."""
_QUOTED_PART = re.compile(r'\\(?:([0-7]{3})|([abtnvfr"\\]))|([^"\\]+)')


def path_bytes(path: str) -> bytes:
    """The true bytes of a path."""
    return path.encode("utf-8", "surrogateescape")


def path_from_bytes(raw: bytes) -> str:
    """The in-memory form of a path's true bytes."""
    return raw.decode("utf-8", "surrogateescape")


def render_path(path: str) -> str:
    """Write a path for a document or a reader; see the module's docstring."""
    if not _NEEDS_QUOTES.search(path):
        return path
    parts: list[str] = []
    for char in path:
        if not _NEEDS_QUOTES.match(char):
            parts.append(char)
            continue
        for byte in char.encode("utf-8", "surrogateescape"):
            parts.append(_ESCAPES.get(byte) or f"\\{byte:03o}")
    return f'"{"".join(parts)}"'


def parse_path(written: str) -> str:
    """Read a written path back; the inverse of `render_path`.

    Raises:
        ValueError: The text starts with a double quote but is not a well-formed quoted path.
    """
    if not written.startswith('"'):
        return written
    if len(written) < 2 or not written.endswith('"'):
        raise ValueError(f"unterminated quoted path: {written!r}")
    raw = bytearray()
    position, end = 1, len(written) - 1
    while position < end:
        part = _QUOTED_PART.match(written, position, end)
        if part is None:
            raise ValueError(f"bad escape in quoted path at character {position}: {written!r}")
        octal, escape, plain = part.groups()
        if octal is not None:
            raw.append(int(octal, 8) & 0xFF)
        elif escape is not None:
            raw.append(_UNESCAPES[escape])
        else:
            raw += plain.encode("utf-8", "surrogateescape")
        position = part.end()
    return path_from_bytes(bytes(raw))


def _validate(value: Any, info: ValidationInfo) -> str:
    if not isinstance(value, str):
        raise ValueError("a workspace path is a string")
    return parse_path(value) if info.mode == "json" else value


WorkspacePath = Annotated[
    str,
    PlainValidator(_validate),
    PlainSerializer(render_path, return_type=str, when_used="json"),
    WithJsonSchema({"type": "string", "description": "A path in the workspace, quoted as git quotes."}),
]
"""A path relative to the workspace root.

Records are constructed with its in-memory form; JSON (`model_dump_json`, `model_dump(mode="json")`,
`model_validate_json`) holds its written form.
"""


def check_relative(path: str) -> str:
    """Refuse a path that does not stay inside what it is relative to, and write it in its shortest form.

    Raises:
        ValueError: It is empty, absolute, starts with `~`, goes up, or holds a NUL.
    """
    if not path:
        raise ValueError("must not be empty")
    if "\0" in path:
        raise ValueError("a path cannot contain a NUL character")
    if path.startswith("/"):
        raise ValueError(f"{path!r} is absolute; write a relative path")
    if path == "~" or path.startswith("~/"):
        raise ValueError(f"{path!r} starts at a home directory; write a relative path")
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if ".." in parts:
        raise ValueError(f"{path!r} goes up with '..'; write a path that stays inside")
    return "/".join(parts) or "."


RelativePath = Annotated[
    str,
    AfterValidator(check_relative),
    WithJsonSchema({"type": "string", "minLength": 1, "pattern": r"^(?![/~])(?!(.*/)?\.\.(/|$)).+$"}),
]
"""A path that stays inside what it is relative to, in its shortest form: `./a//b` is read as `a/b`."""


class FileLookup(Protocol):
    """Says whether a scenario has a file, while the scenario is being read."""

    def __call__(self, path: str) -> None:
        """Note that the scenario refers to `path`.

        Raises:
            ValueError: There is no such file inside the scenario's folder; the message says what is there.
        """


def look_up(path: str, info: ValidationInfo) -> str:
    """Note that the scenario being read refers to a file of its own, which has to be there."""
    lookup: FileLookup | None = (info.context or {}).get("scenario_file")
    if lookup is not None:
        lookup(path)
    return path


ScenarioFile = Annotated[RelativePath, AfterValidator(look_up)]
"""A file or folder that goes with the scenario, relative to its folder.

A scorer's `Config` uses it for files it needs at grade time: they are checked when the scenario is read,
kept with the frozen task, and part of its digest.
"""
