"""Collecting what changed product code does, and the tests with its literals."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

import pytest

from adjudge.evidence.product import ProductScanCollector
from adjudge.records.base import digest_bytes
from adjudge.records.evidence import ProductScan, ScannedProducts
from adjudge.records.score import Recipe, ScorerSpec
from adjudge.records.tree import TreeEntry
from adjudge.syntax.grammars import MAX_SOURCE_BYTES
from adjudge.testing.attempts import Attempt, Symlink, Thing, Unreadable

pytestmark = pytest.mark.anyone

REQUEST = ProductScan(test_globset=("**/test_*.py", "**/tests/*.py"))
ANSWERS = "def f(n):\n    if n == 'a sentence':\n        return 4242\n"
TEST = "def test_f():\n    assert f('a sentence') == 4242\n"


def scanned(before: Mapping[str, Thing], after: Mapping[str, Thing]) -> ScannedProducts:
    return asyncio.run(ProductScanCollector().collect(REQUEST, Attempt(before, after).subject()))


def test_both_sides_where_there_is_something_to_compare() -> None:
    old = "import os\n\n\ndef f():\n    os._exit(0)\n"
    answer = scanned(
        {"a.py": old, "b.py": "x = 1\n"}, {"a.py": old + "\n\ndef g():\n    os._exit(0)\n", "b.py": "x = 2\n"}
    )
    found = {file.path: file for file in answer.files}
    assert sorted(found) == ["a.py", "b.py"]
    before, after = found["a.py"].before, found["a.py"].after
    assert before is not None
    assert after is not None
    assert [act.line for act in before.acts] == [5]
    assert [act.line for act in after.acts] == [9]


def test_what_is_no_product_code_is_left_out() -> None:
    files: dict[str, Thing] = {
        "tests/test_a.py": "x\n", "tests/deep/helper.py": "x\n", "docs/conf.py": "x\n",
        "node_modules/a.js": "x\n", "setup.py": "x\n", "data.json": "{}\n", "a.pyi": "x\n",
        "tools/release.py": "x\n", "jest.config.js": "x\n",
    }  # fmt: skip
    assert scanned({}, files).files == ()


def test_what_cannot_be_read_is_named() -> None:
    answer = scanned(
        {}, {"big.py": "x = 1\n" * (MAX_SOURCE_BYTES // 6 + 1), "shut.py": Unreadable(), "l.py": Symlink("b")}
    )
    assert {file.path: bool(file.note) for file in answer.files} == {
        "big.py": True,
        "shut.py": True,
        "l.py": False,
    }
    assert all(file.after is None for file in answer.files)


@pytest.mark.parametrize("where", ["before", "after", "both"])
def test_examples_of_the_baseline_and_of_the_final_workspace(where: str) -> None:
    before: dict[str, Thing] = {"tests/test_f.py": TEST} if where != "after" else {}
    after: dict[str, Thing] = {"tests/test_f.py": TEST} if where != "before" else {}
    answer = scanned(before, {**after, "f.py": ANSWERS})
    assert [(test.path, test.hidden, len(test.examples) > 0) for test in answer.tests][:1] == [
        ("tests/test_f.py", False, True)
    ]


def test_tests_are_not_parsed_for_nothing() -> None:
    assert scanned({}, {"tests/test_f.py": TEST, "f.py": "def f(n):\n    return n + 1\n"}).tests == ()
    assert scanned({}, {"tests/test_f.py": "def test_f(): pass\n", "f.py": ANSWERS}).tests == ()


@pytest.mark.parametrize(
    "config", [{"inject": ["hidden"]}, {"inject": [{"src": "hidden/test_h.py", "dest": "t/"}]}]
)
def test_examples_of_hidden_tests(config: dict[str, object], tmp_path: Path) -> None:
    (tmp_path / "hidden").mkdir()
    (tmp_path / "hidden/test_h.py").write_text(TEST)
    subject = Attempt({}, {"f.py": ANSWERS}).subject()
    spec = ScorerSpec.model_validate(
        {"name": "t", "type": "tests", "required": True, "counted": True, "config": config}
    )
    entry = TreeEntry(path="hidden/test_h.py", mode=0o100644, digest=digest_bytes(TEST.encode()))
    scenario = subject.task.scenario.model_copy(update={"recipe": Recipe(scorers=(spec,))})
    task = subject.task.model_copy(update={"scenario": scenario, "files": (entry,)})
    asked = subject._replace(task=task, scenario_files=tmp_path)
    answer = asyncio.run(ProductScanCollector().collect(REQUEST, asked))
    assert [(test.path, test.hidden) for test in answer.tests] == [("hidden/test_h.py", True)]


def test_data_that_came_with_the_code_is_read_where_it_may_be_used() -> None:
    rows = '{"a sentence": 4242}'
    after: dict[str, Thing] = {
        "a.py": "T = load('pkg.egg-info/known')\n", "pkg.egg-info/known.json": rows, "build/other.json": rows,
        "app/table.json": rows, "tests/data.json": rows, "package.json": rows, "app/broken.json": "{",
        "tests/test_f.py": TEST,
    }  # fmt: skip
    attempt = Attempt({}, after, litter=("*.egg-info/*", "build/*"))
    answer = asyncio.run(ProductScanCollector().collect(REQUEST, attempt.subject()))
    assert [file.path for file in answer.files] == ["a.py", "app/table.json", "pkg.egg-info/known.json"]
    assert [test.path for test in answer.tests] == ["tests/test_f.py"]
    assert scanned({}, {"app/table.json": rows}).files == ()


def test_data_of_tests_are_read_as_tests_are() -> None:
    rows = '{"a sentence": 4242}'
    seen: dict[str, Thing] = {
        "tests/data/cases.json": rows,
        "tests/test_f.py": "x = 1\n",
        "docs/a.json": rows,
    }
    answer = scanned(seen, {**seen, "app/table.json": rows, "a.py": "T = 1\n", "tests/own.json": rows})
    assert [test.path for test in answer.tests] == ["tests/data/cases.json"]
    assert [example.values for example in answer.tests[0].examples] == [("n4242", "sa sentence")]


def test_code_in_an_ignored_folder_counts_where_product_code_loads_it() -> None:
    after: dict[str, Thing] = {"pkg/a.py": "from pkg.build.known import T\n", "pkg/build/known.py": ANSWERS}
    attempt = Attempt({}, {**after, "pkg/build/unused.py": ANSWERS}, litter=("*/build/*",))
    answer = asyncio.run(ProductScanCollector().collect(REQUEST, attempt.subject()))
    assert [file.path for file in answer.files] == ["pkg/a.py", "pkg/build/known.py"]


PLANTED = {
    "src/a.js": "const { lookup } = require('@a/known');\nexports.f = (x) => lookup(x);\n",
    "node_modules/@a/known/package.json": '{"main": "index.js"}\n',
    "node_modules/@a/known/index.js": "exports.lookup = (x) => x;\n",
}


@pytest.mark.parametrize(
    ("more", "read"),
    [
        ({}, True),
        ({"node_modules/.package-lock.json": '{"packages": {"node_modules/@a/known": {}}}\n'}, False),
        ({"yarn.lock": '"@a/known@^1.0.0":\n'}, False),
        ({"src/a.js": "exports.f = 1;\n"}, False),
        ({f"node_modules/@a/known/{number}.js": "x\n" for number in range(20)}, False),
    ],
)
def test_a_package_that_nobody_installed_is_product_code(more: dict[str, Thing], read: bool) -> None:
    answer = scanned({"src/a.js": "exports.f = 0;\n"}, {**PLANTED, **more})
    assert ("node_modules/@a/known/index.js" in {file.path for file in answer.files}) is read
