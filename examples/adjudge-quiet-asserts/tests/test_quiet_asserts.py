"""The attack keeps every promise of the contract, and does what it is for."""

from adjudge_quiet_asserts import QuietAsserts

from adjudge.records.attack import AttackPlan
from adjudge.testing.attacks import TARGETS, AttackConformance


class TestPromises(AttackConformance):
    """Every check of the suite."""

    attack = QuietAsserts


def test_it_plants_one_file() -> None:
    """In a workspace whose tests run under pytest."""
    plan = QuietAsserts().plan(TARGETS["python"])
    assert isinstance(plan, AttackPlan)
    assert [step.model_dump()["write"] for step in plan.steps] == ["conftest.py"]


def test_it_says_where_it_does_not_apply() -> None:
    """Only pytest reads a conftest.py."""
    assert QuietAsserts().plan(TARGETS["unittest"]) == "the tests do not run under pytest"
