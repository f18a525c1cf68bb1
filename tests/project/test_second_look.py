"""The runner that looks at failed tests once more."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).resolve().parents[2] / "tools" / "second_look.py"

SUITE = """\
import os, pathlib, pytest
def test_fine(): pass
@pytest.mark.parametrize("n", range({several}))
def test_once(n):
    seen = pathlib.Path(os.environ["SEEN"]) / str(n)
    if not seen.exists():
        seen.touch()
        raise AssertionError("the first time")
def test_wrong():
    assert not {wrong}
"""


def look(tmp_path: Path, most: int, *, several: int, wrong: bool) -> tuple[int, str]:
    (tmp_path / "test_suite.py").write_text(SUITE.format(several=several, wrong=wrong))
    seen = tmp_path / "seen"
    seen.mkdir()
    command = [sys.executable, str(TOOL), str(most), str(Path(sys.executable).with_name("pytest")), "-q"]
    result = subprocess.run(
        command, cwd=tmp_path, env=os.environ | {"SEEN": str(seen)}, capture_output=True, text=True
    )
    return result.returncode, result.stdout


def test_a_test_that_passes_alone_is_named(tmp_path: Path) -> None:
    code, output = look(tmp_path, 3, several=2, wrong=False)
    assert code == 0
    assert output.splitlines()[-2:] == [
        "passed at the second look: test_suite.py::test_once[0]",
        "passed at the second look: test_suite.py::test_once[1]",
    ]


@pytest.mark.parametrize(("most", "several", "wrong"), [(3, 1, True), (3, 4, False), (0, 1, False)])
def test_what_still_fails(tmp_path: Path, most: int, several: int, wrong: bool) -> None:
    code, output = look(tmp_path, most, several=several, wrong=wrong)
    assert code == 1
    assert ("A second look" in output) == (several <= most)
