"""A recipe in the workspace can be edited by the attempt it grades. It must gain nothing by it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.e2e.grade.conftest import Project

STRICT = "scorers: [{name: scope, type: allowed_paths, patterns: ['src/**']}]\n"
LENIENT = "scorers: [{name: scope, type: allowed_paths, patterns: ['**']}]\n"


@pytest.fixture(autouse=True)
def recipe(project: Project) -> None:
    project.write({"adjudge.yaml": STRICT})
    project.commit("add the recipe")
    project.recipe = project.workspace / "adjudge.yaml"
    project.write({"outside.txt": "the attempt strays"})


def test_an_edited_recipe_is_graded_by_the_baselines_version(project: Project) -> None:
    project.write({"adjudge.yaml": LENIENT})
    outcome = project.grade()
    assert outcome.code == 1
    assert {finding["path"] for finding in outcome.row("scope")["findings"]} == {
        "adjudge.yaml",
        "outside.txt",
    }
    assert any("the attempt changed adjudge.yaml" in warning for warning in outcome.document["warnings"])


def test_an_untouched_one_is_no_reason_to_warn(project: Project) -> None:
    outcome = project.grade()
    assert outcome.code == 1
    assert outcome.document["warnings"] == ["baseline: unverified"]


def test_a_deleted_one_still_grades(project: Project) -> None:
    (project.workspace / "adjudge.yaml").unlink()
    outcome = project.grade()
    assert outcome.code == 1
    assert any("the attempt changed adjudge.yaml" in warning for warning in outcome.document["warnings"])


def test_one_replaced_by_a_link_out_of_the_workspace_gains_nothing(project: Project) -> None:
    elsewhere = project.write_recipe(LENIENT, "elsewhere.yaml")
    project.recipe.unlink()
    project.recipe.symlink_to(elsewhere)
    assert project.grade().code == 1


def test_a_link_from_outside_into_the_workspace_is_seen_through(project: Project) -> None:
    link = project.root / "link.yaml"
    link.symlink_to(project.recipe)
    project.write({"adjudge.yaml": LENIENT})
    assert project.grade(recipe=link).code == 1


def test_a_folder_stands_for_its_recipe(project: Project) -> None:
    project.write({"adjudge.yaml": LENIENT})
    assert project.grade(recipe=project.workspace).code == 1


def test_from_inside_the_workspace_the_default_is_found_and_distrusted(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.write({"adjudge.yaml": LENIENT})
    monkeypatch.chdir(project.workspace)
    assert project.adjudge("grade", "--workspace", ".", "--json").code == 1


def test_one_the_baseline_does_not_have_is_used_and_said_to_be_doubtful(project: Project) -> None:
    project.write({"new.yaml": LENIENT})
    commit = project.git("rev-parse", "HEAD")
    outcome = project.grade("--baseline", commit, recipe=project.workspace / "new.yaml")
    assert outcome.code == 0
    (warning,) = outcome.document["warnings"]
    assert "the attempt could have written it" in warning
    assert outcome.document["integrity"]["reasons"] == [warning]


def test_a_baseline_version_that_is_not_valid_is_named_as_such(project: Project) -> None:
    project.write({"adjudge.yaml": "scorers: [{type: allowed_path}]\n"})
    project.commit("break it")
    project.write({"adjudge.yaml": LENIENT})
    outcome = project.grade()
    assert outcome.code == 2
    assert "(at the baseline):1:" in outcome.stderr
