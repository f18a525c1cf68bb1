"""`adjudge annotate`, `adjudge annotations` and `adjudge rubric score`, as a user runs them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from adjudge.cli.main import main

SCENARIO = """\
error_categories: [unit mismatch]
scorers:
  - type: rubric
    output: out.json
    fields: [{path: a, equals: 1}, {path: b, equals: 2}]
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ADJUDGE_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("ADJUDGE_STORE", str(tmp_path / "store"))
    monkeypatch.chdir(tmp_path)
    for name in ("before", "after"):
        (tmp_path / name).mkdir()
    (tmp_path / "after" / "out.json").write_text('{"a": 1}')
    (tmp_path / "task.yaml").write_text(SCENARIO)
    return tmp_path


def grade(*more: str) -> int:
    return main(["grade", "task.yaml", "--workspace", "after", "--baseline", "before", "--json", *more])


def test_a_saved_evaluation(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert grade("--save") == 1
    before = json.loads(capsys.readouterr().out)
    said = ["--judgment", "pass", "--reviewer", "ada", "--discipline", "electrical"]
    assert main(["annotate", before["id"][:8], *said, "--category", "units", "--notes", "fine \x1b[31m"]) == 0
    shown = capsys.readouterr()
    assert "pass   ada (electrical)  disagrees with the objective gate (FAIL)" in shown.out
    assert "review by ada: pass disagrees with the objective gate (FAIL)" in shown.err
    assert "warning: error category 'units' is not one that the task defines" in shown.err
    assert "\x1b" not in shown.out + shown.err
    assert main(["annotate", before["id"], "--judgment", "fail", "--reviewer", "bob", "--json"]) == 0
    after = json.loads(capsys.readouterr().out)
    changed = {"annotations", "warnings", "error_taxonomy", "confidence"}
    assert {key for key in before if before[key] != after[key]} == changed
    assert [one["reviewer_id"] for one in after["annotations"]] == ["ada", "bob"]
    assert after["confidence"]["annotator_count"] == 2
    assert main(["annotations"]) == 0
    assert before["id"] in capsys.readouterr().out
    assert main(["annotate", "zz", *said]) == 2
    assert "no evaluation 'zz' is stored" in capsys.readouterr().err


def test_a_document(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("one.json", "two.json"):
        assert grade("--output", name) == 1
        for who, judgment in (("ada", "pass"), ("bob", "fail")):
            assert main(["annotate", name, "--judgment", judgment, "--reviewer", who]) == 0
    capsys.readouterr()
    assert main(["annotations", "one.json", "two.json"]) == 0
    assert "Cohen's kappa of 2 reviewers on 2 evaluations" in capsys.readouterr().out
    assert json.loads(Path("one.json").read_text())["reward"] == 0.5


def test_what_cannot_be_done_is_said(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, message in (
        (["annotate", "x.json", "--judgment", "pass", "--reviewer", "a"], "x.json: No such file"),
        (["annotate", "abc", "--judgment", "pass", "--reviewer", "a"], "nothing is stored yet"),
        (["annotate", "abc", "--judgment", "maybe", "--reviewer", "a"], "'maybe' is not one of 'pass'"),
        (["annotate", "abc", "--judgment", "pass", "--reviewer", " "], "--reviewer must not be blank"),
        (["annotate", "abc", "--judgment", "pass", "--reviewer", "a\udcff"], "--reviewer cannot be used"),
        (["annotate", "task.yaml", "--judgment", "pass", "--reviewer", "a"], "is not an evaluation document"),
        (["annotate", "abc", "--judgment", "pass"], "--reviewer"),
        (["annotations"], "nothing is stored yet"),
    ):
        assert main(arguments) == 2
        assert message in capsys.readouterr().err


def test_a_rubric_from_files(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("rubric.yaml").write_text("dimensions:\n  drop: {weight: 3}\n  units: {max_score: 5}\n")
    Path("scores.json").write_text('{"drop": 1, "units": {"score": 4, "evidence": "one is missing"}}')
    assert main(["rubric", "score", "rubric.yaml", "scores.json", "--write", "."]) == 0
    assert json.loads(capsys.readouterr().out) == {"reward": 0.95}
    assert json.loads(Path("reward.json").read_text()) == {"reward": 0.95}
    assert json.loads(Path("details.json").read_text())["units"]["evidence"] == "one is missing"
    Path("scores.json").write_text('{"drop": 1, "unit": 4}')
    assert main(["rubric", "score", "rubric.yaml", "scores.json"]) == 2
    assert "scores.json: no score for 'units'" in capsys.readouterr().err
    assert main(["rubric", "score", "none.yaml", "scores.json"]) == 2
    assert "none.yaml: No such file" in capsys.readouterr().err
