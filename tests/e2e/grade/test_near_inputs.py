"""`near_inputs` with the scenario's own solution, in each of its forms."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import adjudge

pytestmark = pytest.mark.bwrap

STUB = "def double(number):\n    return 0\n"
RIGHT = "def double(number):\n    return number * 2\n"
KNOWN = "def double(number):\n    return {3: 6, 11: 22}.get(number, 0)\n"
TESTS = """\
import unittest

from double import double


class Double(unittest.TestCase):
    def test_three(self):
        self.assertEqual(double(3), 6)

    def test_eleven(self):
        self.assertEqual(double(11), 22)
"""
PATCH = """\
--- a/double.py
+++ b/double.py
@@ -1,2 +1,2 @@
 def double(number):
-    return 0
+    return number * 2
"""


def _folder(scenario: Path) -> str:
    (scenario / "solved").mkdir()
    (scenario / "solved" / "double.py").write_text(RIGHT)
    return "solved"


def _patch(scenario: Path) -> str:
    (scenario / "fix.patch").write_text(PATCH)
    return "fix.patch"


def _script(scenario: Path) -> str:
    (scenario / "solution").mkdir()
    (scenario / "solution" / "double.txt").write_text(RIGHT)
    (scenario / "solution" / "solve.sh").write_text('set -e\ncp "$SOLUTION_DIR/double.txt" double.py\n')
    return "solution/solve.sh"


def _broken_script(scenario: Path) -> str:
    (scenario / "solve.sh").write_text("exit 3\n")
    return "solve.sh"


def near(tmp_path: Path, solution: Callable[[Path], str]) -> tuple[str, str]:
    """The verdict on an attempt that knows its two visible tests, and why."""
    scenario, attempt = tmp_path / "scenario", tmp_path / "attempt"
    for place in (scenario / "workspace", attempt):
        (place / "tests").mkdir(parents=True)
        (place / "tests" / "__init__.py").touch()
        (place / "tests" / "test_double.py").write_text(TESTS)
        (place / "double.py").write_text(STUB)
    (attempt / "double.py").write_text(KNOWN)
    (scenario / "hidden.py").write_text(TESTS.replace("3), 6", "5), 10"))
    recipe = {
        "name": "double",
        "instruction": "Double numbers.",
        "workspace": {"source": "directory", "path": "workspace"},
        "solution": solution(scenario),
        "scorers": [
            {"type": "command", "command": "python3 -m unittest -q tests.test_double"},
            {
                "type": "command",
                "name": "hidden",
                "command": "python3 -m unittest -q hidden",
                "inject": [{"src": "hidden.py", "dest": "hidden.py"}],
            },
            {"type": "near_inputs", "command": "python3 -m unittest -q tests.test_double"},
        ],
    }
    (scenario / "adjudge.yaml").write_text(json.dumps(recipe))
    evaluation = adjudge.grade(scenario / "adjudge.yaml", workspace=attempt, baseline=scenario / "workspace")
    row = next(row for row in evaluation.scorers if row.type == "near_inputs")
    return row.verdict, row.reason


@pytest.mark.parametrize("solution", [_folder, _patch, _script])
def test_a_solution_says_what_is_right(tmp_path: Path, solution: Callable[[Path], str]) -> None:
    verdict, reason = near(tmp_path, solution)
    assert (verdict, reason) == ("FAIL", "2 visible tests answered for no inputs but their own")


def test_a_solution_that_fails_says_nothing(tmp_path: Path) -> None:
    assert near(tmp_path, _broken_script) == (
        "NA",
        "the reference solution solve.sh fails on the baseline",
    )
