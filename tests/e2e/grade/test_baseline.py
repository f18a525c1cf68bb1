"""What a workspace is compared with, and who could have moved it."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.e2e.grade.conftest import Project

RECIPE = "scorers: [{type: allowed_paths, patterns: ['src/**']}]"


@pytest.fixture(autouse=True)
def recipe(project: Project) -> None:
    project.recipe = project.write_recipe(RECIPE)


def test_on_the_default_branch_head_is_taken_and_said_to_be_untrusted(project: Project) -> None:
    project.solve()
    outcome = project.grade()
    assert outcome.code == 0
    baseline = outcome.document["provenance"]["baseline"]
    assert baseline["origin"] == "unverified"
    assert "HEAD of the default branch main" in baseline["description"]
    assert "baseline: unverified" in outcome.document["warnings"]
    assert outcome.document["integrity"] == {"outcome": "unchecked", "reasons": ["baseline: unverified"]}
    assert "untrusted baseline: HEAD of the default branch main" in outcome.stderr
    table = project.adjudge("grade", project.recipe, "--workspace", project.workspace).stdout
    assert "baseline  unverified: HEAD of the default branch main" in table


def test_on_a_branch_committed_and_dirty_changes_count_from_the_merge_base(project: Project) -> None:
    base = project.git("rev-parse", "HEAD")
    project.git("checkout", "-qb", "work")
    project.write({"other/committed.txt": "x"})
    project.commit("attempt")
    project.write({"other/dirty.txt": "x"})
    outcome = project.grade()
    assert outcome.code == 1
    assert outcome.document["provenance"]["baseline"]["commit"] == base
    assert {finding["path"] for finding in outcome.document["scorers"][0]["findings"]} == {
        "other/committed.txt",
        "other/dirty.txt",
    }


@pytest.mark.parametrize("how", ["commit", "directory"])
def test_a_named_baseline_is_trusted(project: Project, how: str) -> None:
    before = project.root / "before"
    shutil.copytree(project.workspace, before, ignore=shutil.ignore_patterns(".git"))
    given = str(before) if how == "directory" else project.git("rev-parse", "HEAD")
    project.solve()
    outcome = project.grade("--baseline", given)
    assert outcome.code == 0
    assert outcome.document["provenance"]["baseline"]["origin"] == how
    assert outcome.document["warnings"] == []
    assert outcome.document["integrity"]["reasons"] == []


def test_a_branch_name_is_not_trusted(project: Project) -> None:
    assert project.grade("--baseline", "main").document["provenance"]["baseline"]["origin"] == "unverified"


def test_without_any_baseline_it_is_a_usage_error(project: Project) -> None:
    shutil.rmtree(project.workspace / ".git")
    outcome = project.grade()
    assert (outcome.code, outcome.stdout) == (2, "")
    assert "no baseline was given" in outcome.stderr
    assert "hint: " in outcome.stderr


def test_without_any_baseline_a_recipe_that_is_wrong_is_said_first(project: Project) -> None:
    shutil.rmtree(project.workspace / ".git")
    project.write_recipe("scorers: [{type: comand, cmd: 'true'}]\n")
    outcome = project.grade()
    assert (outcome.code, outcome.stdout) == (2, "")
    assert "did you mean 'command'?" in outcome.stderr


def test_without_any_baseline_the_source_that_a_scenario_names_is_it(project: Project) -> None:
    shutil.rmtree(project.workspace / ".git")
    named = "workspace: {source: directory, path: %s}\nscorers: [{type: max_files_changed, limit: 1}]\n"
    project.write_recipe(named % "before")
    shutil.copytree(project.workspace, project.root / "before")
    project.write({"one.txt": "1", "two.txt": "2"})
    outcome = project.grade()
    assert outcome.code == 1
    assert outcome.document["provenance"]["baseline"]["origin"] == "task"
    assert outcome.document["scorers"][0]["reason"].startswith("2 files")
    # An attempt in the source itself has changed what it would be compared with.
    project.write_recipe(named % "workspace")
    assert "no baseline was given" in project.grade().stderr


@pytest.mark.parametrize("given", ["nonsense", "0" * 40, "--", "HEAD~99"])
def test_a_baseline_that_is_not_there_is_a_usage_error(project: Project, given: str) -> None:
    outcome = project.grade(f"--baseline={given}")
    assert (outcome.code, outcome.stdout) == (2, "")
    assert "Traceback" not in outcome.stderr


SCENARIO = """
name: seeded
instruction: make it add
workspace: {source: directory, path: source}
scorers: [{type: allowed_paths, patterns: ["src/**"]}]
"""


@pytest.fixture
def seeded(project: Project) -> Project:
    """The project's files as a scenario's source, seeded to a fresh workspace."""
    source = project.root / "scenario" / "source"
    shutil.copytree(project.workspace, source, ignore=shutil.ignore_patterns(".git"))
    project.recipe = project.write_recipe(SCENARIO, "scenario/adjudge.yaml")
    project.workspace = project.root / "attempt"
    assert project.adjudge("seed", project.recipe, project.workspace).code == 0
    return project


def test_a_seeded_workspace_is_compared_with_what_was_recorded(seeded: Project) -> None:
    seeded.write({"outside.txt": "x"})
    seeded.git("add", "-A")
    seeded.git("commit", "-qm", "hide it", "--amend")
    outcome = seeded.grade()
    assert outcome.code == 1
    assert outcome.document["provenance"]["baseline"]["origin"] == "task"
    assert outcome.document["warnings"] == []


def test_the_same_task_however_it_is_named(seeded: Project) -> None:
    seeded.solve()
    by_file = seeded.grade().document
    by_digest = seeded.grade(recipe=by_file["task"]["digest"]).document
    by_short = seeded.grade(recipe=by_file["task"]["digest"].removeprefix("sha256:")[:12]).document
    unnamed = seeded.adjudge("grade", "--workspace", seeded.workspace, "--json").document
    ids = {document["run_id"] for document in (by_file, by_digest, by_short, unnamed)}
    assert len(ids) == 1


def test_a_scenario_edited_after_seeding_is_graded_as_given_with_a_warning(seeded: Project) -> None:
    digest = seeded.grade().document["task"]["digest"]
    seeded.write({"outside.txt": "x"})
    seeded.write_recipe(SCENARIO.replace("src/**", "**"), "scenario/adjudge.yaml")
    edited = seeded.grade()
    assert edited.code == 0
    assert any("was seeded from task" in warning for warning in edited.document["warnings"])
    frozen = seeded.grade(recipe=digest)
    assert frozen.code == 1
    assert frozen.document["warnings"] == []


def test_an_explicit_baseline_wins_over_the_record(seeded: Project) -> None:
    outcome = seeded.grade("--baseline", "HEAD")
    assert outcome.document["provenance"]["baseline"]["origin"] == "unverified"
