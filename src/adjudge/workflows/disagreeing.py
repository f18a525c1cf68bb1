"""Runs whose gates disagree. Disagreement is expected and informative; each kind has its reading."""

from __future__ import annotations

from dataclasses import dataclass

from adjudge.contracts import RunStore
from adjudge.records.evaluation import Evaluation
from adjudge.records.score import Verdict
from adjudge.stats.agreement import percent_agreement
from adjudge.stats.reliability import krippendorff_alpha
from adjudge.workflows.judgeruns import judgement_of

__all__ = [
    "READINGS",
    "Disagreement",
    "explain_disagreement",
    "find_disagreements",
    "jury_agreement",
    "kind_of",
]

_JUDGE_ONLY = "judge PASS, scorers FAIL"
_SCORERS_ONLY = "scorers PASS, judge FAIL"
_WARNED = "both PASS, with an advisory warning"

READINGS = {
    _JUDGE_ONLY: "the outcome reads well but breaks a hard constraint, such as a forbidden path, a limit on "
    "changed files or an edited test",
    _SCORERS_ONLY: "every mechanical check holds, but the judge is not convinced that the task is done",
    _WARNED: "a heuristic raised a warning that fails nothing; worth a look",
}
"""Kind → what it may mean."""


@dataclass(frozen=True, slots=True)
class Disagreement:
    """One run whose gates do not say the same."""

    run: str
    task: str
    kind: str
    why: str


def find_disagreements(store: RunStore, *, experiment_id: str | None = None) -> list[Disagreement]:
    """Every run whose gates disagree, newest first."""
    found = []
    for run in store.runs(experiment_id=experiment_id):
        evaluation = store.current_evaluation(run.id)
        if evaluation is None:
            continue
        kind = kind_of(evaluation)
        if kind is not None:
            found.append(Disagreement(run.id, run.task.name, kind, _why(evaluation, kind)))
    return found


def jury_agreement(
    store: RunStore, *, experiment_id: str | None = None
) -> tuple[int, float, float | None] | None:
    """Over all runs that a jury judged: how many, percent agreement, Krippendorff's alpha where defined."""
    units = []
    for run in store.runs(experiment_id=experiment_id):
        judgement = judgement_of(store.current_evaluation(run.id))
        if judgement is not None:
            units.append([vote.opinion.verdict for vote in judgement.votes if vote.opinion is not None])
    juries = [unit for unit in units if len(unit) > 1]
    if not juries:
        return None
    return len(juries), percent_agreement(juries), krippendorff_alpha(juries)


def kind_of(evaluation: Evaluation) -> str | None:
    """How the gates disagree; None when they do not, or there is nothing to compare."""
    objective, judge = evaluation.gates.objective.verdict, evaluation.gates.judge.verdict
    if judge is Verdict.PASS and objective is Verdict.FAIL:
        return _JUDGE_ONLY
    if judge is Verdict.FAIL and objective is Verdict.PASS:
        return _SCORERS_ONLY
    if judge is Verdict.PASS and objective is Verdict.PASS and _warnings(evaluation):
        return _WARNED
    return None


def explain_disagreement(evaluation: Evaluation) -> tuple[str, str, str] | None:
    """How the gates of an evaluation disagree, what that may mean, and over what; None: they do not."""
    kind = kind_of(evaluation)
    return None if kind is None else (kind, READINGS[kind], _why(evaluation, kind))


def _warnings(evaluation: Evaluation) -> list[str]:
    return [
        row.name
        for row in evaluation.scorers
        if row.verdict is Verdict.FAIL and not row.required and not row.gate
    ]


def _why(evaluation: Evaluation, kind: str) -> str:
    if kind == _SCORERS_ONLY:
        return evaluation.gates.judge.reason
    if kind == _JUDGE_ONLY:
        return evaluation.gates.objective.reason
    return ", ".join(_warnings(evaluation))
