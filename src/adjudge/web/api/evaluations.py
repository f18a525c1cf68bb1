"""Evaluations over the API, and what people say of them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field, JsonValue, StringConstraints

from adjudge.records.annotation import Annotation, Judgment
from adjudge.records.user import Role
from adjudge.web.access.identity import needs
from adjudge.web.dependencies import CurrentUser, Store, found

__all__ = ["router"]

router = APIRouter(tags=["evaluations"])

Category = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]


class EvaluationList(BaseModel):
    """Every evaluation of a run."""

    evaluations: list[dict[str, JsonValue]]
    """Documents, oldest first."""
    current: str | None
    """The id of the one that counts."""


class AnnotationList(BaseModel):
    """What people said of an evaluation."""

    annotations: list[Annotation]


class NewAnnotation(BaseModel):
    """A person's verdict. Whose it is, is known from who asks."""

    model_config = ConfigDict(extra="forbid")

    judgment: Judgment
    categories: list[Category] = Field(default=[], max_length=50)
    notes: str | None = Field(default=None, max_length=20_000)
    reviewer_discipline: Category | None = None


@router.get("/runs/{run_id}/evaluations", dependencies=[needs(Role.VIEWER)])
def list_evaluations(store: Store, run_id: str) -> EvaluationList:
    """Every evaluation of a run: a regrade adds one, and none is ever changed."""
    evaluations = found(store.evaluations, run_id)
    current = found(store.current_evaluation, run_id)
    return EvaluationList(
        evaluations=[item.model_dump(mode="json", by_alias=True) for item in evaluations],
        current=None if current is None else current.id,
    )


@router.get("/evaluations/{evaluation_id}", dependencies=[needs(Role.VIEWER)])
def read_evaluation(store: Store, evaluation_id: str) -> dict[str, JsonValue]:
    """An evaluation document (`adjudge.evaluation/1`), annotations included."""
    return found(store.load, evaluation_id).model_dump(mode="json", by_alias=True)


@router.get("/evaluations/{evaluation_id}/annotations", dependencies=[needs(Role.VIEWER)])
def list_annotations(store: Store, evaluation_id: str) -> AnnotationList:
    """What people said of an evaluation, oldest first."""
    return AnnotationList(annotations=list(found(store.load, evaluation_id).annotations))


@router.post("/evaluations/{evaluation_id}/annotations", dependencies=[needs(Role.REVIEWER)], status_code=201)
def annotate(store: Store, user: CurrentUser, evaluation_id: str, given: NewAnnotation) -> Annotation:
    """Add your verdict beside an evaluation. Nothing that is there changes."""
    evaluation = found(store.load, evaluation_id)
    annotation = Annotation(
        reviewer_id=user.name,
        reviewer_discipline=given.reviewer_discipline,
        timestamp=datetime.now(UTC),
        judgment=given.judgment,
        categories=list(dict.fromkeys(given.categories)),
        notes=(given.notes or "").strip() or None,
    )
    store.annotate(evaluation.id, annotation)
    return annotation
