"""A task directory wherever a scenario can stand: seed, grade, patches, frozen tasks, other sandboxes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import adjudge
from adjudge.cli.main import main
from adjudge.errors import ScenarioInvalid, UsageError

pytestmark = pytest.mark.bwrap

FILES = {
    "task.toml": '[verifier]\ntimeout_sec = 60\n[task]\nname = "org/sum"\n[solution.env]\nSUM = "3"\n',
    "instruction.md": "Add the numbers in /app/in.txt and write the sum to /app/out.txt\n",
    "environment/Dockerfile": "FROM debian:12\nWORKDIR /app\nCOPY numbers.txt in.txt\nENV GREETING=hello\n",
    "environment/numbers.txt": "1 2\n",
    "tests/verify.py": (
        "import helper, json, os, pathlib\n"
        "right = pathlib.Path('/app/out.txt').read_text().strip() == helper.EXPECTED\n"
        "assert os.environ['GREETING'] == 'hello'\n"
        "pathlib.Path('/logs/verifier/reward.json').write_text(json.dumps({'reward': float(right)}))\n"
    ),
    "tests/helper.py": "EXPECTED = '3'\n",
    "solution/solve.sh": 'echo "$SUM" > /app/out.txt\n',
}


@pytest.fixture
def task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ADJUDGE_HOME", str(tmp_path / "home"))
    folder = tmp_path / "sum"
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def test_seed_and_grade(task: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    workspace = tmp_path / "work"
    assert main(["seed", str(task), str(workspace)]) == 0
    assert sorted(path.name for path in workspace.iterdir()) == [".git", "in.txt"]
    (workspace / "out.txt").write_text("3\n")
    capsys.readouterr()
    # By the task that the workspace was seeded from, by the directory, and by its task.toml.
    documents = []
    for named in ([], [str(task)], [str(task / "task.toml")]):
        assert main(["grade", *named, "--workspace", str(workspace), "--json"]) == 0
        documents.append(json.loads(capsys.readouterr().out))
    assert {document["reward"] for document in documents} == {1.0}
    assert len({document["task"]["digest"] for document in documents}) == 1


def test_validate_shows_the_contract(task: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", str(task), "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["files"]
    assert found["verifier_spec"] == {
        "script": "tests/verify.py",
        "expected_output_path": "/app/out.txt",
        "reward_path": "/logs/verifier/reward.json",
        "details_path": None,
    }
    assert found["verifier"]["output"] == "/app/out.txt (text)"
    assert found["verifier"]["reward"] == "channel: shared with candidate code"
    assert found["verifier"]["workspace at"] == "/app"


def test_an_unseeded_folder_is_compared_with_what_the_task_says(task: Path, tmp_path: Path) -> None:
    workspace = tmp_path / "work"
    workspace.mkdir()
    (workspace / "in.txt").write_text("1 2\n")
    (workspace / "out.txt").write_text("4\n")
    evaluation = adjudge.grade(task, workspace=workspace)
    assert (evaluation.reward, evaluation.gates.objective.verdict) == (0.0, "FAIL")
    assert evaluation.scorers[0].reason == "reward 0: the attempt was wrong"
    assert evaluation.provenance.baseline is not None
    assert evaluation.provenance.baseline.trusted


def test_a_patch_is_applied_to_what_the_task_says(task: Path) -> None:
    patch = b"--- /dev/null\n+++ b/out.txt\n@@ -0,0 +1 @@\n+3\n"
    assert adjudge.reward(task, patch=patch) == 1.0
    broken = adjudge.grade(task, patch=b"--- a/no\n+++ b/no\n@@ -1 +1 @@\n-x\n+y\n")
    assert (broken.reward, broken.validity.output_parseable) == (0.0, False)


def test_what_needs_an_image_is_an_error_that_says_so(task: Path, tmp_path: Path) -> None:
    (task / "environment/Dockerfile").write_text("FROM debian:12\nWORKDIR /app\nRUN apt-get install -y jq\n")
    workspace = tmp_path / "work"
    workspace.mkdir()
    evaluation = adjudge.grade(task, workspace=workspace)
    row = evaluation.scorers[0]
    assert (row.verdict, evaluation.reward) == ("ERROR", None)
    assert "line 3: RUN apt-get install -y jq" in row.reason
    assert "needs the container backend" in row.reason
    with pytest.raises(UsageError, match="no reward"):
        evaluation.result()


def test_without_mounts_no_verifier_is_run(task: Path, tmp_path: Path) -> None:
    workspace = tmp_path / "work"
    workspace.mkdir()
    evaluation = adjudge.grade(task, workspace=workspace, sandbox="process")
    assert (evaluation.scorers[0].verdict, evaluation.reward) == ("ERROR", None)
    assert "no mounts of its own" in evaluation.scorers[0].reason


def test_a_bad_task_is_refused_with_its_places(task: Path, tmp_path: Path) -> None:
    (task / "task.toml").write_text("[verifier]\ntimeout_sec = 'soon'\n")
    (task / "instruction.md").unlink()
    with pytest.raises(ScenarioInvalid) as caught:
        adjudge.grade(task, workspace=tmp_path)
    assert str(caught.value.problems[0]).startswith(f"{task}/task.toml:2:1: verifier.timeout_sec: ")


def test_the_reference_solution_is_the_oracles(task: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", str(task), "--repeat", "1"]) == 1
    said = capsys.readouterr().out
    assert "ok       reference solution   reward 1" in said
    # The verifier dies where there is no output, and writes no reward then.
    assert "FAIL     reward on failure    writes no reward for an untouched workspace" in said
