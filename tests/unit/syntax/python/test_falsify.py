"""A falsified test must fail where the honest one passes, and look the same otherwise."""

from __future__ import annotations

import ast
import textwrap
from typing import Any

import pytest

from adjudge.syntax.python.falsify import FalsifiableFile

SEEDS = [f"seed {n}" for n in range(12)]

HONEST: dict[str, str] = {
    "number": "def test_it():\n    assert 2 + 2 == 4\n",
    "number first": "def test_it():\n    assert 4 == 2 + 2 * 1\n",
    "negative": "def test_it():\n    assert abs(-3) - 6 == -3\n",
    "zero": "def test_it():\n    assert len([]) == 0\n",
    "float": "def test_it():\n    assert 0.5 + 0.25 == 0.75\n",
    "tolerance": "def test_it():\n    got = 0.1 + 0.2\n    assert abs(got - 0.3) < 1e-9\n",
    "approx": "import pytest\ndef test_it():\n    assert 0.1 + 0.2 == pytest.approx(0.3, abs=1e-3)\n",
    "text": "def test_it():\n    assert 'a'.upper() == 'A'\n",
    "empty text": "def test_it():\n    assert ''.upper() == ''\n",
    "escapes": "def test_it():\n    assert '\\n'.join('xy') == 'x\\ny'\n",
    "bytes": "def test_it():\n    assert 'ab'.encode() == b'ab'\n",
    "list": "def test_it():\n    assert sorted([3, 1]) == [1, 3]\n",
    "empty list": "def test_it():\n    assert list(()) == []\n",
    "dict": "def test_it():\n    assert dict(a=1, b='x') == {'a': 1, 'b': 'x'}\n",
    "repeated key": "def test_it():\n    assert dict(a=2) == {'a': 1, 'a': 2}\n",
    "truth": "def test_it():\n    assert 'x' in 'xyz'\n",
    "text found": "def test_it():\n    assert 'hello' in 'well, hello there'\n",
    "not": "def test_it():\n    assert not []\n",
    "not, bracket": "def test_it():\n    assert not(1 == 2)\n",
    "is none": "def test_it():\n    assert {}.get('a') is None\n",
    "is true": "def test_it():\n    assert bool(1) is True\n",
    "differs": "def test_it():\n    assert 1 + 1 != 3\n",
    "less": "def test_it():\n    assert 1 + 1 < 3\n",
    "chained": "def test_it():\n    assert 0 < 1 + 1 <= 2\n",
    "and": "def test_it():\n    assert 1 + 1 == 2 and len('ab') == 2\n",
    "or": "def test_it():\n    assert 1 + 1 == 2 or len('ab') == 3\n",
    "message": "def test_it():\n    assert 1 + 1 == 2, 'two'\n",
    "brackets": "def test_it():\n    assert (\n        1 + 1\n        == 2\n    )\n",
    "local name": "def test_it():\n    expected = [1, 2]\n    assert list((1, 2)) == expected\n",
    "name also used": "def test_it():\n    x = 'ab'\n    assert str(x) == x\n",
    "name of a predicate": (
        "def test_it():\n    wanted = 9\n    same = lambda n: n == wanted\n"
        "    assert next(filter(same, range(99))) == wanted\n"
    ),
    "name of a condition": (
        "def test_it():\n    wanted = 9\n    assert [n for n in range(99) if n == wanted] == [wanted]\n"
    ),
    "helper": "def check(got, want):\n    assert got == want\ndef test_it():\n    check(1 + 1, 2)\n",
    "loop": "def test_it():\n    for a, b in [(1, 2), (2, 3)]:\n        assert a + 1 == b\n",
    "items": "def test_it():\n    for a, b in {1: 2, 2: 3}.items():\n        assert a + 1 == b\n",
    "raises": "import pytest\ndef test_it():\n    with pytest.raises(ValueError):\n        int('x')\n",
    "raises match": (
        "import pytest\ndef test_it():\n    with pytest.raises(ValueError, match='invalid literal'):\n"
        "        int('x')\n"
    ),
    "raises call": "import pytest\ndef test_it():\n    pytest.raises(ValueError, int, 'x')\n",
    "raises lookup": "import pytest\ndef test_it():\n    with pytest.raises(LookupError):\n        {}['x']\n",
    "raises exception": (
        "import pytest\ndef test_it():\n    with pytest.raises(Exception):\n        {}['x']\n"
    ),
    "raises, then": (
        "import pytest\ndef test_it():\n    with pytest.raises(KeyError) as error:\n        {}['x']\n"
        "    assert str(error.value) == \"'x'\"\n"
    ),
    "warns": (
        "import pytest, warnings\ndef test_it():\n    with pytest.warns(UserWarning):\n"
        "        warnings.warn('hm')\n"
    ),
    "mock": (
        "from unittest.mock import Mock\ndef test_it():\n    m = Mock()\n    m(1, a='b')\n"
        "    m.assert_called_once_with(1, a='b')\n"
    ),
    "mock, no value": (
        "from unittest.mock import Mock\ndef test_it():\n    m, x = Mock(), object()\n    m(x)\n"
        "    m.assert_called_once_with(x)\n"
    ),
    "mock, nothing": (
        "from unittest.mock import Mock\ndef test_it():\n    m = Mock()\n    m()\n"
        "    m.assert_called_once()\n"
    ),
    "held by a range": (
        "def test_it():\n"
        "    class Net:\n        def __contains__(self, text): return text.startswith('10.')\n"
        "    net = Net()\n    assert '10.2.255.1' in net\n    assert '11.0.0.1' not in net\n"
    ),
    "held by a pattern": (
        "class Globs:\n    def __contains__(self, name): return name.endswith('.txt')\n"
        "def test_it():\n    assert 'notes.txt' in Globs()\n"
    ),
    "wide tolerance": "import pytest\ndef test_it():\n    assert 1.4 == pytest.approx(1.5, abs=100)\n",
    "wide share": "import math\ndef test_it():\n    assert math.isclose(9.0, 10.0, rel_tol=0.9)\n",
    "tolerance by name": "SLACK = 50\ndef test_it():\n    assert abs(3 - 1.5) < SLACK\n",
    "conditional": "def test_it():\n    if 1:\n        assert 1 + 1 == 2\n",
    "early return": "def test_it():\n    if 0:\n        return\n    assert 1 + 1 == 2\n",
    "finally": "def test_it():\n    try:\n        x = 2\n    finally:\n        assert x == 2\n",
    "unicode line": "def test_it():\n    assert 'äöü'.upper() == 'ÄÖÜ' and 1 + 1 == 2\n",
    "format": "def test_it():\n    assert '%s-%d' % ('a', 1) == 'a-1'\n",
}

UNITTEST: dict[str, str] = {
    "equal": "self.assertEqual(1 + 1, 2)",
    "equal lists": "self.assertListEqual(sorted([2, 1]), [1, 2])",
    "almost": "self.assertAlmostEqual(0.1 + 0.2, 0.3)",
    "true": "self.assertTrue('a'.islower())",
    "true comparison": "self.assertTrue(1 + 1 == 2)",
    "false": "self.assertFalse([])",
    "in": "self.assertIn('x', 'xyz')",
    "in a range": "self.assertIn('2024', type('R', (), {'__contains__': lambda self, year: year > '1'})())",
    "almost, widely": "self.assertAlmostEqual(4.0, 3.0, delta=20)",
    "none": "self.assertIsNone({}.get(1))",
    "greater": "self.assertGreater(2, 1)",
    "regex": "self.assertRegex('hello world', 'hello w')",
    "isinstance": "self.assertIsInstance(1, int)",
    "raises": "self.assertRaises(ValueError, int, 'x')",
    "raises regex": "self.assertRaisesRegex(ValueError, 'invalid literal', int, 'x')",
    "two": "self.assertEqual(1, 1); self.assertEqual(len('ab'), 2)",
}


def run(source: bytes, name: str = "test_it") -> bool:
    space: dict[str, Any] = {}
    exec(compile(source, "sample", "exec"), space)
    owner, _, method = name.rpartition("::")
    try:
        if owner:
            getattr(space[owner](method), method)()
        else:
            space[name]()
    except BaseException:
        return False
    return True


def both(source: str, seed: str, name: str = "test_it") -> tuple[bytes, bytes]:
    file = FalsifiableFile(source.encode(), seed)
    plan = file.plan(name)
    assert not plan.unproven, plan.unproven
    return file.render([], all_planned=[name]), file.render([name], all_planned=[name])


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("case", HONEST)
def test_an_honest_test_passes_as_written_and_fails_falsified(case: str, seed: str) -> None:
    written, falsified = both(HONEST[case], seed)
    assert run(written)
    assert not run(falsified), falsified.decode()


@pytest.mark.parametrize("seed", SEEDS[:4])
@pytest.mark.parametrize("case", UNITTEST)
def test_unittest_assertions(case: str, seed: str) -> None:
    source = (
        "import unittest\nclass T(unittest.TestCase):\n"
        f"    def test_it(self):\n        {UNITTEST[case]}\n    runTest = test_it\n"
    )
    written, falsified = both(source, seed, "T::test_it")
    assert run(written, "T::test_it")
    assert not run(falsified, "T::test_it"), falsified.decode()


@pytest.mark.parametrize("case", HONEST)
def test_names_and_lines_stay_where_they_were(case: str) -> None:
    written, falsified = both(HONEST[case], "s")

    def outline(data: bytes) -> list[tuple[str, int]]:
        nodes = ast.walk(ast.parse(data))
        return [(type(node).__name__, node.lineno) for node in nodes if isinstance(node, ast.stmt)]

    assert outline(written) == outline(falsified) == outline(HONEST[case].encode())


def test_an_always_equal_object_passes_a_falsified_value() -> None:
    source = (
        "class Any:\n    def __eq__(self, other): return True\n    def __ne__(self, other): return False\n"
        "def test_it():\n    assert Any() == 4\n"
    )
    for seed in SEEDS:
        written, falsified = both(source, seed)
        assert run(written)
        assert run(falsified)


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("def test_it():\n    print('no assertion')\n", "asserts nothing"),
        ("def test_it():\n    try:\n        assert 1 == 1\n    except Exception:\n        pass\n", "nothing"),
        ("test_it = make()\n", "not defined as a function"),
        ("def broken(:\n", "cannot be parsed"),
        ("from helpers import check\ndef test_it(x):\n    check(x)\n", "asserts nothing"),
    ],
)
def test_what_cannot_be_falsified_says_why(source: str, reason: str) -> None:
    plan = FalsifiableFile(source.encode(), "s").plan("test_it")
    assert reason in plan.unproven
    assert not plan.edits


PARAMETRISED = """\
import pytest
SHARED = [("a", 1), ("bb", 2)]
@pytest.mark.parametrize("text, size", [("abc", 3), ("", 0), ("x" "y", 2)])
def test_size(text, size):
    assert len(text) == size
@pytest.mark.parametrize("text, size", SHARED)
def test_shared(text, size):
    assert len(text) == size
@pytest.mark.parametrize("text, size", SHARED)
def test_shared_too(text, size):
    assert len(text) == size
@pytest.mark.parametrize("text, size", [pytest.param("abc", 3, id="three")],)
def test_named(text, size):
    assert len(text) == size
"""


def test_parametrised_values_change_and_ids_do_not_show_them() -> None:
    file = FalsifiableFile(PARAMETRISED.encode(), "s")
    names = list(file.tests)
    assert names == ["test_size", "test_shared", "test_shared_too", "test_named"]
    for name in names:
        assert file.plan(name).strong
        assert file.plan(name).certain
    assert sorted(file.plan("test_shared").ids.values()) == ["a-1", "bb-2"]
    assert file.plan("test_named").ids == {}
    one = file.render(["test_size", "test_shared"], all_planned=names).decode()
    two = file.render(["test_shared_too", "test_named"], all_planned=names).decode()
    for word in file.plan("test_shared").ids:
        assert word in one
        assert word in two
    assert one.count("\n") == two.count("\n") == PARAMETRISED.count("\n")
    assert "SHARED = [" + '("a", 1), ("bb", 2)]' in one
    for before, after in zip(one.splitlines(), two.splitlines(), strict=True):
        if before != after:
            assert "parametrize" in before


def test_ids_are_kept_where_the_file_looks_at_them() -> None:
    source = PARAMETRISED + "def helper(request):\n    return request.node.name\n"
    file = FalsifiableFile(source.encode(), "s")
    assert file.plan("test_shared").ids == {}
    assert "'a-1'" in file.render([], all_planned=["test_shared"]).decode()


def test_inherited_tests_share_their_definition() -> None:
    source = textwrap.dedent(
        """
        class Base:
            def test_one(self):
                assert 1 + 1 == 2
        class TestA(Base):
            pass
        class TestB(Base):
            def test_one(self):
                assert 1 + 2 == 3
        """
    )
    file = FalsifiableFile(source.encode(), "s")
    assert file.tests == ("TestA::test_one", "TestB::test_one")
    assert file.definition("TestA::test_one") == "Base::test_one"
    assert file.definition("TestB::test_one") == "TestB::test_one"


@pytest.mark.parametrize(
    ("source", "declared"),
    [
        ("import pytest\n@pytest.mark.skip\ndef test_it(): pass\n", True),
        ("import pytest\n@pytest.mark.skipif(True, reason='')\ndef test_it(): pass\n", True),
        ("import pytest\ndef test_it():\n    pytest.skip('no')\n", True),
        ("import pytest\npytestmark = pytest.mark.skip\ndef test_it(): pass\n", True),
        ("import pytest\nnp = pytest.importorskip('numpy')\ndef test_it(): pass\n", True),
        ("import pytest\nneeds = pytest.mark.skipif(1, reason='')\n@needs\ndef test_it(): pass\n", True),
        ("import pytest\nneeds = pytest.mark.skipif(1, reason='')\ndef test_it(): pass\n", False),
        ("import pytest\n@pytest.fixture\ndef fx():\n    pytest.skip()\ndef test_it(fx): pass\n", True),
        ("import pytest\ndef test_other():\n    pytest.skip()\ndef test_it(): pass\n", False),
        ("def test_it(): pass\n", False),
    ],
)
def test_declared_skips(source: str, declared: bool) -> None:
    assert FalsifiableFile(source.encode(), "s").declares_skip("test_it") is declared


def test_encodings_and_line_endings_survive() -> None:
    source = "# -*- coding: latin-1 -*-\r\ndef test_it():\r\n    assert 'é' + 'x' == 'éx'\r\n"
    data = source.encode("latin-1")
    file = FalsifiableFile(data, "s")
    assert file.render([], all_planned=["test_it"]) == data
    falsified = file.render(["test_it"], all_planned=["test_it"])
    assert falsified.count(b"\r\n") == 3
    assert falsified != data
    assert run(data)
    assert not run(falsified)


def test_the_seed_fixes_every_choice() -> None:
    def once(seed: str) -> bytes:
        file = FalsifiableFile(PARAMETRISED.encode(), seed)
        return file.render(file.tests, all_planned=file.tests)

    assert once("a") == once("a")
    assert once("a") != once("b")
