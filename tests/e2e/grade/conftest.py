"""A small git project in which attempts are made, and the command that grades them."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from adjudge.cli.main import main

GIT = {
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_SYSTEM": "/dev/null",
    "GIT_AUTHOR_NAME": "author",
    "GIT_AUTHOR_EMAIL": "author@example.org",
    "GIT_COMMITTER_NAME": "author",
    "GIT_COMMITTER_EMAIL": "author@example.org",
}

FILES = {
    "src/calc.py": "def add(a, b):\n    return a - b\n",
    "tests/test_calc.py": "from src.calc import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n",
    "README.md": "# calc\n",
    "run-tests.sh": (
        "#!/bin/sh\n"
        "exec python3 -c 'from src.calc import add; assert add(1, 2) == 3, add(1, 2); print(\"ok\")'\n"
    ),
}

RECIPE = """
scorers:
  - {name: unit tests, type: command, command: sh run-tests.sh, timeout_s: 60}
  - {name: scope, type: allowed_paths, patterns: ["src/**"]}
  - {name: graded tests, type: tests_unmodified, paths: [tests/test_calc.py, run-tests.sh]}
  - {name: skips, type: no_new_skips}
"""


@dataclass(frozen=True)
class Outcome:
    """What a command left."""

    code: int
    stdout: str
    stderr: str

    @property
    def document(self) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(self.stdout)
        return document

    @property
    def objective(self) -> dict[str, Any]:
        objective: dict[str, Any] = self.document["gates"]["objective"]
        return objective

    def row(self, name: str) -> dict[str, Any]:
        (row,) = (row for row in self.document["scorers"] if row["name"] == name)
        found: dict[str, Any] = row
        return found


class Project:
    """A repository with one commit on `main`, checked out in `workspace`."""

    def __init__(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.root = root
        self.workspace = root / "workspace"
        self._capsys = capsys
        self.workspace.mkdir()
        self.git("init", "-q", "-b", "main")
        self.write(FILES)
        self.commit("base")
        self.recipe = self.write_recipe(RECIPE)

    def git(self, *args: str, text: str | None = None) -> str:
        return subprocess.run(
            ["git", "-C", str(self.workspace), *args],
            env={**os.environ, **GIT},
            input=text,
            check=True,
            capture_output=True,
            text=True,
        ).stdout.strip()

    def write(self, files: dict[str, str]) -> None:
        for name, content in files.items():
            path = self.workspace / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, encoding="utf-8")

    def commit(self, message: str) -> str:
        self.git("add", "-A")
        self.git("commit", "-qm", message)
        return self.git("rev-parse", "HEAD")

    def solve(self) -> None:
        self.write({"src/calc.py": "def add(a, b):\n    return a + b\n"})

    def write_recipe(self, text: str, name: str = "recipe.yaml") -> Path:
        path = self.root / name
        path.write_text(text, encoding="utf-8")
        return path

    def adjudge(self, *args: str | Path) -> Outcome:
        self._capsys.readouterr()
        code = main([str(arg) for arg in args])
        captured = self._capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    def grade(self, *args: str | Path, recipe: Path | str | None = None) -> Outcome:
        """Grade the workspace as JSON."""
        return self.adjudge("grade", recipe or self.recipe, "--workspace", self.workspace, "--json", *args)

    def grade_patch(self, patch: str | bytes, *args: str | Path, recipe: Path | None = None) -> Outcome:
        """Grade a patch as JSON."""
        file = self.root / "attempt.patch"
        file.write_bytes(patch.encode() if isinstance(patch, str) else patch)
        return self.adjudge("grade", recipe or self.recipe, "--patch", file, "--json", *args)


@pytest.fixture
def project(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setenv("ADJUDGE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    return Project(tmp_path, capsys)
