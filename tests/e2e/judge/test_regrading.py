"""`adjudge regrade` and judges: carried over unless they are asked for; and traces judged as they come in."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from adjudge.cli.main import main
from adjudge.testing.providers import Asked, ScriptedReply, ScriptedServer, scripted_server

pytestmark = pytest.mark.anyone

SCENARIO = """\
name: shop
instruction: Make shop.total add its prices.
workspace: {{source: directory, path: project}}
scorers:
  - {{name: only shop, type: allowed_paths, patterns: [shop.py]}}
  - {{name: nice, type: model_judge, rubric: Is it nice?, model: {{model: m, base_url: "{url}"}}}}
"""
TRACE = [
    {"role": "user", "content": "What is two and two?"},
    {"role": "assistant", "content": "Four."},
]


class Models:
    """A server whose judge and `model_judge` say what the test wants."""

    def __init__(self) -> None:
        self.verdict, self.score = "PASS", 0.9
        self.server: ScriptedServer

    def __call__(self, asked: Asked) -> ScriptedReply:
        if "Is it nice?" in asked.prompt:
            return ScriptedReply(json.dumps({"reasoning": "So.", "score": self.score}))
        return ScriptedReply(
            json.dumps(
                {
                    "scores": {"task_completion": 3, "instruction_adherence": 3, "efficiency": 3},
                    "verdict": self.verdict,
                    "failure_mode": None if self.verdict == "PASS" else "no_attempt",
                    "reasoning": "By the diff.",
                    "fact_checks": [],
                }
            )
        )

    @property
    def asked(self) -> int:
        return len(self.server.asked)


@pytest.fixture
def models() -> Iterator[Models]:
    models = Models()
    with scripted_server(models) as models.server:
        yield models


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, models: Models) -> Path:
    monkeypatch.setenv("ADJUDGE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("ADJUDGE_STORE", str(tmp_path / "store"))
    monkeypatch.setenv("ADJUDGE_SANDBOX", "process")
    for variable in ("ADJUDGE_BLOBS", "ADJUDGE_JUDGE"):
        monkeypatch.delenv(variable, raising=False)
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "shop.py").write_text("def total(prices):\n    return 0\n")
    url = models.server.openai_url
    (tmp_path / "adjudge.yaml").write_text(SCENARIO.format(url=url))
    (tmp_path / "judge.yaml").write_text(json.dumps({"model": {"model": "m", "base_url": url}, "retries": 0}))
    (tmp_path / "trace.jsonl").write_text("".join(json.dumps(line) + "\n" for line in TRACE))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def call(project: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str]]:
    def run(*arguments: str) -> tuple[int, str]:
        code = main(list(arguments))
        captured = capsys.readouterr()
        return code, captured.out + captured.err

    return run


def current(call: Callable[..., tuple[int, str]]) -> dict[str, Any]:
    """The verdicts of the only run, by gate and scorer."""
    listed: dict[str, Any] = json.loads(call("list", "--json")[1])
    shown = json.loads(call("show", listed["runs"][0]["id"], "--json")[1])
    evaluation = next(one for one in shown["evaluations"] if one["id"] == shown["current_evaluation"])
    rows = {row["name"]: row["verdict"] for row in evaluation["scorers"]}
    return {**rows, "judge": evaluation["gates"]["judge"]["verdict"]}


def test_judges_are_asked_again_only_when_they_are_asked_for(
    models: Models, call: Callable[..., tuple[int, str]]
) -> None:
    code, said = call("run", ".", "--agent", "noop", "--judge", "judge.yaml", "--quiet")
    assert code == 0, said
    assert models.asked == 2
    assert current(call) == {"only shop": "PASS", "nice": "PASS", "judge": "PASS"}

    models.verdict, models.score = "FAIL", 0.1
    code, said = call("regrade", "--all", "--force")
    assert models.asked == 2, "without --judge nobody is asked, not even with --force"
    assert current(call) == {"only shop": "PASS", "nice": "PASS", "judge": "PASS"}

    # Without a name it is the judge of the experiment; with --force no remembered answer is taken.
    code, said = call("regrade", "--all", "--force", "--judge")
    assert models.asked == 4, said
    assert "1 of 1 runs were judged again: FAIL 1" in said
    assert current(call) == {"only shop": "PASS", "nice": "FAIL", "judge": "FAIL"}

    # What they say then is carried over in turn.
    call("regrade", "--all", "--force")
    assert models.asked == 4
    assert current(call) == {"only shop": "PASS", "nice": "FAIL", "judge": "FAIL"}


def test_a_new_model_judge_waits_until_it_is_asked_for(
    project: Path, models: Models, call: Callable[..., tuple[int, str]]
) -> None:
    scenario = (project / "adjudge.yaml").read_text()
    (project / "adjudge.yaml").write_text("\n".join(scenario.splitlines()[:-1]) + "\n")
    assert call("run", ".", "--agent", "noop", "--quiet")[0] == 0
    (project / "adjudge.yaml").write_text(scenario)
    assert call("regrade", "--all", "--with", "adjudge.yaml")[0] == 0
    assert models.asked == 0
    assert current(call)["nice"] == "NA"
    code, said = call("regrade", "--all", "--judge")
    assert (code, models.asked) == (0, 1), said
    assert current(call) == {"only shop": "PASS", "nice": "PASS", "judge": "NA"}


def test_imported_traces_are_judged_at_once_and_again(
    models: Models, call: Callable[..., tuple[int, str]]
) -> None:
    code, said = call("run", "--from-trace", "trace.jsonl", "--judge", "judge.yaml")
    assert (code, models.asked) == (0, 1), said
    code, said = call("run", "--from-trace", "trace.jsonl", "--judge", "judge.yaml")
    assert (code, models.asked) == (0, 1), "what was imported and judged before is kept"

    models.verdict = "FAIL"
    code, said = call("regrade", "--all", "--judge", "--force")
    assert (code, models.asked) == (1, 2), said
    assert "1 of 1 verdict changed: 1 PASS→FAIL by `judge`" in said


def test_who_is_to_be_asked(project: Path, call: Callable[..., tuple[int, str]]) -> None:
    call("run", "--from-trace", "trace.jsonl", "--quiet")
    for arguments, expected in [
        (("--all", "--judge"), "no judge was named"),
        (("--judge", "abc"), "--judge takes 'abc' as the judge"),
        (("--all", "--judge", "nope.yaml"), "nope.yaml: there is no such file"),
        (("--all", "--sandbox", "bubble"), "did you mean bubblewrap?"),
    ]:
        code, said = call("regrade", *arguments)
        assert (code, expected in said) == (2, True), said
