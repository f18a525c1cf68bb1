"""How votes become a verdict."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.judge.jury import mean_score, poll
from adjudge.records.judgement import FailureMode, JudgeFault, JudgeOpinion, JudgeVerdict, RubricScores, Vote
from adjudge.records.judging import JudgeConfig

pytestmark = pytest.mark.anyone

PASS, FAIL = JudgeVerdict.PASS, JudgeVerdict.FAIL


def opinion(verdict: JudgeVerdict, *scores: int, mode: FailureMode = FailureMode.INCORRECT) -> JudgeOpinion:
    ratings = scores or (3, 3, 3)
    return JudgeOpinion(
        scores=RubricScores(
            task_completion=ratings[0], instruction_adherence=ratings[1], efficiency=ratings[2]
        ),
        verdict=verdict,
        failure_mode=mode if verdict is FAIL else None,
        reasoning=f"says {verdict}",
    )


def vote(given_: JudgeOpinion | JudgeFault, name: str = "m") -> Vote:
    if isinstance(given_, JudgeFault):
        return Vote(juror=name, model="m", provider="openai", fault=given_, reason="why not")
    return Vote(juror=name, model="m", provider="openai", opinion=given_)


def config(votes: int, **more: Any) -> JudgeConfig:
    return JudgeConfig.model_validate({"model": "m", "votes": votes, **more})


def test_a_single_judge() -> None:
    outcome = poll([vote(opinion(PASS, 5, 4, 3))], config(1))
    assert (outcome.verdict, outcome.fault, outcome.agreement) == (PASS, None, None)
    assert outcome.reason == "the judge says PASS"


def test_majority_and_dissent() -> None:
    votes = [vote(opinion(PASS, 5, 5, 5), "a"), vote(opinion(FAIL, 1, 2, 3), "b"), vote(opinion(PASS), "c")]
    outcome = poll(votes, config(3))
    assert outcome.verdict is PASS
    assert outcome.agreement == pytest.approx(2 / 3)
    assert outcome.dissent == ("b: says FAIL",)
    assert outcome.scores is not None
    assert outcome.scores.task_completion == 3


def test_a_tie_is_a_fail_and_said() -> None:
    outcome = poll([vote(opinion(PASS)), vote(opinion(FAIL))], config(2))
    assert outcome.verdict is FAIL
    assert "a tie, which is a FAIL" in outcome.reason
    assert outcome.failure_mode is FailureMode.INCORRECT


def test_unanimous() -> None:
    votes = [vote(opinion(PASS)), vote(opinion(PASS)), vote(opinion(FAIL))]
    assert poll(votes, config(3, aggregate="unanimous")).verdict is FAIL
    assert poll(votes[:2], config(2, aggregate="unanimous")).verdict is PASS


def test_mean_of_the_rubric() -> None:
    high, low = opinion(PASS, 5, 5, 5), opinion(PASS, 1, 1, 1)
    assert mean_score([high, low]) == 0.5
    outcome = poll([vote(high), vote(low)], config(2, aggregate="mean", pass_threshold=0.6))
    assert outcome.verdict is FAIL
    assert outcome.failure_mode is FailureMode.OTHER
    assert "0.5 is below 0.6" in outcome.reason
    assert poll([vote(high), vote(low)], config(2, aggregate="mean", pass_threshold=0.5)).verdict is PASS


def test_who_could_not_vote_is_left_out_and_said() -> None:
    votes = [vote(opinion(PASS)), vote(JudgeFault.UNAVAILABLE, "b"), vote(opinion(PASS))]
    outcome = poll(votes, config(3))
    assert outcome.verdict is PASS
    assert outcome.agreement == 1.0
    assert "left out: b: unavailable: why not" in outcome.reason


@pytest.mark.parametrize(
    ("faults", "fault"),
    [
        ((JudgeFault.UNAVAILABLE, JudgeFault.UNPARSEABLE), JudgeFault.UNPARSEABLE),
        ((JudgeFault.UNPARSEABLE, JudgeFault.UNPARSEABLE), JudgeFault.UNPARSEABLE),
    ],
)
def test_no_quorum_is_no_verdict(faults: tuple[JudgeFault, ...], fault: JudgeFault) -> None:
    outcome = poll([vote(opinion(PASS)), *map(vote, faults)], config(3))
    assert (outcome.verdict, outcome.fault) == (None, fault)
    assert "1 of 3 votes have an opinion, 2 are needed" in outcome.reason


def test_nobody_could_be_reached() -> None:
    outcome = poll([vote(JudgeFault.UNAVAILABLE), vote(JudgeFault.UNAVAILABLE)], config(2))
    assert outcome.fault is JudgeFault.UNAVAILABLE


def test_the_most_named_failure_stands() -> None:
    votes = [
        vote(opinion(FAIL, mode=FailureMode.INCOMPLETE)),
        vote(opinion(FAIL, mode=FailureMode.REGRESSION)),
        vote(opinion(FAIL, mode=FailureMode.REGRESSION)),
    ]
    assert poll(votes, config(3)).failure_mode is FailureMode.REGRESSION


@given(st.lists(st.sampled_from([PASS, FAIL]), min_size=1, max_size=9), st.randoms())
def test_the_order_of_votes_does_not_matter(verdicts: list[JudgeVerdict], random: Any) -> None:
    settings = config(len(verdicts))
    before = poll([vote(opinion(verdict)) for verdict in verdicts], settings).verdict
    random.shuffle(verdicts)
    assert poll([vote(opinion(verdict)) for verdict in verdicts], settings).verdict is before


@given(st.lists(st.sampled_from([PASS, FAIL]), min_size=1, max_size=9))
def test_a_further_pass_never_makes_a_fail(verdicts: list[JudgeVerdict]) -> None:
    before = poll([vote(opinion(verdict)) for verdict in verdicts], config(len(verdicts))).verdict
    after = poll([vote(opinion(verdict)) for verdict in [*verdicts, PASS]], config(len(verdicts) + 1)).verdict
    assert not (before is PASS and after is FAIL)
