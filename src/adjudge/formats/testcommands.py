"""Test commands as recipes write them: what they run, which runner they are, and how one is made to report.

Only a command that is one program with arguments is understood; anything a shell would have to interpret is
left to the shell.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from adjudge.records.evidence import TestCommand

__all__ = [
    "PythonSuite",
    "Reporting",
    "add_reporter",
    "parse_node_suite",
    "parse_python_suite",
    "runner_files",
]


class PythonSuite(NamedTuple):
    """A command that runs pytest or unittest."""

    command: TestCommand
    select: tuple[str, ...] = ()
    """The single tests it names; the runner is given their files."""


class Reporting(NamedTuple):
    """A command that was given a reporter."""

    command: str
    format: str
    """A name from `adjudge.testreports`."""
    report: PurePosixPath | None
    """Where it writes it; None when the report is what it prints."""


def parse_python_suite(command: str) -> PythonSuite | None:
    """Read a command that runs pytest or unittest; None when it is something else."""
    words = _words(command)
    if words is None:
        return None
    env: dict[str, str] = {}
    if words[0] == "env":
        words = words[1:]
    while words and _ASSIGNMENT.match(words[0]):
        name, _, value = words[0].partition("=")
        env[name] = value
        words = words[1:]
    if not words:
        return None
    # The recipe's own import path is no secret hand of the candidate's.
    path = tuple(part for part in env.pop("PYTHONPATH", "").split(":") if part)
    env.pop("PYTEST_ADDOPTS", None)
    program, rest = words[0], words[1:]
    name = program.rpartition("/")[2]
    python = ("python3",)
    if name in ("pytest", "py.test", "pytest-3"):
        runner = "pytest"
    elif _PYTHON.fullmatch(name):
        python = (program if "/" not in program or program.startswith("/") else f"/workspace/{program}",)
        while rest and rest[0] in _PYTHON_FLAGS:
            rest = rest[1:]
        if len(rest) < 2 or rest[0] != "-m" or rest[1] not in ("pytest", "unittest"):
            return None
        runner, rest = rest[1], rest[2:]
    else:
        return None
    made = _pytest(rest) if runner == "pytest" else _unittest(rest)
    if made is None:
        return None
    args, select, config = made
    suite = TestCommand(
        runner="pytest" if runner == "pytest" else "unittest",
        interpreter=python,
        args=tuple(args),
        path=tuple(dict.fromkeys((*path, "."))),
        config=config,
        env=env,
    )
    return PythonSuite(suite, tuple(select))


def parse_node_suite(command: str) -> TestCommand | None:
    """Read a command that runs `node --test` and nothing that would need node's own options."""
    words = _words(command)
    if words is None:
        return None
    env: dict[str, str] = {}
    if words[0] == "env":
        words = words[1:]
    while words and _ASSIGNMENT.match(words[0]):
        name, _, value = words[0].partition("=")
        env[name] = value
        words = words[1:]
    if not words or words[0].rpartition("/")[2] != "node" or "NODE_OPTIONS" in env:
        return None
    program, rest = words[0], words[1:]
    if "--test" not in rest or ("/" in program and not program.startswith("/")):
        return None
    args = []
    for word in rest:
        if word == "--test" or re.fullmatch(r"--test-(?:concurrency=\d+|only=false)", word):
            continue
        if word.startswith("-") or "**" in word or word.startswith("/") or ".." in word.split("/"):
            return None
        args.append(word.removeprefix("./").rstrip("/") or ".")
    return TestCommand(runner="node", interpreter=(program,), args=tuple(args), path=(), env=env)


_PYTHON = re.compile(r"python(?:3(?:\.\d+)?)?")
_PYTHON_FLAGS = ("-B", "-u", "-s", "-E", "-I", "-P", "-b", "-bb")
_PUNCTUATION = frozenset("();<>|&")
_EXPANDED = re.compile(r"[$`\n]")
_STOPS_EARLY = re.compile(
    r"--(?:exitfirst|maxfail=.*|lf|last-failed|ff|failed-first|nf|new-first|sw|stepwise|pdb|trace)"
)
_WITH_VALUE = ("-k", "-m", "-o", "-W", "-p", "-n", "--deselect", "--ignore", "--ignore-glob", "--durations")


def _words(command: str) -> list[str] | None:
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


def _pytest(words: Sequence[str]) -> tuple[list[str], list[str], str | None] | None:
    """Arguments without what would end a session early, the single tests named, and the configuration."""
    args: list[str] = []
    select: list[str] = []
    config: str | None = None
    pending = iter(words)
    for word in pending:
        if word in ("-c", "--config-file"):
            config = next(pending, None)
        elif word.startswith("--config-file="):
            config = word.partition("=")[2]
        elif word in ("--maxfail", "--junitxml", "--junit-xml", "--rootdir"):
            next(pending, None)
        elif word.startswith(("--junitxml=", "--junit-xml=", "--rootdir=")) or _STOPS_EARLY.fullmatch(word):
            continue
        elif word in ("--co", "--collect-only", "-h", "--help", "--version"):
            return None
        elif word in _WITH_VALUE:
            value = next(pending, "")
            if (word, value) != ("-p", "no:cacheprovider"):
                args += [word, value]
        elif re.fullmatch(r"-[qvsxl]+", word):
            kept = word.replace("x", "")
            args += [kept] if kept != "-" else []
        elif not word.startswith("-") and "::" in word:
            select.append(word.removeprefix("./"))
            file = word.removeprefix("./").partition("[")[0].partition("::")[0]
            args += [file] if file not in args else []
        elif not word.startswith("-") and re.search(r"[*?]", word):
            return None
        else:
            args.append(word)
    return args, select, config


def _unittest(words: Sequence[str]) -> tuple[list[str], list[str], str | None]:
    return [word for word in words if word not in ("-f", "--failfast", "-b", "--buffer")], [], None


def add_reporter(command: str, report: PurePosixPath) -> Reporting | None:
    """The command made to write a report; None when it is of no runner that is known.

    Args:
        command: As the recipe has it.
        report: Where the report is to go, inside the sandbox.
    """
    words = _words(command)
    if words is None or any(re.search(r"[*?\[]", word) for word in words):
        return None
    at = 1 if words[0] in ("npx", "yarn", "pnpm", "bunx") and len(words) > 1 else 0
    program = words[at].rpartition("/")[2]
    before, after = words[: at + 1], words[at + 1 :]
    if program == "node" and "--test" in after and not any("--test-reporter" in word for word in after):
        added = ["--test-reporter=junit", f"--test-reporter-destination={report}"]
        return Reporting(shlex.join([*before, *added, *after]), "junit", report)
    if program == "jest" and not any(word.startswith(("--json", "--outputFile")) for word in after):
        return Reporting(shlex.join([*words, "--json", f"--outputFile={report}"]), "jest", report)
    if program == "vitest" and not any(word.startswith("--reporter") for word in after):
        return Reporting(shlex.join([*words, "--reporter=json", f"--outputFile={report}"]), "jest", report)
    if program == "go" and after[:1] == ["test"] and "-json" not in after:
        return Reporting(shlex.join([*before, "test", "-json", *after[1:]]), "go-json", None)
    return None


_SCRIPTS = (".sh", ".bash", ".zsh", ".mk")
_MAKEFILES = ("Makefile", "makefile", "GNUmakefile", "**/*.mk")
_SEPARATORS = re.compile(r"[;&|()\n]+")
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")


def runner_files(command: str) -> tuple[str, ...]:
    """Patterns of what a command runs that stands between it and the product: make, scripts, PATH.

    Programs of the product itself (`python app.py`) are not among them.
    """
    found: dict[str, None] = {}
    for part in _SEPARATORS.split(command):
        try:
            words = shlex.split(part)
        except ValueError:
            words = part.split()
        first = True
        for word in words:
            if first and _ASSIGNMENT.match(word):
                name, _, value = word.partition("=")
                entries = value.split(":") if name == "PATH" else ()
                for entry in filter(None, map(_inside, entries)):
                    found[entry] = None
                continue
            path = _inside(word)
            if first and word.rpartition("/")[2] in ("make", "gmake"):
                found |= dict.fromkeys(_MAKEFILES)
            elif path is not None and (word.endswith(_SCRIPTS) or (first and "/" in word)):
                found[path] = None
            first = first and word in ("env", "exec", "time", "nice", "command")
    return tuple(found)


def _inside(word: str) -> str | None:
    """A word as a path in the workspace, taken literally; None when it cannot be one."""
    path = word.removeprefix("/workspace/").removeprefix("$PWD/")
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if not parts or path.startswith(("/", "~", "$", "-")) or ".." in parts or "\\" in path or "{" in path:
        return None
    return re.sub(r"([\[*?])", r"[\1]", "/".join(parts))
