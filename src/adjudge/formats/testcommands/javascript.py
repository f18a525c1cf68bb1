"""Commands that run Jest or Vitest, by whichever way they are started."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

from adjudge.formats.testcommands.words import PlainCommand, SuiteCommand, parse_plain
from adjudge.records.evidence import TestCommand

__all__ = ["parse_javascript_suite", "parse_script_name", "script_command", "suite_options"]

_STARTERS: Mapping[str, tuple[str, ...]] = {
    "npx": (), "bunx": (), "yarn": ("run", "exec"), "pnpm": ("exec", "run", "dlx"), "npm": ("exec",),
}  # fmt: skip
"""Programs that start another one, and the words that may stand between."""
_SCRIPTS = re.compile(
    r"(?:\./)?node_modules/(?:\.bin/(jest|vitest)|(jest)/bin/jest(?:\.js)?|(vitest)/vitest\.mjs)"
)
_NODE_OPTIONS = ("--experimental-vm-modules", "--no-warnings")
"""What Jest's own pages tell people to set; harmless."""

_JEST_DROPPED = re.compile(
    r"--(?:ci|runInBand|verbose(?:=\w+)?|silent(?:=\w+)?|coverage(?:=\w+)?|no-coverage|collectCoverage(?:=\w+)?"
    r"|colors?|no-colors?|no-cache|cache|forceExit|passWithNoTests|detectOpenHandles|bail(?:=\d+)?"
    r"|maxWorkers=[\d%]+|no-watchman|watch(?:All)?=false|logHeapUsage|json|outputFile=.*|reporters=.*)|-[ib]"
)
_VITEST_DROPPED = re.compile(
    r"--(?:run|coverage(?:[.=].*)?|no-coverage|reporter=.*|outputFile=.*|silent(?:=\w+)?|no-color|bail=\d+"
    r"|passWithNoTests|no-file-parallelism|fileParallelism=\w+|pool=\w+|no-watch|watch=false|no-isolate"
    r"|isolate(?:=\w+)?|maxWorkers=[\d%]+|minWorkers=\d+|hideSkippedTests)"
)
_JEST_KEPT = {"config": "config", "env": "env", "testEnvironment": "env", "testTimeout": "testTimeout"}
_VITEST_KEPT = {"config": "config", "environment": "environment", "testTimeout": "testTimeout"}
_SWITCHES = ("--globals", "--dom", "--runTestsByPath")
_JEST_PATTERNS = ("testPathPattern", "testPathPatterns")
_WITH_VALUE = (
    "--config", "-c", "--env", "--environment", "--testEnvironment", "--testTimeout", "--maxWorkers", "-w",
    "--reporter", "--reporters", "--outputFile", "--bail", "--testPathPattern", "--testPathPatterns",
)  # fmt: skip
_SHORT = {"-c": "--config", "-w": "--maxWorkers"}


def parse_javascript_suite(command: str) -> SuiteCommand | None:
    """Read a command that runs Jest or Vitest; None when it is something else, or has options of its own."""
    plain = parse_plain(command)
    if plain is None:
        return None
    options = plain.env.pop("NODE_OPTIONS", "").split()
    started = _started(plain)
    if started is None or any(option not in _NODE_OPTIONS for option in options):
        return None
    runner, node, words = started
    args = _args(runner, words)
    if args is None:
        return None
    suite = TestCommand(
        runner="jest" if runner == "jest" else "vitest",
        interpreter=("node", *dict.fromkeys((*options, *node))),
        args=tuple(args),
        path=(),
        env=plain.env,
    )
    return SuiteCommand(suite)


def parse_script_name(command: str) -> tuple[str, str] | None:
    """The script of `package.json` that a command runs, and what it is given; None when it runs none."""
    plain = parse_plain(command)
    if plain is None or plain.env or plain.program not in ("npm", "yarn", "pnpm"):
        return None
    words = [word for word in plain.args if word not in ("--silent", "-s")]
    if words[:1] == ["run"] and len(words) > 1:
        words = words[1:]
    elif words[:1] in (["t"], ["tst"]) and plain.program == "npm":
        words = ["test", *words[1:]]
    elif words[:1] != ["test"]:
        return None
    name, rest = words[0], words[1:]
    if plain.program == "npm" and rest and rest[0] != "--":
        return None
    return name, " ".join(rest[1:] if rest[:1] == ["--"] else rest)


def script_command(package: bytes, name: str, more: str) -> str | None:
    """What a script of a `package.json` runs, with further words behind; None when there is more to it.

    Args:
        package: The file.
        name: The script.
        more: What the command gives it beyond.
    """
    try:
        read = json.loads(package)
    except (ValueError, RecursionError):
        return None
    scripts = read.get("scripts") if isinstance(read, dict) else None
    if not isinstance(scripts, dict) or f"pre{name}" in scripts or f"post{name}" in scripts:
        return None
    written = scripts.get(name)
    if not isinstance(written, str):
        return None
    return f"{written.strip().removeprefix('cross-env ')} {more}".strip()


def suite_options(args: Sequence[str]) -> tuple[dict[str, str | int | bool], list[str]]:
    """The options among a suite's arguments, by the runner's names for them, and the patterns of files."""
    options: dict[str, str | int | bool] = {}
    patterns = []
    for arg in args:
        name, equals, value = arg.removeprefix("--").partition("=")
        if not arg.startswith("--"):
            patterns.append(arg)
        elif not equals:
            options[name] = True
        else:
            options[name] = int(value) if name == "testTimeout" and value.isdecimal() else value
    return options, patterns


def _started(plain: PlainCommand) -> tuple[str, list[str], list[str]] | None:
    """The runner, options for node, and the words behind."""
    words = [plain.program, *plain.args]
    if words[0] in _STARTERS:
        between = _STARTERS[words[0]]
        words = words[1:]
        while words and (words[0] in between or words[0] in ("--no-install", "--no", "-y", "--yes", "--")):
            words = words[1:]
    node: list[str] = []
    if words[:1] == ["node"]:
        words = words[1:]
        while words and words[0] in _NODE_OPTIONS:
            node.append(words[0])
            words = words[1:]
        if not words or _SCRIPTS.fullmatch(words[0]) is None:
            return None
    if not words:
        return None
    script = _SCRIPTS.fullmatch(words[0])
    name = next(filter(None, script.groups())) if script is not None else words[0]
    return (name, node, words[1:]) if name in ("jest", "vitest") else None


def _args(runner: str, words: Sequence[str]) -> list[str] | None:
    """Patterns of files, and options that say how the tests run; what only people read is dropped."""
    jest = runner == "jest"
    dropped, kept = (_JEST_DROPPED, _JEST_KEPT) if jest else (_VITEST_DROPPED, _VITEST_KEPT)
    if not jest and words[:1] == ["run"]:
        words = words[1:]
    args: list[str] = []
    pending = iter(words)
    for word in pending:
        if word in _WITH_VALUE and not (word == "--bail" and jest):
            word = f"{_SHORT.get(word, word)}={next(pending, '')}"
        name, equals, value = word.removeprefix("--").partition("=")
        if dropped.fullmatch(word):
            continue
        if word in _SWITCHES and (word == "--runTestsByPath") is jest:
            args.append(word)
        elif word.startswith("--") and equals and name in kept and value and _is_inside(value):
            args.append(f"--{kept[name]}={value.removeprefix('./')}")
        elif jest and equals and name in _JEST_PATTERNS and value:
            args.append(value)
        elif word.startswith("-") or not _is_inside(word):
            return None
        else:
            args.append(word.removeprefix("./"))
    return args


def _is_inside(path: str) -> bool:
    return not path.startswith("/") and ".." not in path.split("/")
