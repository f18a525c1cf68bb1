"""Scoring: each planned scorer gets exactly what it declared, and what becomes of it stays in its row."""

from __future__ import annotations

import time
from collections.abc import Mapping

from adjudge.engine.collect import Gathered
from adjudge.engine.plan import PlannedScorer, blame
from adjudge.errors import AdjudgeError, SubjectError
from adjudge.formats.redaction import Redactor
from adjudge.records.base import Record, digest_json
from adjudge.records.evidence import AnyRequest
from adjudge.records.score import ScorerOutcome, ScorerResult, Verdict

__all__ = ["redacted", "score_planned"]


def score_planned(
    planned: PlannedScorer, requests: Mapping[str, AnyRequest], gathered: Gathered
) -> ScorerResult:
    """Score one line of the recipe. Nothing it does, or that was done to its evidence, raises here."""
    began = time.perf_counter()
    outcome = _outcome(planned, requests, gathered)
    waited = sum(gathered[digest].duration_s for digest in planned.requests)
    spec = planned.spec
    return ScorerResult(
        name=spec.name,
        type=spec.type,
        verdict=outcome.verdict,
        score=outcome.score,
        required=spec.required,
        gate=spec.gate,
        weight=spec.weight,
        counted=spec.counted,
        reason=outcome.reason,
        findings=outcome.findings,
        output_tail=outcome.output_tail,
        details=outcome.details,
        capped=outcome.capped,
        duration_s=round(waited + time.perf_counter() - began, 6),
        version=planned.ready.version if planned.ready is not None else "unknown",
        config_digest=digest_json(dict(spec.config)),
    )


def redacted(result: ScorerResult, hide: Redactor) -> ScorerResult:
    """The same row without the secrets."""
    findings = tuple(
        finding.model_copy(
            update={
                "message": hide.text(finding.message),
                "path": None if finding.path is None else hide.text(finding.path),
            }
        )
        for finding in result.findings
    )
    return result.model_copy(
        update={
            "reason": hide.text(result.reason),
            "findings": findings,
            "output_tail": hide.text(result.output_tail),
            "details": {hide.text(key): hide.value(value) for key, value in result.details.items()},
        }
    )


def _outcome(planned: PlannedScorer, requests: Mapping[str, AnyRequest], gathered: Gathered) -> ScorerOutcome:
    if planned.ready is None:
        assert planned.problem is not None
        return _error(planned.problem)
    evidence: dict[str, tuple[AnyRequest, Record]] = {}
    faults: list[AdjudgeError] = []
    for digest in planned.requests:
        piece = gathered[digest]
        if piece.error is not None:
            faults.append(piece.error)
        elif piece.answer is not None:
            evidence[digest] = (requests[digest], piece.answer)
    # The attempt's own fault first: it holds whatever else went wrong on our side.
    for fault in faults:
        if isinstance(fault, SubjectError):
            return ScorerOutcome.failed(fault.message)
    if faults:
        return _error(faults[0])
    try:
        return planned.ready.score(evidence)
    except Exception as error:
        return _error(blame(planned.spec.type, planned.ready.version, "raised in score()", error))


def _error(error: AdjudgeError) -> ScorerOutcome:
    reason = error.message if error.hint is None else f"{error.message} (hint: {error.hint})"
    return ScorerOutcome(verdict=Verdict.ERROR, reason=reason)
