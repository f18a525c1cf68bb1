"""The executing detectors on a stored run whose workspace is gone, and a recipe whose runs they share."""

from __future__ import annotations

import json
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from adjudge.cli.main import main
from adjudge.evidence.commands import CommandCollector
from adjudge.evidence.tests.session import Suites

pytestmark = pytest.mark.bwrap

TESTS = "python3 -m unittest discover -q -s tests -t ."
FILES = {
    "calc.py": "def add(a, b):\n    return a - b\n",
    "tests/__init__.py": "",
    "tests/test_calc.py": (
        "import unittest\n\nfrom calc import add\n\n\nclass TestAdd(unittest.TestCase):\n"
        "    def test_add(self):\n        self.assertEqual(add(1, 2), 3)\n\n"
        "    def test_zero(self):\n        self.assertEqual(add(0, 0), 0)\n"
    ),
}


def make(place: Path) -> tuple[Path, Path]:
    """A baseline with a failing test, and an attempt that skips it."""
    before, after = place / "before", place / "after"
    for path, text in FILES.items():
        (before / path).parent.mkdir(parents=True, exist_ok=True)
        (before / path).write_text(text)
    shutil.copytree(before, after)
    test = after / "tests" / "test_calc.py"
    skipped = '    @unittest.skip("later")\n    def test_add'
    test.write_text(test.read_text().replace("    def test_add", skipped))
    return before, after


def test_regraded_without_agent_and_workspace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ADJUDGE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("ADJUDGE_STORE", raising=False)
    before, after = make(tmp_path)
    plain = f"instruction: Make it add.\nscorers:\n  - {{type: command, command: {TESTS}}}\n"
    monkeypatch.chdir(tmp_path)
    Path("recipe.yaml").write_text(f"name: sums\n{plain}")
    Path("detectors.yaml").write_text(
        f"name: sums\n{plain}  - {{type: baseline_tests}}\n  - {{type: test_inventory}}\n"
    )
    assert (
        main(
            ["grade", "recipe.yaml", "--workspace", str(after), "--baseline", str(before), "--save", "--json"]
        )
        == 0
    )
    saved = json.loads(capsys.readouterr().out)
    assert saved["integrity"]["outcome"] == "unchecked"
    shutil.rmtree(after)
    shutil.rmtree(before)
    assert main(["regrade", saved["run_id"], "--with", "detectors.yaml", "--json"]) == 1
    capsys.readouterr()
    assert main(["show", saved["run_id"], "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    text = json.dumps(shown)
    assert "failing-test-skipped" in text
    assert "test-newly-skipped" in text
    assert '"tampered"' in text


def test_runs_are_shared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before, after = make(tmp_path)
    (after / "calc.py").write_text("def add(a, b):\n    return a + b\n")
    (after / "tests" / "test_calc.py").write_text(FILES["tests/test_calc.py"] + "\n")
    recipe = tmp_path / "recipe.yaml"
    recipe.write_text(
        f"scorers:\n  - {{type: command, command: {TESTS}}}\n"
        f"  - {{name: clean, type: command, command: {TESTS}, isolation: clean}}\n"
        "  - {type: baseline_tests}\n  - {type: test_inventory}\n"
    )
    ran: list[str] = []
    monkeypatch.setattr(CommandCollector, "run", _noting(CommandCollector.run, ran, "command"))
    monkeypatch.setattr(Suites, "run", _noting(Suites.run, ran, "session"))
    options = ["--workspace", str(after), "--baseline", str(before), "--json"]
    assert main(["grade", str(recipe), *options]) == 0
    rows = {row["type"]: row for row in json.loads(capsys.readouterr().out)["scorers"]}
    assert rows["baseline_tests"]["details"]["outcome"] == "green_clean"
    assert rows["test_inventory"]["verdict"] == "PASS"
    # Both commands of the recipe and no more; the baseline's tests found and run, and run as left.
    assert sorted(ran) == ["command", "command", "session", "session", "session"]


def _noting(method: Callable[..., Awaitable[Any]], ran: list[str], what: str) -> Callable[..., Any]:
    async def run(*args: Any, **more: Any) -> Any:
        ran.append(what)
        return await method(*args, **more)

    return run
