"""Suites as lines for a shell."""

from __future__ import annotations

import pytest

from adjudge.formats.testcommands.spelling import spell_command, unseen_runs
from adjudge.formats.testcommands.suites import parse_suite
from adjudge.records.evidence import (
    AnyRequest,
    CommandRun,
    GradedTree,
    Isolation,
    ParsedChange,
    TestCommand,
    TestRun,
)
from adjudge.records.hidden import HiddenFile

HIDDEN = GradedTree(isolation=Isolation.CLEAN, inject=(HiddenFile(src="hidden/test_a.py", dest="test_a.py"),))


@pytest.mark.parametrize(
    "command",
    [
        "python3 -m pytest tests -k 'a and b'",
        "python3 -m unittest tests.test_a",
        "node --test test/a.test.js",
        "go test -race ./...",
        "NODE_OPTIONS=--experimental-vm-modules npx jest src",
        "npx vitest run src",
    ],
)
def test_a_command_is_read_as_what_was_spelt(command: str) -> None:
    suite = parse_suite(command)
    assert suite is not None
    again = parse_suite(spell_command(suite.command, suite.select))
    assert again == suite


def test_only_runs_with_hidden_tests() -> None:
    runs: list[AnyRequest] = [
        ParsedChange(),
        CommandRun(command="make test", timeout_s=5),
        CommandRun(command="make hidden", timeout_s=5, tree=HIDDEN),
        TestRun(command=TestCommand(path=("src", ".")), scope="hidden", timeout_s=7, tree=HIDDEN),
        TestRun(command=TestCommand(), scope="ids", expected=("t/test_b.py::test[x]",), tree=HIDDEN),
    ]
    assert list(unseen_runs(runs)) == [
        CommandRun(command="make hidden", timeout_s=5, tree=HIDDEN),
        CommandRun(command="PYTHONPATH=src:. python3 -m pytest test_a.py", timeout_s=7, tree=HIDDEN),
        CommandRun(command="python3 -m pytest t/test_b.py", timeout_s=900, tree=HIDDEN),
    ]
