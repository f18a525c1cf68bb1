"""`adjudge run`: what is run, what is recorded, and what the command says and exits with."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.e2e.runs.conftest import TASK, Project, matrix, shell

from adjudge.cli.main import main
from adjudge.records.run import AgentStatus, RunStatus
from adjudge.records.score import Verdict
from adjudge.workflows import running


@pytest.mark.bwrap
def test_the_reference_solution_passes_and_doing_nothing_fails(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ADJUDGE_SANDBOX", "auto")
    project.task("login")
    assert project.run("tasks", "--agent", "oracle", "--agent", "noop:m", "--trials", "2") == 1
    assert project.verdicts() == {
        ("login", "noop", 1): "FAIL", ("login", "noop", 2): "FAIL",
        ("login", "oracle", 1): "PASS", ("login", "oracle", 2): "PASS",
    }  # fmt: skip
    said = capsys.readouterr()
    assert "passed     50.0% of 4 graded" in said.out
    assert "[4/4]" in said.err
    for run in project.runs():
        assert run.status is RunStatus.FINISHED
        assert run.attempt is not None
        assert run.attempt.outcome is not None
        assert run.attempt.outcome.status is AgentStatus.COMPLETED
        assert run.attempt.task_files is not None
        (evaluation,) = project.store.evaluations(run.id)
        assert evaluation.run_id == run.id
        assert evaluation.gates.run.verdict is Verdict.PASS
        assert evaluation.gates.judge.verdict is Verdict.NA


def test_exit_codes_and_thresholds(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    project.task("login")
    agents = ["--agent", "oracle", "--agent", "noop"]
    assert project.run("tasks/login", "--agent", "oracle") == 0
    assert project.run("tasks", *agents, "--fail-under", "0.5") == 0
    assert project.run("tasks", *agents, "--fail-under", "0.51", "--quiet") == 1
    said = capsys.readouterr()
    assert "threshold 51.0%" in said.out
    assert said.err.count("[2/2]") == 1
    assert project.run("tasks/none", "--agent", "noop") == 2
    assert project.run("tasks") == 2
    assert project.run() == 2
    assert project.run("tasks", "--agent", "nop") == 2
    assert "did you mean noop?" in capsys.readouterr().err


def test_the_same_matrix_again_is_a_new_experiment_once_it_is_finished(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    project.task("login")
    ids = []
    for _ in range(2):
        assert project.run("tasks", "--agent", "oracle", "--json") == 0
        events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        assert [event["event"] for event in events][:1] == ["begun"]
        assert events[-1]["event"] == "summary"
        assert events[-1]["kept"] == 0
        ids.append(events[-1]["experiment"])
    assert len(set(ids)) == 2
    assert len(project.runs()) == 2
    assert project.run("--resume", ids[0][:6], "--json") == 0
    summary = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (summary["kept"], summary["graded"]) == (1, 1)
    assert len(project.runs()) == 2


def test_what_an_agent_does_wrong_is_graded_all_the_same(project: Project) -> None:
    project.task("login")
    agents = {
        "crashes": shell("sed -i s/1/2/ x.py; echo gone >&2; exit 3"),
        "slow": shell("sed -i s/1/2/ x.py; sleep 600"),
    }
    file = project.experiment(
        {"matrix": matrix(["tasks/*"], list(agents)), "agents": agents, "limits": {"wall_s": 3}}
    )
    assert project.run(file) == 0
    for run in project.runs():
        evaluation = project.store.current_evaluation(run.id)
        assert evaluation is not None
        assert evaluation.gates.objective.verdict is Verdict.PASS
        assert evaluation.gates.run.verdict is Verdict.FAIL
    crashed, slow = project.runs()
    assert crashed.attempt is not None
    assert slow.attempt is not None
    assert crashed.attempt.outcome is not None
    assert slow.attempt.outcome is not None
    assert crashed.attempt.outcome.exit_code == 3
    assert slow.attempt.outcome.status is AgentStatus.TIMED_OUT


def test_our_own_faults_are_tried_again_and_never_become_a_zero(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(running, "RETRY_PAUSE_S", 0.0)
    monkeypatch.delenv("SOME_KEY", raising=False)
    project.task("login")
    agents = {"needy": {**shell("sed -i s/1/2/ x.py"), "credentials": ["SOME_KEY"]}}
    file = project.experiment({"matrix": matrix(["tasks/*"], ["needy", "noop"]), "agents": agents})
    assert project.run(file) == 1
    needy = next(run for run in project.runs() if run.agent.name == "needy")
    assert needy.status is RunStatus.INFRASTRUCTURE_FAULT
    assert needy.attempts == running.TRIES
    assert needy.fault is not None
    assert "SOME_KEY" in needy.fault
    assert project.store.evaluations(needy.id) == ()
    said = capsys.readouterr()
    assert "passed     0.0% of 1 graded" in said.out
    assert said.err.count("again: ") == running.TRIES - 1
    monkeypatch.setenv("SOME_KEY", "hush")
    assert project.run(file) == 1
    assert "resumes experiment" in capsys.readouterr().err
    assert project.verdicts() == {("login", "needy", 1): "PASS", ("login", "noop", 1): "FAIL"}


def test_nothing_that_could_be_graded_is_3(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(running, "RETRY_PAUSE_S", 0.0)
    project.task("broken", TASK + "setup: exit 4\n")
    assert project.run("tasks", "--agent", "noop") == 3
    assert "setup failed: exit 4" in capsys.readouterr().err


def test_names_never_collide_and_equal_content_is_run_once(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    project.task("login")
    agents = {name: shell(f"echo {index} > x.py") for index, name in enumerate(("A b", "a b", "a/b", "A/B"))}
    agents["again"] = agents["A b"]
    file = project.experiment({"matrix": matrix(["tasks/login"], list(agents)), "agents": agents})
    assert project.run(file) == 1
    assert [run.agent.name for run in project.runs()] == ["A b", "A/B", "a b", "a/b"]
    assert len({run.id for run in project.runs()}) == 4
    assert "login with again is the same run as login with A b, and made once" in capsys.readouterr().err


def test_filters_and_limits_choose_what_is_run(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("alpha", "beta"):
        project.task(name, f"tags: {{kind: k-{name}}}\n" + TASK.replace("Make", f"{name} make"))

    def listed(*options: str) -> list[str]:
        assert project.run("tasks", "--agent", "noop", "--agent", "oracle:m", "--dry-run", *options) == 0
        return capsys.readouterr().out.splitlines()

    assert len(listed()) == 4
    assert listed("--where", "kind=k-a*") == ["alpha  noop  #1", "alpha  oracle:m  #1"]
    assert listed("--where", "task=beta", "--where", "model=m") == ["beta  oracle:m  #1"]
    assert listed("--limit", "1", "--trials", "2")[::2] == ["alpha  noop  #1", "alpha  noop  #2"]
    assert project.run("tasks", "--agent", "noop", "--where", "knd=x") == 2
    assert "did you mean 'kind'?" in capsys.readouterr().err
    assert project.run("tasks", "--agent", "noop", "--where", "kind=zzz") == 2
    assert project.runs() == []


def test_a_session_is_scored_once_on_all_its_turns(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    turns = "turns:\n  - Once more.\n  - when: [{contains: second, say: Enough.}, {default: Hm.}]\n"
    project.task("talk", TASK + turns + "  - when: [{contains: never, say: Not said.}]\n")
    agents = {
        "talker": shell(
            "echo first; echo one > log.txt", resume="echo second; echo more >> log.txt; sed -i s/1/2/ x.py"
        )
    }
    file = project.experiment({"matrix": matrix(["tasks/*"], ["talker"]), "agents": agents})
    assert project.run(file) == 0
    (run,) = project.runs()
    assert run.attempt is not None
    assert run.attempt.outcome is not None
    assert run.attempt.outcome.turns == 3
    assert run.attempt.change_set is not None
    assert {change.path: change.kind.value for change in run.attempt.change_set.changes} == {
        "log.txt": "added",
        "x.py": "modified",
    }
    assert run.attempt.transcript is not None
    assert [json.loads(line) for line in run.attempt.transcript.head.splitlines()] == [
        {"role": "user", "content": "Make x 2."},
        {"role": "assistant", "content": "first"},
        {"role": "user", "content": "Once more."},
        {"role": "assistant", "content": "second"},
        {"role": "user", "content": "Enough."},
        {"role": "assistant", "content": "second"},
    ]
    capsys.readouterr()
    assert main(["trace", run.id]) == 0
    timeline = capsys.readouterr().out.partition("\n\n")[0]
    assert [line.split()[1] for line in timeline.splitlines()] == [
        "Make",
        "first",
        "Once",
        "second",
        "Enough.",
        "second",
    ]


def test_an_agent_that_cannot_continue_is_refused_before_anything_runs(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    project.task("talk", TASK + "turns: [Once more.]\n")
    assert project.run("tasks", "--agent", "oracle") == 2
    assert "talk with oracle: agent 'oracle' cannot continue" in capsys.readouterr().err
    assert project.runs() == []


def test_a_run_without_a_workspace_never_meets_a_scorer(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "instruction: Say hello.\nscorers: [{type: llm_judge, rubric: friendly?}]\n"
    project.task("hello", text)
    assert project.run("tasks", "--agent", "noop") == 3
    (run,) = project.runs()
    (evaluation,) = project.store.evaluations(run.id)
    assert evaluation.scorers == ()
    assert evaluation.gates.objective.verdict is Verdict.NA
    assert evaluation.gates.judge.reason == "no judge configured"
    assert evaluation.gates.run.verdict is Verdict.PASS
    assert run.attempt is not None
    assert run.attempt.transcript is not None
    capsys.readouterr()
    project.task("wrong", text.replace("llm_judge, rubric: friendly?", "forbid_secrets"))
    assert project.run("tasks", "--agent", "noop") == 2
    assert "tasks/wrong/adjudge.yaml:2:12: scorers[0].type: forbid_secrets needs a workspace" in (
        capsys.readouterr().err
    )


def test_files_with_problems_are_all_named_before_anything_runs(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    project.task("one", TASK.replace("instruction: Make x 2.\n", ""))
    project.task("two", TASK.replace("max_files_changed", "max_files_chnged"))
    assert project.run("tasks", "--agent", "noop") == 2
    said = capsys.readouterr().err
    assert "one/adjudge.yaml:1:1: instruction: missing" in said
    assert "did you mean 'max_files_changed'?" in said


def test_a_frozen_task_is_run_by_its_digest(project: Project, tmp_path: Path) -> None:
    folder = project.task("login")
    assert main(["seed", str(folder), str(tmp_path / "work")]) == 0
    (digest,) = [place.name for place in (project.home / "tasks").iterdir()]
    assert project.run(digest[:12], "--agent", "oracle") == 0
    assert [run.task.digest for run in project.runs()] == [f"sha256:{digest}"]


def test_the_cost_cap_starts_nothing_more_and_says_so(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    project.task("login")
    trace = project.root / "trace.jsonl"
    trace.write_text(
        '{"schema":"adjudge.trace/1","format":"test"}\n'
        '{"type":"message","role":"assistant","text":"done"}\n'
        '{"type":"usage","tokens":{"input":10,"output":5},"cost_usd":0.4}\n'
    )
    agents = {
        "paid": {"type": "replay", "patch": str(project.root / "tasks/login/fix.patch"), "trace": str(trace)}
    }
    document = {"matrix": matrix(["tasks/*"], ["paid"], trials=4), "agents": agents, "jobs": 1}
    file = project.experiment({**document, "max_cost_usd": 0.5})
    assert project.run(file) == 0
    said = capsys.readouterr()
    assert "cost cap reached: $0.80 spent, cap $0.50; no further run is started" in said.err
    assert "left       2 of 4 runs were not made: the cost cap is reached" in said.out
    assert len(project.runs()) == 2
    # What was spent counts on: a higher cap goes on with the same experiment.
    assert project.run(file, "--max-cost", "1.0", "--quiet") == 0
    assert len(project.runs()) == 3
    assert project.run(file, "--max-cost", "9", "--json") == 0
    summary = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (summary["graded"], summary["kept"], round(summary["cost_usd"], 6)) == (4, 3, 1.6)


def test_traces_made_elsewhere_become_runs_once(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    chat = project.root / "chat.json"
    chat.write_text(
        json.dumps(
            {"messages": [{"role": "user", "content": "Hello?"}, {"role": "assistant", "content": "Hi."}]}
        )
    )
    for _ in range(2):
        assert project.run("--from-trace", chat) == 3
        (run,) = project.runs()
    assert run.agent.name == "imported"
    assert project.store.task(run.task.digest).scenario.instruction == "Hello?"
    assert run.attempt is not None
    assert run.attempt.outcome is not None
    assert run.attempt.outcome.response == "Hi."
    assert run.attempt.outcome.trace is not None
    (evaluation,) = project.store.evaluations(run.id)
    assert evaluation.scorers == ()
    project.task("hello", "instruction: Greet.\nscorers: [{type: llm_judge, rubric: friendly?}]\n")
    assert project.run("--from-trace", chat, "--task", "tasks/hello") == 3
    assert sorted(run.task.name for run in project.runs()) == ["chat", "hello"]
    capsys.readouterr()
    project.task("login")
    assert project.run("--from-trace", chat, "--task", "tasks/login") == 2
    assert "has a workspace, which a trace alone says nothing about" in capsys.readouterr().err
    assert project.run("--from-trace", project.root / "none") == 2
    assert project.run("--from-trace") == 2
    assert project.run("--from-trace", chat, "--agent", "noop") == 2


def test_a_source_that_holds_the_store_is_refused(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = project.task("login")
    monkeypatch.setenv("ADJUDGE_STORE", str(folder / "src" / "store"))
    assert project.run("tasks/login", "--agent", "noop") == 2
    assert "workspace.path: 'src' holds" in capsys.readouterr().err
