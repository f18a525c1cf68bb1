"""The store as it was before there was a database: folders of documents. Only read, to be taken over.

evaluations/<id>/evaluation.json   the document
evaluations/<id>/task.json         the task it was graded by
evaluations/<id>/change_set.json   what the attempt changed; the diff is a blob
evaluations/<id>/evidence.json     what code that was run did; its output is blobs
blobs/ab/cdef…                     the bytes whose sha256 is abcdef…, as they are
"""

from __future__ import annotations

from pathlib import Path

from adjudge.contracts import GradedSubject
from adjudge.errors import StoreError, UsageError, boundary
from adjudge.formats.evidence import parse_evidence
from adjudge.records.base import digest_bytes
from adjudge.records.change import ChangeSet
from adjudge.records.evaluation import Evaluation
from adjudge.records.task import Task
from adjudge.store.rows import blobs_in
from adjudge.store.runs import RunDatabase
from adjudge.store.transfer import Copied

__all__ = ["import_old_layout", "is_old_layout"]


def is_old_layout(folder: Path) -> bool:
    """Whether a folder holds evaluations in the old way."""
    return (folder / "evaluations").is_dir()


def import_old_layout(folder: Path, target: RunDatabase) -> Copied:
    """Take over everything that was kept in a folder, oldest first. What is there already is left alone."""
    copied = Copied()
    found: list[GradedSubject] = []
    for place in sorted((folder / "evaluations").iterdir()):
        if place.name.startswith(".") or not place.is_dir():
            continue
        try:
            found.append(_read(place))
        except StoreError as error:
            copied.problems.append(error.message)
    for graded in sorted(found, key=lambda item: item.evaluation.started_at):
        try:
            if _is_kept(target, graded.evaluation.id):
                continue
            blobs = _copy_blobs(folder / "blobs", graded, target)
            target.save(graded)
        except StoreError as error:
            copied.problems.append(error.message)
            continue
        copied.evaluations += 1
        copied.blobs += blobs
    return copied


def _is_kept(target: RunDatabase, evaluation_id: str) -> bool:
    try:
        return target.load(evaluation_id).id == evaluation_id
    except UsageError:
        return False


def _read(place: Path) -> GradedSubject:
    with boundary(StoreError, f"{place} cannot be read"):
        changes, evidence = place / "change_set.json", place / "evidence.json"
        return GradedSubject(
            evaluation=Evaluation.model_validate_json((place / "evaluation.json").read_bytes()),
            task=Task.model_validate_json((place / "task.json").read_bytes()),
            change_set=ChangeSet.model_validate_json(changes.read_bytes()) if changes.exists() else None,
            evidence=parse_evidence(evidence.read_bytes()) if evidence.exists() else (),
        )


def _copy_blobs(blobs: Path, graded: GradedSubject, target: RunDatabase) -> int:
    count = 0
    for digest in sorted(blobs_in([graded.evaluation, graded.change_set, graded.evidence])):
        if target.blobs.has(digest):
            continue
        hexadecimal = digest.removeprefix("sha256:")
        writer = target.blobs.writer()
        try:
            with boundary(StoreError, f"evaluation {graded.evaluation.id}: blob {digest} cannot be read"):
                data = (blobs / hexadecimal[:2] / hexadecimal[2:]).read_bytes()
            if digest_bytes(data) != digest:
                raise StoreError(f"evaluation {graded.evaluation.id}: blob {digest} is damaged")
            writer.write(data)
            writer.commit()
            count += 1
        finally:
            writer.abort()
    return count
