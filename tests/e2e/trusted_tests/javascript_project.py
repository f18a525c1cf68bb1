"""The small project that Jest and Vitest are tried on, and where the two come from."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

import adjudge
from adjudge.records.score import ScorerResult

__all__ = ["HONEST", "JEST", "LAZY", "NAMES", "TESTS", "VITEST", "Runner", "grade", "ids", "need"]

_PACKAGES = Path(os.environ.get("ADJUDGE_TEST_PACKAGES", "/var/tmp/adjudge-test-packages"))


@dataclass(frozen=True)
class Runner:
    """A runner, and how a module of the project reads for it."""

    name: str
    version: str
    cmd: str
    imports: str
    """The first line of a test file, which loads the module under test."""
    head: str
    foot: str

    @property
    def modules(self) -> Path:
        """Where it is installed."""
        return _PACKAGES / f"{self.name}-{self.version}" / "node_modules"

    def module(self, code: str) -> str:
        """Code of the project as a module."""
        return f"{self.head}{code}{self.foot}"

    def tests(self, text: str, module: str = "shop") -> str:
        """A test file."""
        return f"{self.imports.format(module=module)}\n{text}"


_EXPORTED = "withTax, label, basket, total"
JEST = Runner(
    name="jest",
    version="29.7.0",
    cmd="npx jest",
    imports="const shop = require('./{module}.js');",
    head="",
    foot=f"\nmodule.exports = {{ {_EXPORTED} }};\n",
)
VITEST = Runner(
    name="vitest",
    version="4.1.12",
    cmd="npx vitest run --globals",
    imports="import * as shop from './{module}.js';",
    head="import { createRequire } from 'node:module';\nconst require = createRequire('/workspace/x.js');\n",
    foot=f"\nexport {{ {_EXPORTED} }};\n",
)


def need(runner: Runner) -> None:
    """Skip where the runner is not there; `make test` installs it when it can."""
    if shutil.which("node") is None:
        pytest.skip("node is not installed")
    if not (runner.modules.parent / "complete").exists():
        pytest.skip(f"{runner.name} {runner.version} is not installed (tools/test-packages)")


TESTS = """\
test('adds tax', () => {
  expect(shop.withTax(100, 20)).toBe(120);
});
test('labels', () => {
  const expected = 'blue-mug';
  expect(shop.label('Blue Mug')).toEqual(expected);
});
describe('basket', () => {
  it('counts', () => {
    expect(shop.basket(['mug', 'pen', 'mug'])).toEqual({ mug: 2, pen: 1 });
  });
  it('sums [up]', async () => {
    await expect(Promise.resolve(shop.total([30, 40]))).resolves.toBe(70);
  });
});
it.each([[100, 20, 120], [50, 10, 55]])('%i at %i is %i', (price, rate, total) => {
  expect(shop.withTax(price, rate)).toBe(total);
});
"""

NAMES = (
    "adds tax",
    "labels",
    "basket > counts",
    "basket > sums [up]",
    "100 at 20 is 120",
    "50 at 10 is 55",
)

HONEST = """\
const withTax = (price, rate) => {
  if (price < 0) throw new RangeError('a price is not negative');
  return price + (price * rate) / 100;
};
const label = (text) => text.toLowerCase().replaceAll(' ', '-');
const basket = (things) => {
  const found = {};
  for (const thing of things) found[thing] = (found[thing] || 0) + 1;
  return found;
};
const total = (values) => values.reduce((a, b) => a + b, 0);
"""

LAZY = "let withTax, label, basket, total;\nwithTax = label = basket = total = () => undefined;\n"


def grade(
    place: Path,
    runner: Runner,
    files: Mapping[str, str],
    hidden: Mapping[str, str],
    *,
    before: Mapping[str, str] | None = None,
    **config: Any,
) -> ScorerResult:
    """Grade a workspace with hidden test files; the row of the scorer."""
    folders = (
        ("scenario/hidden", hidden),
        ("before", {"package.json": "{}\n", **(before or {})}),
        ("after", {"package.json": "{}\n", **files}),
    )
    for name, held in folders:
        (place / name).mkdir(parents=True)
        for path, text in held.items():
            target = place / name / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
    grader = {
        "type": "tests",
        "cmd": runner.cmd,
        "inject": [{"src": f"./hidden/{path}", "dest": path} for path in hidden],
        **config,
    }
    if grader["type"] != "tests":
        del grader["cmd"]
    exposed = {"source": str(runner.modules), "target": "/workspace/node_modules"}
    recipe = place / "scenario" / "adjudge.yaml"
    recipe.write_text(yaml.safe_dump({"sandbox": {"expose": [exposed]}, "graders": [grader]}))
    evaluation = adjudge.grade(recipe, workspace=place / "after", baseline=place / "before")
    return evaluation.scorers[0]


def ids(row: ScorerResult) -> dict[str, dict[str, Any]]:
    """What the row says of each test, by id."""
    assert "tests" in row.details, row
    tests: Any = row.details["tests"]
    return {test["id"]: test for test in tests}
