"""The example package: installed as a user would, graded with, and broken."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "adjudge-no-todos"
RECIPE = """\
scorers:
  - name: finished work
    type: no_todos
    required: true
    patterns: ["src/**"]
  - type: max_files_changed
    limit: 5
"""


def tool(name: str) -> str:
    return str(Path(sys.executable).with_name(name))


def run(*argv: str, path: Path | None = None, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    environment = dict(os.environ) | ({} if path is None else {"PYTHONPATH": str(path)})
    return subprocess.run(argv, capture_output=True, text=True, check=False, env=environment, cwd=cwd)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the package was installed, from a copy and without a network."""
    place = tmp_path_factory.mktemp("plugin")
    source, target = place / "source", place / "site"
    shutil.copytree(EXAMPLE, source)
    done = run(
        tool("uv"), "pip", "install", "--quiet", "--offline", "--no-deps", "--no-build-isolation",
        "--python", sys.executable, "--cache-dir", str(place / "cache"), "--target", str(target), str(source),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return target


@pytest.fixture
def attempt(tmp_path: Path) -> Path:
    for name, text in (("before", "x = 1\n"), ("after", "x = 1\n# TODO: the rest\n")):
        (tmp_path / name / "src").mkdir(parents=True)
        (tmp_path / name / "src" / "a.py").write_text(text)
    (tmp_path / "recipe.yaml").write_text(RECIPE)
    return tmp_path


def grade(attempt: Path, path: Path, *more: str) -> subprocess.CompletedProcess[str]:
    argv = [tool("adjudge"), "grade", "recipe.yaml", "--workspace", "after", "--baseline", "before", *more]
    return run(*argv, path=path, cwd=attempt)


def test_a_recipe_can_use_it(installed: Path, attempt: Path) -> None:
    done = grade(attempt, installed, "--json")
    assert done.returncode == 1, done.stderr
    row = json.loads(done.stdout)["scorers"][0]
    assert (row["name"], row["type"], row["verdict"], row["score"]) == (
        "finished work",
        "no_todos",
        "FAIL",
        0.0,
    )
    assert [(finding["path"], finding["line"]) for finding in row["findings"]] == [("src/a.py", 2)]


def test_the_catalogue_explains_it(installed: Path) -> None:
    done = run(tool("adjudge"), "scorers", "no_todos", path=installed)
    assert done.returncode == 0, done.stderr
    assert "No more to-do notes were added than removed." in done.stdout
    assert "adjudge-no-todos" in done.stdout


def test_its_fields_are_checked_like_ours(installed: Path, attempt: Path) -> None:
    (attempt / "recipe.yaml").write_text(RECIPE.replace("patterns:", "pattern:"))
    done = grade(attempt, installed)
    assert done.returncode == 2
    assert "recipe.yaml:5:5" in done.stderr
    assert "patterns" in done.stderr


def test_its_own_tests_pass(installed: Path, tmp_path: Path) -> None:
    shutil.copytree(EXAMPLE / "tests", tmp_path / "tests")
    done = run(
        tool("pytest"), "-q", "-p", "no:cacheprovider", str(tmp_path / "tests"), path=installed, cwd=tmp_path
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "passed" in done.stdout


def test_it_fits_the_types(tmp_path: Path) -> None:
    source = shutil.copytree(EXAMPLE, tmp_path / "example")
    done = run(
        tool("mypy"), "--strict", "--cache-dir", str(tmp_path / "cache"),
        "--config-file", str(ROOT / "pyproject.toml"), str(source / "adjudge_no_todos.py"), cwd=ROOT,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("import a_module_nobody_has\n", "ModuleNotFoundError"),
        ("raise RuntimeError('broken on purpose')\n", "broken on purpose"),
        ("x = 1\n", "NoTodos"),
    ],
)
def test_a_broken_package_is_an_error_that_names_it(
    installed: Path, attempt: Path, source: str, says: str
) -> None:
    broken = shutil.copytree(installed, attempt / "site")
    shutil.rmtree(broken / "__pycache__", ignore_errors=True)
    (broken / "adjudge_no_todos.py").write_text(source)
    done = grade(attempt, broken)
    assert done.returncode != 0
    assert "adjudge-no-todos" in done.stderr
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_one_that_raises_touches_no_other_row(installed: Path, attempt: Path) -> None:
    broken = shutil.copytree(installed, attempt / "site")
    shutil.rmtree(broken / "__pycache__", ignore_errors=True)
    module = broken / "adjudge_no_todos.py"
    module.write_text(
        module.read_text().replace("        files = evidence", "        1 / 0\n        files = evidence")
    )
    done = grade(attempt, broken, "--json")
    assert done.returncode == 3, done.stderr
    mine, other = json.loads(done.stdout)["scorers"]
    assert mine["verdict"] == "ERROR"
    assert "adjudge-no-todos" in mine["reason"]
    assert "ZeroDivisionError" in mine["reason"]
    assert other["verdict"] == "PASS"
