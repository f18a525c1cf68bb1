"""Which reward an evaluation has."""

from __future__ import annotations

import pytest

from adjudge.testing.results import scorer_result
from adjudge.workflows.rewarding import conclude_reward

pytestmark = pytest.mark.anyone

VALID = {"output_parseable": True, "schema_valid": True, "verifier_completed": True, "errors": []}
DETAILS = {
    "validity": VALID,
    "breakdown": {"a": 1},
    "error_taxonomy": [{"category": "c", "description": None, "source": "judge"}],
    "reward_channel": "shared with candidate code",
    "reward": 0.3,
}


def test_a_verifiers_reward_stands_whatever_the_others_say() -> None:
    verifier = scorer_result("FAIL", type="verifier", score=0.3, details=DETAILS)
    rewarded = conclude_reward((scorer_result("FAIL", gate=True), verifier), 0.0)
    assert rewarded.reward == 0.3
    assert rewarded.breakdown == {"a": 1}
    assert [tag.category for tag in rewarded.error_taxonomy] == ["c"]
    assert rewarded.warnings == ("reward channel: shared with candidate code",)
    assert set(rewarded.results[1].details) == {"reward_channel", "reward"}


def test_our_failure_has_no_reward() -> None:
    rewarded = conclude_reward((scorer_result("ERROR", type="verifier", reason="died"),), 1.0)
    assert (rewarded.reward, rewarded.validity.verifier_completed) == (None, False)
    assert rewarded.validity.errors == ["check: died"]


def test_nothing_to_verify_is_the_attempts_failure() -> None:
    rewarded = conclude_reward((scorer_result("FAIL", type="verifier", reason="no patch"),), None)
    assert (rewarded.reward, rewarded.validity.output_parseable) == (0.0, False)
    assert rewarded.validity.errors == ["no patch"]
