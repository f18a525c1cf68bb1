"""Evaluations that were asked to be kept, each a folder of documents under its id.

    evaluations/<id>/evaluation.json   the document
    evaluations/<id>/task.json         the task it was graded by
    evaluations/<id>/change_set.json   what the attempt changed; the diff is a blob
    evaluations/<id>/evidence.json     what code that was run did; its output is blobs
    evaluations/<id>/annotations/      what people said of it since, a file each

A folder appears whole or not at all, and so does an annotation. Nothing that is there is ever written to, so
any number of writers need no lock, and one that is killed leaves at most a hidden file that nobody reads.
Blobs are kept beside it by `adjudge.store.blobs`.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from adjudge.contracts import GradedSubject
from adjudge.errors import StoreError, UsageError, boundary
from adjudge.records.annotation import Annotation
from adjudge.records.evaluation import Evaluation
from adjudge.stats.reviews import with_reviews

__all__ = ["EvaluationDirectory"]

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}\Z")
_ANNOTATION = re.compile(r"[0-9]{20}-[0-9a-f]{16}\.json\Z")
"""The time in nanoseconds, and something random: in order, and no two writers take the same."""


class EvaluationDirectory:
    """A `contracts.EvaluationStore` in a directory."""

    def __init__(self, state_dir: Path) -> None:
        self._root = state_dir / "evaluations"

    def save(self, graded: GradedSubject) -> Path:
        """Keep an evaluation with what it was concluded from; returns its folder."""
        place = self._place(graded.evaluation.id)
        documents = {"evaluation.json": graded.evaluation.to_json()}
        documents["task.json"] = graded.task.model_dump_json(indent=2)
        if graded.change_set is not None:
            documents["change_set.json"] = graded.change_set.model_dump_json(indent=2)
        evidence = [
            {
                "kind": request.kind,
                "request": request.model_dump(mode="json"),
                "answer": answer.model_dump(mode="json"),
            }
            for request, answer in graded.evidence
        ]
        documents["evidence.json"] = json.dumps(evidence, indent=2)
        with boundary(StoreError, f"evaluation {graded.evaluation.id} cannot be kept in {self._root}"):
            self._root.mkdir(parents=True, exist_ok=True, mode=0o700)
            scratch = Path(tempfile.mkdtemp(prefix=".incoming-", dir=self._root))
            try:
                for name, text in documents.items():
                    (scratch / name).write_text(f"{text}\n", encoding="utf-8")
                os.rename(scratch, place)
            except BaseException:
                shutil.rmtree(scratch, ignore_errors=True)
                raise
        return place

    def load(self, evaluation_id: str) -> Evaluation:
        """An evaluation by its id or a beginning that no other has, with its annotations and what follows.

        Raises:
            UsageError: There is none, or there are several.
            StoreError: It cannot be read.
        """
        return self._load(self._find(evaluation_id))

    def annotate(self, evaluation_id: str, annotation: Annotation) -> None:
        """Add a person's verdict beside an evaluation. It is on the disk when this returns."""
        found = self._find(evaluation_id)
        folder = self._root / found / "annotations"
        with boundary(StoreError, f"the annotation of {found} cannot be kept"):
            folder.mkdir(exist_ok=True, mode=0o700)
            descriptor, scratch = tempfile.mkstemp(prefix=".incoming-", dir=folder)
            try:
                with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
                    stream.write(f"{annotation.model_dump_json(indent=2)}\n")
                    stream.flush()
                    os.fsync(stream.fileno())
                os.rename(scratch, folder / f"{time.time_ns():020}-{os.urandom(8).hex()}.json")
            except BaseException:
                os.unlink(scratch)
                raise
            for place in (folder, folder.parent):
                _sync(place)

    def annotated(self) -> Iterator[Evaluation]:
        """Every evaluation that has annotations, oldest first, streamed."""
        held = [name for name in self._ids() if self._annotations(name)]
        for name in sorted(held, key=lambda name: (self._root / name / "evaluation.json").stat().st_mtime_ns):
            yield self._load(name)

    def _load(self, name: str) -> Evaluation:
        with boundary(StoreError, f"evaluation {name} cannot be read"):
            evaluation = Evaluation.model_validate_json((self._root / name / "evaluation.json").read_bytes())
            said = [Annotation.model_validate_json(file.read_bytes()) for file in self._annotations(name)]
            return with_reviews(evaluation, *said)

    def _annotations(self, name: str) -> list[Path]:
        folder = self._root / name / "annotations"
        try:
            return sorted(folder / file for file in os.listdir(folder) if _ANNOTATION.match(file))
        except (FileNotFoundError, NotADirectoryError):
            return []

    def _ids(self) -> list[str]:
        try:
            return sorted(name for name in os.listdir(self._root) if _ID.match(name))
        except FileNotFoundError:
            return []

    def _find(self, given: str) -> str:
        """The id that is `given` or begins with it."""
        self._place(given)
        names = self._ids()
        if given in names:
            return given
        found = [name for name in names if name.startswith(given)]
        if len(found) == 1:
            return found[0]
        if found:
            shown = ", ".join(name[: max(len(given) + 6, 12)] for name in found[:5])
            more = ", …" if len(found) > 5 else ""
            raise UsageError(f"{given!r} is the beginning of several evaluations: {shown}{more}")
        raise UsageError(
            f"no evaluation {given!r} is kept in {self._root}", hint="`adjudge grade --save` keeps one"
        )

    def _place(self, evaluation_id: str) -> Path:
        if not _ID.match(evaluation_id):
            raise UsageError(f"{evaluation_id[:100]!r} is not the id of an evaluation")
        return self._root / evaluation_id


def _sync(folder: Path) -> None:
    """Have a folder's new names on the disk."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
