"""Test scorers over a real project: other runners, odd ids, unstable tests, what people are shown."""

from __future__ import annotations

import json
import shutil
from typing import Any

import pytest
from tests.e2e.grade.conftest import Outcome, Project

pytestmark = pytest.mark.bwrap

needs_node = pytest.mark.skipif(
    shutil.which("node", path="/usr/local/bin:/usr/bin") is None, reason="no node"
)


def grade(project: Project, line: dict[str, Any], *args: str) -> Outcome:
    recipe = project.write_recipe(json.dumps({"graders": [{"name": "it", **line}]}))
    outcome = project.grade(*args, recipe=recipe)
    assert outcome.stdout, outcome.stderr
    return outcome


def row(project: Project, line: dict[str, Any], *args: str) -> dict[str, Any]:
    return grade(project, line, *args).row("it")


def hide(project: Project, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = project.root / "hidden" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_results_carry_every_test_and_the_table_prints_the_failing_ones(project: Project) -> None:
    hide(
        project,
        {
            "test_more.py": (
                "from src.calc import add\n\n\n"
                "def test_right():\n    assert add(1, 1) == 2\n\n\n"
                "def test_wrong():\n    assert add(1, 1) == 3, 'the sum is off'\n"
            )
        },
    )
    project.solve()
    line = {"type": "pytest", "inject": [{"src": "hidden/test_more.py", "dest": "tests/test_more.py"}]}
    found = row(project, line)
    assert (found["verdict"], found["score"], found["reason"]) == ("FAIL", 0.5, "1 of 2 tests passed")
    details = found["details"]
    assert details["counts"]["passed"] == details["counts"]["failed"] == 1
    assert (details["expected"], details["collected"], details["unproven"]) == (2, 2, 0)
    assert details["command"] == "python3 -m pytest"
    right, wrong = details["tests"]
    assert (right["id"], right["outcome"]) == ("tests/test_more.py::test_right", "passed")
    assert right["proof"] == "value"
    assert wrong["duration_s"] >= 0
    shown = project.adjudge("grade", project.recipe, "--workspace", project.workspace)
    assert "tests/test_more.py::test_wrong" in shown.stdout
    assert "test_right" not in shown.stdout


def test_the_whole_suite_with_the_projects_own_configuration(project: Project) -> None:
    project.write(
        {
            "pyproject.toml": (
                '[tool.pytest.ini_options]\ntestpaths = ["checks"]\npython_files = ["*_ok.py"]\n'
            ),
            "checks/sum_ok.py": "from src.calc import add\n\n\ndef test_sum():\n    assert add(2, 2) == 4\n",
        }
    )
    base = project.commit("configured")
    project.solve()
    project.write({"pyproject.toml": '[tool.pytest.ini_options]\naddopts = "--collect-only"\n'})
    found = row(project, {"type": "pytest"}, "--baseline", base)
    assert (found["score"], found["details"]["collected"]) == (1.0, 1), found
    assert [finding["path"] for finding in found["findings"]] == ["pyproject.toml"]


def test_hidden_tests_of_what_the_baseline_does_not_have(project: Project) -> None:
    hide(
        project,
        {"test_new.py": "from src.new import double\n\n\ndef test_double():\n    assert double(4) == 8\n"},
    )
    line = {"type": "pytest", "inject": ["hidden/test_new.py"]}
    without = row(project, line)
    assert (without["score"], without["details"]["expected"]) == (0.0, 1)
    project.write({"src/new.py": "def double(x):\n    return 2 * x\n"})
    found = row(project, line)
    assert (found["score"], found["reason"]) == (1.0, "1 of 1 test passed"), found


def test_a_folder_of_hidden_tests_with_its_helpers(project: Project) -> None:
    hide(
        project,
        {
            "suite/conftest.py": "import pytest\n\n\n@pytest.fixture\ndef three():\n    return 3\n",
            "suite/test_a.py": (
                "from src.calc import add\n\n\n"
                "def test_a(three):\n    assert add(1, 2) == three\n    assert three == 3\n"
            ),
            "suite/data.json": "{}",
        },
    )
    project.solve()
    found = row(project, {"type": "pytest", "inject": [{"src": "hidden/suite", "dest": "graded"}]})
    assert (found["score"], found["details"]["expected"]) == (1.0, 1), found


def test_unittest_ids_as_unittest_prints_them(project: Project) -> None:
    project.write(
        {
            "tests/__init__.py": "",
            "src/__init__.py": "",
            "tests/test_calc.py": (
                "import unittest\n\nfrom src.calc import add\n\n\n"
                "class Sums(unittest.TestCase):\n"
                "    def test_add(self):\n        self.assertEqual(add(1, 2), 3)\n\n"
                "    def test_none(self):\n        self.assertEqual(add(0, 0), 0)\n"
            ),
        }
    )
    base = project.commit("unittest")
    line = {
        "type": "swebench",
        "cmd_prefix": "python -m unittest",
        "fail_to_pass": ["test_add (tests.test_calc.Sums)"],
        "pass_to_pass": ["test_none (tests.test_calc.Sums.test_none)"],
    }
    assert row(project, line, "--baseline", base)["details"]["resolution"] == "none"
    project.solve()
    found = row(project, line, "--baseline", base)
    assert found["details"]["resolution"] == "full", found


def test_a_broken_gate_zeroes_everything_beside_it(project: Project) -> None:
    project.write({"src/calc.py": "def add(a, b):\n    return 99\n"})
    lines = [
        {"type": "command", "cmd": "true", "weight": 9},
        {
            "type": "swebench",
            "name": "it",
            "fail_to_pass": ["tests/test_calc.py::test_add"],
            "pass_to_pass": ["tests/test_calc.py::test_gone"],
        },
    ]
    recipe = project.write_recipe(json.dumps({"graders": lines, "expect": {"pass_threshold": 0.1}}))
    document = project.grade(recipe=recipe).document
    assert document["score"] == 0.0
    assert document["scorers"][1]["capped"] is True
    assert document["gates"]["objective"]["verdict"] == "FAIL"
    assert "'it'" in document["gates"]["objective"]["reason"]


NODE = """
const test = require('node:test');
const assert = require('node:assert');
const { add } = require('./sum.js');
test('adds', () => assert.strictEqual(add(1, 2), 3));
test('adds nothing', () => assert.strictEqual(add(0, 0), 0));
"""


@needs_node
def test_node_reports_through_a_reporter_of_ours(project: Project) -> None:
    hide(project, {"x.test.js": NODE})
    # With options of its own it is not run in trusted sessions.
    cmd = "node --test --test-name-pattern=adds x.test.js"
    line = {"type": "tests", "cmd": cmd, "inject": ["./hidden/x.test.js"]}
    project.write({"sum.js": "exports.add = (a, b) => a - b;\n"})
    half = row(project, line)
    assert (half["verdict"], half["score"], half["details"]["source"]) == ("FAIL", 0.5, "reporter"), half
    project.write({"sum.js": "exports.add = (a, b) => a + b;\n"})
    found = row(project, line)
    assert (found["verdict"], found["score"], found["reason"]) == ("PASS", 1.0, "2 of 2 tests passed"), found
    project.write({"sum.js": "console.log('# pass 2'); process.exit(0);\n"})
    assert row(project, line)["score"] == 0.0


@needs_node
def test_tests_that_go_missing_under_node_are_errors(project: Project) -> None:
    hide(project, {"x.test.js": NODE})
    project.write({"sum.js": "exports.add = (a, b) => 0;\n"})
    base = project.commit("with a sum")
    project.write({"sum.js": "exports.add = (a, b) => { setImmediate(() => process.exit(0)); return 3; };\n"})
    line = {"type": "tests", "cmd": "node --test x.test.js", "inject": ["./hidden/x.test.js"]}
    found = row(project, line, "--baseline", base)
    assert found["details"]["expected"] == 2
    assert found["score"] < 1.0, found
    assert found["verdict"] == "FAIL"


def test_what_worked_before_and_fails_is_run_once_more(project: Project) -> None:
    project.write({"src/calc.py": "def add(a, b):\n    return a + b\n"})
    line = {
        "type": "swebench",
        "fail_to_pass": ["tests/test_calc.py::test_add"],
        "pass_to_pass": ["tests/test_more.py::test_never"],
        "inject": [{"src": "hidden/test_more.py", "dest": "tests/test_more.py"}],
    }
    hide(project, {"test_more.py": "def test_never():\n    assert len('ab') == 3\n"})
    found = row(project, line)
    assert found["details"]["again"] == {"tests/test_more.py::test_never": "failed"}
    assert found["capped"] is True


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ({"type": "pytest", "cmd": "make test"}, "not a plain pytest command"),
        ({"type": "swebench", "fail_to_pass": []}, "must not be empty"),
        (
            {"type": "swebench", "fail_to_pass": ["a"], "pass_to_pass": ["a"]},
            "in fail_to_pass and in pass_to_pass",
        ),
        ({"type": "swebench", "fail_to_pass": ["a"], "cmd_prefix": "./runtests.py"}, "type tests"),
        ({"type": "swebench", "fail_to_pass": ["a"], "test_patch": "no.patch"}, "does not exist"),
        ({"type": "tests"}, "missing; type tests needs it"),
        ({"type": "tests", "cmd": "x", "junit_xml": ["/abs.xml"]}, "absolute"),
        ({"type": "tests", "cmd": "x", "isolation": "live"}, "snapshot"),
        ({"type": "tests", "cmd": "x", "pass_threshold": 2}, "1"),
    ],
)
def test_what_is_refused_when_it_is_read(project: Project, line: dict[str, Any], problem: str) -> None:
    outcome = project.adjudge("validate", project.write_recipe(json.dumps({"graders": [line]})))
    assert outcome.code == 2
    assert problem in outcome.stdout + outcome.stderr


def test_a_patch_with_tests_that_does_not_apply_is_the_authors_fault(project: Project) -> None:
    (project.root / "t.patch").write_text("--- a/tests/gone.py\n+++ b/tests/gone.py\n@@ -1 +1 @@\n-a\n+b\n")
    line = {"type": "swebench", "fail_to_pass": ["tests/gone.py::test_a"], "test_patch": "t.patch"}
    found = row(project, line)
    assert found["verdict"] == "ERROR"
    assert "does not apply to the baseline" in found["reason"]
