"""Each sentence on the combined score, with cases that would break if it did not hold."""

from __future__ import annotations

import pytest

from adjudge.records.score import Rollup, ScorerResult, Verdict
from adjudge.rollup.combined import combined_score, mean_score, reaches
from adjudge.testing.results import scorer_result as row

PASS, FAIL, NA, ERROR = Verdict.PASS, Verdict.FAIL, Verdict.NA, Verdict.ERROR
MEAN, MIN = Rollup.WEIGHTED_MEAN, Rollup.MIN


CASES: list[tuple[str, list[ScorerResult], Rollup, float | None]] = [
    ("Σ weight·score / Σ weight", [row(PASS, weight=3), row(FAIL)], MEAN, 0.75),
    ("Σ weight·score / Σ weight", [row(FAIL, score=0.5, weight=2), row(PASS, weight=2)], MEAN, 0.75),
    ("or the minimum if `rollup: min`", [row(PASS), row(FAIL, score=0.25)], MIN, 0.25),
    ("the minimum, whatever the weights", [row(PASS, weight=9), row(FAIL, score=0.5, weight=0)], MIN, 0.5),
    ("over applicable scorers", [row(PASS), row(NA)], MEAN, 1.0),
    ("over applicable scorers", [row(PASS), row(NA)], MIN, 1.0),
    ("over counted scorers", [row(PASS), row(FAIL, counted=False)], MEAN, 1.0),
    ("over counted scorers", [row(PASS), row(FAIL, counted=False)], MIN, 1.0),
    ("over non-gate scorers", [row(FAIL), row(PASS, gate=True)], MEAN, 0.0),
    ("a gate scorer below 1 makes it 0", [row(PASS), row(FAIL, score=0.99, gate=True)], MEAN, 0.0),
    ("a gate that PASSes below 1 makes it 0", [row(PASS), row(PASS, score=0.9, gate=True)], MEAN, 0.0),
    ("even beside an ERROR", [row(ERROR), row(FAIL, gate=True)], MEAN, 0.0),
    ("even beside an ERROR", [row(ERROR, gate=True), row(FAIL, gate=True)], MIN, 0.0),
    ("otherwise an ERROR in a counted scorer makes it null", [row(PASS), row(ERROR)], MEAN, None),
    ("otherwise an ERROR in a gate makes it null", [row(PASS), row(ERROR, gate=True)], MEAN, None),
    ("an ERROR in a gate that is not counted", [row(PASS), row(ERROR, gate=True, counted=False)], MEAN, None),
    ("an ERROR in an advisory scorer", [row(PASS), row(ERROR, counted=False, required=False)], MEAN, 1.0),
    ("nothing applicable: null, never 0", [row(NA), row(NA)], MEAN, None),
    ("nothing applicable: null, never 0", [], MIN, None),
    ("an applicable gate never adds credit", [row(PASS, gate=True), row(NA)], MEAN, None),
    ("an applicable gate never adds credit", [row(PASS, gate=True), row(FAIL, score=0.5)], MEAN, 0.5),
    ("a gate that does not apply", [row(PASS), row(NA, gate=True)], MEAN, 1.0),
    ("weights that add up to nothing", [row(PASS, weight=0), row(FAIL, weight=0)], MEAN, None),
    ("weights as large as a float can be", [row(PASS, weight=1.7e308), row(FAIL, weight=1.7e308)], MEAN, 0.5),
    ("weights as small as a float can be", [row(PASS, weight=5e-324), row(FAIL, weight=5e-324)], MEAN, 0.5),
]


@pytest.mark.parametrize(("sentence", "results", "rollup", "expected"), CASES)
def test_combined_score(
    sentence: str, results: list[ScorerResult], rollup: Rollup, expected: float | None
) -> None:
    assert combined_score(results, rollup) == expected, sentence


def test_tampering_makes_it_zero() -> None:
    assert combined_score([row(PASS)], MEAN, tampered=True) == 0.0
    assert combined_score([row(ERROR)], MIN, tampered=True) == 0.0


def test_the_mean_score_is_unweighted_over_every_graded_row() -> None:
    rows = [
        row(PASS, weight=9),
        row(FAIL, required=False, counted=False),
        row(FAIL, score=0.5, gate=True),
        row(NA),
        row(ERROR),
    ]
    assert mean_score(rows) == 0.5
    assert mean_score([row(NA)]) is None


@pytest.mark.parametrize(
    ("score", "threshold", "expected"),
    [(0.8, 0.8, True), (0.1 + 0.2, 0.3, True), (0.3, 0.1 + 0.2, True), (0.7999999994, 0.8, False),
     (0.79999999951, 0.8, True), (1.0, 1.0, True), (0.0, 0.0, True)],
)  # fmt: skip
def test_thresholds_are_compared_at_nine_decimals(score: float, threshold: float, expected: bool) -> None:
    assert reaches(score, threshold) is expected
