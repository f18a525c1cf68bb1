"""Commands that stand for one which a file of the project has: scripts of packages, targets of makefiles."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from adjudge.formats.testcommands.javascript import parse_script_name, script_command
from adjudge.formats.testcommands.makefiles import MAKEFILES, parse_target_name, target_command

__all__ = ["is_named", "written_command"]

_MAX_DEPTH: Final = 4
"""A target may run a script, and that another one; whoever goes on for longer goes round."""


def is_named(command: str) -> bool:
    """Whether a command runs what a file of the project says."""
    return parse_script_name(command) is not None or parse_target_name(command) is not None


def written_command(command: str, read: Callable[[str], bytes | None]) -> str | None:
    """The plain command behind one, which may be itself; None when there is more to it.

    Args:
        command: As a recipe has it.
        read: Gives a file at the top of the project; None when there is none.
    """
    for _ in range(_MAX_DEPTH):
        written: str | None
        if (script := parse_script_name(command)) is not None:
            written = script_command(read("package.json") or b"", *script)
        elif (target := parse_target_name(command)) is not None:
            file = next((data for name in MAKEFILES if (data := read(name)) is not None), None)
            written = target_command(file, target) if file is not None else None
        else:
            return command
        if not written:
            return None
        command = written
    return None
