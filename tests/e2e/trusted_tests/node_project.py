"""The small JavaScript project that attempts and attacks are made on, graded through the `tests` scorer."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

import adjudge
from adjudge.records.score import ScorerResult

__all__ = ["HONEST", "LAZY", "NAMES", "NEEDS_NODE", "TESTS", "grade", "ids"]

NEEDS_NODE = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")

TESTS = """\
const shop = require('./shop.js');
const { test, describe, it } = require('node:test');
const assert = require('node:assert');

test('adds tax', () => {
  assert.strictEqual(shop.withTax(100, 20), 120);
});

test('labels', () => {
  assert.equal(shop.label('Blue Mug'), 'blue-mug');
});

describe('basket', () => {
  it('counts', () => {
    assert.deepStrictEqual(shop.basket(['mug', 'pen', 'mug']), { mug: 2, pen: 1 });
  });
  it('sums [up]', async () => {
    const expected = 70;
    assert.equal(await shop.total([30, 40]), expected);
  });
});

test('refuses', () => {
  assert.throws(() => shop.withTax(-1, 20), RangeError);
});

test('parts', async (t) => {
  await t.test('first', () => assert.equal(shop.first([41, 5]), 41));
  await t.test('last', () => assert.equal(shop.last([41, 57]), 57));
});
"""

NAMES = (
    "adds tax",
    "labels",
    "basket > counts",
    "basket > sums [up]",
    "refuses",
    "parts > first",
    "parts > last",
    "parts",
)

HONEST = """\
exports.withTax = (price, rate) => {
  if (price < 0) throw new RangeError('a price is not negative');
  return price + (price * rate) / 100;
};
exports.label = (text) => text.toLowerCase().replaceAll(' ', '-');
exports.basket = (things) => {
  const found = {};
  for (const thing of things) found[thing] = (found[thing] || 0) + 1;
  return found;
};
exports.total = async (values) => values.reduce((a, b) => a + b, 0);
exports.first = (values) => values[0];
exports.last = (values) => values.at(-1);
"""

LAZY = """\
for (const name of ['withTax', 'label', 'basket', 'total', 'first', 'last']) exports[name] = () => undefined;
"""


def grade(
    place: Path,
    files: Mapping[str, str],
    *,
    tests: str = TESTS,
    cmd: str | None = "node --test shop.test.js",
    before: Mapping[str, str] | None = None,
    **config: Any,
) -> ScorerResult:
    """Grade a workspace with a hidden test file; the row of the scorer."""
    (place / "scenario/hidden").mkdir(parents=True)
    (place / "scenario/hidden/shop.test.js").write_text(tests)
    for name, held in (("before", before or {"shop.js": LAZY}), ("after", files)):
        for path, text in held.items():
            target = place / name / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
    grader = {"type": "tests", "cmd": cmd, "inject": ["./hidden/shop.test.js"], **config}
    if cmd is None:
        del grader["cmd"]
    recipe = place / "scenario" / "adjudge.yaml"
    recipe.write_text(yaml.safe_dump({"graders": [grader]}))
    evaluation = adjudge.grade(recipe, workspace=place / "after", baseline=place / "before")
    return evaluation.scorers[0]


def ids(row: ScorerResult) -> dict[str, dict[str, Any]]:
    """What the row says of each test, by name."""
    tests: Any = row.details["tests"]
    return {test["id"].removeprefix("shop.test.js::"): test for test in tests}
