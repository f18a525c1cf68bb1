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
_UNITTEST: Final = """\
import json, unittest
unittest.TestSuite._cleanup = False
class Twice(unittest.TextTestRunner):
    def run(self, test):
        first, second = super().run(test), super().run(test)
        failed = [{{one.id() for one, _ in result.failures + result.errors}} for result in (first, second)]
        with open({target!r}, "w") as file:
            for name in sorted(failed[1] - failed[0]):
                file.write(json.dumps(name) + "\\n")
        return second
unittest.main(module=None, testRunner=Twice)
"""
_OF_UNITTEST: Final = re.compile(r"(?<=\s)-m\s+unittest(?=\s|$)")
_NODE: Final = """\
// Files of tests are loaded once more beside the product that they loaded at first.
if (process.env.NODE_TEST_CONTEXT && process.argv[1]) {
  const file = process.argv[1];
  setImmediate(() => {
    if (require.cache[file]) {
      delete require.cache[file];
      require(file);
    } else {
      import(require("node:url").pathToFileURL(file).href + "?again");
    }
  });
}
"""
_OF_NODE: Final = re.compile(r"(?:\S*/)?(?:node\s(?:.*\s)?--test(?=\s|$)|(?:npm|yarn|pnpm)\s)")
_TAP: Final = re.compile(r"^( *)(ok|not ok) \d+ - (.*?)( # (?:SKIP|TODO)\b.*)?$")
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
    if _OF_NODE.match(command.strip()):
        loaded = f"--require $PWD/{_FOLDER}/again.cjs"
        options = f"{loaded} --test-reporter=tap --test-reporter-destination={shlex.quote(target)}"
        return Repeating(
            f'export NODE_OPTIONS="{options}"; {command}', {f"{_FOLDER}/again.cjs": _NODE.encode()}
        )
    if _OF_UNITTEST.search(command):
        runner = _UNITTEST.format(target=target).encode()
        again = _OF_UNITTEST.sub("-m adjudge_again", command, count=1)
        path = f'export PYTHONPATH="{_FOLDER}${{PYTHONPATH:+:$PYTHONPATH}}"'
        return Repeating(f"{path}; {again}", {f"{_FOLDER}/adjudge_again.py": runner})
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
    found += _once_in_tap(text)
    return tuple(found[:_MAX_NAMES])


def _once_in_tap(text: str) -> list[str]:
    """Tests that have both results; a suite has those of its tests, so it is none."""
    ended: dict[str, set[str]] = {}
    deep = 0
    for line in text.splitlines():
        found = _TAP.match(line)
        if found is None:
            continue
        inner, deep = deep, len(found[1])
        if inner <= deep and not found[4]:
            ended.setdefault(found[3], set()).add(found[2])
    return [name for name, ways in ended.items() if len(ways) > 1]
