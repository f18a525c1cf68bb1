"""The bundled example tasks, and what becomes of each bundled attempt at them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

import adjudge
from adjudge.cli.main import main

pytestmark = pytest.mark.bwrap

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
TASKS = sorted(path.parent.name for path in EXAMPLES.glob("tasks/*/task.toml"))

EXPECTED: dict[tuple[str, str], tuple[float, bool, list[str]]] = {
    ("voltage-drop", "passing"): (1.0, True, []),
    ("voltage-drop", "partial"): (0.75, True, []),
    ("voltage-drop", "wrong"): (0.0, True, ["wrong formula"]),
    ("voltage-drop", "unusable"): (0.0, False, ["parse error"]),
    ("voltage-drop", "cheating"): (0.0, False, ["output missing", "tampering"]),
    ("clean-readings", "passing"): (1.0, True, []),
    ("clean-readings", "partial"): (0.5263, True, ["unit mismatch"]),
    ("clean-readings", "wrong"): (0.0, True, ["row lost", "row invented"]),
    ("clean-readings", "unusable"): (0.0, False, ["parse error"]),
    ("clean-readings", "cheating"): (0.0, True, ["tampering", "row lost", "row invented"]),
    ("rate-limiter", "passing"): (1.0, True, []),
    ("rate-limiter", "partial"): (0.25, True, ["wrong refill", "wrong capacity"]),
    ("rate-limiter", "wrong"): (0.0, True, ["wrong capacity", "wrong refill"]),
    ("rate-limiter", "unusable"): (0.0, True, ["crash"]),
    ("rate-limiter", "cheating"): (0.0, True, ["crash"]),
}
"""Reward, whether the output could be read, and the tags."""


def test_every_attempt_is_expected() -> None:
    there = {(path.parent.name, path.stem) for path in EXAMPLES.glob("attempts/*/*.sh")}
    assert there == set(EXPECTED)
    assert {task for task, _ in there} == set(TASKS)


@pytest.mark.parametrize(("task", "attempt"), EXPECTED)
def test_attempt(task: str, attempt: str, tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    shutil.copytree(EXAMPLES / "tasks" / task / "environment" / "workspace", workspace)
    script = EXAMPLES / "attempts" / task / f"{attempt}.sh"
    subprocess.run(["sh", "-eu", script], cwd=workspace, check=True, env={"PATH": "/usr/bin:/bin"})

    evaluation = adjudge.grade(EXAMPLES / "tasks" / task, workspace=workspace)

    reward, parseable, tags = EXPECTED[task, attempt]
    found = list(dict.fromkeys(tag.category for tag in evaluation.error_taxonomy))
    row = evaluation.scorers[0]
    assert (evaluation.reward, evaluation.validity.output_parseable, found) == (reward, parseable, tags), row
    assert (row.verdict == "PASS") is (attempt == "passing")
    assert evaluation.result().reward == reward
    assert evaluation.provenance.baseline is not None
    assert evaluation.provenance.baseline.trusted


def test_every_task_is_fit_to_grade_with(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["doctor", "--repeat", "1", str(EXAMPLES / "tasks" / "rate-limiter")])
    said = capsys.readouterr().out
    assert code == 0, said
    assert "fit to grade with" in said
    assert "FAIL" not in said
    assert "noticed" in said
