"""Commands that run `go test`."""

from __future__ import annotations

import re

from adjudge.formats.testcommands.words import SuiteCommand, parse_plain
from adjudge.records.evidence import TestCommand

__all__ = ["parse_go_suite"]

_DROPPED = frozenset((
    "v", "json", "count", "failfast", "cover", "covermode", "coverprofile", "coverpkg", "timeout", "vet",
    "shuffle", "p", "x",
))  # fmt: skip
"""What says how results are shown, or would end a session early; a session has ways of its own for these."""
_KEPT = frozenset(("tags", "mod", "race", "trimpath", "short", "run", "parallel", "cpu"))
_SWITCHES = frozenset(("v", "json", "failfast", "cover", "race", "trimpath", "short", "x"))
_SIMPLE = re.compile(r"[\w^$|().*+/ -]+")
"""Patterns that mean the same in Go and in Python."""


def _is_pattern(value: str) -> bool:
    try:
        return _SIMPLE.fullmatch(value) is not None and all(map(re.compile, value.split("/")))
    except re.error:
        return False


def parse_go_suite(command: str) -> SuiteCommand | None:
    """Read a command that runs `go test` on packages, with no options but those that a session can keep."""
    plain = parse_plain(command)
    if plain is None or plain.name != "go" or plain.args[:1] != ["test"]:
        return None
    if "/" in plain.program and not plain.program.startswith("/"):
        return None
    options: list[str] = []
    packages: list[str] = []
    pending = iter(plain.args[1:])
    for word in pending:
        if not word.startswith("-"):
            if word.endswith(".go") or ".." in word.split("/") or word.startswith("/"):
                return None
            packages.append(word)
            continue
        name, equals, value = word.lstrip("-").partition("=")
        name = name.removeprefix("test.")
        if name not in _DROPPED | _KEPT:
            return None
        if name not in _SWITCHES and not equals:
            value = next(pending, "")
        if re.search(r"\s", value) and name != "run":
            return None
        if name == "run" and not _is_pattern(value):
            return None
        if name in _KEPT and value != "false":
            options.append(f"-{name}" if name in _SWITCHES else f"-{name}={value}")
    return SuiteCommand(
        TestCommand(
            runner="go",
            interpreter=(plain.program,),
            args=(*options, *(packages or ["."])),
            path=(),
            env=plain.env,
        )
    )
