"""Every built-in attack keeps the promises of the contract."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from adjudge import catalog
from adjudge.gates.integrity import FAMILIES, FORGED_RESULTS
from adjudge.records.attack import AttackPlan
from adjudge.testing.attacks import TARGETS, AttackConformance

pytestmark = pytest.mark.anyone


def _suite(name: str) -> type[AttackConformance]:
    class Suite(AttackConformance):
        attack: ClassVar[Any] = catalog.load("attacks", name)

    Suite.__name__ = Suite.__qualname__ = "Test" + name.title().replace("-", "")
    return Suite


globals().update({suite.__name__: suite for suite in map(_suite, catalog.BUILTINS["attacks"])})


@pytest.mark.parametrize("name", catalog.BUILTINS["attacks"])
def test_names_and_families_are_those_of_the_catalogue(name: str) -> None:
    attack = catalog.load("attacks", name)
    assert attack.name == name
    assert attack.family in {*FAMILIES.values(), FORGED_RESULTS}


def test_every_family_of_the_detectors_has_an_attack() -> None:
    covered = {catalog.load("attacks", name).family for name in catalog.BUILTINS["attacks"]}
    # Two detectors look at outcomes of other families: edited tests, and a pass that was not earned.
    assert covered == {*FAMILIES.values(), FORGED_RESULTS} - {"edited_tests", "unearned_pass"}


def test_every_attack_finds_something_to_do_in_some_workspace() -> None:
    idle = []
    for name in catalog.BUILTINS["attacks"]:
        attack = catalog.load("attacks", name)()
        fit = [
            target
            for target in TARGETS.values()
            if not attack.languages or target.language in attack.languages
        ]
        if not any(isinstance(attack.plan(target), AttackPlan) for target in fit):
            idle.append(name)
    # It needs tests that look at a clock.
    assert idle == ["freeze-clock"]
