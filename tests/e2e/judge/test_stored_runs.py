"""Judging runs of an experiment, later on, again, and beside people: through the real commands."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from adjudge.cli.main import main
from adjudge.errors import ConfigInvalid
from adjudge.testing.providers import Asked, ScriptedFault, ScriptedReply, scripted_server
from adjudge.workflows.calibrating import load_labels

pytestmark = pytest.mark.bwrap

SCENARIO = """\
name: shop
instruction: Make shop.total add its prices.
workspace: {source: directory, path: project}
solution: solution.patch
scorers:
  - {name: only shop, type: allowed_paths, patterns: [shop.py]}
  - {name: added something, type: file_exists, path: shop.py}
"""
PATCH = """\
diff --git a/shop.py b/shop.py
--- a/shop.py
+++ b/shop.py
@@ -1,2 +1,2 @@
 def total(prices):
-    return 0
+    return sum(prices)
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ADJUDGE_HOME", str(tmp_path / "state"))
    for variable in ("ADJUDGE_STORE", "ADJUDGE_BLOBS", "ADJUDGE_JUDGE"):
        monkeypatch.delenv(variable, raising=False)
    place = tmp_path / "here"
    (place / "project").mkdir(parents=True)
    (place / "project" / "shop.py").write_text("def total(prices):\n    return 0\n")
    (place / "adjudge.yaml").write_text(SCENARIO)
    (place / "solution.patch").write_text(PATCH)
    monkeypatch.chdir(place)
    return place


def opinion(verdict: str) -> ScriptedReply:
    return ScriptedReply(
        json.dumps(
            {
                "scores": {"task_completion": 3, "instruction_adherence": 3, "efficiency": 3},
                "verdict": verdict,
                "failure_mode": None if verdict == "PASS" else "no_attempt",
                "reasoning": "By the diff.",
                "fact_checks": [],
            }
        )
    )


def by_the_diff(asked: Asked) -> ScriptedReply:
    """A judge that looks: a sum passes, everything else does not."""
    return opinion("PASS" if "+    return sum(prices)" in asked.prompt else "FAIL")


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str]]:
    def run(*arguments: str) -> tuple[int, str]:
        code = main(list(arguments))
        captured = capsys.readouterr()
        return code, captured.out + captured.err

    return run


def judge_file(project: Path, url: str, **more: Any) -> str:
    file = project / "judge.yaml"
    file.write_text(json.dumps({"model": {"model": "m", "base_url": url}, "retries": 0, **more}))
    return str(file)


def test_an_experiment_with_a_judge_and_all_that_follows(
    project: Path, call: Callable[..., tuple[int, str]]
) -> None:
    down = True

    def script(asked: Asked) -> ScriptedReply | ScriptedFault:
        if down and "+    return sum(prices)" in asked.prompt:
            return ScriptedFault("status", 400)
        return by_the_diff(asked)

    with scripted_server(script) as server:
        judge = judge_file(project, server.openai_url)
        code, said = call("run", ".", "--agent", "oracle", "--agent", "noop", "--judge", judge, "--quiet")
        assert "FAIL 1" in said, said
        assert "ERROR 1" in said, "a judge that fails does not fail the run"

        # What failed is filled in later, by the experiment's own judge, and nothing else is asked.
        down = False
        asked = len(server.asked)
        code, said = call("judge", "--retry-failed")
        assert (code, len(server.asked)) == (0, asked + 1), said
        assert "PASS" in said
        assert call("judge", "--retry-failed")[1].strip() == "nothing is left to judge"

        # Asked again, the answer is remembered; each judgement is an evaluation of its own.
        code, said = call("judge", "--all", "--json")
        rows = [json.loads(line) for line in said.splitlines()]
        assert code == 1
        assert sorted(row["gate"]["verdict"] for row in rows) == ["FAIL", "PASS"]
        assert all(row["judge"]["votes"][0]["cached"] for row in rows)
        failed = next(row["run"] for row in rows if row["gate"]["verdict"] == "FAIL")
        passed = next(row["run"] for row in rows if row["gate"]["verdict"] == "PASS")

        # The run that did nothing passes every path scorer: the gates disagree, and that is shown.
        code, said = call("judge", "disagreements")
        assert "scorers PASS, judge FAIL (1)" in said, said
        assert failed in said
        assert passed not in said

        labels = project / "labels.csv"
        labels.write_text(f"run,judgment\n{failed},fail\n{passed[:8]},pass\n")
        code, said = call("judge", "calibrate", "--labels", str(labels))
        assert code == 1, "two labels are too few"
        assert "accuracy   100.0%" in said
        assert "2 labelled runs with a verdict, 30 are needed" in said

        options = ["--repeats", "2", "--probes", "--judge", judge, "--json"]
        code, said = call("judge", "calibrate", "--labels", str(labels), *options)
        figures = json.loads(said)
        assert figures["repeated"]["consistent"] == figures["repeated"]["runs"] == 2
        assert figures["repeated"]["flips"] == {"position": [0, 2], "length": [0, 2]}
        assert figures["confusion"] == {"PASS/pass": 1, "PASS/fail": 0, "FAIL/pass": 0, "FAIL/fail": 1}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("judge", "--all"), "there is no store"),
        (("judge", "calibrate"), "give either --labels FILE or --annotations"),
    ],
)
def test_what_cannot_be_asked(
    project: Path, call: Callable[..., tuple[int, str]], arguments: tuple[str, ...], said: str
) -> None:
    code, printed = call(*arguments)
    assert code == 2
    assert said in printed.lower() or said in printed


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("run,verdict\nx,pass\n", ":1: no column judgment"),
        ("run,judgment\nx,maybe\n", ":2: judgment: 'maybe' is neither pass nor fail"),
        ('{"run": "x", "judgment": "pass"}\n{"run": \n', ":2: not valid JSON"),
        ("", ":1: no column judgment and no column run"),
        ('{"judgment": "pass"}', ":1: 'run' is missing"),
    ],
)
def test_bad_labels(tmp_path: Path, content: str, said: str) -> None:
    file = tmp_path / "labels"
    file.write_text(content)
    with pytest.raises(ConfigInvalid) as raised:
        load_labels(file)
    assert f"{file}{said}" in raised.value.message
