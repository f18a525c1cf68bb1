"""`adjudge doctor TASK` on a task with about every flaw there is, and on tasks that cannot be tried."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from adjudge.cli.main import main


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


FLAWED = {
    "task.toml": "",
    "instruction.md": "Write the answer to /workspace/out.txt\n",
    "environment/workspace/notes.txt": "the hidden answer is forty-two\n",
    "environment/workspace/seen.txt": "nothing\n",
    "tests/expected.txt": "the hidden answer is forty-two\n",
    "tests/test.sh": (
        "#!/bin/sh\nset -e\ngrep -q forty-two /workspace/out.txt\n"
        "date +%s%N | grep -q '[02468]$' && echo 1 > /logs/verifier/reward.txt\n"
    ),
    "tests/golden/pass/wrong.txt": "forty-one is what was written here\n",
    "solution/solve.sh": "cp notes.txt out.txt\n",
}


@pytest.mark.bwrap
def test_flaws_are_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write(tmp_path / "flawed", FLAWED)
    assert main(["doctor", str(folder), "--repeat", "1", "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["fit"] is False
    found = {check["name"]: (check["status"], check["detail"]) for check in document["checks"]}
    assert found["golden outputs"] == ("fail", "pass/wrong.txt gets 0")
    assert found["reward on failure"][0] == "fail"
    assert "test.sh stops at the first failure (set -e)" in found["reward on failure"][1]
    assert found["hidden files"] == ("fail", "in the workspace: tests/expected.txt as notes.txt")
    assert found["untouched workspace"][0] == "ok"
    assert found["reward channel"][0] == "warn"


@pytest.mark.bwrap
def test_a_solution_that_fails_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = {**FLAWED, "solution/solve.sh": "echo no idea; exit 3\n", "tests/test.sh": "true\n"}
    folder = write(tmp_path / "unsolved", files)
    assert main(["doctor", str(folder), "--repeat", "1"]) == 1
    said = capsys.readouterr().out
    assert "FAIL     reference solution" in said
    assert "no idea" in said
    assert said.endswith("NOT fit to grade with\n")


def test_a_task_that_needs_containers_is_not_tried(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {**FLAWED, "environment/Dockerfile": "FROM ubuntu\nRUN apt-get install -y gcc\n"}
    folder = write(tmp_path / "image", files)
    assert main(["doctor", str(folder)]) == 1
    assert "needs the container backend" in capsys.readouterr().out
    assert main(["validate", str(folder)]) == 0
    assert "not gradable it needs the image of environment/Dockerfile" in capsys.readouterr().out
