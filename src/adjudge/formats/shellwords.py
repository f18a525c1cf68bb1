"""Shell text as the commands it is made of, for looking at what an agent ran. Nothing here is ever run.

Loose on purpose: text that a shell would refuse still gives words. Pipelines, lists, sub-shells, command
substitution, redirections, here-documents, variables that were set just before, `for` over words, `bash -c`
and wrappers such as `sudo` and `timeout` are taken apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

__all__ = ["ShellCommand", "shell_commands"]

_MAX_TEXT = 64 * 1024
_MAX_COMMANDS = 500
_MAX_DEPTH = 4
_MAX_SUBSTITUTIONS = 200
_MAX_VALUES = 20
_MAX_WORD = 8192
_HEREDOC = re.compile(r"(?<!<)<<-?\s*(['\"]?)([A-Za-z_][\w.]*)\1")
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)
_VARIABLE = re.compile(r"\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})")
_SHELLS = frozenset(("sh", "bash", "zsh", "dash", "ksh", "ash"))
_WRAPPERS = frozenset((
    "sudo", "env", "time", "nohup", "exec", "command", "builtin", "stdbuf", "nice", "setsid", "xargs",
    "timeout", "then", "do", "else", "!", "{", "if", "while", "until", "elif", "eval", "watch",
))  # fmt: skip
_SETS = frozenset(("export", "declare", "local", "readonly", "typeset"))
_INTERPRETERS = re.compile(r"(?:python|pypy)[\d.]*|node|deno|bun|ruby|perl|php|(?:ba|z|da|k)?sh")
_OPENING = re.compile(r"[$<>]\(|`")
_MAX_INNER = 8192
_OPERATOR = re.compile(r"&>>?|[0-9]?(?:>>|>\||>&|>|<<<|<<-?|<&|<>|<)|&&|\|\||\|&|;;|[;&|()\n]")
_PLAIN = re.compile(r"[^\s\\'\"`$;&|()<>0-9]+")


@dataclass(frozen=True, slots=True)
class ShellCommand:
    """One program with its arguments."""

    words: tuple[str, ...]
    """The program first; at least one word."""
    body: str = ""
    """What it is given as a here-document, or as code after `-c` or `-e`, where it runs such."""
    reads: tuple[str, ...] = ()
    """Files that its input comes from."""
    writes: tuple[str, ...] = ()
    """Files that its output goes to."""
    started_by: tuple[str, ...] = ()
    """Wrappers in front of it, such as `nohup`."""
    background: bool = False
    """Whether the shell does not wait for it."""
    piped: bool = False
    """Whether its input is the output of the command before."""

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
    return tuple(islice(_commands(text[:_MAX_TEXT], 0, {}), _MAX_COMMANDS))


@dataclass(slots=True)
class _Simple:
    """A command as it is written."""

    words: list[str] = field(default_factory=list)
    reads: list[str] = field(default_factory=list)
    writes: list[str] = field(default_factory=list)
    here: str = ""
    awaits: int = 0
    piped: bool = False
    background: bool = False

    @property
    def empty(self) -> bool:
        return not (self.words or self.reads or self.writes)


_Known = dict[str, list[str]]
"""Variables with what they may hold."""


def _commands(text: str, depth: int, known: _Known) -> Iterator[ShellCommand]:
    if depth > _MAX_DEPTH:
        return
    text, bodies = _without_heredocs(text)
    text = re.sub(r"(?m)^[ \t]*#.*$", "", text).replace("\\\n", " ")
    for inner in islice(_substitutions(text), _MAX_SUBSTITUTIONS):
        yield from _commands(inner, depth + 1, dict(known))
    for simple in _simple(text, known):
        body = simple.here
        for _ in range(simple.awaits):
            body = bodies.pop(0) if bodies else body
        words, wrappers = _unwrapped(simple.words, known)
        if not words:
            if simple.writes or simple.reads:
                words = [":"]
            else:
                continue
        program = words[0].rpartition("/")[2]
        code = _code(program, words)
        if program in _SHELLS and (code or body):
            for inner_command in _commands(code or body, depth + 1, dict(known)):
                yield ShellCommand(
                    inner_command.words,
                    inner_command.body,
                    inner_command.reads,
                    inner_command.writes,
                    (*wrappers, *inner_command.started_by),
                    inner_command.background or simple.background,
                    inner_command.piped,
                )
            if code:
                continue
        yield ShellCommand(
            tuple(words),
            code or body,
            tuple(simple.reads),
            tuple(simple.writes),
            tuple(wrappers),
            simple.background,
            simple.piped,
        )


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


def _simple(text: str, known: _Known) -> Iterator[_Simple]:
    """Commands between operators, with variables replaced by what they were set to before."""
    held = _Simple()
    redirects = ""
    for kind, token in _tokens(text):
        if kind == "operator" and ("<" in token or ">" in token):
            redirects = token.lstrip("0123456789&") or token
            if redirects.startswith("<<") and redirects != "<<<":
                held.awaits += 1
            continue
        if kind == "operator":
            redirects = ""
            if not held.empty:
                held.background = token == "&"
                yield held
            held = _Simple(piped=token in ("|", "|&"))
            continue
        values = _expanded(token, known) if kind == "open" else [token]
        if redirects:
            _redirect(held, redirects, values)
            redirects = ""
        elif held.words or not values[0].startswith("#"):
            held.words += values
    if not held.empty:
        yield held


def _redirect(held: _Simple, operator: str, values: list[str]) -> None:
    if operator == "<<<":
        held.here = values[0]
    elif operator.startswith("<<") or (operator in (">&", "<&") and re.fullmatch(r"\d|-", values[0])):
        return
    elif operator.startswith("<"):
        held.reads += values
    else:
        held.writes += values


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    """Words and operators in one pass. A word is `open` where variables in it are replaced."""
    at, size = 0, len(text)
    parts: list[str] = []
    kind = "word"
    in_word = False
    unclosed: set[str] = set()

    def word() -> tuple[str, str]:
        return kind, "".join(parts)[:_MAX_WORD]

    while at < size:
        char = text[at]
        if char in " \t\r":
            if in_word:
                yield word()
            parts, kind, in_word = [], "word", False
            at += 1
            continue
        if char in "'\"" and char not in unclosed:
            end = _closing(text, at, char)
            if end < 0:
                unclosed.add(char)
                at += 1
                continue
            inner = text[at + 1 : end]
            if char == '"':
                kind = "open" if "$" in inner else kind
                inner = re.sub(r"\\([\"\\$`])", r"\1", inner)
            parts.append(inner)
            in_word, at = True, end + 1
            continue
        if char == "\\" and at + 1 < size:
            parts.append(text[at + 1])
            in_word, at = True, at + 2
            continue
        if char == "$":
            close = _inner_end(text, at) if text[at + 1 : at + 2] == "(" else -1
            if close > 0:
                parts.append(text[at : close + 1])
                in_word, at = True, close + 1
                continue
            kind = "open"
        operator = _OPERATOR.match(text, at)
        # A digit is part of an operator only where a word could begin.
        if operator is not None and not (in_word and operator[0][0].isdigit()):
            if in_word:
                yield word()
            parts, kind, in_word = [], "word", False
            yield "operator", operator[0]
            at = operator.end()
            continue
        plain = _PLAIN.match(text, at)
        end = plain.end() if plain is not None else at + 1
        if char not in "'\"`" or char in unclosed:
            parts.append(text[at:end])
            in_word = True
        at = end
    if in_word:
        yield word()


def _substitutions(text: str) -> Iterator[str]:
    """The commands within a text whose output becomes words, outermost first."""
    at = 0
    while (found := _OPENING.search(text, at)) is not None:
        end = _inner_end(text, found.start())
        if end > 0:
            yield text[found.end() : end]
        at = max(found.end(), end + 1)


def _inner_end(text: str, at: int) -> int:
    """Where a substitution that begins here ends, or -1."""
    if text[at] == "`":
        return text.find("`", at + 1, at + _MAX_INNER)
    depth = 0
    for found in re.compile(r"[()]").finditer(text, at, at + _MAX_INNER):
        depth += 1 if found[0] == "(" else -1
        if depth == 0:
            return found.start()
    return -1


def _closing(text: str, at: int, quote: str) -> int:
    """Where a quotation ends, or -1."""
    end = text.find(quote, at + 1)
    while quote == '"' and end > 0 and _escaped(text, end, at):
        end = text.find(quote, end + 1)
    return end


def _escaped(text: str, end: int, start: int) -> bool:
    backslashes = 0
    while end - 1 - backslashes > start and text[end - 1 - backslashes] == "\\":
        backslashes += 1
    return backslashes % 2 == 1


def _expanded(word: str, known: _Known) -> list[str]:
    """A word with variables replaced: one for each value, where a loop gives several."""
    words = [word]
    for found in islice(_VARIABLE.finditer(word), 8):
        values = known.get(found[1] or found[2])
        if values is not None:
            words = [one.replace(found[0], value)[:_MAX_WORD] for one in words for value in values]
            words = words[:_MAX_VALUES]
    return words


def _unwrapped(words: list[str], known: _Known) -> tuple[list[str], list[str]]:
    """The command itself and the programs that only start it; assignments are remembered."""
    at = 0
    wrappers: list[str] = []
    if words[:1] == ["for"] and len(words) > 3 and words[2] == "in":
        known[words[1]] = words[3:][:_MAX_VALUES]
        return words, wrappers
    while at < len(words):
        word = words[at].rpartition("/")[2]
        assignment = _ASSIGNMENT.match(words[at])
        if assignment is not None:
            known[assignment[1]] = [assignment[2]]
            at += 1
        elif word in _SETS and at + 1 < len(words) and "=" in words[at + 1]:
            for one in words[at + 1 :]:
                if (assignment := _ASSIGNMENT.match(one)) is not None:
                    known[assignment[1]] = [assignment[2]]
            break
        elif word in _WRAPPERS and at + 1 < len(words):
            wrappers.append(word)
            at += 1
            while at < len(words) and (words[at].startswith("-") or re.fullmatch(r"\d+[smhd]?", words[at])):
                at += 1
        else:
            break
    return words[at:], wrappers


def _code(program: str, words: list[str]) -> str:
    """What an interpreter is told to run on its command line."""
    if _INTERPRETERS.fullmatch(program) is None:
        return ""
    for index, word in enumerate(words[1:-1], 1):
        if re.fullmatch(r"-[a-zA-Z]*[ce]|--eval|--exec", word):
            return words[index + 1]
    return ""
