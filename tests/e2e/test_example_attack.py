"""The example package with an attack: installed as a user would, tried, and broken."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from tests.e2e.test_example_plugin import ROOT, run, tool

# Plugins that this machine happens to have take long to load, and decide nothing here.
COMMAND = "PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 python3 -m pytest -q -p no:cacheprovider"
EXAMPLE = ROOT / "examples" / "adjudge-quiet-asserts"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its module and its entry point, where `pip install --target` would put them."""
    site = tmp_path_factory.mktemp("site")
    shutil.copy(EXAMPLE / "adjudge_quiet_asserts.py", site)
    info = site / "adjudge_quiet_asserts-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: adjudge-quiet-asserts\nVersion: 1.0\n")
    points = '[project.entry-points."adjudge.attacks"]\n'
    _, _, declared = (EXAMPLE / "pyproject.toml").read_text().partition(points)
    line = declared.splitlines()[0].replace('"', "")
    (info / "entry_points.txt").write_text(f"[adjudge.attacks]\n{line}\n")
    return site


def test_the_catalogue_lists_it(installed: Path) -> None:
    done = run(tool("adjudge"), "attack", "--list", "--json", path=installed)
    assert done.returncode == 0, done.stderr
    listed = {one["name"]: one for one in json.loads(done.stdout)["attacks"]}
    assert listed["quiet-asserts"]["distribution"] == "adjudge-quiet-asserts"
    assert listed["quiet-asserts"]["family"] == "edited_harness"
    assert listed["skip-markers"]["distribution"] == "adjudge"


@pytest.mark.bwrap
def test_it_is_tried_like_ours(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "a.py").write_text("def one():\n    return 2\n")
    (tmp_path / "project" / "test_a.py").write_text(
        "from a import one\n\n\ndef test_a():\n    assert one() == 1\n"
    )
    (tmp_path / "adjudge.yaml").write_text(
        "instruction: Mend it.\nworkspace: {source: directory, path: project}\n"
        f"scorers:\n  - {{type: command, command: {COMMAND}}}\n"
    )
    argv = ["attack", "adjudge.yaml", "--attack", "quiet-asserts", "--json", "--no-advice"]
    done = run(tool("adjudge"), *argv, path=installed, cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    (result,) = json.loads(done.stdout)["attacks"]
    assert (result["status"], result["distribution"]) == ("passed", "adjudge-quiet-asserts")


def test_its_own_tests_pass(installed: Path, tmp_path: Path) -> None:
    shutil.copytree(EXAMPLE / "tests", tmp_path / "tests")
    argv = ["-q", "-p", "no:cacheprovider", str(tmp_path / "tests")]
    done = run(tool("pytest"), *argv, path=installed, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("import a_module_nobody_has\n", "ModuleNotFoundError"),
        ("class QuietAsserts:\n    name = 'quiet-asserts'\n", "has no family"),
        ("class QuietAsserts:\n    def __init__(self): raise OSError('broken')\n", "broken"),
    ],
)
def test_a_broken_package_is_an_error_that_names_it(
    installed: Path, tmp_path: Path, source: str, says: str
) -> None:
    broken = shutil.copytree(installed, tmp_path / "site")
    shutil.rmtree(broken / "__pycache__", ignore_errors=True)
    (broken / "adjudge_quiet_asserts.py").write_text(source)
    done = run(tool("adjudge"), "attack", "--list", path=broken)
    assert done.returncode != 0
    assert "adjudge-quiet-asserts" in done.stderr
    assert says in done.stderr
    assert "Traceback" not in done.stderr
