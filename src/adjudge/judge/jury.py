"""From votes to a verdict. Pure; every vote is kept, and who could not vote is said."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from adjudge.records.judgement import (
    Aggregate,
    FactCheck,
    FailureMode,
    JudgeFault,
    JudgeOpinion,
    JudgeVerdict,
    RubricScores,
    Vote,
)
from adjudge.records.judging import JudgeConfig

__all__ = ["Outcome", "mean_score", "poll"]


class Outcome(NamedTuple):
    """What the votes come to."""

    verdict: JudgeVerdict | None
    fault: JudgeFault | None
    reason: str
    scores: RubricScores | None = None
    failure_mode: FailureMode | None = None
    reasoning: str = ""
    fact_checks: tuple[FactCheck, ...] = ()
    agreement: float | None = None
    dissent: tuple[str, ...] = ()


def poll(votes: Sequence[Vote], config: JudgeConfig) -> Outcome:
    """Make one verdict of the votes, by the configuration's rule."""
    given = [(vote, vote.opinion) for vote in votes if vote.opinion is not None]
    absent = [vote for vote in votes if vote.opinion is None]
    if len(given) < config.needed:
        return _no_verdict(votes, absent, len(given), config.needed)
    passes = sum(opinion.verdict is JudgeVerdict.PASS for _, opinion in given)
    verdict, rule = _rule(passes, [opinion for _, opinion in given], config)
    agreeing = [(vote, opinion) for vote, opinion in given if opinion.verdict is verdict]
    against = [(vote, opinion) for vote, opinion in given if opinion.verdict is not verdict]
    # A rule can conclude what nobody said (a mean below the threshold over votes that all say PASS).
    spokesman = (agreeing or given)[0][1]
    mode = _failure_mode(verdict, [opinion for _, opinion in agreeing])
    left_out = f"; {_left_out(absent)}" if absent else ""
    return Outcome(
        verdict=verdict,
        fault=None,
        reason=rule + left_out,
        scores=_medians([opinion.scores for _, opinion in given]),
        failure_mode=mode,
        reasoning=spokesman.reasoning,
        fact_checks=spokesman.fact_checks,
        agreement=len(agreeing) / len(given) if len(given) > 1 else None,
        dissent=tuple(f"{vote.juror}: {opinion.reasoning}" for vote, opinion in against),
    )


def mean_score(opinions: Sequence[JudgeOpinion]) -> float:
    """The mean of all rubric scores, with 1 put at 0 and 5 at 1."""
    values = [
        (value - 1) / 4
        for opinion in opinions
        for value in (
            opinion.scores.task_completion,
            opinion.scores.instruction_adherence,
            opinion.scores.efficiency,
        )
    ]
    return statistics.fmean(values)


def _rule(passes: int, opinions: Sequence[JudgeOpinion], config: JudgeConfig) -> tuple[JudgeVerdict, str]:
    count = len(opinions)
    said = f"{passes} of {count} say PASS" if count > 1 else f"the judge says {opinions[0].verdict.value}"
    if config.aggregate is Aggregate.MEAN:
        mean = mean_score(opinions)
        passed = round(mean, 9) >= round(config.pass_threshold, 9)
        sign = "reaches" if passed else "is below"
        said = f"mean rubric score {mean:.4g} {sign} {config.pass_threshold:g} ({said})"
    elif config.aggregate is Aggregate.UNANIMOUS:
        passed = passes == count
    else:
        passed = passes * 2 > count
        if passes * 2 == count:
            said += ": a tie, which is a FAIL"
    return (JudgeVerdict.PASS if passed else JudgeVerdict.FAIL), said


def _failure_mode(verdict: JudgeVerdict, agreeing: Sequence[JudgeOpinion]) -> FailureMode | None:
    """What most of those who say FAIL name; the first named, among equals."""
    if verdict is JudgeVerdict.PASS:
        return None
    named = Counter(opinion.failure_mode for opinion in agreeing if opinion.failure_mode is not None)
    return named.most_common(1)[0][0] if named else FailureMode.OTHER


def _medians(scores: Sequence[RubricScores]) -> RubricScores:
    def median(name: str) -> int:
        ratings: list[int] = [getattr(score, name) for score in scores]
        return statistics.median_low(ratings)

    return RubricScores(
        task_completion=median("task_completion"),
        instruction_adherence=median("instruction_adherence"),
        efficiency=median("efficiency"),
    )


def _no_verdict(votes: Sequence[Vote], absent: Sequence[Vote], given: int, needed: int) -> Outcome:
    if len(votes) == 1:
        return Outcome(None, absent[0].fault, absent[0].reason)
    # Nobody could be reached at all: that is a matter of the line, not of what was said.
    silent = all(vote.fault is JudgeFault.UNAVAILABLE for vote in votes)
    fault = JudgeFault.UNAVAILABLE if silent else JudgeFault.UNPARSEABLE
    reason = f"{given} of {len(votes)} votes have an opinion, {needed} are needed; {_left_out(absent)}"
    return Outcome(None, fault, reason)


def _left_out(absent: Sequence[Vote]) -> str:
    said = "; ".join(f"{vote.juror}: {vote.fault}: {vote.reason}" for vote in absent[:5])
    return f"left out: {said}"
