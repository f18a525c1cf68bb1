"""Workspaces graded with real sandboxes: each verdict, and how it is said."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from adjudge.records.base import BlobRef
from adjudge.records.evaluation import Evaluation
from adjudge.records.evidence import CommandOutcome
from adjudge.settings import load_settings
from adjudge.store.opening import store_for
from adjudge.store.runs import RunDatabase

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.grade.conftest import Project

pytestmark = pytest.mark.bwrap


def test_an_attempt_that_solves_it_passes(project: Project) -> None:
    project.solve()
    outcome = project.grade()
    assert outcome.code == 0
    assert outcome.objective["verdict"] == "PASS"
    document = outcome.document
    assert (document["score"], document["reward"]) == (1.0, 1.0)
    assert outcome.row("skips")["verdict"] == "NA"
    assert "[stdout]\nok" in outcome.row("unit tests")["output_tail"]
    assert document["provenance"]["sandbox"] == "bubblewrap"
    assert document["provenance"]["limits_held_by"]["memory"]
    assert document["provenance"]["environment"]["system"]
    assert document["validity"]["verifier_completed"] is True
    assert document["gates"]["run"] == {"verdict": "NA", "reason": "workspace given, no agent ran"}
    Evaluation.model_validate_json(outcome.stdout)


def test_an_attempt_that_gives_up_fails_with_the_evidence(project: Project) -> None:
    outcome = project.grade()
    assert outcome.code == 1
    row = outcome.row("unit tests")
    assert (row["verdict"], row["score"], row["reason"]) == ("FAIL", 0.0, "exit 1, expected 0")
    assert "AssertionError: -1" in row["output_tail"]
    assert outcome.objective["reason"] == "required scorer 'unit tests' failed"


def test_an_attempt_that_edits_the_graded_test_is_caught(project: Project) -> None:
    project.write({"run-tests.sh": "exit 0\n"})
    outcome = project.grade()
    assert outcome.code == 1
    assert outcome.row("unit tests")["verdict"] == "PASS"
    assert outcome.row("graded tests")["verdict"] == "FAIL"
    assert outcome.row("graded tests")["findings"][0]["path"] == "run-tests.sh"


def test_an_advisory_failure_is_shown_and_fails_nothing(project: Project) -> None:
    project.solve()
    project.write({"tests/test_more.py": "import pytest\n\n@pytest.mark.skip\ndef test_x():\n    assert 0\n"})
    recipe = project.write_recipe("scorers: [{type: no_new_skips}, {type: max_files_changed, limit: 5}]")
    outcome = project.grade(recipe=recipe)
    assert outcome.code == 0
    row = outcome.row("no_new_skips")
    assert (row["verdict"], row["required"]) == ("FAIL", False)
    assert row["findings"][0]["line"] == 3
    assert outcome.objective["mean_score"] == 0.5


def test_nothing_that_applies_is_not_a_pass(project: Project) -> None:
    outcome = project.grade(recipe=project.write_recipe("scorers: [{type: no_new_skips}]"))
    assert outcome.code == 3
    assert outcome.objective["verdict"] == "NA"
    assert outcome.document["score"] is None


def test_a_command_that_never_ends_is_the_attempts_failure(project: Project) -> None:
    recipe = project.write_recipe("scorers: [{type: command, command: sleep 100, timeout_s: 1}]")
    outcome = project.grade(recipe=recipe)
    assert outcome.code == 1
    row = outcome.row("command")
    assert "timed out after 1 s" in row["reason"]
    assert row["details"]["timed_out"] is True


def test_a_command_that_eats_all_memory_is_the_attempts_failure(project: Project) -> None:
    recipe = project.write_recipe(
        "scorers: [{type: command, command: \"python3 -c 'x = bytearray(10**9)'\"}]\n"
        "sandbox: {memory: 100 MiB}\n"
    )
    outcome = project.grade(recipe=recipe)
    assert outcome.code == 1
    assert outcome.row("command")["details"]["out_of_memory"] is True


def test_a_sandbox_that_cannot_be_had_is_our_failure_not_the_attempts(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*args: object, **more: object) -> object:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("adjudge.sandbox.bubblewrap.BubblewrapBackend.start", broken)
    outcome = project.grade("--sandbox", "bubblewrap")
    assert outcome.code == 3
    assert outcome.objective["verdict"] == "ERROR"
    row = outcome.row("unit tests")
    assert (row["verdict"], row["score"]) == ("ERROR", None)
    assert "No space left" in row["reason"]
    assert outcome.row("scope")["verdict"] == "PASS"
    assert outcome.document["validity"]["verifier_completed"] is False
    assert outcome.document["score"] is None


def test_a_workspace_that_changes_meanwhile_is_an_error(project: Project) -> None:
    project.solve()
    recipe = project.write_recipe(
        "scorers: [{type: command, command: 'sleep 0.2'}, {type: allowed_paths, patterns: ['**']}]\n"
    )
    victim = project.workspace / "src/calc.py"

    # The process backend runs on the host, so a command can reach the original: a stand-in for whoever still
    # writes to it.
    reckless = project.write_recipe(
        "scorers:\n"
        f"  - {{type: command, command: 'echo x >> {victim}'}}\n"
        "  - {type: max_files_changed, limit: 9}\n",
        "reckless.yaml",
    )
    assert project.grade(recipe=recipe).code == 0
    outcome = project.grade("--sandbox", "process", recipe=reckless)
    assert outcome.code == 3
    assert outcome.objective["verdict"] == "ERROR"
    assert "changed while it was being graded" in outcome.objective["reason"]
    assert {row["verdict"] for row in outcome.document["scorers"]} == {"ERROR"}
    assert outcome.document["score"] is None


def test_scorers_that_run_code_share_nothing(project: Project) -> None:
    recipe = project.write_recipe(
        "scorers:\n"
        "  - {name: messy, type: command, command: 'rm -rf src; echo x > left-behind; touch /tmp/left'}\n"
        "  - {name: tidy, type: command, "
        "command: 'test -f src/calc.py && ! test -e left-behind && ! test -e /tmp/left'}\n"
    )
    outcome = project.grade("--jobs", "1", recipe=recipe)
    assert outcome.code == 0, outcome.stdout
    assert (project.workspace / "src/calc.py").exists()
    assert not (project.workspace / "left-behind").exists()


def test_equal_subjects_grade_equally(project: Project) -> None:
    project.solve()
    first, second = project.grade().document, project.grade().document
    assert first["run_id"] == second["run_id"]
    assert first["id"] != second["id"]
    for row in (*first["scorers"], *second["scorers"]):
        del row["duration_s"]
    assert first["scorers"] == second["scorers"]
    assert first["gates"] == second["gates"]
    project.write({"src/other.py": "x = 1\n"})
    assert project.grade().document["run_id"] != first["run_id"]


def test_the_process_backend_is_never_silent_about_itself(project: Project) -> None:
    project.solve()
    outcome = project.grade("--sandbox", "process")
    assert outcome.code == 0
    assert outcome.document["provenance"]["sandbox"] == "process"
    assert any("isolat" in note for note in outcome.document["provenance"]["sandbox_notes"])
    assert any("isolat" in warning for warning in outcome.document["warnings"])


def test_an_environment_and_an_exposed_path_reach_the_command(project: Project) -> None:
    (project.root / "tools").mkdir()
    (project.root / "tools" / "answer").write_text("42\n")
    recipe = project.write_recipe(
        "scorers: [{type: command, command: 'test \"$WORD\" = hello && grep 42 /opt/tools/answer'}]\n"
        f"sandbox: {{env: {{WORD: hello}}, expose: [{{source: {project.root}/tools, target: /opt/tools}}]}}\n"
    )
    outcome = project.grade(recipe=recipe)
    assert outcome.code == 0, outcome.stdout + outcome.stderr


def _read(store: RunDatabase, ref: BlobRef) -> bytes:
    with store.blobs.open(ref) as stream:
        return stream.read()


def test_saved_evaluations_are_whole(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    project.solve()
    assert project.grade().code == 0
    assert not (tmp_path / ".adjudge").exists()
    saved = [project.grade("--save").document for _ in range(2)]
    with store_for(load_settings(), create=False) as store:
        assert [item.id for item in store.evaluations(saved[0]["run_id"])] == [item["id"] for item in saved]
        current = store.current_evaluation(saved[0]["run_id"])
        assert current is not None
        assert current.to_json() == Evaluation.model_validate(saved[1]).to_json()
        attempt = store.run(saved[0]["run_id"]).attempt
        assert attempt is not None
        assert attempt.change_set is not None
        with store.blobs.open(attempt.change_set.diff) as diff:
            assert b"+    return a + b" in diff.read()
        outputs = [
            _read(store, answer.result.stdout)
            for _, answer in store.evidence(saved[1]["id"])
            if isinstance(answer, CommandOutcome)
        ]
        assert outputs == [b"ok\n"]
    assert (tmp_path / ".adjudge" / ".gitignore").read_text() == "*\n"
    assert (tmp_path / ".adjudge").stat().st_mode & 0o777 == 0o700


def test_a_grading_that_is_refused_makes_no_store(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    recipe = project.write_recipe("scorers:\n  - {type: nothing_like_it}\n")
    assert project.grade("--save", recipe=recipe).code == 2
    assert not (tmp_path / ".adjudge").exists()


def test_a_workspace_never_holds_the_store(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project.workspace)
    outcome = project.grade("--save")
    assert outcome.code == 2
    assert "inside the workspace that is graded" in outcome.stderr
    assert not (project.workspace / ".adjudge").exists()
    # What an attempt left there is not believed either, wherever one stands.
    (project.workspace / "src" / ".adjudge").mkdir()
    monkeypatch.chdir(project.workspace / "src")
    outcome = project.grade("--save")
    assert outcome.code == 2
    assert "is not believed" in outcome.stderr


def test_a_secret_is_in_no_output_at_all(project: Project) -> None:
    secret = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    project.write({"src/key.py": f'TOKEN = "{secret}"\n', f"{secret}.txt": "x\n"})
    recipe = project.write_recipe(
        "scorers:\n"
        "  - {type: forbid_secrets}\n"
        "  - {type: command, command: 'cat src/key.py; ls; exit 1'}\n"
        "  - {type: allowed_paths, patterns: ['src/**']}\n"
    )
    outcome = project.grade(recipe=recipe)
    table = project.adjudge("grade", recipe, "--workspace", project.workspace)
    assert outcome.code == table.code == 1
    assert outcome.row("forbid_secrets")["verdict"] == "FAIL"
    assert [finding["line"] for finding in outcome.row("forbid_secrets")["findings"]] == [None, 1]
    assert "[redacted]" in outcome.row("command")["output_tail"]
    for text in (outcome.stdout, outcome.stderr, table.stdout, table.stderr):
        assert secret not in text
