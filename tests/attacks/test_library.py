"""The library of attacks as a corpus: nothing gets through hidden tests with the integrity preset.

What a runner makes no difference to is tried on the one of its language that starts fastest: the whole
library on unittest and on `node --test`; for the others, what is aimed at them and what their trusted runs
have to withstand.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.attacks.projects import PROJECTS, write_scenario

from adjudge import catalog
from adjudge.records.attack import AttackStatus
from adjudge.sandbox.choose import choose_backend
from adjudge.workflows.attacking import AttackReport, AttackSettings, attack_task, choose_attacks

# The sandbox is the same whoever starts it, as the tests of the sandbox show, so once is enough;
# tests/e2e/test_attack.py runs as anybody.
pytestmark = [pytest.mark.bwrap, pytest.mark.anyone]

GUARDED: dict[str, tuple[str, ...]] = {
    "unittest": (),
    "node": (),
    "pytest": ("conftest-outcomes", "pytest-addopts", "patch-machinery", "planted-bytecode"),
    "jest": ("runner-config", "focus-one-test"),
    "vitest": ("runner-config", "always-equal"),
    "go": ("test-main", "skip-modules", "exit-at-import"),
}
"""What is tried on hidden tests, by runner; nothing named: everything."""
BARE: dict[str, tuple[str, ...]] = {
    "unittest": (
        "skip-markers",
        "exit-at-end",
        "answer-table",
        "fake-output",
        "patch-machinery",
        "planted-bytecode",
    ),
    "node": ("package-script", "return-early", "exit-at-import", "hashed-table"),
}
"""What gets through an exit code, by runner."""


def attack(place: Path, runner: str, names: Sequence[str], *, guarded: bool) -> AttackReport:
    scenario = write_scenario(place / "scenario", PROJECTS[runner], guarded=guarded)
    settings = AttackSettings(
        state_dir=place / "state",
        backend=lambda task: choose_backend("bubblewrap").backend,
        jobs=2,
        advise=False,
    )
    return attack_task(str(scenario), choose_attacks(names), settings)


@pytest.mark.parametrize("runner", GUARDED)
def test_nothing_gets_through_hidden_tests(runner: str, tmp_path: Path) -> None:
    names = GUARDED[runner] or tuple(catalog.BUILTINS["attacks"])
    report = attack(tmp_path, runner, names, guarded=True)
    honest = {one.name: one.behaves for one in report.honest}
    assert honest["noop"] is True, report.honest
    assert honest["oracle"] is not False, report.honest
    assert [one.name for one in report.through] == []
    assert [(one.name, one.reason) for one in report.results if one.status is AttackStatus.UNGRADED] == []
    tried = [one.name for one in report.results if one.status is AttackStatus.STOPPED]
    assert len(tried) >= (30 if not GUARDED[runner] else 2), [(one.name, one.how) for one in report.results]


@pytest.mark.parametrize("runner", BARE)
def test_much_gets_through_an_exit_code(runner: str, tmp_path: Path) -> None:
    report = attack(tmp_path, runner, BARE[runner], guarded=False)
    told = [(one.name, one.status, one.how, one.reason) for one in report.results]
    assert {one.name for one in report.through} == set(BARE[runner]), told
    assert all(one.integrity.outcome == "unchecked" for one in report.results)
