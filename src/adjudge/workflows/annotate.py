"""Add a person's verdict to an evaluation, wherever it is kept, and list what people said."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from adjudge.records.annotation import Annotation, ErrorSource, ErrorTag
from adjudge.records.evaluation import Evaluation
from adjudge.settings import Settings
from adjudge.stats.reviews import disagreement
from adjudge.store.documents import annotate_document, read_document
from adjudge.store.opening import store_for
from adjudge.workflows.taxonomy import unknown_categories

__all__ = ["Annotated", "annotate", "annotated", "review_of"]


class Annotated(NamedTuple):
    """An evaluation with a new review."""

    evaluation: Evaluation
    disagrees: str | None
    """What the review disagrees with, in words."""
    warnings: tuple[str, ...] = ()


def annotate(given: str, annotation: Annotation, settings: Settings) -> Annotated:
    """Append a review to the evaluation that `given` names: a document's path, or an id or its beginning.

    Raises:
        UsageError: There is no such evaluation, or more than one.
    """
    if _is_document(given):
        evaluation = annotate_document(Path(given), annotation)
    else:
        with store_for(settings, create=False) as store:
            found = store.load(given)
            store.annotate(found.id, annotation)
            evaluation = store.load(found.id)
            known = store.task(found.task.digest).scenario.error_categories
        tags = [ErrorTag(category=category, source=ErrorSource.HUMAN) for category in annotation.categories]
        return Annotated(evaluation, disagreement(evaluation, annotation), unknown_categories(tags, known))
    return Annotated(evaluation, disagreement(evaluation, annotation))


def review_of(given: str, settings: Settings) -> Evaluation:
    """The evaluation that `given` names, with its reviews."""
    if _is_document(given):
        return read_document(Path(given))
    with store_for(settings, create=False) as store:
        return store.load(given)


def annotated(settings: Settings) -> Iterator[Evaluation]:
    """Every stored evaluation that somebody reviewed."""
    with store_for(settings, create=False) as store:
        yield from store.annotated()


def _is_document(given: str) -> bool:
    return "/" in given or given.endswith(".json") or os.path.isfile(given)
