"""Patches graded instead of workspaces."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.grade.conftest import Project

RECIPE = """
scorers:
  - {name: scope, type: allowed_paths, patterns: ["src/**"]}
  - {name: size, type: max_files_changed, limit: 3, required: false}
  - {name: notes, type: llm_judge, rubric: be kind}
"""


@pytest.fixture
def before(project: Project) -> Path:
    """The project's files, as a baseline directory; the recipe looks at the change alone."""
    project.recipe = project.write_recipe(RECIPE)
    place = project.root / "before"
    shutil.copytree(project.workspace, place, ignore=shutil.ignore_patterns(".git"))
    return place


def diff(project: Project, *options: str) -> str:
    project.git("add", "-A")
    return project.git("diff", "--binary", "--cached", *options, "HEAD") + "\n"


def test_a_patch_is_graded_as_the_workspace_it_makes(project: Project, before: Path) -> None:
    project.solve()
    patch = diff(project)
    by_patch = project.grade_patch(patch, "--baseline", before)
    by_workspace = project.grade("--baseline", before)
    assert by_patch.code == by_workspace.code == 0
    assert by_patch.document["run_id"] == by_workspace.document["run_id"]
    assert by_patch.document["gates"]["run"]["reason"] == "patch given, no agent ran"
    assert (before / "src/calc.py").read_text().endswith("a - b\n")


@pytest.mark.bwrap
def test_commands_run_over_the_patched_tree(project: Project) -> None:
    project.solve()
    patch = diff(project)
    project.git("reset", "-q", "--hard")
    outcome = project.grade_patch(patch, "--baseline", project.workspace)
    assert outcome.code == 0, outcome.stdout
    assert project.grade_patch("", "--baseline", project.workspace).code == 1


def test_binary_renames_modes_and_links_are_seen(project: Project, before: Path) -> None:
    (project.workspace / "blob").write_bytes(b"\0\1\2" * 100)
    (project.workspace / "src/calc.py").rename(project.workspace / "src/sums.py")
    (project.workspace / "run-tests.sh").chmod(0o755)
    (project.workspace / "link").symlink_to("/etc/passwd")
    recipe = project.write_recipe("scorers: [{name: none, type: allowed_paths, patterns: [nothing]}]")
    outcome = project.grade_patch(diff(project, "-M"), "--baseline", before, recipe=recipe)
    findings = {finding["path"]: finding["message"] for finding in outcome.row("none")["findings"]}
    assert {"blob", "run-tests.sh", "link", "src/sums.py"} <= set(findings)
    assert outcome.document["run_id"] == project.grade("--baseline", before, recipe=recipe).document["run_id"]


def test_a_revision_of_the_current_repository_is_a_baseline(
    project: Project, before: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.solve()
    patch = diff(project)
    commit = project.git("rev-parse", "HEAD")
    monkeypatch.chdir(project.workspace / "src")
    trusted = project.grade_patch(patch, "--baseline", commit)
    assert (trusted.code, trusted.document["provenance"]["baseline"]["origin"]) == (0, "commit")
    assert project.grade_patch(patch).document["provenance"]["baseline"]["origin"] == "unverified"


@pytest.mark.parametrize(
    ("patch", "said"),
    [
        (
            "--- a/src/calc.py\n+++ b/src/calc.py\n@@ -1 +1 @@\n-nothing like it\n+x\n",
            "does not match the baseline",
        ),
        ("--- a/gone.py\n+++ b/gone.py\n@@ -1 +1 @@\n-a\n+b\n", "no such file in the baseline"),
        ("I could not do it, sorry.\n", "holds no diff"),
        ("diff --git a/.git/hooks/x b/.git/hooks/x\nnew file mode 100755\n", "inside a .git folder"),
        ("diff --git a/../x b/../x\nnew file mode 100644\n", "not a path in the workspace"),
        ("--- a/src/calc.py\n+++ b/src/calc.py\n@@ -1,9 +1 @@\n-x\n", "ends early"),
        (f"diff --git a/{'x' * 300} b/{'x' * 300}\nnew file mode 100644\n", "File name too long"),
        ("\udcff\udcfe\x00garbage", "holds no diff"),
    ],
)
def test_a_patch_that_does_not_apply_is_an_objective_fail(
    project: Project, before: Path, patch: str, said: str
) -> None:
    raw = patch.encode("utf-8", "surrogateescape")
    outcome = project.grade_patch(raw, "--baseline", before)
    assert outcome.code == 1
    assert outcome.objective["verdict"] == "FAIL"
    assert said in outcome.objective["reason"]
    assert outcome.row("scope")["verdict"] == "FAIL"
    assert said in outcome.row("scope")["reason"]
    assert outcome.row("notes")["verdict"] == "NA"
    assert outcome.document["score"] == 0.0
    assert outcome.document["validity"]["verifier_completed"] is True
    again = project.grade_patch(raw, "--baseline", before).document
    assert again["run_id"] == outcome.document["run_id"]


def test_it_fails_even_when_nothing_is_required(project: Project, before: Path) -> None:
    recipe = project.write_recipe("scorers: [{type: no_new_skips}]")
    outcome = project.grade_patch("no patch", "--baseline", before, recipe=recipe)
    assert (outcome.code, outcome.objective["verdict"]) == (1, "FAIL")


def test_a_patch_through_a_symlink_writes_nowhere(project: Project, before: Path) -> None:
    outside = project.root / "outside"
    outside.mkdir()
    (before / "link").symlink_to(outside)
    patch = "--- /dev/null\n+++ b/link/x\n@@ -0,0 +1 @@\n+x\n"
    outcome = project.grade_patch(patch, "--baseline", before)
    assert outcome.code == 1
    assert "link on its way is a symlink" in outcome.objective["reason"]
    made = "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+../outside\n"
    outcome = project.grade_patch(made + patch.replace("link", "l"), "--baseline", before)
    assert outcome.code == 1
    assert list(outside.iterdir()) == []


def test_nothing_is_left_behind(
    project: Project, before: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch = tmp_path / "tmp"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    project.solve()
    project.grade_patch(diff(project), "--baseline", before)
    project.grade_patch("not a patch", "--baseline", before)
    assert list(scratch.iterdir()) == []
    assert not (tmp_path / "state").exists()


@pytest.mark.bwrap
def test_a_scenarios_own_source_is_the_baseline(project: Project) -> None:
    source = project.root / "scenario" / "source"
    shutil.copytree(project.workspace, source, ignore=shutil.ignore_patterns(".git"))
    project.solve()
    patch = diff(project)
    scenario = project.write_recipe(
        "instruction: make it add\n"
        "workspace: {source: directory, path: source}\n"
        "setup: {command: echo made > generated.txt}\n"
        "scorers:\n"
        "  - {type: command, command: 'sh run-tests.sh && grep made generated.txt'}\n"
        "  - {type: allowed_paths, patterns: ['src/**']}\n",
        "scenario/adjudge.yaml",
    )
    outcome = project.grade_patch(patch, recipe=scenario)
    assert outcome.code == 0, outcome.stdout
    baseline = outcome.document["provenance"]["baseline"]
    assert baseline["origin"] == "task"
    assert "after setup" in baseline["description"]
    assert outcome.document["warnings"] == []


@pytest.mark.parametrize("both", [True, False])
def test_either_a_workspace_or_a_patch(project: Project, before: Path, both: bool) -> None:
    extra = ("--workspace", str(project.workspace), "--patch", "x") if both else ()
    outcome = project.adjudge("grade", project.recipe, *extra)
    assert (outcome.code, outcome.stdout) == (2, "")
    assert "hint" in outcome.stderr


def test_a_patch_file_that_is_not_there_is_a_usage_error(project: Project, before: Path) -> None:
    outcome = project.adjudge("grade", project.recipe, "--patch", "nowhere.patch", "--baseline", before)
    assert outcome.code == 2
    assert "nowhere.patch cannot be read" in outcome.stderr
