"""What reviews add to an evaluation: confidence, tags, and where they disagree with what was concluded.

Nothing here changes a reward, a score or a gate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from adjudge.records.annotation import (
    Annotation,
    ConfidenceInterval,
    ConfidenceMetadata,
    ErrorSource,
    ErrorTag,
    Judgment,
)
from adjudge.records.evaluation import Evaluation
from adjudge.records.score import Verdict
from adjudge.stats.agreement import Agreement, agreement, cohens_kappa, percent_agreement
from adjudge.stats.intervals import wilson_interval

__all__ = ["Match", "agreement_across", "confidence_of", "disagreement", "match_with", "with_reviews"]

_AGREES = {Judgment.PASS: Verdict.PASS, Judgment.FAIL: Verdict.FAIL}
_DECIMALS = 6


def with_reviews(evaluation: Evaluation, *added: Annotation) -> Evaluation:
    """The evaluation with what follows from its reviews, and from further ones, which are appended.

    Doing it twice is doing it once.
    """
    annotations = (*evaluation.annotations, *added)
    if not annotations:
        return evaluation
    tags = [
        ErrorTag(
            category=category, description=f"review by {annotation.reviewer_id}", source=ErrorSource.HUMAN
        )
        for annotation in annotations
        for category in annotation.categories
    ]
    said = [disagreement(evaluation, annotation) for annotation in annotations]
    warnings = (*evaluation.warnings, *(text for text in said if text is not None))
    return evaluation.model_copy(
        update={
            "annotations": annotations,
            "confidence": confidence_of(annotations) or evaluation.confidence,
            "error_taxonomy": tuple(dict.fromkeys((*evaluation.error_taxonomy, *tags))),
            "warnings": tuple(dict.fromkeys(warnings)),
        }
    )


def confidence_of(annotations: Sequence[Annotation]) -> ConfidenceMetadata | None:
    """How sure several reviewers are together; None with fewer than two.

    Each reviewer's last word counts. Who defers is counted as an annotator and has no say in the rest.
    """
    last = _last_words(annotations)
    if len(last) < 2:
        return None
    decided = [said for said in last.values() if said is not Judgment.DEFER]
    if len(decided) < 2:
        method = f"{len(decided)} of {len(last)} reviewers decided, too few to compare"
        return ConfidenceMetadata(annotator_count=len(last), confidence_method=method)
    measured = agreement([decided])
    low, high = wilson_interval(decided.count(Judgment.PASS), len(decided))
    return ConfidenceMetadata(
        annotator_count=len(last),
        inter_rater_agreement=_stored(measured),
        confidence_interval=ConfidenceInterval(low=round(low, _DECIMALS), high=round(high, _DECIMALS)),
        confidence_method=f"{_named(measured)} of {len(decided)} reviewers; "
        "95 % Wilson interval of the share who said pass",
    )


def agreement_across(evaluations: Iterable[Sequence[Annotation]]) -> ConfidenceMetadata | None:
    """How far reviewers agree over several evaluations; None when no two reviewed the same one.

    Only evaluations on which every reviewer decided are compared: Cohen's kappa for two reviewers, Fleiss'
    for more. Where there are none, every pair of judgments of the same evaluation is, as a percentage.
    """
    words = [_last_words(annotations) for annotations in evaluations]
    reviewers = sorted({reviewer for said in words for reviewer in said})
    rows = [
        {reviewer: judgment for reviewer, judgment in said.items() if judgment is not Judgment.DEFER}
        for said in words
    ]
    complete = [[row[reviewer] for reviewer in reviewers] for row in rows if len(row) == len(reviewers)]
    if len(reviewers) > 1 and len(complete) > 1:
        compared, measured = len(complete), agreement(complete)
    else:
        pairs = [list(row.values()) for row in rows if len(row) > 1]
        if not pairs:
            return None
        compared, measured = len(pairs), Agreement(percent_agreement(pairs), "percent agreement")
    many = f"{compared} evaluation{'' if compared == 1 else 's'}"
    return ConfidenceMetadata(
        annotator_count=len(reviewers),
        inter_rater_agreement=_stored(measured),
        confidence_method=f"{_named(measured)} of {len(reviewers)} reviewers on {many}",
    )


class Match(NamedTuple):
    """How far something agrees with what people said."""

    name: str
    compared: int
    """Evaluations that it decided and on which people decided more one way than the other."""
    agreed: int
    kappa: float | None
    """Cohen's; None where chance alone explains everything."""
    low: float
    high: float
    """95 % Wilson interval of the share that agrees."""
    passed_wrongly: int
    """Those it passed and people failed."""
    failed_wrongly: int
    """Those it failed and people passed."""


def match_with(
    name: str, evaluations: Iterable[Evaluation], verdict_of: Callable[[Evaluation], str | None]
) -> Match:
    """Compare what something concluded with what most people said; ties and deferrals say nothing.

    Args:
        name: What it is called.
        evaluations: Reviewed ones.
        verdict_of: What it concluded; anything but PASS and FAIL is left out.
    """
    pairs: list[tuple[str, str]] = []
    for evaluation in evaluations:
        concluded, said = verdict_of(evaluation), _majority(evaluation.annotations)
        if said is not None and concluded in (Verdict.PASS, Verdict.FAIL):
            pairs.append((str(concluded), str(said)))
    agreed = sum(one == other for one, other in pairs)
    low, high = wilson_interval(agreed, len(pairs)) if pairs else (0.0, 1.0)
    return Match(
        name,
        len(pairs),
        agreed,
        cohens_kappa([one for one, _ in pairs], [other for _, other in pairs]) if pairs else None,
        low,
        high,
        pairs.count((str(Verdict.PASS), str(Verdict.FAIL))),
        pairs.count((str(Verdict.FAIL), str(Verdict.PASS))),
    )


def _majority(annotations: Sequence[Annotation]) -> Verdict | None:
    said = [_AGREES[word] for word in _last_words(annotations).values() if word in _AGREES]
    passes, fails = said.count(Verdict.PASS), said.count(Verdict.FAIL)
    return None if passes == fails else Verdict.PASS if passes > fails else Verdict.FAIL


def disagreement(evaluation: Evaluation, annotation: Annotation) -> str | None:
    """What a review disagrees with, in words; None when it does not, or defers."""
    judged = _AGREES.get(annotation.judgment)
    if judged is None:
        return None
    concluded = [
        (f"the verifier ({row.verdict}, reward {row.score})", row.verdict)
        for row in evaluation.scorers
        if row.type == "verifier"
    ]
    gates = evaluation.gates
    concluded += [
        (f"the {name} gate ({gate.verdict})", gate.verdict)
        for name, gate in (("objective", gates.objective), ("judge", gates.judge))
    ]
    against = [what for what, verdict in concluded if verdict.graded and verdict is not judged]
    if not against:
        return None
    return f"review by {annotation.reviewer_id}: {annotation.judgment} disagrees with {' and '.join(against)}"


def _last_words(annotations: Sequence[Annotation]) -> dict[str, Judgment]:
    """Each reviewer's last judgment."""
    ordered = sorted(annotations, key=lambda annotation: annotation.timestamp)
    return {annotation.reviewer_id: annotation.judgment for annotation in ordered}


def _stored(measured: Agreement) -> float:
    """Within [0, 1], as the record has it: less agreement than chance is none. The method has the number."""
    return round(max(measured.value, 0.0), _DECIMALS)


def _named(measured: Agreement) -> str:
    below = f" ({measured.value:.4f}, kept as 0)" if measured.value < 0 else ""
    return f"{measured.method}{below}"
