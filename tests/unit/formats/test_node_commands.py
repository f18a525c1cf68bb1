"""Which commands run `node --test` plainly enough for a trusted run."""

from __future__ import annotations

import pytest

from adjudge.formats.testcommands.node import parse_node_suite


@pytest.mark.parametrize(
    ("command", "args"),
    [
        ("node --test", ()),
        ("node --test ./a.test.js test/", ("a.test.js", "test")),
        ("NODE_ENV=test node --test --test-concurrency=1 test/*.js", ("test/*.js",)),
    ],
)
def test_understood(command: str, args: tuple[str, ...]) -> None:
    found = parse_node_suite(command)
    assert found is not None
    assert (found.command.runner, found.command.interpreter, found.command.args) == ("node", ("node",), args)


@pytest.mark.parametrize(
    "command",
    [
        "node app.js",
        "npm test",
        "node --test --import ./setup.mjs",
        "node --test --test-name-pattern=x",
        "NODE_OPTIONS=--require=./x node --test",
        "node --test && true",
        "node --test '**/*.test.js'",
        "node --test ../x.test.js",
        "./node --test",
    ],
)
def test_left_to_the_shell(command: str) -> None:
    assert parse_node_suite(command) is None
