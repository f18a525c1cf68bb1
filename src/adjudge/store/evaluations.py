"""Evaluations that were asked to be kept, each a folder of documents under its id.

    evaluations/<id>/evaluation.json   the document
    evaluations/<id>/task.json         the task it was graded by
    evaluations/<id>/change_set.json   what the attempt changed; the diff is a blob
    evaluations/<id>/evidence.json     what code that was run did; its output is blobs

A folder appears whole or not at all. Blobs are kept beside it by `adjudge.store.blobs`.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from pathlib import Path

from adjudge.contracts import GradedSubject
from adjudge.errors import StoreError, boundary
from adjudge.records.evaluation import Evaluation

__all__ = ["EvaluationDirectory"]

_ID = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")


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
        """An evaluation by its id.

        Raises:
            StoreError: There is none, or it cannot be read.
        """
        file = self._place(evaluation_id) / "evaluation.json"
        with boundary(StoreError, f"evaluation {evaluation_id} cannot be read"):
            return Evaluation.model_validate_json(file.read_bytes())

    def _place(self, evaluation_id: str) -> Path:
        if not _ID.match(evaluation_id):
            raise StoreError(f"{evaluation_id!r} is not the id of an evaluation")
        return self._root / evaluation_id
