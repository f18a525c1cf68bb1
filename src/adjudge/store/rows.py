"""Records as rows of the tables, and back. No query here.

Documents are JSON text on both sides: records are written and read as such, never through dictionaries, in
which a path with odd bytes would not be told from one that only looks quoted.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from adjudge.contracts import GradedSubject
from adjudge.records.annotation import Annotation
from adjudge.records.base import BlobRef, digest_bytes
from adjudge.records.evaluation import Evaluation
from adjudge.records.evidence import ReportedTests
from adjudge.records.run import Run
from adjudge.records.testreport import TrustedTestRun
from adjudge.stats.reviews import with_reviews

__all__ = [
    "annotation_row",
    "blobs_in",
    "evaluation_digest",
    "evaluation_of",
    "evaluation_row",
    "judgement_rows",
    "run_row",
    "scorer_rows",
    "suite_rows",
]

Row = dict[str, Any]

# Rows of parts come without the number of their evaluation, which is not known before it is kept.

_APART = {"scorers", "judge", "annotations"}
"""Parts of an evaluation that have rows of their own."""


def run_row(run: Run) -> Row:
    """A run's own row, without its number and without the pointer to its current evaluation."""
    document = run.model_dump_json()
    outcome = run.attempt.outcome if run.attempt is not None else None
    usage = outcome.usage if outcome is not None else None
    row: Row = {
        "id": run.id,
        "experiment_id": run.experiment_id,
        "task_name": run.task.name,
        "task_digest": run.task.digest,
        "agent": run.agent.name,
        "agent_type": run.agent.type,
        "agent_digest": run.agent.config_digest,
        "model": run.model,
        "trial": run.trial,
        "status": run.status.value,
        "outcome": outcome.status.value if outcome is not None else None,
        "starts": run.attempts,
        "started_at": run.started_at,
        "ended_at": run.ended_at,
        "wall_s": outcome.wall_s if outcome is not None else None,
        "total_tokens": usage.total_tokens if usage is not None else None,
        "digest": digest_bytes(document.encode()),
        "document": document,
    }
    for name in (
        "cost_usd",
        "input_tokens",
        "output_tokens",
        "cache_read_tokens",
        "cache_write_tokens",
        "tool_calls",
    ):
        row[name] = getattr(usage, name) if usage is not None else None
    return row


def evaluation_row(evaluation: Evaluation) -> Row:
    """An evaluation's own row, without its number, its run's number, its evidence and its digest."""
    gates = evaluation.gates
    return {
        "id": evaluation.id,
        "task_digest": evaluation.task.digest,
        "objective": gates.objective.verdict.value,
        "judge": gates.judge.verdict.value,
        "run_gate": gates.run.verdict.value,
        "score": evaluation.score,
        "mean_score": gates.objective.mean_score,
        "reward": evaluation.reward,
        "integrity": evaluation.integrity.outcome,
        "failure_mode": _failure_mode(evaluation),
        "recipe_digest": evaluation.provenance.recipe_digest,
        "change_digest": evaluation.provenance.change_digest,
        "started_at": evaluation.started_at,
        "duration_s": evaluation.provenance.duration_s,
        "document": evaluation.model_dump_json(by_alias=True, exclude=_APART),
    }


def _failure_mode(evaluation: Evaluation) -> str | None:
    """The name given to what went wrong: the judge's, else the first class that anybody put it in."""
    if isinstance(evaluation.judge, Mapping) and isinstance(
        mode := evaluation.judge.get("failure_mode"), str
    ):
        return mode
    return evaluation.error_taxonomy[0].category if evaluation.error_taxonomy else None


def scorer_rows(evaluation: Evaluation) -> list[Row]:
    """A row per scorer, in the recipe's order."""
    return [
        {
            "position": position,
            "name": result.name,
            "type": result.type,
            "verdict": result.verdict.value,
            "score": result.score,
            "required": result.required,
            "gate": result.gate,
            "weight": result.weight,
            "counted": result.counted,
            "duration_s": result.duration_s,
            "version": result.version,
            "config_digest": result.config_digest,
            "document": result.model_dump_json(),
        }
        for position, result in enumerate(evaluation.scorers)
    ]


def judgement_rows(evaluation: Evaluation) -> list[Row]:
    """What the judge said; no row where none was asked."""
    if evaluation.judge is None:
        return []
    said = evaluation.judge if isinstance(evaluation.judge, Mapping) else {}
    return [
        {
            "position": 0,
            "model": _text(said.get("model")),
            "verdict": _text(said.get("verdict")) or evaluation.gates.judge.verdict.value,
            "failure_mode": _text(said.get("failure_mode")),
            "document": json.dumps(evaluation.judge),
        }
    ]


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def suite_rows(graded: GradedSubject) -> list[Row]:
    """A row per test of every suite that ran."""
    rows: list[Row] = []
    for request, answer in graded.evidence:
        for test_id, outcome, proof, duration_s in _tests(answer):
            rows.append(
                {
                    "position": len(rows),
                    "request_digest": request.digest,
                    "test_id": test_id,
                    "outcome": outcome,
                    "proof": proof,
                    "duration_s": duration_s,
                }
            )
    return rows


def _tests(answer: object) -> Iterator[tuple[str, str, str | None, float | None]]:
    if isinstance(answer, TrustedTestRun):
        for test in answer.tests:
            proof = test.proof.value if test.proof is not None else None
            yield test.id, test.outcome.value, proof, test.duration_s
    elif isinstance(answer, ReportedTests) and answer.report is not None:
        for case in answer.report.cases:
            yield case.id, case.outcome.value, None, case.duration_s


def annotation_row(annotation: Annotation) -> Row:
    """A review's row."""
    return {
        "reviewer_id": annotation.reviewer_id,
        "judgment": annotation.judgment.value,
        "annotated_at": annotation.timestamp,
        "document": annotation.model_dump_json(),
    }


def evaluation_of(
    document: str, scorers: Sequence[str], judge: str, annotations: Sequence[str]
) -> Evaluation:
    """An evaluation from the documents of its rows."""
    parts = (
        f'"scorers":[{",".join(scorers)}]',
        f'"judge":{judge}',
        f'"annotations":[{",".join(annotations)}]',
    )
    return with_reviews(Evaluation.model_validate_json(f"{{{','.join(parts)},{document[1:]}"))


def evaluation_digest(document: str, scorers: Sequence[str], judge: str) -> str:
    """The digest in an evaluation's row: over everything but annotations, which come later."""
    return digest_bytes("\n".join((document, *scorers, judge)).encode())


def blobs_in(values: Iterable[object]) -> set[str]:
    """Digests of every stored blob that is referred to anywhere in some records."""
    found: set[str] = set()
    waiting: list[object] = list(values)
    while waiting:
        value = waiting.pop()
        if isinstance(value, BlobRef):
            if value.stored:
                found.add(value.digest)
        elif isinstance(value, BaseModel):
            waiting.extend(value.__dict__.values())
        elif isinstance(value, Mapping):
            waiting.extend(value.values())
        elif isinstance(value, (tuple, list)):
            waiting.extend(value)
    return found
