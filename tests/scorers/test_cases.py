"""Every case folder, graded for real: shell scripts make the workspace, `adjudge.grade` does the rest."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import adjudge
from adjudge import catalog
from adjudge.testing.providers import ScriptedReply, scripted_server

HERE = Path(__file__).parent
CASES = sorted(path.parent for path in HERE.glob("*/*/expected.json"))
RUNS_CODE = (
    "command",
    "tests",
    "pytest",
    "swebench",
    "verifier",
    "baseline_tests",
    "test_inventory",
    "same_routes",
    "near_inputs",
)
GRADED_PYTHON = "GRADED_PYTHON"
"""In a recipe, an interpreter with pytest and little else: ours takes seconds to load its plugins."""
GRADED = Path(sys.prefix) / "graded" / "bin" / "python"
PRELUDE = 'secret() { printf "%s\\n" "$1" >> "$SECRETS"; }\n'
"""How a script tells which string must not be seen again."""


def _case(folder: Path) -> Any:
    marks = [pytest.mark.bwrap] if folder.parent.name in RUNS_CODE else []
    return pytest.param(folder, id=f"{folder.parent.name}/{folder.name}", marks=marks)


def _run(script: Path, place: Path, secrets: Path) -> None:
    environment = {"PATH": os.environ["PATH"], "SECRETS": str(secrets), "LC_ALL": "C.UTF-8"}
    text = PRELUDE + script.read_text()
    done = subprocess.run(
        ["sh", "-eu", "-c", text], cwd=place, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{script}: {done.stderr}"


@contextmanager
def _recipe(folder: Path, tmp_path: Path) -> Iterator[Path]:
    """The case's recipe; where it has models to ask, with a server that answers as they do."""
    recipe = folder / "task.yaml"
    text = recipe.read_text()
    if GRADED_PYTHON in text:
        recipe = tmp_path / "task.yaml"
        recipe.write_text(text.replace(GRADED_PYTHON, str(GRADED) if GRADED.exists() else "python3"))
    if not (folder / "models.json").exists():
        yield recipe
        return
    answers = json.loads((folder / "models.json").read_text())
    with scripted_server(lambda asked: ScriptedReply(json.dumps(answers[asked.model]))) as server:
        place = tmp_path / "recipe"
        shutil.copytree(folder, place)
        recipe = place / "task.yaml"
        recipe.write_text(text.replace("SERVER", server.openai_url))
        yield recipe


@pytest.mark.parametrize("folder", [_case(folder) for folder in CASES])
def test_case(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    before, after, secrets = tmp_path / "before", tmp_path / "after", tmp_path / "secrets"
    before.mkdir()
    secrets.touch()
    own = folder / "baseline.sh"
    _run(own if own.exists() else folder.parent / "baseline.sh", before, secrets)
    shutil.copytree(before, after, symlinks=True)
    _run(folder / "attempt.sh", after, secrets)

    trace = next(folder.glob("trace.*"), None)
    with _recipe(folder, tmp_path) as recipe:
        evaluation = adjudge.grade(recipe, workspace=after, baseline=before, trace=trace)

    row = next(row for row in evaluation.scorers if row.type == folder.parent.name)
    expected = json.loads((folder / "expected.json").read_text())
    assert expected.keys() <= {"verdict", "score", "findings", "reason", "output_tail", "details"}
    written = json.loads(row.model_dump_json())
    found = [[finding["rule"], finding["path"], finding["line"]] for finding in written["findings"]]
    assert {**expected, "verdict": row.verdict, "score": row.score, "findings": found} == expected, row.reason
    for key in ("reason", "output_tail"):
        assert written[key] == expected.get(key, written[key])
    details = expected.get("details", {})
    assert {key: written["details"].get(key) for key in details} == details
    document = evaluation.to_json()
    for secret in secrets.read_text().splitlines():
        assert secret not in document


@pytest.mark.parametrize("name", catalog.BUILTINS["scorers"])
def test_every_scorer_has_cases(name: str) -> None:
    kinds = {folder.name.partition("-")[0] for folder in CASES if folder.parent.name == name}
    assert kinds <= {"pass", "fail", "na", "fooling", "fooled"}
    assert kinds & {"fooling", "fooled"}, "no case tries to fool it"
    concluded = {"na"} if catalog.load("scorers", name).advisory_only else {"pass", "fail"}
    assert concluded <= kinds


def test_every_case_is_of_a_scorer() -> None:
    assert {folder.parent.name for folder in CASES} <= set(catalog.BUILTINS["scorers"])
