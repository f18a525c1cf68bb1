"""A project with tasks in it, and one call for each command on them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from adjudge.cli.main import main
from adjudge.contracts import RunStore
from adjudge.records.run import Run
from adjudge.settings import load_settings
from adjudge.store.opening import store_for

PATCH = """\
diff --git a/x.py b/x.py
--- a/x.py
+++ b/x.py
@@ -1 +1 @@
-x = 1
+x = 2
"""
TASK = """\
instruction: Make x 2.
workspace: {source: directory, path: src}
solution: fix.patch
scorers:
  - {type: command, command: "grep -q 'x = 2' x.py"}
  - {type: max_files_changed, limit: 3}
"""


class Project:
    """Tasks, a state directory and a store, in a folder of its own."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.home = root / "home"
        self.kept = root / "store"

    @property
    def environment(self) -> dict[str, str]:
        return {
            **os.environ,
            "ADJUDGE_HOME": str(self.home),
            "ADJUDGE_STORE": str(self.kept),
            "ADJUDGE_SANDBOX": "process",
        }

    def task(self, name: str, text: str = TASK, files: Mapping[str, str] | None = None) -> Path:
        folder = self.root / "tasks" / name
        (folder / "src").mkdir(parents=True)
        (folder / "src" / "x.py").write_text("x = 1\n")
        (folder / "fix.patch").write_text(PATCH)
        for path, content in (files or {}).items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(content)
        (folder / "adjudge.yaml").write_text(text)
        return folder

    def experiment(self, document: Mapping[str, Any], name: str = "experiment.yaml") -> Path:
        """Written as JSON, which YAML is a superset of."""
        file = self.root / name
        file.write_text(json.dumps(document, indent=1))
        return file

    def run(self, *arguments: str | Path) -> int:
        return main(["run", *map(str, arguments)])

    def regrade(self, *arguments: str | Path) -> int:
        return main(["regrade", *map(str, arguments)])

    def start(self, *arguments: str | Path) -> subprocess.Popen[str]:
        """`adjudge run` as a process of its own, telling everything on stdout."""
        return subprocess.Popen(
            [sys.executable, "-m", "adjudge", "run", "--json", *map(str, arguments)],
            cwd=self.root,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    @property
    def store(self) -> RunStore:
        return store_for(load_settings())

    def runs(self) -> list[Run]:
        return sorted(self.store.runs(), key=lambda run: (run.task.name, run.agent.name, run.trial))

    def verdicts(self) -> dict[tuple[str, str, int], str]:
        """Task, agent and trial → the objective verdict that is current."""
        found = {}
        for run in self.runs():
            evaluation = self.store.current_evaluation(run.id)
            assert evaluation is not None
            found[run.task.name, run.agent.name, run.trial] = str(evaluation.gates.objective.verdict)
        return found


@pytest.fixture
def project(hostile_tmp: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    made = Project(hostile_tmp)
    monkeypatch.chdir(hostile_tmp)
    for name, value in made.environment.items():
        monkeypatch.setenv(name, value)
    return made


def shell(script: str, *, resume: str | None = None) -> dict[str, Any]:
    """A command agent that runs a script."""
    config: dict[str, Any] = {"type": "command", "argv": ["sh", "-c", script]}
    if resume is not None:
        config["resume"] = ["sh", "-c", resume]
    return config


def matrix(tasks: Sequence[str], agents: Sequence[str], **more: Any) -> dict[str, Any]:
    """A cross product."""
    return {"tasks": list(tasks), "agents": list(agents), **more}
