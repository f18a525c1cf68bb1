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
    "grade": Entry("adjudge.cli.grade:grade", "Grade a workspace or a patch by a scenario."),
    "sandbox": Entry("adjudge.cli.sandbox:sandbox", "Run a command in a sandbox and see what it changed."),
}
