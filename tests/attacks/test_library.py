"""The library of attacks as a corpus: nothing gets through hidden tests with the integrity preset.

What a runner makes no difference to is tried on one of a language only: the whole library on pytest and on
`node --test`; for the others, what is aimed at them and what their trusted runs have to withstand.
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

pytestmark = pytest.mark.bwrap

GUARDED: dict[str, tuple[str, ...]] = {
    "pytest": (),
    "node": (),
    "unittest": (
        "load-tests",
        "shadow-runner",
        "patch-machinery",
        "exit-at-end",
        "fake-output",
        "always-equal",
    ),
    "jest": ("runner-config", "focus-one-test", "node-modules", "patch-machinery", "always-equal"),
    "vitest": ("runner-config", "focus-one-test", "always-equal"),
    "go": ("test-main", "skip-modules", "exit-at-import", "answer-table"),
}
"""What is tried on hidden tests, by runner; nothing named: everything."""
BARE: dict[str, tuple[str, ...]] = {
    "pytest": ("skip-markers", "conftest-outcomes", "exit-at-end", "answer-table", "fake-output"),
    "node": ("package-script", "return-early", "exit-at-import", "hashed-table"),
    "go": ("test-main", "exit-in-call"),
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


# The sandbox is the same whoever starts it, as the tests of the sandbox show; once is enough.
@pytest.mark.anyone
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
