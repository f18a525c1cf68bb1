"""Add a person's verdict to an evaluation, wherever it is kept, and list what people said."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from adjudge.contracts import EvaluationStore
from adjudge.errors import UsageError
from adjudge.records.annotation import Annotation
from adjudge.records.evaluation import Evaluation
from adjudge.settings import Settings
from adjudge.stats.reviews import disagreement
from adjudge.store.documents import annotate_document, read_document
from adjudge.store.evaluations import EvaluationDirectory
from adjudge.store.opening import open_store
from adjudge.store.places import find_place

__all__ = ["Annotated", "annotate", "annotated", "review_of"]


class Annotated(NamedTuple):
    """An evaluation with a new review."""

    evaluation: Evaluation
    disagrees: str | None
    """What the review disagrees with, in words."""


def annotate(given: str, annotation: Annotation, settings: Settings) -> Annotated:
    """Append a review to the evaluation that `given` names: a document's path, or an id or its beginning.

    Raises:
        UsageError: There is no such evaluation, or more than one.
    """
    if _is_document(given):
        evaluation = annotate_document(Path(given), annotation)
    else:
        with ExitStack() as stack:
            store, found = _find(given, settings, stack)
            store.annotate(found.id, annotation)
            evaluation = store.load(found.id)
    return Annotated(evaluation, disagreement(evaluation, annotation))


def review_of(given: str, settings: Settings) -> Evaluation:
    """The evaluation that `given` names, with its reviews."""
    if _is_document(given):
        return read_document(Path(given))
    with ExitStack() as stack:
        return _find(given, settings, stack)[1]


def annotated(settings: Settings) -> Iterator[Evaluation]:
    """Every stored evaluation that somebody reviewed."""
    with ExitStack() as stack:
        for store in _stores(settings, stack):
            yield from store.annotated()


def _is_document(given: str) -> bool:
    return "/" in given or given.endswith(".json") or os.path.isfile(given)


def _find(given: str, settings: Settings, stack: ExitStack) -> tuple[EvaluationStore, Evaluation]:
    """The one evaluation of that name, in whichever store has it."""
    found: list[tuple[EvaluationStore, Evaluation]] = []
    refused: list[UsageError] = []
    for store in _stores(settings, stack):
        try:
            found.append((store, store.load(given)))
        except UsageError as error:
            refused.append(error)
    if not found:
        if refused:
            raise refused[0]
        raise UsageError(
            f"no evaluation {given!r}: nothing is stored yet",
            hint="`adjudge grade --save` keeps one; a document's path works too",
        )
    if len(found) > 1 and found[0][1].id != found[1][1].id:
        ids = " and ".join(evaluation.id for _, evaluation in found)
        raise UsageError(f"{given!r} is the beginning of several evaluations: {ids}")
    return found[0]


def _stores(settings: Settings, stack: ExitStack) -> Iterator[EvaluationStore]:
    """The project's store where there is one, then the folder of evaluations kept as files."""
    place = find_place(settings)
    if place.exists:
        yield stack.enter_context(open_store(place, create=False))
    if os.path.isdir(settings.state_dir / "evaluations"):
        yield EvaluationDirectory(settings.state_dir)
