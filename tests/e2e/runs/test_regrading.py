"""`adjudge regrade`: only what changed is computed, everything else is carried, and what moved is said."""

from __future__ import annotations

import json
import shutil

import pytest
from tests.e2e.runs.conftest import TASK, Project, matrix, shell

from adjudge.contracts import GradedSubject
from adjudge.engine import environment
from adjudge.records.score import Verdict
from adjudge.scorers.behaviour.command import Command
from adjudge.testing.providers import ScriptedReply, scripted_server
from adjudge.workflows import carrying


@pytest.fixture
def graded(project: Project) -> Project:
    """Two runs of one task, a passing and a failing one; what code ran is counted on the host."""
    text = TASK.replace('"grep', f'"echo >> {project.root}/ran; grep').replace("3}", "9}")
    project.task("login", text, {"hidden/check.txt": "one\n"})
    agents = {
        "good": shell(
            "sed -i s/1/2/ x.py; rm -f gone; ln -s x.py link; printf 'a\\0b' > 'odd name'; mkdir d; touch d/e"
        ),
        "idle": shell("true"),
    }
    file = project.experiment({"matrix": matrix(["tasks/*"], ["good", "idle"]), "agents": agents})
    assert project.run(file, "--quiet") == 1
    return project


def ran(project: Project) -> int:
    return (project.root / "ran").read_text().count("\n")


def counts(project: Project) -> list[int]:
    return [len(project.store.evaluations(run.id)) for run in project.runs()]


def test_nothing_changed_so_nothing_is_computed(graded: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert ran(graded) == 2
    assert graded.regrade("--all") == 1
    assert capsys.readouterr().out.endswith(
        "0 of 2 verdicts changed\nnothing had to be computed; no evaluation was added\n"
    )
    assert (ran(graded), counts(graded)) == (2, [1, 1])


def test_force_grades_the_same_from_what_is_stored(graded: Project) -> None:
    before = {run.id: graded.store.current_evaluation(run.id) for run in graded.runs()}
    assert graded.regrade("--all", "--force") == 1
    assert (ran(graded), counts(graded)) == (4, [2, 2])
    for id_, old in before.items():
        new = graded.store.current_evaluation(id_)
        assert old is not None
        assert new is not None
        assert new.id != old.id
        assert (new.gates, new.score, new.integrity) == (old.gates, old.score, old.integrity)
        assert [(row.name, row.verdict, row.score, row.reason, row.findings) for row in new.scorers] == [
            (row.name, row.verdict, row.score, row.reason, row.findings) for row in old.scorers
        ]
        assert new.provenance.change_digest == old.provenance.change_digest


def test_a_store_that_was_moved_suffices(graded: Project) -> None:
    """Without the frozen task, the baseline and the repository of the machine it was made on."""
    shutil.rmtree(graded.home)
    assert graded.regrade("--all", "--force") == 1
    assert graded.verdicts() == {("login", "good", 1): "PASS", ("login", "idle", 1): "FAIL"}
    run = graded.runs()[0]
    evaluation = graded.store.current_evaluation(run.id)
    assert evaluation is not None
    assert "the workspace was made again without the .git that the agent found" in evaluation.warnings


def test_other_scorers_are_a_new_revision_on_the_same_run(
    graded: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    file = graded.root / "tasks" / "login" / "adjudge.yaml"
    other = graded.root / "tasks" / "login" / "other.yaml"
    other.write_text(
        file.read_text().replace("limit: 9", "limit: 0") + "  - {type: file_exists, path: link}\n"
    )
    assert graded.regrade("--all", "--with", other) == 1
    said = capsys.readouterr().out
    assert "1 of 2 verdicts changed: 1 PASS→FAIL by `max_files_changed`" in said
    assert "computed file_exists, max_files_changed" in said
    assert ran(graded) == 2
    run = graded.runs()[0]
    first, second = graded.store.evaluations(run.id)
    assert first.task.digest == run.task.digest != second.task.digest
    assert [str(row.verdict) for row in second.scorers] == ["PASS", "FAIL", "PASS"]
    # The revision is what counts from now on; the frozen task of the run is not touched.
    assert graded.regrade("--all") == 1
    assert counts(graded) == [2, 2]
    assert graded.regrade("--all", "--with", file) == 1
    assert "1 of 2 verdicts changed: 1 FAIL→PASS by `max_files_changed`" in capsys.readouterr().out


def test_another_task_is_refused(graded: Project, capsys: pytest.CaptureFixture[str]) -> None:
    other = graded.task("other", TASK.replace("Make x 2.", "Make x 3."))
    run = graded.runs()[0]
    assert graded.regrade(run.id[:8], "--with", other) == 2
    assert f"run {run.id} was made for another task than other: another instruction" in (
        capsys.readouterr().err
    )
    assert graded.regrade("--all", "--with", other) == 2
    assert "none of the 2 runs was made for the task" in capsys.readouterr().err
    assert graded.regrade() == 2
    assert graded.regrade("nosuchrun") == 2
    assert graded.regrade("--all", "--only", "comand") == 2
    assert "did you mean 'command'?" in capsys.readouterr().err
    assert counts(graded) == [1, 1]


def test_only_one_scorer_is_computed(graded: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert graded.regrade("--all", "--only", "max_files_changed", "--json") == 1
    document = json.loads(capsys.readouterr().out)
    assert [run["computed"] for run in document["runs"]] == [["max_files_changed"]] * 2
    assert (document["moved"], ran(graded), counts(graded)) == (0, 2, [2, 2])


def test_a_scorer_of_another_version_is_computed_again(
    graded: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Command, "version", "next")
    assert graded.regrade("--all") == 1
    assert "computed command" in capsys.readouterr().out
    # What code did is evidence, which a scorer of another version reads again.
    assert ran(graded) == 2
    run = graded.runs()[0]
    evaluation = graded.store.current_evaluation(run.id)
    assert evaluation is not None
    assert evaluation.scorers[0].version == "next"


def test_another_environment_runs_code_again_and_says_so(
    graded: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = {**environment.environment_fingerprint(), "python3": "another"}
    monkeypatch.setattr(carrying, "_environment", lambda: now)
    assert graded.regrade("--all") == 1
    said = capsys.readouterr().out
    assert "the environment is another one than 2 of them were graded in (python3)" in said
    assert ran(graded) == 4
    evaluation = graded.store.current_evaluation(graded.runs()[0].id)
    assert evaluation is not None
    assert any("graded in another environment than before: python3" in text for text in evaluation.warnings)
    assert [str(row.verdict) for row in evaluation.scorers] == ["PASS", "PASS"]


def test_what_a_judge_said_stays(graded: Project) -> None:
    run = graded.runs()[0]
    old = graded.store.current_evaluation(run.id)
    assert old is not None
    judged = old.model_copy(
        update={
            "id": "f" * 32,
            "judge": {"verdict": "PASS"},
            "gates": old.gates.model_copy(
                update={
                    "judge": old.gates.judge.model_copy(update={"verdict": Verdict.PASS, "reason": "good"})
                }
            ),
        }
    )
    task = graded.store.task(run.task.digest)
    graded.store.save_evaluation(run.id, GradedSubject(judged, task, None))
    assert graded.regrade(run.id, "--force") == 0
    new = graded.store.current_evaluation(run.id)
    assert new is not None
    assert new.id != judged.id
    assert new.judge == {"verdict": "PASS"}
    assert new.gates.judge.reason == "good"


def test_runs_without_a_workspace_are_left_as_they_are(project: Project) -> None:
    project.task("hello", "instruction: Hello?\nscorers: [{type: llm_judge, rubric: friendly?}]\n")
    assert project.run("tasks", "--agent", "noop", "--quiet") == 3
    assert project.regrade("--all", "--force") == 3
    assert counts(project) == [1]


def test_the_judge_is_asked_again_only_when_that_is_asked_for(
    graded: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert graded.regrade("--all", "--judge") == 2
    assert "no judge was named" in capsys.readouterr().err
    opinion: dict[str, object] = {
        "scores": {"task_completion": 3, "instruction_adherence": 3, "efficiency": 3},
        "verdict": "PASS",
        "failure_mode": None,
        "reasoning": "By the diff.",
        "fact_checks": [],
    }
    with scripted_server(lambda asked: ScriptedReply(json.dumps(opinion))) as server:
        judge = graded.root / "judge.yaml"
        judge.write_text(json.dumps({"model": {"model": "m", "base_url": server.openai_url}, "retries": 0}))
        monkeypatch.setenv("ADJUDGE_JUDGE", str(judge))
        assert graded.regrade("--all", "--force") == 1
        assert len(server.asked) == 0
        assert graded.regrade("--all", "--judge") == 1
        assert len(server.asked) == 2
    assert "2 of 2 runs were judged again" in capsys.readouterr().out
    current = [graded.store.current_evaluation(run.id) for run in graded.runs()]
    assert [one.gates.judge.verdict for one in current if one is not None] == [Verdict.PASS, Verdict.PASS]
