"""Commands that run every test twice in one process, and what they say of tests that passed only once."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from typing import Final, NamedTuple

from adjudge.formats.testcommands.spelling import spell_command
from adjudge.formats.testcommands.suites import parse_suite

__all__ = ["Repeating", "passed_once", "repeat_tests"]

_FOLDER: Final = ".adjudge-again"
_PLUGIN: Final = """\
import json
_ended = {{}}
def pytest_collection_modifyitems(items):
    items[:] = [*items, *reversed(items)]
def pytest_runtest_logreport(report):
    if report.when == "call" or report.failed:
        _ended.setdefault(report.nodeid, []).append(report.outcome)
def pytest_sessionfinish():
    with open({target!r}, "w") as file:
        for name, outcomes in _ended.items():
            if outcomes[:1] == ["passed"] and "failed" in outcomes[1:]:
                file.write(json.dumps(name) + "\\n")
"""
_GO: Final = re.compile(r"^\s*--- (PASS|FAIL): (\S+)", re.MULTILINE)
_MAX_NAMES: Final = 200


class Repeating(NamedTuple):
    """A command that runs tests twice."""

    command: str
    files: Mapping[str, bytes]
    """What is laid over the workspace for it."""


def repeat_tests(command: str, target: str) -> Repeating | None:
    """The command made to run each test twice; None where its runner cannot.

    Args:
        command: As the recipe has it.
        target: The file that results are written to, inside the sandbox.
    """
    suite = parse_suite(command)
    if suite is None:
        return None
    spelt = spell_command(suite.command, suite.select)
    if suite.command.runner == "go":
        return Repeating(f"{spelt} -count=2 -v > {shlex.quote(target)} 2>&1", {})
    if suite.command.runner == "pytest":
        path = ":".join((_FOLDER, *suite.command.path))
        plugin = _PLUGIN.format(target=target).encode()
        return Repeating(
            f"export PYTHONPATH={shlex.quote(path)}; {command} -p adjudge_again",
            {f"{_FOLDER}/adjudge_again.py": plugin},
        )
    return None


def passed_once(said: bytes) -> tuple[str, ...]:
    """Tests that passed the first time and failed the second, from what such a command left."""
    text = said.decode("utf-8", "replace")
    ended: dict[str, set[str]] = {}
    for how, name in _GO.findall(text):
        ended.setdefault(name, set()).add(how)
    found = [name for name, ways in ended.items() if len(ways) > 1]
    found += [line.strip('"') for line in text.splitlines() if line.startswith('"')]
    return tuple(found[:_MAX_NAMES])
