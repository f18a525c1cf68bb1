"""Whole attempts as scenarios on disk, each with the attempt as its reference solution.

So `adjudge run FOLDER --agent oracle` makes every attempt for real, in a sandbox, and grades it.
"""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import yaml
from tests.corpus.attempts import Whole

PYTHON = Path(sys.prefix) / "graded" / "bin" / "python"
"""What attempts run their tests with: an environment that has little in it and starts fast."""
HIDDEN_TESTS = "hidden tests"
"""The row of the tests that the attempt never saw."""
AS_LEFT = "as left"
"""The row that says whether the attempt's own tests are green in the workspace as it was left."""


def write_scenario(attempt: Whole, folder: Path, *, execute: bool = True) -> None:
    """Write a scenario with its baseline, its hidden tests and its attempt.

    Args:
        attempt: What to write.
        folder: Where; it is made.
        execute: Whether tests are run, or only the checks made that look.
    """
    project = attempt.project
    baseline, final = attempt.baseline, attempt.final
    _write(folder / "workspace", baseline)
    changed = {path: text for path, text in final.items() if baseline.get(path) != text}
    _write(folder / "solution" / "tree", changed)
    gone = " ".join(shlex.quote(path) for path in baseline if path not in final)
    script = [
        "set -e",
        'cp -R "$SOLUTION_DIR/tree/." .' if changed else ":",
        f"rm -f {gone}" if gone else ":",
    ]
    (folder / "solution").mkdir(exist_ok=True)
    (folder / "solution" / "solve.sh").write_text(
        "\n".join([*script, attempt.steps.commands]), encoding="utf-8"
    )
    scorers: list[dict[str, object]] = []
    if execute:
        command = project.command.format(python=PYTHON)
        scorers.append({"type": "command", "name": AS_LEFT, "command": command, "required": False})
    if execute and attempt.instruction is None and not attempt.before:
        scorers.append({"type": "tests", "name": "visible tests", "cmd": command})
        _write(folder / "hidden", project.hidden)
        inject = [{"src": f"hidden/{path}", "dest": path} for path in project.hidden]
        hidden = project.hidden_command.format(python=PYTHON)
        scorers.append({"type": "tests", "name": HIDDEN_TESTS, "cmd": hidden, "inject": inject})
        solved = project.solution.applied(project.files)
        _write(
            folder / "reference", {path: text for path, text in solved.items() if baseline.get(path) != text}
        )
        scorers.append({"type": "near_inputs", "reference": "reference"})
    scorers.append({"preset": "integrity"})
    scenario = {
        "name": attempt.id,
        "instruction": attempt.instruction or project.instruction,
        "workspace": {"source": "directory", "path": "workspace"},
        "solution": "solution/solve.sh",
        "scorers": scorers,
    }
    (folder / "adjudge.yaml").write_text(yaml.safe_dump(scenario, sort_keys=False), encoding="utf-8")


def _write(folder: Path, files: dict[str, str]) -> None:
    for path, text in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
