"""What must hold of the roll-up and the objective gate for any rows at all."""

from __future__ import annotations

import random

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adjudge.gates.objective import objective_gate
from adjudge.records.evaluation import Integrity
from adjudge.records.score import Rollup, ScorerResult, Verdict
from adjudge.rollup.combined import combined_score, mean_score
from adjudge.testing.results import scorer_result

# How fast a loaded machine draws examples says nothing about what is tested.
unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

SCORES = st.floats(0.0, 1.0)
WEIGHTS = st.floats(0.0, 1.7e308) | st.sampled_from([0.0, 1.0, 5e-324])
ROLLUPS = st.sampled_from(Rollup)
THRESHOLDS = st.none() | SCORES


@st.composite
def rows(draw: st.DrawFn, *, verdicts: tuple[Verdict, ...] = tuple(Verdict)) -> ScorerResult:
    verdict = draw(st.sampled_from(verdicts))
    return scorer_result(
        verdict,
        score=draw(SCORES) if verdict.graded else None,
        weight=draw(WEIGHTS),
        required=draw(st.booleans()),
        gate=draw(st.booleans()),
        counted=draw(st.booleans()),
    )


LISTS = st.lists(rows(), max_size=8)


@unhurried
@given(LISTS, ROLLUPS)
def test_the_score_lies_between_the_lowest_and_the_highest_counted_one(
    results: list[ScorerResult], rollup: Rollup
) -> None:
    score = combined_score(results, rollup)
    assert score is None or 0.0 <= score <= 1.0
    counted = [row.score for row in results if row.counted and not row.gate and row.score is not None]
    if score is not None and score > 0:
        assert min(counted) <= score <= max(counted)


@unhurried
@given(LISTS, ROLLUPS, THRESHOLDS, st.randoms())
def test_the_order_of_the_recipe_changes_nothing(
    results: list[ScorerResult], rollup: Rollup, threshold: float | None, order: random.Random
) -> None:
    shuffled = list(results)
    order.shuffle(shuffled)
    score = combined_score(results, rollup)
    assert combined_score(shuffled, rollup) == score
    assert mean_score(shuffled) == mean_score(results)
    first, second = (
        objective_gate(rows_, score=score, pass_threshold=threshold, integrity=Integrity())
        for rows_ in (results, shuffled)
    )
    assert first.verdict is second.verdict


@unhurried
@given(st.lists(rows(verdicts=(Verdict.PASS, Verdict.FAIL)), min_size=1, max_size=8), ROLLUPS, st.data())
def test_a_better_scorer_never_makes_it_worse(
    results: list[ScorerResult], rollup: Rollup, data: st.DataObject
) -> None:
    index = data.draw(st.integers(0, len(results) - 1))
    before = results[index]
    assert before.score is not None
    better = before.model_copy(update={"score": data.draw(st.floats(before.score, 1.0))})
    raised = [*results[:index], better, *results[index + 1 :]]
    low, high = combined_score(results, rollup), combined_score(raised, rollup)
    # A gate that rises to 1 leaves the 0 it caused behind, and then nothing may be left to combine.
    if high is None:
        assert low is None or before.gate
    else:
        assert low is not None
        assert high >= low - 1e-12


@unhurried
@given(LISTS, ROLLUPS, THRESHOLDS)
def test_failing_never_depends_on_what_we_could_not_run(
    results: list[ScorerResult], rollup: Rollup, threshold: float | None
) -> None:
    """Replacing any row by an ERROR never turns a verdict into FAIL: an ERROR is not the attempt's fault."""

    def verdict(these: list[ScorerResult]) -> Verdict:
        score = combined_score(these, rollup)
        return objective_gate(these, score=score, pass_threshold=threshold, integrity=Integrity()).verdict

    if verdict(results) is Verdict.FAIL:
        return
    for index, row in enumerate(results):
        broken = row.model_copy(update={"verdict": Verdict.ERROR, "score": None})
        if row.counted and not row.gate:
            assert verdict([*results[:index], broken, *results[index + 1 :]]) is not Verdict.FAIL
