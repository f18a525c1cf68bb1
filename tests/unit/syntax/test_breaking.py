"""Tests made certain to fail."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from adjudge.syntax.breaking import break_tests

pytestmark = pytest.mark.anyone

SOURCE = '''\
class TestA:
    def test_one(self):
        """Says something."""
        assert 1

    async def test_two(self):
        @staticmethod
        def inner(): ...
        assert 1


def test_three(): assert 1


def helper():
    return 1
'''


def failing(source: bytes) -> list[str]:
    """The tests that raise."""
    module: dict[str, Any] = {}
    exec(compile(source, "broken", "exec"), module)
    one = module["TestA"]()
    calls: dict[str, Callable[[], object]] = {
        "test_one": one.test_one,
        "test_two": lambda: asyncio.run(one.test_two()),
        "test_three": module["test_three"],
        "helper": module["helper"],
    }
    found = []
    for name, call in calls.items():
        try:
            call()
        except AssertionError:
            found.append(name)
    return sorted(found)


def test_all_tests_of_a_python_file() -> None:
    assert failing(break_tests("test_a.py", SOURCE.encode())) == ["test_one", "test_three", "test_two"]


@pytest.mark.parametrize("name", ["test_one", "test_two", "test_three"])
def test_a_single_test(name: str) -> None:
    assert failing(break_tests("test_a.py", SOURCE.encode(), {name})) == [name]


@pytest.mark.parametrize(
    ("path", "source"),
    [("a.test.js", "test('x', () => {})"), ("a_test.go", "package a"), ("test_a.py", "print 'two'")],
)
def test_whatever_else_cannot_be_loaded(path: str, source: str) -> None:
    broken = break_tests(path, source.encode())
    assert broken.startswith(b"<<<<<<<")


GO = "package a\n\nfunc TestA(t *testing.T) {\n\tf()\n}\n\nfunc TestB(tt *testing.T) { f() }\n"


def test_go_tests_fail_and_compile() -> None:
    broken = break_tests("a_test.go", GO.encode(), {"TestB/deep"}, word="w").decode()
    assert broken == GO.replace("*testing.T) { f", '*testing.T) { tt.Fatal("w"); f')
    assert break_tests("a_test.go", GO.encode(), None, word="w").count(b'Fatal("w")') == 2
    assert break_tests("a_test.go", GO.encode(), {"other"}, word="w").count(b'Fatal("w")') == 2
