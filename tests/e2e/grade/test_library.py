"""`adjudge.grade` and `adjudge.agrade`, as a user of the library calls them."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import adjudge
from adjudge.errors import UsageError
from adjudge.records.score import Recipe, ScorerSpec, Verdict
from adjudge.records.task import Scenario

if TYPE_CHECKING:
    from tests.e2e.grade.conftest import Project


def scenario(limit: int) -> Scenario:
    spec = ScorerSpec(
        name="n", type="max_files_changed", required=True, counted=True, config={"limit": limit}
    )
    return Scenario(name="made in Python", recipe=Recipe(scorers=(spec,)))


def test_grade_returns_the_evaluation(project: Project) -> None:
    project.write({"new.txt": "x"})
    passed = adjudge.grade(scenario(1), workspace=project.workspace)
    failed = adjudge.grade(scenario(0), workspace=str(project.workspace), baseline="HEAD")
    assert (passed.gates.objective.verdict, passed.score) == (Verdict.PASS, 1.0)
    assert (failed.gates.objective.verdict, failed.score) == (Verdict.FAIL, 0.0)
    assert passed.task.name == "made in Python"
    assert passed.task.digest != failed.task.digest


def test_grade_takes_a_patch_as_bytes(project: Project) -> None:
    evaluation = adjudge.grade(scenario(1), patch=b"", baseline=project.workspace)
    assert evaluation.gates.objective.verdict is Verdict.PASS


def test_usage_errors_are_raised(project: Project) -> None:
    with pytest.raises(UsageError, match="either a workspace or a patch"):
        adjudge.grade(scenario(1))


@pytest.mark.bwrap
def test_agrade_grades_many_at_once(project: Project) -> None:
    project.solve()

    async def run() -> list[Verdict]:
        evaluations = await asyncio.gather(
            *(adjudge.agrade(project.recipe, workspace=project.workspace) for _ in range(3))
        )
        return [evaluation.gates.objective.verdict for evaluation in evaluations]

    assert asyncio.run(run()) == [Verdict.PASS] * 3


@pytest.mark.bwrap
def test_agrade_can_be_cancelled(project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scratch = tmp_path / "tmp"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    recipe = project.write_recipe("scorers: [{type: command, command: sleep 100}]")

    async def run(after_s: float) -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(after_s):
                await adjudge.agrade(recipe, patch=b"", baseline=project.workspace)

    for after_s in (0.001, 0.02, 1.0):
        asyncio.run(run(after_s))
    assert list(scratch.iterdir()) == []


@pytest.mark.bwrap
def test_grade_in_an_event_loop_says_what_to_do(project: Project) -> None:
    async def run() -> None:
        adjudge.grade(project.recipe, workspace=project.workspace)

    with pytest.raises(UsageError, match="event loop") as caught:
        asyncio.run(run())
    assert "agrade" in str(caught.value)


@pytest.mark.anyone
def test_importing_the_package_costs_next_to_nothing() -> None:
    code = (
        "import sys, adjudge; adjudge.__version__; "
        "print(sorted({'pydantic', 'asyncio', 'click', 'adjudge.api'} & set(sys.modules)))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert found.strip() == "[]"


@pytest.mark.anyone
def test_grading_without_code_needs_no_event_loop(project: Project) -> None:
    recipe = project.write_recipe("scorers: [{type: max_files_changed, limit: 0}]")
    code = (
        "import sys, adjudge; adjudge.grade(sys.argv[1], workspace=sys.argv[2]); "
        "print(sorted({'asyncio', 'pygit2', 'click', 'tarfile', 'adjudge.sandbox'} & set(sys.modules)))"
    )
    command = [sys.executable, "-c", code, str(recipe), str(project.workspace)]
    found = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert found.strip() == "[]"


@pytest.mark.anyone
def test_users_get_types(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import adjudge\n"
        "from typing_extensions import assert_type\n"
        "from adjudge.records.evaluation import Evaluation\n"
        "async def use() -> None:\n"
        "    assert_type(adjudge.grade('a.yaml', workspace='b'), Evaluation)\n"
        "    assert_type(await adjudge.agrade('a.yaml', patch=b''), Evaluation)\n"
        "    adjudge.grade('a.yaml', workspac='b')  # type: ignore[call-arg]\n"
        "    adjudge.grade('a.yaml', jobs='many')  # type: ignore[arg-type]\n"
    )
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--warn-unused-ignores", "--cache-dir",
         str(tmp_path / "cache"), str(program)],
        capture_output=True, text=True, cwd=tmp_path, check=False,
    )  # fmt: skip
    assert checked.returncode == 0, checked.stdout
