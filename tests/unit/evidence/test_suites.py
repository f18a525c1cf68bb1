"""Collecting what changed test files check, and what is left to be compared by lines."""

from __future__ import annotations

import asyncio

import pytest

from adjudge.evidence.suites import SuiteScanCollector
from adjudge.records.evidence import ScannedSuite, SuiteScan
from adjudge.syntax.grammars import MAX_SOURCE_BYTES
from adjudge.testing.attempts import Attempt, Symlink, Thing

pytestmark = pytest.mark.anyone

TEST = "def test_a():\n    assert f() == 1\n"


def scanned(before: dict[str, Thing], after: dict[str, Thing]) -> dict[str, ScannedSuite]:
    request = SuiteScan(test_globset=("**/test_*.py", "**/*_spec.rb"))
    answer = asyncio.run(SuiteScanCollector().collect(request, Attempt(before, after).subject()))
    return {file.path: file for file in answer.files}


def test_both_sides_of_what_can_be_read() -> None:
    files = scanned(
        {"test_a.py": TEST, "test_gone.py": TEST, "test_link.py": TEST, "a.py": "x = 1\n"},
        {
            "test_a.py": "\n" + TEST,
            "test_new.py": TEST + "\n",
            "test_link.py": Symlink("a.py"),
            "a.py": "x = 2\n",
        },
    )
    assert sorted(files) == ["test_a.py", "test_gone.py", "test_link.py", "test_new.py"]
    assert all(file.readable for file in files.values())
    sides = {path: (file.before is not None, file.after is not None) for path, file in files.items()}
    assert sides == {
        "test_a.py": (True, True),
        "test_gone.py": (True, False),
        "test_link.py": (True, False),
        "test_new.py": (False, True),
    }


@pytest.mark.parametrize("text", ["def test_a(:\n", "x = 1\n" * (MAX_SOURCE_BYTES // 6 + 1)])
def test_what_does_not_parse_or_is_too_large_is_left_to_lines(text: str) -> None:
    assert not scanned({"test_a.py": TEST}, {"test_a.py": text})["test_a.py"].readable


def test_other_languages_and_other_peoples_code_are_left_out() -> None:
    assert scanned({}, {"a_test.c": "it\n", "node_modules/test_a.py": TEST}) == {}
