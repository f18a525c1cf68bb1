"""The small project that attempts and attacks are made on: a shop, its hidden tests, an honest solution."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Mapping
from pathlib import Path

from adjudge import catalog
from adjudge.evidence.tests.order import Order
from adjudge.evidence.tests.session import Suites
from adjudge.evidence.tests.trusted import TrustedRun, run_trusted
from adjudge.records.evidence import TestCommand
from adjudge.records.sandbox import Limits, SandboxSpec, WorkspaceTree
from adjudge.records.testreport import TrustedTestRun

__all__ = ["EXPECTED", "HONEST", "LAZY", "TESTS", "grade"]

TESTS = """\
import unittest

import pytest

import shop


@pytest.mark.parametrize("price, rate, total", [(100, 20, 120), (50, 10, 55), (80, 5, 84)])
def test_with_tax(price, rate, total):
    assert shop.with_tax(price, rate) == total


def test_label():
    assert shop.label("Blue Mug") == "blue-mug"


def test_mean():
    assert shop.mean([1.0, 2.5]) == pytest.approx(1.75)


def test_refuses():
    with pytest.raises(ValueError):
        shop.with_tax(-1, 20)


def test_basket():
    basket = shop.basket(["mug", "pen", "mug"])
    assert basket == {"mug": 2, "pen": 1}


class TotalsTest(unittest.TestCase):
    def test_total(self):
        self.assertEqual(shop.total([3, 4]), 7)

    def test_empty(self):
        self.assertEqual(shop.total([]), 0)
"""

FILE = "tests/test_shop.py"
EXPECTED = tuple(
    f"{FILE}::{name}"
    for name in (
        "test_with_tax[100-20-120]",
        "test_with_tax[50-10-55]",
        "test_with_tax[80-5-84]",
        "test_label",
        "test_mean",
        "test_refuses",
        "test_basket",
        "TotalsTest::test_total",
        "TotalsTest::test_empty",
    )
)

HONEST = """\
def with_tax(price, rate):
    if price < 0:
        raise ValueError("a price is not negative")
    return price + price * rate // 100


def label(text):
    return text.lower().replace(" ", "-")


def mean(values):
    return sum(values) / len(values)


def basket(things):
    return {thing: things.count(thing) for thing in things}


def total(values):
    return sum(values)
"""

LAZY = """\
def with_tax(price, rate):
    return None


def label(text):
    return None


def mean(values):
    return None


def basket(things):
    return None


def total(values):
    return None
"""


def grade(
    files: Mapping[str, str | bytes | None],
    *,
    seed: str = "a seed",
    tests: Mapping[str, str] | None = None,
    expected: tuple[str, ...] | None = EXPECTED,
    links: Mapping[str, str] | None = None,
    command: TestCommand | None = None,
    plugins: tuple[str, ...] = (),
    timeout_s: float = 60.0,
    test_timeout_s: float = 5.0,
    pairs: int = 1,
) -> TrustedTestRun:
    """Grade a workspace made of `files` in twin sessions of the real sandbox."""
    trusted = {FILE: TESTS} if tests is None else dict(tests)
    with tempfile.TemporaryDirectory(prefix="adjudge-attack-") as name:
        place = Path(name)
        place.chmod(0o755)
        for path, text in files.items():
            if text is None:
                continue
            target = place / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(text if isinstance(text, bytes) else text.encode())
        for path, aim in (links or {}).items():
            target = place / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.symlink_to(aim)
        suites = Suites(catalog.load("sandboxes", "bubblewrap")(), SandboxSpec(limits=Limits(processes=64)))
        order = Order(
            command or TestCommand(args=("tests",)),
            plugins=plugins,
            timeout_s=timeout_s,
            test_timeout_s=test_timeout_s,
        )
        run = TrustedRun(
            order=order,
            tree=WorkspaceTree(layers=(place,)),
            files={path: text.encode() for path, text in trusted.items()},
            expected=expected,
            seed=seed,
            pairs=pairs,
        )
        return asyncio.run(run_trusted(suites, run))
