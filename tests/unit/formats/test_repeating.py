"""Commands that run every test twice."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from adjudge.formats.testcommands.repeating import passed_once, repeat_tests

TESTS = """\
import pytest

left = iter("ab")
calls = []


@pytest.mark.parametrize("letter", ["a", "b"])
def test_in_order(letter):
    assert next(left) == letter


def test_steady():
    calls.append(1)
    assert calls
"""


def test_pytest_runs_twice_and_says_what_passed_once(tmp_path: Path) -> None:
    target = tmp_path / "said"
    (tmp_path / "test_order.py").write_text(TESTS)
    repeated = repeat_tests(f"{sys.executable} -m pytest -q -p no:cacheprovider", str(target))
    assert repeated is not None
    for path, data in repeated.files.items():
        (tmp_path / path).parent.mkdir()
        (tmp_path / path).write_bytes(data)
    subprocess.run(["/bin/sh", "-c", repeated.command], cwd=tmp_path, capture_output=True, check=False)
    assert passed_once(target.read_bytes()) == (
        "test_order.py::test_in_order[a]",
        "test_order.py::test_in_order[b]",
    )


UNITS = """\
import unittest

left = iter("ab")


class TestTurns(unittest.TestCase):
    def test_a(self):
        self.assertEqual(next(left), "a")

    def test_b(self):
        self.assertEqual(next(left), "b")

    def test_c(self):
        with self.subTest("steady"):
            self.assertTrue(True)
"""
SUITE = """\
{imports}
describe("turns", () => {{
  it("one", () => assert.equal(turn(), "a"));
  it("two", () => assert.equal(turn(), "b"));
}});
test("steady", () => {{}});
test("later", {{ todo: true }}, () => assert.equal(turn(), "c"));
"""
MODULE = """\
import { test, describe, it } from "node:test";
import assert from "node:assert";
import { turn } from "../turn.mjs";
"""
COMMON = """\
const { test, describe, it } = require("node:test");
const assert = require("node:assert");
const { turn } = require("../turn.cjs");
"""


def ran(folder: Path, command: str) -> tuple[str, ...]:
    target = folder / "said"
    repeated = repeat_tests(command, str(target))
    assert repeated is not None
    for path, data in repeated.files.items():
        (folder / path).parent.mkdir()
        (folder / path).write_bytes(data)
    subprocess.run(["/bin/sh", "-c", repeated.command], cwd=folder, capture_output=True, check=False)
    return passed_once(target.read_bytes())


def test_unittest_runs_twice(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/__init__.py").touch()
    (tmp_path / "tests/test_turns.py").write_text(UNITS)
    assert ran(tmp_path, f"{sys.executable} -m unittest discover -s tests -t .") == (
        "tests.test_turns.TestTurns.test_a",
        "tests.test_turns.TestTurns.test_b",
    )


@pytest.mark.parametrize("command", ["node --test test/", "npm test --silent"])
@pytest.mark.parametrize(("ending", "imports"), [("mjs", MODULE), ("cjs", COMMON)])
def test_files_of_node_are_loaded_twice(command: str, ending: str, imports: str, tmp_path: Path) -> None:
    (tmp_path / "test").mkdir()
    exported = "export" if ending == "mjs" else "exports.turn ="
    (tmp_path / f"turn.{ending}").write_text(
        f'const left = ["a", "b"];\n{exported} function turn() {{ return left.shift(); }}\n'
    )
    (tmp_path / f"test/turns.test.{ending}").write_text(SUITE.format(imports=imports))
    (tmp_path / "package.json").write_text('{"scripts": {"test": "node --test test/*.test.*"}}')
    assert ran(tmp_path, command) == ("one", "two")


def test_go_is_asked_to_run_twice() -> None:
    repeated = repeat_tests("go test ./...", "/tmp/said")
    assert repeated is not None
    assert repeated.command == "go test ./... -count=2 -v > /tmp/said 2>&1"


def test_what_go_says() -> None:
    said = b"=== RUN TestA\n--- PASS: TestA (0s)\n    --- PASS: TestB/one (0s)\n--- FAIL: TestA (0s)\nok\n"
    assert passed_once(said) == ("TestA",)


@pytest.mark.parametrize("command", ["make test", "node test/all.js", "npx jest", "python3 run.py"])
def test_others_cannot(command: str) -> None:
    assert repeat_tests(command, "/tmp/said") is None
