"""What an attack is told about a workspace, and what it reads off the visible tests."""

from __future__ import annotations

import pytest

from adjudge.attacks.cases import Case, cases_of
from adjudge.attacks.functions import functions_of, insert_into
from adjudge.attacks.scanning import closing, is_literal, split_arguments
from adjudge.attacks.target import read_target
from adjudge.records.attack import WriteStep

pytestmark = pytest.mark.anyone

PYTEST = {
    "shop.py": "def price(x):\n    return 0\n",
    "tests/test_shop.py": "def test_a():\n    assert price(1) == 2\n",
}
NODE = {
    "package.json": '{"scripts": {"test": "node --test"}}',
    "a.test.js": 'import test from "node:test";\n',
    "a.js": "",
}

UNITTEST = {"test_a.py": "import unittest\n\nclass A(unittest.TestCase):\n    def test_b(self): ..."}
VITEST = {"package.json": '{"devDependencies": {"vitest": "1"}}', "a.spec.ts": ""}


@pytest.mark.parametrize(
    ("files", "commands", "language", "runner"),
    [
        (PYTEST, [], "python", "pytest"),
        (PYTEST, ["python -m pytest -q"], "python", "pytest"),
        (PYTEST, ["python -m unittest"], "python", "unittest"),
        (PYTEST, ["tox -e pytest && true"], "python", "pytest"),
        (UNITTEST, [], "python", "unittest"),
        (NODE, ["npm test"], "javascript", "node"),
        (NODE, [], "javascript", "node"),
        (VITEST, [], "javascript", "vitest"),
        ({"package.json": "[", "a.test.js": ""}, [], "javascript", None),
        ({"a.go": "", "a_test.go": ""}, ["make check"], "go", "go"),
        ({"src/lib.rs": "", "tests/a.rs": ""}, [], "rust", "cargo"),
        ({"a.rb": "", "spec/a_spec.rb": ""}, [], "ruby", "rspec"),
        ({"README.md": ""}, [], None, None),
        ({"node_modules/x/test/a.test.js": "", "a.py": ""}, [], "python", None),
    ],
)  # fmt: skip
def test_language_and_runner(
    files: dict[str, str], commands: list[str], language: str | None, runner: str | None
) -> None:
    target = read_target(files, commands)
    assert (target.language, target.runner) == (language, runner)


def test_helpers_of_tests_are_neither_tests_nor_product() -> None:
    target = read_target({**PYTEST, "tests/conftest.py": "", "tests/__init__.py": ""}, [])
    assert target.tests == ("tests/test_shop.py",)
    assert target.product == ("shop.py", "tests/__init__.py")


@pytest.mark.parametrize(
    ("path", "text", "cases"),
    [
        ("test_a.py", "def test_a():\n    assert f(1, 'x') == [2]\n", [Case("f", ("1", "'x'"), "[2]")]),
        ("test_a.py", "def test_a():\n    got = m.f(1)\n    assert 2 == got\n", [Case("f", ("1",), "2")]),
        ("test_a.py", "def test_a():\n    assert f(x) == 2\n", []),
        ("test_a.py", "def test_a(:\n", []),
        (
            "test_a.py",
            "import pytest\n@pytest.mark.parametrize(('a', 'b'), [(1, 2), (3, 4)])\ndef test_a(a, b):\n"
            "    assert f(a) == b\n",
            [Case("f", ("1",), "2"), Case("f", ("3",), "4")],
        ),
        (
            "test_a.py",
            "class T(unittest.TestCase):\n    def test_a(self):\n        for a, b in [(1, 2)]:\n"
            "            self.assertEqual(f(a), b)\n",
            [Case("f", ("1",), "2")],
        ),
        ("a.test.js", "assert.equal(f('a, b', [1]), { x: 1 });", [Case("f", ("'a, b'", "[1]"), "{ x: 1 }")]),
        ("a.test.js", 'expect(m.f("a")).toEqual("b");', [Case("f", ('"a"',), '"b"')]),
        ("a.test.js", "expect(f(x)).toBe(1); assert.equal(f(g(1)), 2); assert.equal(", []),
        ("a_test.go", 'package a\nfunc TestA(t *testing.T) {\n\tif F("a") != 2 {\n\t}\n}\n',
         [Case("F", ('"a"',), "2")]),
        (
            "a_test.go",
            'package a\nfunc TestA(t *testing.T) {\n\tfor _, c := range []struct {\n'
            '\t\tin string\n\t\twant int\n'
            '\t}{\n\t\t{"a", 1},\n\t\t{in: "b", want: 2},\n\t} {\n\t\tgot := F(c.in)\n'
            "\t\tif got != c.want {\n\t\t}\n\t}\n}\n",
            [Case("F", ('"a"',), "1"), Case("F", ('"b"',), "2")],
        ),
    ],
)  # fmt: skip
def test_expectations_are_read(path: str, text: str, cases: list[Case]) -> None:
    assert list(cases_of(read_target({path: text}, []))) == cases


@pytest.mark.parametrize(
    ("files", "found", "changed"),
    [
        (
            {"a.py": 'def f(x, y=1):\n    """Doc."""\n    return x\n', "test_a.py": "f(1)"},
            [("f", ("x", "y"))],
            'def f(x, y=1):\n    """Doc."""\n    HERE\n    return x\n',
        ),
        (
            {"a.py": "class C:\n    def f(self, x):\n        return x\n", "test_a.py": "C().f(1)"},
            [("f", ("x",))],
            "class C:\n    def f(self, x):\n        HERE\n        return x\n",
        ),
        (
            {"a.ts": "export const f = async (x: number) => {\n  return x;\n};\n", "a.test.ts": "f(1)"},
            [("f", ("x",))],
            "export const f = async (x: number) => {\n  HERE\n  return x;\n};\n",
        ),
        (
            {"a.go": "package a\n\nfunc F(x, y int) int {\n\treturn x\n}\n", "a_test.go": "F(1)"},
            [("F", ("x", "y"))],
            "package a\n\nfunc F(x, y int) int {\n\tHERE\n\treturn x\n}\n",
        ),
    ],
)
def test_code_goes_to_the_beginning_of_tested_functions(
    files: dict[str, str], found: list[tuple[str, tuple[str, ...]]], changed: str
) -> None:
    target = read_target(files, [])
    assert [(function.name, function.params) for function in functions_of(target)] == found
    assert insert_into(target, lambda _: "HERE") == (WriteStep(write=next(iter(files)), text=changed),)


def test_brackets_and_strings() -> None:
    assert closing("f(')', [1])", 1) == 10
    assert closing("f('", 1) == -1
    assert split_arguments("1, 'a,b', {x: [1, 2]}") == ["1", "'a,b'", "{x: [1, 2]}"]
    assert split_arguments("(((") == []
    assert [is_literal(text) for text in ("'a b'", "[1, null]", "{ a: 1 }", "x", "f(1)", "", "`${x}`")] == [
        True, True, True, False, False, False, False,
    ]  # fmt: skip
