"""Texts of nodes are remembered while a file is read and let go of with it: each keeps a tree in memory."""

from __future__ import annotations

import pytest

from adjudge.syntax.harness.outline import outline_harness
from adjudge.syntax.testcode import nodes
from adjudge.syntax.testcode.outline import outline_change, outline_tests

pytestmark = pytest.mark.anyone

TESTS = b"import pytest\n\n\ndef test_a():\n    got = f(1)\n    assert got == 2\n"
HOOKS = b"def pytest_sessionfinish(session, exitstatus):\n    session.exitstatus = 0\n"


def test_nothing_is_kept_when_a_file_was_read() -> None:
    for read in (
        lambda: outline_tests("test_a.py", TESTS),
        lambda: outline_change("test_a.py", TESTS, "test_a.py", TESTS.replace(b"2", b"3")),
        lambda: outline_harness("conftest.py", HOOKS),
    ):
        assert read() is not None
        assert nodes._plain.cache_info().currsize == 0


def test_equal_text_in_two_files_is_two_nodes() -> None:
    one, other = outline_tests("a.py", TESTS), outline_tests("a.py", TESTS.replace(b"f(1)", b"f(9)"))
    assert one is not None
    assert other is not None
    assert one.tests[0].checks[0].subject != other.tests[0].checks[0].subject
