"""Commands that run pytest or unittest."""

from __future__ import annotations

import re
from collections.abc import Sequence

from adjudge.formats.testcommands.words import SuiteCommand, parse_plain
from adjudge.records.evidence import TestCommand

__all__ = ["parse_python_suite"]

_PYTHON = re.compile(r"python(?:3(?:\.\d+)?)?")
_PYTHON_FLAGS = ("-B", "-u", "-s", "-E", "-I", "-P", "-b", "-bb")
_STOPS_EARLY = re.compile(
    r"--(?:exitfirst|maxfail=.*|lf|last-failed|ff|failed-first|nf|new-first|sw|stepwise|pdb|trace)"
)
_WITH_VALUE = ("-k", "-m", "-o", "-W", "-p", "-n", "--deselect", "--ignore", "--ignore-glob", "--durations")


def parse_python_suite(command: str) -> SuiteCommand | None:
    """Read a command that runs pytest or unittest; None when it is something else."""
    plain = parse_plain(command)
    if plain is None:
        return None
    env, program, rest = plain
    # The recipe's own import path is no secret hand of the candidate's.
    path = tuple(part for part in env.pop("PYTHONPATH", "").split(":") if part)
    env.pop("PYTEST_ADDOPTS", None)
    name = plain.name
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
    return SuiteCommand(suite, tuple(select))


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
