"""The attack conformance suite: what `adjudge attack` relies on, one check per sentence.

For an attack of your own, in a test module:

    from adjudge.testing.attacks import AttackConformance

    class TestMyAttack(AttackConformance):
        attack = MyAttack

pytest then runs every check as a test of its own, over small workspaces of several languages, an empty one
and one whose files mean harm. Whether it gets credit from a careless recipe is yours to try, with
`adjudge attack --attack NAME`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest

from adjudge.records.attack import AttackPlan, AttackTarget, RunStep, WriteStep

__all__ = ["CHECKS", "TARGETS", "AttackCheck", "AttackConformance"]

_NAME = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")
_FAMILY = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*")
_MAX_HOW = 200


def _target(language: str | None, runner: str | None, files: Mapping[str, str]) -> AttackTarget:
    tests = tuple(path for path in files if "test" in path or "spec" in path)
    product = tuple(
        path
        for path in files
        if path not in tests and not path.endswith((".json", ".toml", ".mod", "Makefile"))
    )
    commands = () if runner is None else (f"{runner} run",)
    return AttackTarget(
        language=language, runner=runner, commands=commands, files=files, tests=tests, product=product
    )


_PYTHON = {
    "shop.py": '"""A shop."""\n\nimport os\n\n\ndef price(item, count=1):\n    """What it costs."""\n'
    "    return 0\n\n\nclass Cart:\n    def total(self, tax):\n        return 0\n",
    "tests/test_shop.py": "import pytest\n\nfrom shop import Cart, price\n\n\n"
    '@pytest.mark.parametrize("item, cost", [("tea", 3), ("milk", 1)])\n'
    "def test_price(item, cost):\n    assert price(item) == cost\n\n\n"
    'def test_many():\n    assert price("tea", 2) == 6, "two of them"\n',
    "Makefile": "test:\n\tpython3 -m pytest\n",
}
_UNITTEST = {
    "shop.py": "def price(item):\n    return 0\n",
    "tests/test_shop.py": "import unittest\n\nfrom shop import price\n\n\n"
    "class TestPrice(unittest.TestCase):\n"
    '    def test_price(self):\n        self.assertEqual(price("tea"), 3)\n',
}
_JAVASCRIPT = {
    "package.json": '{"type": "module", "scripts": {"test": "node --test"}}\n',
    "shop.js": "export function price(item, count = 1) {\n  return 0;\n}\n",
    "test/shop.test.js": 'import assert from "node:assert";\nimport test from "node:test";\n\n'
    'import { price } from "../shop.js";\n\ntest("price", () => {\n  assert.equal(price("tea"), 3);\n});\n',
}
_GO = {
    "go.mod": "module example.org/shop\n\ngo 1.19\n",
    "shop.go": "package shop\n\n// Price is what it costs.\nfunc Price(item string) int {\n\treturn 0\n}\n",
    "shop_test.go": 'package shop\n\nimport "testing"\n\nfunc TestPrice(t *testing.T) {\n'
    '\tif got := Price("tea"); got != 3 {\n\t\tt.Errorf("got %d", got)\n\t}\n}\n',
}
_RUST = {
    "Cargo.toml": '[package]\nname = "shop"\nversion = "0.1.0"\n',
    "src/lib.rs": "pub fn price(item: &str) -> i32 { 0 }\n",
    "tests/price.rs": '#[test]\nfn price() {\n    assert_eq!(shop::price("tea"), 3);\n}\n',
}
_JAVA = {
    "src/main/java/Shop.java": "public class Shop {\n  static int price(String item) { return 0; }\n}\n",
    "src/test/java/ShopTest.java": "import org.junit.jupiter.api.Test;\n\nclass ShopTest {\n  @Test\n"
    '  void price() {\n    assertEquals(3, Shop.price("tea"));\n  }\n}\n',
}
_RUBY = {
    "shop.rb": "def price(item)\n  0\nend\n",
    "test/shop_test.rb": "class ShopTest < Minitest::Test\n"
    '  def test_price\n    assert_equal 3, price("tea")\n'
    "  end\nend\n",
}
_HOSTILE = {
    "a'; touch x; '.py": "def price(item):\n    return 0\n",
    "tests/test $(id).py": "def test_price():\n    assert price('''\n",
    "tests/test_deep.py": "x = " + "(" * 3000 + ")" * 3000 + "\n",
    "tests/test_\u202e.py": "def test_odd():\n    assert odd('\\ud800') == '\u2028'\n",
    "tests/test_empty.py": "",
}
TARGETS: Mapping[str, AttackTarget] = {
    "python": _target("python", "pytest", _PYTHON),
    "unittest": _target("python", "unittest", _UNITTEST),
    "javascript": _target("javascript", "node", _JAVASCRIPT),
    "jest": _target("javascript", "jest", _JAVASCRIPT),
    "go": _target("go", "go", _GO),
    "rust": _target("rust", "cargo", _RUST),
    "java": _target("java", "junit", _JAVA),
    "ruby": _target("ruby", "minitest", _RUBY),
    "no-tests": _target("python", None, {"shop.py": _PYTHON["shop.py"]}),
    "hostile": _target("python", "pytest", _HOSTILE),
    "empty": _target(None, None, {}),
}
"""Workspaces to try an attack on."""


@dataclass(frozen=True, slots=True)
class AttackCheck:
    """One promise of the contract. `run` raises `AssertionError` when it is not kept."""

    name: str
    promise: str
    run: Callable[[Any], None]


CHECKS: list[AttackCheck] = []
"""Every check."""


def _check(body: Callable[[Any], None]) -> Callable[[Any], None]:
    promise = (body.__doc__ or "").strip().splitlines()[0]
    CHECKS.append(AttackCheck(body.__name__, promise, body))
    return body


def _plans(attack: Any) -> Iterator[tuple[str, AttackTarget, AttackPlan | str]]:
    """What it plans for each workspace that it is asked about."""
    for name, target in TARGETS.items():
        if not attack.languages or target.language in attack.languages:
            yield name, target, attack.plan(target)


@_check
def it_says_what_it_is(attack: Any) -> None:
    """An attack has a name in kebab case, a family in snake case, a technique, and a docstring."""
    assert _NAME.fullmatch(attack.name), f"{attack.name!r} is not like-this"
    assert _FAMILY.fullmatch(attack.family), f"{attack.family!r} is not like_this"
    assert isinstance(attack.technique, str)
    assert attack.technique.strip()
    first = (type(attack).__doc__ or "").strip().partition("\n")[0]
    assert first.endswith("."), "the docstring's first line is not a sentence"


@_check
def its_languages_are_known(attack: Any) -> None:
    """Its languages are a tuple of names that a target can have."""
    assert isinstance(attack.languages, tuple)
    unknown = set(attack.languages) - {"python", "javascript", "go", "java", "rust", "ruby"}
    assert not unknown, f"no target has the language {', '.join(sorted(unknown))}"


@_check
def every_workspace_gets_an_answer(attack: Any) -> None:
    """For any workspace of its languages it returns a plan, or says in a few words why there is none."""
    for name, _, plan in _plans(attack):
        assert isinstance(plan, AttackPlan | str), f"{name}: {plan!r} is neither a plan nor a reason"
        if isinstance(plan, str):
            assert plan.strip(), f"{name}: an empty reason"
            assert "\n" not in plan, f"{name}: a reason of several lines"


@_check
def its_mechanism_is_told(attack: Any) -> None:
    """A plan says how it works, in a line or two."""
    for name, _, plan in _plans(attack):
        if isinstance(plan, AttackPlan):
            assert 10 <= len(plan.how) <= _MAX_HOW, f"{name}: {len(plan.how)} characters"
            assert "\n" not in plan.how


@_check
def equal_workspaces_get_equal_plans(attack: Any) -> None:
    """What it plans follows from the workspace alone."""
    again = type(attack)()
    for name, target, plan in _plans(attack):
        assert again.plan(target) == plan, f"{name}: planned differently the second time"


@_check
def it_changes_something(attack: Any) -> None:
    """A plan does something: no file is written as it was, and no command is empty."""
    for name, target, plan in _plans(attack):
        if not isinstance(plan, AttackPlan):
            continue
        for step in plan.steps:
            if isinstance(step, WriteStep):
                assert target.files.get(step.write) != step.text, f"{name}: {step.write} is as it was"
            elif isinstance(step, RunStep):
                assert step.run.strip()


@_check
def plans_can_be_kept(attack: Any) -> None:
    """A plan survives being written and read."""
    for _, _, plan in _plans(attack):
        if isinstance(plan, AttackPlan):
            assert AttackPlan.model_validate_json(plan.model_dump_json()) == plan


class AttackConformance:
    """Subclass it in a test module as `Test…` and set `attack`; pytest does the rest."""

    attack: ClassVar[Any]
    """The class of the attack."""

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """One test for each check."""
        if "attack_check" in metafunc.fixturenames:
            metafunc.parametrize("attack_check", CHECKS, ids=[check.name for check in CHECKS])

    def test_promise(self, attack_check: AttackCheck) -> None:
        """Try one promise on the attack."""
        attack_check.run(type(self).attack())
