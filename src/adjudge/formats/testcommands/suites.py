"""Commands of every runner that trusted sessions know."""

from __future__ import annotations

import re

from adjudge.formats.testcommands.golang import parse_go_suite
from adjudge.formats.testcommands.javascript import parse_javascript_suite
from adjudge.formats.testcommands.node import parse_node_suite
from adjudge.formats.testcommands.python import parse_python_suite
from adjudge.formats.testcommands.words import SuiteCommand

__all__ = ["parse_suite", "runs_tests"]

_TESTS = re.compile(
    r"(?<![\w-])(?:\w*tests?|pytest|jest|vitest|mocha|ava|rspec|ctest|tox|nox|phpunit|gotestsum)\b"
)
_PARSERS = (parse_python_suite, parse_node_suite, parse_javascript_suite, parse_go_suite)


def parse_suite(command: str) -> SuiteCommand | None:
    """Read a command that a trusted session can run; None when it is something else."""
    return next((found for parse in _PARSERS if (found := parse(command)) is not None), None)


def runs_tests(command: str) -> bool:
    """Whether a command plainly runs tests, whatever else it does."""
    return parse_suite(command) is not None or _TESTS.search(command) is not None
