"""`adjudge grade --judge`: inline, beside the scorers, changing nothing of theirs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import adjudge
from adjudge.cli.main import main
from adjudge.records.judgement import Judgement
from adjudge.testing.providers import Asked, ScriptedFault, ScriptedReply, scripted_server

pytestmark = pytest.mark.anyone

RECIPE = """\
name: shop
instruction: Make shop.total add its prices. Do not touch other files.
scorers:
  - {name: only shop, type: allowed_paths, patterns: [shop.py], primary: true}
  - {name: readable, type: llm_judge, rubric: Names say what things are., required: true}
"""


@pytest.fixture
def attempt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.setenv("ADJUDGE_HOME", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    before, after = tmp_path / "before", tmp_path / "after"
    for place, body in ((before, "return 0"), (after, "return sum(prices)")):
        place.mkdir()
        (place / "shop.py").write_text(f"def total(prices):\n    {body}\n")
    (tmp_path / "recipe.yaml").write_text(RECIPE)
    (tmp_path / "response.txt").write_text("I made total add its prices.")
    return {
        "scenario": tmp_path / "recipe.yaml",
        "workspace": after,
        "baseline": before,
        "response": tmp_path / "response.txt",
    }


def reply(verdict: str) -> ScriptedReply:
    return ScriptedReply(
        json.dumps(
            {
                "scores": {"task_completion": 2, "instruction_adherence": 4, "efficiency": 5},
                "verdict": verdict,
                "failure_mode": None if verdict == "PASS" else "incomplete",
                "reasoning": "Seen in the diff.",
                "fact_checks": [
                    {
                        "statement": "only shop.py changed",
                        "kind": "constraint",
                        "status": "supported",
                        "evidence": "scorers: only shop",
                    }
                ],
            }
        )
    )


def judge_file(tmp_path: Path, url: str, **more: Any) -> str:
    file = tmp_path / "judge.yaml"
    file.write_text(json.dumps({"model": {"model": "m", "base_url": url}, **more}))
    return str(file)


def test_the_judge_reads_the_evidence_and_has_a_gate_of_its_own(
    attempt: dict[str, Any], tmp_path: Path
) -> None:
    with scripted_server(lambda _: reply("FAIL")) as server:
        evaluation = adjudge.grade(**attempt, judge=judge_file(tmp_path, server.openai_url))
        prompt = server.asked[0].prompt
    assert evaluation.gates.objective.verdict == "PASS"
    assert evaluation.gates.judge.verdict == "FAIL"
    assert evaluation.gates.judge.reason == "the judge says FAIL (incomplete)"
    assert [(tag.category, tag.source) for tag in evaluation.error_taxonomy] == [("incomplete", "judge")]
    judgement = Judgement.model_validate(evaluation.judge)
    assert judgement.fact_checks[0].status == "supported"
    for said in (
        "Make shop.total add its prices.",
        "I made total add its prices.",
        "+    return sum(prices)",
        "scorer: only shop (allowed_paths)",
        "| only shop | allowed_paths | PASS | 1 | required |",
        "required — readable: Names say what things are.",
    ):
        assert said in prompt


def test_a_judge_that_fails_fails_nothing(attempt: dict[str, Any], tmp_path: Path) -> None:
    with scripted_server(lambda _: ScriptedFault("status", 401)) as server:
        evaluation = adjudge.grade(**attempt, judge=judge_file(tmp_path, server.openai_url))
    assert evaluation.gates.objective.verdict == "PASS"
    assert evaluation.gates.judge.verdict == "ERROR"
    assert evaluation.gates.judge.reason.startswith("unavailable: status 401")
    assert evaluation.reward == 1.0


def test_the_command_line(
    attempt: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    calls: list[Asked] = []

    def script(asked: Asked) -> ScriptedReply:
        calls.append(asked)
        return reply("PASS")

    with scripted_server(script) as server:
        options = ["--judge", judge_file(tmp_path, server.openai_url, votes=3)]
        options += ["--workspace", str(attempt["workspace"]), "--baseline", str(attempt["baseline"])]
        command = ["grade", str(attempt["scenario"]), *options]
        assert main(command) == 0
        shown = capsys.readouterr().out
        assert main([*command, "--json"]) == 0
        document = json.loads(capsys.readouterr().out)
        assert len(calls) == 3, "the second time, answers are remembered"
        assert main([*command, "--no-cache"]) == 0
        assert len(calls) == 6
    assert "judge" in shown
    assert "3 of 3 say PASS" in shown
    assert "rubric     task completion 2, instruction adherence 4, efficiency 5 (of 5)" in shown
    assert "constraint supported: only shop.py changed [scorers: only shop]" in shown
    assert shown.count("vote       m #") == 3
    assert [vote["cached"] for vote in document["judge"]["votes"]] == [True] * 3
    assert document["confidence"]["inter_rater_agreement"] == 1.0


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("", "an empty judge was given"),
        ("nowhere.yaml", "nowhere.yaml: there is no such file"),
        ("bad.yaml", "bad.yaml:2:"),
        ("unknown.yaml", "unknown.yaml: modle: Extra inputs are not permitted"),
        ("both.yaml", "give either 'model' or 'models'"),
        ("quorum.yaml", "quorum 3 cannot be reached with 1 votes"),
        ("section.yaml", "unknown section 'dif'"),
    ],
)
def test_a_bad_judge_is_refused_before_anything_runs(
    attempt: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str], given: str, said: str
) -> None:
    (tmp_path / "bad.yaml").write_text("model: x\n  votes: {")
    (tmp_path / "unknown.yaml").write_text("modle: x")
    (tmp_path / "both.yaml").write_text("{model: a, models: [b]}")
    (tmp_path / "quorum.yaml").write_text("{model: a, quorum: 3}")
    (tmp_path / "section.yaml").write_text("{model: a, budget: {dif: 1000}}")
    code = main(
        ["grade", str(attempt["scenario"]), "--workspace", str(attempt["workspace"]), "--judge", given]
    )
    assert code == 2
    assert said in capsys.readouterr().err
