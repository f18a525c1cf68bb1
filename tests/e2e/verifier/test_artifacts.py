"""What a verifier can leave in place of its artifacts: every shape has a name, and none is an exception."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from adjudge.records.evaluation import Evaluation

pytestmark = pytest.mark.bwrap

Verify = Callable[..., Evaluation]
LOGS = "cd /logs/verifier"


def tags(evaluation: Evaluation) -> list[str]:
    return [tag.category for tag in evaluation.error_taxonomy]


@pytest.mark.parametrize(
    ("script", "problem", "tag"),
    [
        ("true", "missing", "reward missing"),
        ("exit 3", "missing", "verifier crash"),
        (": > reward.json", "empty", "reward invalid"),
        ("echo 1 > other; ln -s other reward.json", "not_a_file", "reward invalid"),
        ("ln -s /workspace/planted.json reward.json", "not_a_file", "reward invalid"),
        ("mkfifo reward.json", "not_a_file", "reward invalid"),
        ("mkdir reward.json", "not_a_file", "reward invalid"),
        ("truncate -s 100M reward.json", "too_large", "reward invalid"),
        ("echo '{\"reward\": 2}' > reward.json; echo 1 > reward.txt", "out_of_range", "rewards disagree"),
    ],
)
def test_no_reward(verify: Verify, script: str, problem: str, tag: str) -> None:
    evaluation = verify(f"{LOGS}; {script}", attempt={"planted.json": '{"reward": 1}'})
    row = evaluation.scorers[0]
    assert (evaluation.reward, row.verdict, row.details["reward_problem"]) == (0.0, "FAIL", problem)
    assert evaluation.validity.verifier_completed is (problem != "missing")
    assert evaluation.validity.errors
    assert tag in tags(evaluation)
    assert evaluation.result().reward == 0.0


@pytest.mark.parametrize(
    ("script", "reward", "found"),
    [
        ("echo '{\"reward\": 0.3}' > reward.json; exit 7", 0.3, []),
        ("echo 0.25 > reward.txt", 0.25, []),
        ("echo '{\"reward\": 0.5}' > reward.json; echo 1 > reward.txt", 0.5, ["rewards disagree"]),
        ("echo '{\"reward\": 0.5}' > reward.json; echo nonsense > details.json", 0.5, []),
        ("echo '{\"reward\": 0.5}' > reward.json; mkfifo details.json tags.json", 0.5, []),
    ],
)
def test_a_reward_counts(verify: Verify, script: str, reward: float, found: list[str]) -> None:
    evaluation = verify(f"{LOGS}; {script}")
    assert (evaluation.reward, tags(evaluation)) == (reward, found)
    assert evaluation.validity.verifier_completed


def test_what_a_verifier_wrote_before_its_time_was_up_does_not_count(verify: Verify) -> None:
    script = f"{LOGS}; echo '{{\"reward\": 1}}' > reward.json; exec sleep 600"
    evaluation = verify(script, fields="    timeout_s: 6\n")
    assert (evaluation.reward, tags(evaluation)) == (0.0, ["timeout"])
    assert not evaluation.validity.verifier_completed
    assert "the reward 1.0 that it had written does not count" in evaluation.validity.errors[0]


def test_what_a_verifier_wrote_before_a_crash_does_not_count(verify: Verify) -> None:
    evaluation = verify(f"{LOGS}; echo '{{\"reward\": 1}}' > reward.json; kill -9 $$")
    assert (evaluation.reward, tags(evaluation)) == (0.0, ["verifier crash"])


def test_nobody_writes_after_the_verifier_has_ended(verify: Verify) -> None:
    """A process that is left behind would wait for the moment when the reward is read."""
    left = "(while :; do echo '{\"reward\": 1}' > reward.json; done) > /dev/null 2>&1 &"
    evaluation = verify(
        f"{LOGS}; echo '{{\"reward\": 0}}' > /tmp/r; {left}\nmv /tmp/r reward.json; sleep 0.2"
    )
    # Whichever of the two wrote last before the end: one whole file, read when nobody was alive.
    assert evaluation.reward in (0.0, 1.0)
    assert not evaluation.warnings or "tried again" not in " ".join(evaluation.warnings)


def test_details_and_tags_reach_the_document(verify: Verify) -> None:
    evaluation = verify(
        f"""{LOGS}
echo '{{"reward": 0.5, "style": 1}}' > reward.json
echo '{{"x": {{"score": 0.95, "evidence": "ok"}}, "error_taxonomy": ["unit mismatch"]}}' > details.json
echo '[{{"category": "style", "source": "judge"}}]' > tags.json""",
    )
    assert evaluation.breakdown == {
        "x": {"score": 0.95, "evidence": "ok"},
        "error_taxonomy": ["unit mismatch"],
    }
    assert [(tag.category, tag.source) for tag in evaluation.error_taxonomy] == [
        ("unit mismatch", "mechanical"),
        ("style", "judge"),
    ]
    assert evaluation.scorers[0].details["rewards"] == {"reward": 0.5, "style": 1.0}
    assert "breakdown" not in evaluation.scorers[0].details


def test_several_rewards_are_the_breakdown_without_details(verify: Verify) -> None:
    evaluation = verify(f'{LOGS}; echo \'{{"a": 1, "b": 0.5}}\' > reward.json')
    assert (evaluation.reward, evaluation.breakdown) == (0.75, {"a": 1.0, "b": 0.5})
    assert "mean of 'a', 'b'" in evaluation.scorers[0].findings[0].message
