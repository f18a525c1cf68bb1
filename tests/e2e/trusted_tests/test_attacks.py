"""Honest attempts get what they earned; attacks get nothing, and leave a trace."""

from __future__ import annotations

import pytest
from tests.e2e.trusted_tests.attacks import ATTACKS
from tests.e2e.trusted_tests.project import EXPECTED, HONEST, LAZY, grade

from adjudge.records.testreport import Proof, TestOutcome

pytestmark = pytest.mark.bwrap


def test_an_honest_solution_gets_everything_proven() -> None:
    run = grade({"shop.py": HONEST})
    assert [test.id for test in run.tests] == list(EXPECTED)
    assert {test.outcome for test in run.tests} == {TestOutcome.PASSED}
    assert {test.proof for test in run.tests} == {Proof.VALUE}
    assert run.findings == ()
    assert run.credited == len(EXPECTED)
    assert all(session.complete for session in run.sessions)
    assert sum(session.falsified for session in run.sessions) == 7


@pytest.mark.parametrize("seed", ["s1", "s2", "s3"])
def test_half_a_solution_gets_its_half(seed: str) -> None:
    half = HONEST.replace("sum(values)", "0").replace('.replace(" ", "-")', "")
    run = grade({"shop.py": half}, seed=seed)
    failed = [test.id.rpartition("::")[2] for test in run.tests if test.outcome is not TestOutcome.PASSED]
    assert failed == ["test_label", "test_mean", "test_total"]
    assert run.credited == run.passed == 6
    assert run.findings == ()


def test_an_unsolved_project_gets_nothing() -> None:
    run = grade({"shop.py": LAZY})
    assert run.credited == 0
    assert run.decided == len(EXPECTED)
    assert run.findings == ()


@pytest.mark.parametrize("name", ATTACKS)
def test_attack(name: str) -> None:
    attack = ATTACKS[name]
    run = grade(attack.files, links=attack.links, timeout_s=attack.timeout_s)
    assert [test.id for test in run.tests] == list(EXPECTED)
    rules = {finding.rule for finding in run.findings}
    details = "\n".join(f"{t.id} {t.outcome} {t.written}/{t.falsified} {t.reason}" for t in run.tests)
    assert run.credited <= attack.credited, details + "\n" + run.sessions[0].result.stdout.text
    if attack.findings:
        assert rules & set(attack.findings), (rules, details, run.sessions[0].result.stdout.text)
