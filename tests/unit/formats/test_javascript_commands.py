"""Which commands run Jest or Vitest plainly enough for a trusted run."""

from __future__ import annotations

import json

import pytest

from adjudge.formats.testcommands.files import runner_files
from adjudge.formats.testcommands.javascript import (
    parse_javascript_suite,
    parse_script_name,
    script_command,
    suite_options,
)

pytestmark = pytest.mark.anyone


@pytest.mark.parametrize(
    ("command", "runner", "args"),
    [
        ("npx jest", "jest", ()),
        ("jest --ci --coverage -i src/a", "jest", ("src/a",)),
        ("npx --no-install jest -c ./jest.config.cjs", "jest", ("--config=jest.config.cjs",)),
        ("yarn jest --testEnvironment jsdom -w 4", "jest", ("--env=jsdom",)),
        ("pnpm exec vitest run --globals tests/", "vitest", ("--globals", "tests/")),
        ("./node_modules/.bin/vitest --run --reporter=dot", "vitest", ()),
        ("node node_modules/jest/bin/jest.js a.test.js", "jest", ("a.test.js",)),
        ("node node_modules/vitest/vitest.mjs run", "vitest", ()),
        ("CI=1 npx vitest --environment=node", "vitest", ("--environment=node",)),
        ("npx jest --testPathPattern unit", "jest", ("unit",)),
    ],
)
def test_understood(command: str, runner: str, args: tuple[str, ...]) -> None:
    found = parse_javascript_suite(command)
    assert found is not None
    assert (found.command.runner, found.command.interpreter, found.command.args) == (runner, ("node",), args)


def test_options_of_node_that_jest_asks_for() -> None:
    found = parse_javascript_suite("NODE_OPTIONS=--experimental-vm-modules npx jest")
    assert found is not None
    assert found.command.interpreter == ("node", "--experimental-vm-modules")
    assert "NODE_OPTIONS" not in found.command.env
    same = parse_javascript_suite("node --experimental-vm-modules node_modules/.bin/jest")
    assert same is not None
    assert same.command.interpreter == found.command.interpreter


@pytest.mark.parametrize(
    "command",
    [
        "npm test",
        "npx mocha",
        "npx jest -t name",
        "npx jest -u",
        "npx jest --config /etc/jest.js",
        "npx jest ../other",
        "npx vitest --project x",
        "npx vitest run | tail",
        "NODE_OPTIONS=--require=./x npx jest",
        "node ./bin/jest.js",
        "npx",
        "node",
        "npx jest --rootDir",
    ],
)
def test_left_to_the_shell(command: str) -> None:
    assert parse_javascript_suite(command) is None


def test_options_and_patterns() -> None:
    args = ("--config=a.js", "--globals", "--testTimeout=50", "src", "a.test.js")
    assert suite_options(args) == (
        {"config": "a.js", "globals": True, "testTimeout": 50},
        ["src", "a.test.js"],
    )


@pytest.mark.parametrize(
    ("command", "name", "more"),
    [
        ("npm test", "test", ""),
        ("npm t", "test", ""),
        ("npm run unit -- --ci a.test.js", "unit", "--ci a.test.js"),
        ("yarn test a", "test", "a"),
        ("pnpm test", "test", ""),
    ],
)
def test_scripts(command: str, name: str, more: str) -> None:
    assert parse_script_name(command) == (name, more)


@pytest.mark.parametrize(
    "command", ["npm ci", "npm run", "npm test a", "A=1 npm test", "npm test; true", "npx jest"]
)
def test_no_scripts(command: str) -> None:
    assert parse_script_name(command) is None


@pytest.mark.parametrize(
    ("package", "command"),
    [
        ({"scripts": {"test": "jest --ci"}}, "jest --ci -i"),
        ({"scripts": {"test": "cross-env A=1 vitest run"}}, "A=1 vitest run -i"),
        ({"scripts": {"test": "jest", "pretest": "make"}}, None),
        ({"scripts": {"test": 3}}, None),
        ({"scripts": []}, None),
        ([], None),
    ],
)
def test_what_a_script_runs(package: object, command: str | None) -> None:
    assert script_command(json.dumps(package).encode(), "test", "-i") == command


def test_a_package_that_cannot_be_read_has_no_scripts() -> None:
    assert script_command(b"{", "test", "") is None
    assert script_command(b"[" * 100_000, "test", "") is None


def test_configuration_that_runners_read_is_protected() -> None:
    assert "**/vite.config.*" in runner_files("npx vitest run")
    assert "**/babel.config.*" in runner_files("npx jest")
    assert {"**/vite.config.*", "**/babel.config.*"} <= set(runner_files("npm test"))
    assert runner_files("node app.js") == ()
