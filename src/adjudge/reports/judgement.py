"""A judgement for people: verdict, rubric, facts, votes, and what was cut or tried on the judge."""

from __future__ import annotations

import textwrap

from pydantic import ValidationError

from adjudge.records.evaluation import Evaluation
from adjudge.records.judgement import Judgement, Vote
from adjudge.reports.plain import plain

__all__ = ["judgement_lines"]

_MAX_FACTS = 20
_MAX_FINDINGS = 5
_INDENT = 11


def judgement_lines(evaluation: Evaluation, width: int) -> list[str]:
    """What the judge said beyond its gate; nothing where nobody was asked."""
    try:
        judgement = None if evaluation.judge is None else Judgement.model_validate(evaluation.judge)
    except ValidationError:
        # Of another version; the document has it whole.
        return ["judgement in a form this version does not know; see --json"]
    return [] if judgement is None else _lines(judgement, width)


def _lines(judgement: Judgement, width: int) -> list[str]:
    lines = [f"judged by {plain(', '.join(judgement.models))}, {judgement.judged_at:%Y-%m-%d %H:%M} UTC"]
    scores = judgement.scores
    if scores is not None:
        rated = (
            f"task completion {scores.task_completion}, instruction adherence "
            f"{scores.instruction_adherence}, efficiency {scores.efficiency} (of 5)"
        )
        lines += _labelled("rubric", rated, width)
    if judgement.failure_mode is not None:
        lines += _labelled("failure", judgement.failure_mode.value, width)
    if judgement.reasoning:
        lines += _labelled("reasoning", judgement.reasoning, width)
    for check in judgement.fact_checks[:_MAX_FACTS]:
        place = f" [{check.evidence}]" if check.evidence else ""
        lines += _labelled(check.kind, f"{check.status.value}: {check.statement}{place}", width)
    if len(judgement.votes) > 1:
        lines += [line for vote in judgement.votes for line in _labelled("vote", _vote(vote), width)]
    for said in judgement.dissent:
        lines += _labelled("dissent", said, width)
    for finding in judgement.findings[:_MAX_FINDINGS]:
        lines += _labelled("speaks", f"to the judge: {finding.message}", width)
    for cut in judgement.cut:
        lines += _labelled("cut", f"{cut.section}: {cut.shown} of {cut.of} characters shown", width)
    if any(vote.cached for vote in judgement.votes):
        lines += _labelled("answers", "remembered, not asked for again", width)
    return lines


def _vote(vote: Vote) -> str:
    if vote.opinion is None:
        return f"{vote.juror}: {vote.fault}: {vote.reason}"
    mode = f" ({vote.opinion.failure_mode})" if vote.opinion.failure_mode is not None else ""
    return f"{vote.juror}: {vote.opinion.verdict}{mode}"


def _labelled(label: str, text: str, width: int) -> list[str]:
    wrapped = textwrap.wrap(plain(text), max(width - _INDENT, 20), break_on_hyphens=False) or [""]
    first, *rest = wrapped
    return [f"{label:<{_INDENT}}{first}", *(f"{'':{_INDENT}}{line}" for line in rest)]
