"""Commands that run every test twice."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from adjudge.formats.testcommands.repeating import passed_once, repeat_tests

TESTS = """\
import pytest

left = iter("ab")
calls = []


@pytest.mark.parametrize("letter", ["a", "b"])
def test_in_order(letter):
    assert next(left) == letter


def test_steady():
    calls.append(1)
    assert calls
"""


def test_pytest_runs_twice_and_says_what_passed_once(tmp_path: Path) -> None:
    target = tmp_path / "said"
    (tmp_path / "test_order.py").write_text(TESTS)
    repeated = repeat_tests(f"{sys.executable} -m pytest -q -p no:cacheprovider", str(target))
    assert repeated is not None
    for path, data in repeated.files.items():
        (tmp_path / path).parent.mkdir()
        (tmp_path / path).write_bytes(data)
    subprocess.run(["/bin/sh", "-c", repeated.command], cwd=tmp_path, capture_output=True, check=False)
    assert passed_once(target.read_bytes()) == (
        "test_order.py::test_in_order[a]",
        "test_order.py::test_in_order[b]",
    )


def test_go_is_asked_to_run_twice() -> None:
    repeated = repeat_tests("go test ./...", "/tmp/said")
    assert repeated is not None
    assert repeated.command == "go test ./... -count=2 -v > /tmp/said 2>&1"


def test_what_go_says() -> None:
    said = b"=== RUN TestA\n--- PASS: TestA (0s)\n    --- PASS: TestB/one (0s)\n--- FAIL: TestA (0s)\nok\n"
    assert passed_once(said) == ("TestA",)


@pytest.mark.parametrize("command", ["make test", "node --test", "npx jest", "python3 -m unittest"])
def test_others_cannot(command: str) -> None:
    assert repeat_tests(command, "/tmp/said") is None
