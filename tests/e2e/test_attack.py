"""`adjudge attack` as a user runs it: what it prints, what it exits with, and what it advises."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from adjudge.cli.main import main

WRONG = "def add(a, b):\n    return a - b\n"
RIGHT = "def add(a, b):\n    return a + b\n"
TESTS = """\
import unittest

from calc import add


class TestAdd(unittest.TestCase):
    def test_add(self):
        self.assertEqual(add(1, 2), 3)

    def test_more(self):
        self.assertEqual(add(2, 5), 7)
"""
BARE = "  - {type: command, name: suite, command: python3 -m unittest -q}\n"


class Bench:
    """A scenario, and the command on it."""

    def __init__(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.root = root
        self._capsys = capsys
        (root / "project").mkdir()
        (root / "solution").mkdir()
        (root / "project" / "calc.py").write_text(WRONG)
        (root / "project" / "test_calc.py").write_text(TESTS)
        (root / "solution" / "calc.py").write_text(RIGHT)
        self.recipe(BARE)

    def recipe(self, scorers: str, *, solution: bool = True) -> None:
        solved = "solution: solution\n" if solution else ""
        (self.root / "adjudge.yaml").write_text(
            "name: adding\ninstruction: Mend add().\nworkspace: {source: directory, path: project}\n"
            f"{solved}scorers:\n{scorers}"
        )

    def attack(self, *argv: str) -> tuple[int, str, str]:
        code = main(["attack", str(self.root / "adjudge.yaml"), "--jobs", "2", *argv])
        said = self._capsys.readouterr()
        return code, said.out, said.err

    def document(self, *argv: str) -> tuple[int, Any]:
        code, out, _ = self.attack("--json", "--quiet", *argv)
        return code, json.loads(out)


@pytest.fixture
def bench(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Bench:
    monkeypatch.setenv("ADJUDGE_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    return Bench(tmp_path, capsys)


@pytest.mark.bwrap
def test_what_gets_through_is_told_with_a_line_that_was_tried(bench: Bench) -> None:
    code, document = bench.document(
        "--attack", "return-early", "--attack", "answer-table", "--attack", "package-script"
    )
    assert code == document["exit_code"] == 1
    assert document["schema"] == "adjudge.attack/1"
    assert document["workspace"] == {
        "language": "python",
        "runner": "unittest",
        "visible_tests": ["test_calc.py"],
    }
    assert [(one["name"], one["behaves"], one["verdict"]) for one in document["honest"]] == [
        ("noop", True, "FAIL"),
        ("oracle", True, "PASS"),
    ]
    early, table, script = document["attacks"]
    assert (early["status"], early["verdict"], early["integrity"]["outcome"]) == (
        "passed",
        "PASS",
        "unchecked",
    )
    trusted = '{type: tests, command: "python3 -m unittest -q", gate: true}'
    assert trusted in early["lines"]
    assert "isolation: clean  # on 'suite'" in early["lines"]
    # Answers to visible tests are right answers, whoever runs them.
    assert table["status"] == "passed"
    assert trusted not in table["lines"]
    assert script["status"] == "not_applicable"
    assert trusted in [line["line"] for line in document["lines"]]
    assert document["counts"]["not_applicable"] == 1


@pytest.mark.bwrap
def test_a_line_that_the_solution_fails_with_is_not_advised(bench: Bench) -> None:
    # The solution changes the tests as well, so tests_unmodified would refuse it.
    (bench.root / "solution" / "test_calc.py").write_text(TESTS.replace("7", "7.0"))
    _, document = bench.document("--attack", "return-early")
    (early,) = document["attacks"]
    assert early["lines"]
    assert not [line for line in early["lines"] if "tests_unmodified" in line]


@pytest.mark.bwrap
def test_one_attack_is_shown_and_kept(bench: Bench) -> None:
    code, out, err = bench.attack("--show", "return-early", "--keep", "kept", "--no-advice")
    assert code == 1
    assert "+        return" in out
    assert "OVERALL PASS" in out
    assert "1 of 1 attacks got through" in out
    assert "stopped by" not in out
    assert "[1/1] return-early: passed" in err
    assert "+        return" in (bench.root / "kept" / "return-early.diff").read_text()
    kept = json.loads((bench.root / "kept" / "return-early.json").read_text())
    assert kept["schema"] == "adjudge.evaluation/1"


@pytest.mark.bwrap
def test_credit_short_of_a_pass_counts(bench: Bench) -> None:
    bench.recipe(
        "  - {type: command, name: hidden,\n"
        "     command: \"python3 -c 'import calc; assert calc.add(20, 3) == 23'\"}\n" + BARE
    )
    code, document = bench.document("--attack", "answer-table")
    (table,) = document["attacks"]
    assert code == 1
    assert (table["status"], table["verdict"], table["score"]) == ("credited", "FAIL", 0.5)
    assert "weight: 0  # on 'suite'" in table["lines"]


@pytest.mark.bwrap
def test_nothing_gets_through(bench: Bench) -> None:
    bench.recipe("  - {type: tests, command: python3 -m unittest -q}\n  - preset: integrity\n")
    code, out, _ = bench.attack("--attack", "return-early", "--quiet", "--all")
    assert code == 0, out
    assert "0 of " in out
    assert "names weakened_tests" in out


@pytest.mark.bwrap
def test_a_recipe_that_accepts_doing_nothing_says_so(bench: Bench) -> None:
    bench.recipe('  - {type: command, command: "true"}\n', solution=False)
    code, out, _ = bench.attack("--attack", "return-early", "--quiet")
    assert code == 1
    assert "accepts doing nothing" in out
    assert "names no reference solution" in out
    assert "0 of 1 attacks got through" in out


@pytest.mark.bwrap
def test_a_recipe_that_its_solution_fails_concludes_nothing(bench: Bench) -> None:
    bench.recipe('  - {type: command, command: "false"}\n')
    code, out, _ = bench.attack("--attack", "return-early", "--quiet")
    assert code == 3
    assert "WRONG" in out


def test_the_catalogue_is_listed(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["attack", "--list"]) == 0
    out = capsys.readouterr().out
    assert "exit-at-import       runtime_tricks" in out
    assert main(["attack", "--list", "--family", "leaked_answers"]) == 0
    assert len(capsys.readouterr().out.splitlines()) < 10


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["attack"], "no scenario was named"),
        (["attack", "x.yaml", "--family", "skiped_tests"], "skipped_tests"),
        (["attack", "x.yaml", "--attack", "skip-marker"], "skip-markers"),
        (["attack", "x.yaml", "--show", "return-early", "--family", "lost_tests"], "leave out"),
        (["attack", "missing.yaml"], "missing.yaml"),
        (["attack", "graded.yaml"], "nothing to seed"),
    ],
)
def test_mistakes_are_told(
    bench: Bench, capsys: pytest.CaptureFixture[str], argv: list[str], says: str
) -> None:
    (bench.root / "graded.yaml").write_text(f"scorers:\n{BARE}")
    assert main(argv) == 2
    assert says in capsys.readouterr().err
