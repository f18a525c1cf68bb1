"""Commands that are one program with arguments; what a shell would have to interpret is left to it."""

from __future__ import annotations

import re
import shlex
from typing import NamedTuple

from adjudge.records.evidence import TestCommand

__all__ = ["ASSIGNMENT", "PlainCommand", "SuiteCommand", "command_words", "parse_plain"]

ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
_PUNCTUATION = frozenset("();<>|&")
_EXPANDED = re.compile(r"[$`\n]")


class SuiteCommand(NamedTuple):
    """A command that runs a suite which a trusted session can run."""

    command: TestCommand
    select: tuple[str, ...] = ()
    """The single tests it names; the runner is given their files."""


class PlainCommand(NamedTuple):
    """A program, its arguments, and what is set in its environment."""

    env: dict[str, str]
    program: str
    args: list[str]

    @property
    def name(self) -> str:
        """The program without its folder."""
        return self.program.rpartition("/")[2]


def parse_plain(command: str) -> PlainCommand | None:
    """Take a command apart; None when a shell is needed to."""
    words = command_words(command)
    if words is None:
        return None
    env: dict[str, str] = {}
    if words[0] == "env":
        words = words[1:]
    while words and ASSIGNMENT.match(words[0]):
        name, _, value = words[0].partition("=")
        env[name] = value
        words = words[1:]
    return PlainCommand(env, words[0], words[1:]) if words else None


def command_words(command: str) -> list[str] | None:
    """The words of a command that no shell would change; None when one would."""
    if _EXPANDED.search(command.strip()):
        return None
    try:
        lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        words = list(lexer)
    except ValueError:
        return None
    if not words or any(set(word) <= _PUNCTUATION for word in words if word):
        return None
    return words
