"""Targets of makefiles that run one plain command; whatever takes make itself to work out is left to it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from adjudge.formats.testcommands.words import ASSIGNMENT, parse_plain

__all__ = ["MAKEFILES", "TargetName", "parse_target_name", "target_command"]

MAKEFILES: Final = ("GNUmakefile", "makefile", "Makefile")
"""In the order in which make looks for them."""
_QUIET: Final = frozenset({"-s", "--silent", "--quiet", "--no-print-directory"})
_VARIABLE: Final = re.compile(r"(export\s+|override\s+)?([A-Za-z_.][\w.]*)\s*(\?=|\+=|:{0,3}=)\s*(.*)")
_RULE: Final = re.compile(r"([^:=#]+?)\s*:(?![:=])\s*([^;]*)(?:;(.*))?")
_REFERENCE: Final = re.compile(r"\$(?:\(([^()$]*)\)|\{([^{}$]*)\}|(.))")
_NAME: Final = re.compile(r"[A-Za-z_][\w.]*")
_SETTLED_BY_MAKE: Final = re.compile(
    r"(?:-?include|sinclude|define|ifn?eq|ifn?def|else|endif|unexport|vpath|load)\b|\.(?:ONESHELL|EXPORT_ALL_VARIABLES)\b"
)
"""Lines after which only make knows what holds."""
_DEFINED_BY_MAKE: Final = re.compile(r"AR|AS|CC|CPP|CURDIR|CXX|FC|HOME|LD|LEX|MAKE\w*|PATH|PC|RM|SHELL|YACC")
"""Variables that have a value though no line gives them one."""
_DECIDES: Final = frozenset({"SHELL", ".SHELLFLAGS", "MAKEFLAGS", "PATH"})
"""Variables that change how every line is run."""
_MAX_DEPTH: Final = 20
_MAX_LENGTH: Final = 4096


class TargetName(NamedTuple):
    """A target that a command makes."""

    name: str
    variables: Mapping[str, str]
    """What the command sets."""


class _Makefile(NamedTuple):
    variables: dict[str, str]
    exported: list[str]
    needs: dict[str, list[str]]
    """What a target depends on."""
    recipes: dict[str, list[str]]


def parse_target_name(command: str) -> TargetName | None:
    """The one target that a command makes in the folder it is run in; None when it does something else."""
    plain = parse_plain(command)
    if plain is None or plain.env or plain.program not in ("make", "gmake"):
        return None
    names: list[str] = []
    variables: dict[str, str] = {}
    for word in plain.args:
        if ASSIGNMENT.match(word):
            name, _, value = word.partition("=")
            variables[name] = value
        elif word not in _QUIET:
            names.append(word)
    if len(names) != 1 or names[0].startswith("-"):
        return None
    return TargetName(names[0], variables)


def target_command(makefile: bytes, target: TargetName) -> str | None:
    """The one command that a target runs; None when there is more to it.

    Args:
        makefile: The file.
        target: What is made, and with which variables.
    """
    read = _read(makefile.decode("utf-8", "replace"))
    if read is None or _DECIDES & {*read.variables, *target.variables}:
        return None
    recipes = [line for name in _chain(read, target.name) for line in read.recipes.get(name, ())]
    if len(recipes) != 1 or target.name not in read.recipes:
        return None
    variables = {**read.variables, **target.variables}
    exported = [_expanded(variables.get(name, ""), variables) for name in read.exported]
    command = _expanded(recipes[0].removeprefix("@").strip(), variables)
    # A line that begins with these is run whatever it says, or whatever became of it.
    if command is None or None in exported or command.startswith(("-", "+", "@")):
        return None
    settings = [
        f"{name}={shlex.quote(value or '')}" for name, value in zip(read.exported, exported, strict=True)
    ]
    return " ".join([*settings, *command.split()])


def _chain(read: _Makefile, name: str) -> Iterator[str]:
    """A target, and all that is made before it."""
    waiting, seen = [name], {name}
    while waiting:
        one = waiting.pop()
        yield one
        new = [need for need in read.needs.get(one, ()) if need not in seen]
        seen.update(new)
        waiting += new


def _read(text: str) -> _Makefile | None:
    """Variables and rules; None where make would have to work them out."""
    found = _Makefile({}, [], {}, {})
    rule: Sequence[str] = ()
    for line in re.sub(r"\\\n[ \t]*", " ", text).splitlines():
        if line.startswith("\t"):
            for name in rule if line.strip() and not line.lstrip().startswith("#") else ():
                found.recipes.setdefault(name, []).append(line.strip())
            continue
        bare = re.sub(r"(?<!\\)#.*", "", line).strip()
        if not bare:
            continue
        if _SETTLED_BY_MAKE.match(bare):
            return None
        if (variable := _VARIABLE.fullmatch(bare)) is not None:
            rule = ()
            _assign(found, variable)
        elif re.fullmatch(r"export(?:\s+[\w.]+)+", bare):
            found.exported.extend(bare.split()[1:])
        elif (match := _RULE.fullmatch(bare)) is not None and "=" not in match[2]:
            rule = match[1].split()
            for name in rule:
                found.needs.setdefault(name, []).extend(match[2].replace("|", " ").split())
                if match[3]:
                    found.recipes.setdefault(name, []).append(match[3].strip())
        else:
            return None
    return found


def _assign(found: _Makefile, variable: re.Match[str]) -> None:
    prefix, name, how, value = variable.groups()
    if (prefix or "").startswith("export"):
        found.exported.append(name)
    if how == "?=":
        found.variables.setdefault(name, value)
    elif how == "+=":
        found.variables[name] = f"{found.variables.get(name, '')} {value}".strip()
    else:
        found.variables[name] = value


def _expanded(text: str, variables: Mapping[str, str]) -> str | None:
    """A text with its variables in place; None where it takes a function, or what make defines."""
    for _ in range(_MAX_DEPTH):
        if "$" not in text:
            return text
        if any(_value(match, variables) is None for match in _REFERENCE.finditer(text)):
            return None
        expanded = _REFERENCE.sub(lambda match: _value(match, variables) or "", text)
        if expanded == text or len(expanded) > _MAX_LENGTH:
            return None
        text = expanded
    return None


def _value(match: re.Match[str], variables: Mapping[str, str]) -> str | None:
    name = next((group for group in match.groups() if group is not None), "").strip()
    if _NAME.fullmatch(name) is None:
        return None
    return variables.get(name, None if _DEFINED_BY_MAKE.fullmatch(name) else "")
