"""The reward to train with."""

from __future__ import annotations

import pytest

import adjudge
from adjudge.errors import UsageError
from adjudge.records.evaluation import Integrity
from adjudge.testing.results import evaluation

pytestmark = pytest.mark.anyone


def test_it_is_the_evaluations_unless_it_was_tampered_with() -> None:
    assert adjudge.reward(evaluation(reward=0.123456789)) == 0.123456789
    assert adjudge.reward(evaluation(reward=None)) is None
    for outcome, reward in (("suspect", 1.0), ("clean", 1.0), ("unchecked", 1.0), ("tampered", 0.0)):
        integrity = Integrity.model_validate({"outcome": outcome})
        assert adjudge.reward(evaluation(reward=1.0, integrity=integrity)) == reward


def test_an_evaluation_is_not_graded_again() -> None:
    with pytest.raises(UsageError, match="graded already"):
        adjudge.reward(evaluation(reward=1.0), workspace="x")


def test_a_scenario_is_graded_first() -> None:
    with pytest.raises(UsageError, match="either a workspace or a patch"):
        adjudge.reward("adjudge.yaml")
