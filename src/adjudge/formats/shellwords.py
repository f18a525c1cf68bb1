"""Shell text as the commands it is made of, for looking at what an agent ran. Nothing here is ever run.

Loose on purpose: text that a shell would refuse still gives words. Pipelines, lists, sub-shells, command
substitution, here-documents, `bash -c` and wrappers such as `sudo` and `timeout` are taken apart.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

__all__ = ["ShellCommand", "shell_commands"]

_MAX_TEXT = 64 * 1024
_MAX_COMMANDS = 500
_MAX_DEPTH = 4
_MAX_SUBSTITUTIONS = 200
_HEREDOC = re.compile(r"<<-?\s*(['\"]?)([A-Za-z_][\w.]*)\1")
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
_SHELLS = frozenset(("sh", "bash", "zsh", "dash", "ksh", "ash"))
_WRAPPERS = frozenset((
    "sudo", "env", "time", "nohup", "exec", "command", "builtin", "stdbuf", "nice", "setsid", "xargs",
    "timeout", "then", "do", "else", "!", "{", "if", "while", "until", "elif", "eval", "watch",
))  # fmt: skip
_INTERPRETERS = re.compile(r"(?:python|pypy)[\d.]*|node|deno|bun|ruby|perl|php|(?:ba|z|da|k)?sh")
_SUBSTITUTION = re.compile(r"\$\(([^()]*(?:\([^()]*\)[^()]*)*)\)|`([^`]*)`|[<>]\(([^()]*)\)")


@dataclass(frozen=True, slots=True)
class ShellCommand:
    """One program with its arguments."""

    words: tuple[str, ...]
    """The program first; at least one word."""
    body: str = ""
    """What it is given as a here-document, or as code after `-c` or `-e`, where it runs such."""

    @property
    def program(self) -> str:
        """The program without its folder."""
        return self.words[0].rpartition("/")[2]

    @property
    def runs_body(self) -> bool:
        """Whether the body is code that it runs."""
        return bool(self.body) and _INTERPRETERS.fullmatch(self.program) is not None


def shell_commands(text: str) -> tuple[ShellCommand, ...]:
    """Every command in a text, those of substitutions before the one that they are in."""
    found: list[ShellCommand] = []
    for command in _commands(text[:_MAX_TEXT], 0):
        found.append(command)
        if len(found) >= _MAX_COMMANDS:
            break
    return tuple(found)


def _commands(text: str, depth: int) -> Iterator[ShellCommand]:
    if depth > _MAX_DEPTH:
        return
    text, bodies = _without_heredocs(text)
    text = re.sub(r"(?m)^[ \t]*#.*$", "", text)
    for inner in islice(_SUBSTITUTION.finditer(text), _MAX_SUBSTITUTIONS):
        yield from _commands(next(part for part in inner.groups() if part is not None), depth + 1)
    for words in _simple(text):
        body = ""
        if any("<<" in word for word in words) and bodies:
            body = bodies.pop(0)
            words = [word for word in words if not word.startswith("<<")] or words
        words = _unwrapped(words)
        if not words:
            continue
        program = words[0].rpartition("/")[2]
        code = _code(program, words)
        if program in _SHELLS and code:
            yield from _commands(code, depth + 1)
            continue
        if program in _SHELLS and body:
            yield from _commands(body, depth + 1)
        yield ShellCommand(tuple(words), code or body)


def _without_heredocs(text: str) -> tuple[str, list[str]]:
    """The text without the bodies of here-documents, and those."""
    if "<<" not in text:
        return text, []
    kept: list[str] = []
    bodies: list[str] = []
    waiting: list[str] = []
    body: list[str] = []
    for line in text.split("\n"):
        if waiting:
            if line.strip() == waiting[0]:
                waiting.pop(0)
                bodies.append("\n".join(body))
                body = []
            else:
                body.append(line)
            continue
        kept.append(line)
        waiting += [found[2] for found in _HEREDOC.finditer(line)]
    if waiting:
        bodies.append("\n".join(body))
    return "\n".join(kept), bodies


def _simple(text: str) -> Iterator[list[str]]:
    """Words between operators; where quotes do not match up, line by line."""
    joined = text.replace("\\\n", " ")
    try:
        yield from _split(_lexed(joined))
    except ValueError:
        for line in joined.split("\n"):
            try:
                yield from _split(_lexed(line))
            except ValueError:
                yield from _split(re.split(r"\s+|([;&|])", line))


def _lexed(text: str) -> list[str]:
    lexer = shlex.shlex(text, posix=True, punctuation_chars=";&|()\n")
    lexer.whitespace = " \t\r"
    lexer.whitespace_split = True
    lexer.commenters = ""
    return list(lexer)


def _split(words: list[str] | list[str | None]) -> Iterator[list[str]]:
    held: list[str] = []
    for word in words:
        if not word:
            continue
        if set(word) <= set(";&|()\n"):
            if held:
                yield held
            held = []
        elif word.startswith("#") and not held:
            continue
        else:
            held.append(word)
    if held:
        yield held


def _unwrapped(words: list[str]) -> list[str]:
    """The command itself, without assignments and the programs that only start it."""
    at = 0
    while at < len(words):
        word = words[at].rpartition("/")[2]
        if _ASSIGNMENT.match(words[at]):
            at += 1
        elif word in _WRAPPERS and at + 1 < len(words):
            at += 1
            while at < len(words) and (words[at].startswith("-") or re.fullmatch(r"\d+[smhd]?", words[at])):
                at += 1
        else:
            break
    return words[at:]


def _code(program: str, words: list[str]) -> str:
    """What an interpreter is told to run on its command line."""
    if _INTERPRETERS.fullmatch(program) is None:
        return ""
    for index, word in enumerate(words[1:-1], 1):
        if re.fullmatch(r"-[a-zA-Z]*[ce]|--eval|--exec", word):
            return words[index + 1]
    return ""
