"""Commands that run `node --test`."""

from __future__ import annotations

import re

from adjudge.formats.testcommands.words import SuiteCommand, parse_plain
from adjudge.records.evidence import TestCommand

__all__ = ["parse_node_suite"]


def parse_node_suite(command: str) -> SuiteCommand | None:
    """Read a command that runs `node --test` and nothing that would need node's own options."""
    plain = parse_plain(command)
    if plain is None or plain.name != "node" or "NODE_OPTIONS" in plain.env:
        return None
    env, program, rest = plain
    if "--test" not in rest or ("/" in program and not program.startswith("/")):
        return None
    args = []
    for word in rest:
        if word == "--test" or re.fullmatch(r"--test-(?:concurrency=\d+|only=false)", word):
            continue
        if word.startswith("-") or "**" in word or word.startswith("/") or ".." in word.split("/"):
            return None
        args.append(word.removeprefix("./").rstrip("/") or ".")
    return SuiteCommand(
        TestCommand(runner="node", interpreter=(program,), args=tuple(args), path=(), env=env)
    )
