"""Commands that are given a reporter, where results come from a single run."""

from __future__ import annotations

import re
import shlex
from pathlib import PurePosixPath
from typing import Final, NamedTuple

from adjudge.formats.testcommands.words import command_words

__all__ = ["Reporting", "add_reporter"]


class Reporting(NamedTuple):
    """A command that was given a reporter."""

    command: str
    format: str
    """A name from `adjudge.testreports`."""
    report: PurePosixPath | None
    """Where it writes it; None when the report is what it prints."""
    certain: bool = True
    """Whether the runner is known. If not, it may be another one, which writes no report or ends at once."""


_STARTERS: Final = frozenset({"npm", "yarn", "pnpm"})
"""Programs that start whatever a package says; node's own runner may be behind it."""


def _is_script(words: list[str]) -> bool:
    """Whether `node` is given a file to run."""
    return bool(words) and words[0].endswith((".js", ".mjs", ".cjs"))


def _reports_to_file(words: list[str]) -> bool:
    """Whether results of `node --test` go elsewhere, or to a reporter whose name stands apart."""
    return any(word == "--test-reporter" or word.startswith("--test-reporter-") for word in words)


def add_reporter(command: str, report: PurePosixPath) -> Reporting | None:
    """The command made to write a report; None when it is of no runner that is known.

    Args:
        command: As the recipe has it.
        report: Where the report is to go, inside the sandbox.
    """
    words = command_words(command)
    if words is None:
        return None
    if any(re.search(r"[*?\[]", word) for word in words):
        return _with_patterns(command.strip(), words, report)
    at = 1 if words[0] in ("npx", "yarn", "pnpm", "bunx") and len(words) > 1 else 0
    program = words[at].rpartition("/")[2]
    before, after = words[: at + 1], words[at + 1 :]
    if program == "node" and "--test" in after and not _reports_to_file(after):
        after = [word for word in after if not word.startswith("--test-reporter=")]
        added = ["--test-reporter=junit", f"--test-reporter-destination={report}"]
        return Reporting(shlex.join([*before, *added, *after]), "junit", report)
    if program == "jest" and not any(word.startswith(("--json", "--outputFile")) for word in after):
        return Reporting(shlex.join([*words, "--json", f"--outputFile={report}"]), "jest", report)
    if program == "vitest" and not any(word.startswith("--reporter") for word in after):
        return Reporting(shlex.join([*words, "--reporter=json", f"--outputFile={report}"]), "jest", report)
    if program == "go" and after[:1] == ["test"] and "-json" not in after:
        return Reporting(shlex.join([*before, "test", "-json", *after[1:]]), "go-json", None)
    if words[0] in _STARTERS or (program == "node" and "--test" not in after and _is_script(after)):
        options = f"--test-reporter=junit --test-reporter-destination={report}"
        return Reporting(f"env NODE_OPTIONS={shlex.quote(options)} {command}", "junit", report, certain=False)
    return None


def _with_patterns(command: str, words: list[str], report: PurePosixPath) -> Reporting | None:
    """The same where a shell expands patterns: only what stands before them is touched, and never a quote."""
    if words[0] != "node" or "--test" not in words or _reports_to_file(words):
        return None
    rest = re.sub(r"\s--test-reporter=[\w./-]+(?=\s)", "", command.removeprefix("node"))
    added = shlex.join(["node", "--test-reporter=junit", f"--test-reporter-destination={report}"])
    return Reporting(f"{added}{rest}", "junit", report)
