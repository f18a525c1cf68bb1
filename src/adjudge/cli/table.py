"""The commands, as data: name → where it lives and its line in `--help`.

`adjudge --help` and `--version` import this table and nothing else of ours, which keeps them fast.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["COMMANDS", "Entry"]


class Entry(NamedTuple):
    """Where a command is and what it does, in one line."""

    target: str
    summary: str


COMMANDS: dict[str, Entry] = {
    "changes": Entry("adjudge.cli.changes:changes", "Show what a workspace changed against a baseline."),
    "doctor": Entry("adjudge.cli.doctor:doctor", "Say what this machine can do and what to install."),
    "init": Entry("adjudge.cli.init:init", "Write a scenario to start from."),
    "sandbox": Entry("adjudge.cli.sandbox:sandbox", "Run a command in a sandbox and see what it changed."),
    "schema": Entry("adjudge.cli.schema:schema", "Print the JSON Schema of scenario files."),
    "scorers": Entry("adjudge.cli.scorers:scorers", "List the checks a recipe can use, or explain one."),
    "seed": Entry("adjudge.cli.seed:seed", "Make a workspace from a scenario and record its baseline."),
    "validate": Entry("adjudge.cli.validate:validate", "Check scenarios and say everything that is wrong."),
}
