"""Compiled Python beside its source."""

from __future__ import annotations

import py_compile
from pathlib import Path

import pytest

from adjudge.formats.bytecode import differs_from_source, is_bytecode, source_of

SOURCE = (
    "import unittest\n\n\nclass TestAdd(unittest.TestCase):\n    def test_add(self):  # with no_such_name()\n"
    "        self.assertEqual(1 + 2, 3)\n        self.assertTrue(True)\n"
)


def _compiled(place: Path, text: str, mode: str = "TIMESTAMP") -> bytes:
    source, target = place / "a.py", place / "a.pyc"
    source.write_text(text)
    py_compile.compile(str(source), str(target), invalidation_mode=py_compile.PycInvalidationMode[mode])
    return target.read_bytes()


@pytest.mark.parametrize("mode", ["TIMESTAMP", "CHECKED_HASH"])
def test_what_was_compiled_from_a_source_has_its_names(tmp_path: Path, mode: str) -> None:
    assert not differs_from_source(SOURCE.encode(), _compiled(tmp_path, SOURCE, mode))


@pytest.mark.parametrize(
    "other",
    [
        "import unittest\n",
        SOURCE.replace("test_add", "test_ad"),
        SOURCE.replace("self.assertEqual(1 + 2, 3)", "pass"),
    ],
)
def test_what_was_compiled_from_another_lacks_some(tmp_path: Path, other: str) -> None:
    assert differs_from_source(SOURCE.encode(), _compiled(tmp_path, other))


def test_what_is_never_compared_may_be_anything(tmp_path: Path) -> None:
    assert differs_from_source(SOURCE.encode(), _compiled(tmp_path, SOURCE, "UNCHECKED_HASH"))


def test_what_no_interpreter_loads_is_nothing() -> None:
    assert not differs_from_source(SOURCE.encode(), b"\xa7\r\r\n")


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("tests/__pycache__/test_a.cpython-311.pyc", "tests/test_a.py"),
        ("tests/__pycache__/test_a.cpython-311-pytest-8.4.2.pyc", "tests/test_a.py"),
        ("__pycache__/a.cpython-312.opt-1.pyc", "a.py"),
        ("pkg/a.pyc", "pkg/a.py"),
    ],
)
def test_where_sources_lie(path: str, source: str) -> None:
    assert is_bytecode(path)
    assert source_of(path) == source
