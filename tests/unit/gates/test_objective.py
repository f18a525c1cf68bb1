"""Each sentence on the objective gate, with cases that would break if it did not hold."""

from __future__ import annotations

import pytest

from adjudge.errors import PatchUnreadable, SubjectChanged
from adjudge.gates.judge import judge_gate
from adjudge.gates.objective import objective_gate
from adjudge.gates.run import no_agent_ran
from adjudge.records.evaluation import Integrity, ObjectiveGateResult
from adjudge.records.score import Rollup, ScorerResult, Verdict
from adjudge.rollup.combined import combined_score
from adjudge.testing.results import scorer_result as row

PASS, FAIL, NA, ERROR = Verdict.PASS, Verdict.FAIL, Verdict.NA, Verdict.ERROR
CLEAN = Integrity(outcome="clean")
TAMPERED = Integrity(outcome="tampered", reasons=("the runner was patched",))


def conclude(
    results: list[ScorerResult], threshold: float | None = None, integrity: Integrity = CLEAN
) -> ObjectiveGateResult:
    score = combined_score(results, Rollup.WEIGHTED_MEAN, tampered=integrity.outcome == "tampered")
    return objective_gate(results, score=score, pass_threshold=threshold, integrity=integrity)


def advisory(verdict: Verdict, **fields: object) -> ScorerResult:
    return row(verdict, **{"required": False, "counted": False, **fields})


CASES: list[tuple[str, list[ScorerResult], float | None, Verdict, str]] = [
    ("FAIL if a required scorer FAILs", [row(PASS), row(FAIL, name="tests")], None, FAIL, "'tests' failed"),
    ("a required FAIL beside an ERROR", [row(ERROR), row(FAIL, name="tests")], None, FAIL, "'tests' failed"),
    ("a required FAIL above the threshold", [row(PASS, weight=9), row(FAIL)], 0.5, FAIL, "failed"),
    ("a gate scorer is below 1", [row(PASS), advisory(FAIL, gate=True)], None, FAIL, "did not fully pass"),
    ("a gate PASSes below 1", [advisory(PASS, score=0.9, gate=True)], None, FAIL, "did not fully pass"),
    (
        "the score is below a set threshold",
        [advisory(FAIL, score=0.5, counted=True)],
        0.6,
        FAIL,
        "0.5 is below",
    ),
    ("compared at 9 decimals", [advisory(FAIL, score=0.1 + 0.2, counted=True)], 0.3, PASS, "reaches 0.3"),
    (
        "no threshold, no comparison",
        [advisory(FAIL, score=0.5, counted=True)],
        None,
        PASS,
        "1 advisory failure",
    ),
    (
        "else ERROR if a required scorer is",
        [row(PASS), row(ERROR, name="x")],
        None,
        ERROR,
        "'x' ended in ERROR",
    ),
    ("or a gate", [row(PASS), advisory(ERROR, gate=True)], None, ERROR, "could not be graded"),
    (
        "or with a threshold a counted one",
        [row(PASS), advisory(ERROR, counted=True)],
        0.5,
        ERROR,
        "could not",
    ),
    ("counted, but no threshold", [row(PASS), advisory(ERROR, counted=True)], None, PASS, "passed"),
    ("an advisory ERROR", [row(PASS), advisory(ERROR)], 0.5, PASS, "reaches 0.5"),
    ("else NA if nothing applied", [row(NA), row(NA)], None, NA, "no scorer applied"),
    ("nothing applied, an advisory ERROR", [row(NA), advisory(ERROR)], None, NA, "no scorer applied"),
    ("no scorer at all", [], None, NA, "no scorer"),
    ("a threshold and a null score", [advisory(PASS)], 0.5, NA, "no score to compare"),
    ("a threshold, and only a gate applied", [row(PASS, gate=True)], 1.0, NA, "no score to compare"),
    ("else PASS", [row(PASS), row(NA)], None, PASS, "the required scorer that applied passed"),
    ("else PASS", [row(PASS), row(PASS)], None, PASS, "all 2 required scorers"),
    ("advisory failures fail nothing", [row(PASS), advisory(FAIL), advisory(FAIL)], None, PASS, "2 advisory"),
    ("only an advisory one applied", [row(NA), advisory(FAIL)], None, PASS, "no required scorer applied"),
]


@pytest.mark.parametrize(("sentence", "results", "threshold", "verdict", "reason"), CASES)
def test_objective_gate(
    sentence: str, results: list[ScorerResult], threshold: float | None, verdict: Verdict, reason: str
) -> None:
    gate = conclude(results, threshold)
    assert gate.verdict is verdict, sentence
    assert reason in gate.reason
    assert "\n" not in gate.reason


def test_tampering_fails_it_whatever_the_scorers_say() -> None:
    gate = conclude([row(PASS)], integrity=TAMPERED)
    assert gate.verdict is FAIL
    assert "the runner was patched" in gate.reason


def test_suspicion_alone_fails_nothing() -> None:
    assert conclude([row(PASS)], integrity=Integrity(outcome="suspect")).verdict is PASS


def test_the_mean_score_is_beside_the_verdict() -> None:
    assert conclude([row(PASS), advisory(FAIL)]).mean_score == 0.5
    assert conclude([row(NA)]).mean_score is None


def test_many_failures_are_counted_rather_than_listed() -> None:
    gate = conclude([row(FAIL, name=f"s{number}") for number in range(9)])
    assert gate.reason == "required scorers 's0', 's1', 's2' and 6 more failed"


@pytest.mark.parametrize(
    ("fault", "verdict"), [(PatchUnreadable("hunk 1"), FAIL), (SubjectChanged("moved"), ERROR)]
)
def test_a_subject_that_cannot_be_looked_at(
    fault: PatchUnreadable | SubjectChanged, verdict: Verdict
) -> None:
    gate = objective_gate([], score=None, pass_threshold=None, integrity=Integrity(), fault=fault)
    assert (gate.verdict, gate.reason) == (verdict, fault.message)


def test_the_other_gates_without_judge_and_agent() -> None:
    assert judge_gate().verdict is NA
    run = no_agent_ran("workspace")
    assert (run.verdict, run.reason) == (NA, "workspace given, no agent ran")
