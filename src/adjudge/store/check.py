"""Looking after a store: is everything there and as it was, and what is there that nobody needs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import NamedTuple

from pydantic import ValidationError
from sqlalchemy import select

from adjudge.errors import AdjudgeError
from adjudge.records.base import BlobRef, digest_bytes
from adjudge.records.run import Experiment, Run
from adjudge.records.task import Task
from adjudge.store import schema
from adjudge.store.rows import evaluation_digest, evaluation_of
from adjudge.store.runs import RunDatabase

__all__ = ["Checked", "Collected", "check_store", "collect_garbage"]

_PAGE = 200


class Checked(NamedTuple):
    """What a check found."""

    experiments: int
    tasks: int
    runs: int
    evaluations: int
    blobs: int
    problems: tuple[str, ...]


class Collected(NamedTuple):
    """What garbage collection removed, or would."""

    removed: int
    freed_bytes: int
    kept: int
    """Blobs that are needed."""
    young: int
    """Blobs that nobody needs yet, but that were written too recently to tell."""


def check_store(store: RunDatabase, *, progress: Callable[[int], None] = lambda done: None) -> Checked:
    """Read everything, and compare it with the digests it was kept under."""
    problems = list(_of_the_file(store))
    counts = {}
    for table, record in ((schema.experiments, Experiment), (schema.tasks, Task), (schema.runs, Run)):
        key = table.c.digest if table is schema.tasks else table.c.seq
        counts[table.name] = 0
        after = None
        while True:
            statement = select(table).order_by(key).limit(_PAGE)
            if after is not None:
                statement = statement.where(key > after)
            with store.database.reading(f"{table.name} cannot be read") as connection:
                page = connection.execute(statement).mappings().all()
            for row in page:
                counts[table.name] += 1
                named = f"{table.name.removesuffix('s')} {row['id'] if 'id' in row else row['digest']}"
                if table is schema.runs and digest_bytes(row["document"].encode()) != row["digest"]:
                    problems.append(f"{named} was changed: its document has another digest")
                try:
                    record.model_validate_json(row["document"])
                except ValidationError as error:
                    problems.append(f"{named} cannot be read: {error.errors()[0]['msg']}")
            if len(page) < _PAGE:
                break
            after = page[-1][key.name]
    evaluations, found = _check_evaluations(store)
    problems += found
    blobs, found = _check_blobs(store, progress)
    problems += found
    return Checked(
        counts["experiments"], counts["tasks"], counts["runs"], evaluations, blobs, tuple(problems)
    )


def _of_the_file(store: RunDatabase) -> Iterator[str]:
    """What SQLite itself says of its file."""
    if not store.database.is_sqlite:
        return
    with store.database.reading("the database cannot be checked") as connection:
        for (said,) in connection.exec_driver_sql("PRAGMA integrity_check").all():
            if said != "ok":
                yield f"the database is damaged: {said}"
        for row in connection.exec_driver_sql("PRAGMA foreign_key_check").all():
            yield f"a row of {row[0]} points to a row of {row[2]} that is not there"


def _check_evaluations(store: RunDatabase) -> tuple[int, list[str]]:
    table, parts = schema.evaluations, (schema.scorer_results, schema.judgements)
    problems: list[str] = []
    count, after = 0, 0
    while True:
        with store.database.reading("evaluations cannot be read") as connection:
            page = connection.execute(
                select(table.c.seq, table.c.id, table.c.digest, table.c.document)
                .where(table.c.seq > after)
                .order_by(table.c.seq)
                .limit(_PAGE)
            ).all()
            documents: dict[int, tuple[list[str], list[str]]] = {row.seq: ([], []) for row in page}
            for place, part in enumerate(parts):
                for seq, document in connection.execute(
                    select(part.c.evaluation_seq, part.c.document)
                    .where(part.c.evaluation_seq.in_(documents))
                    .order_by(part.c.evaluation_seq, part.c.position)
                ):
                    documents[seq][place].append(document)
        for row in page:
            count += 1
            scorers, judged = documents[row.seq]
            judge = judged[0] if judged else "null"
            if evaluation_digest(row.document, scorers, judge) != row.digest:
                problems.append(f"evaluation {row.id} was changed: its documents have another digest")
            try:
                evaluation_of(row.document, scorers, judge, ())
            except ValidationError as error:
                problems.append(f"evaluation {row.id} cannot be read: {error.errors()[0]['msg']}")
        if len(page) < _PAGE:
            return count, problems
        after = page[-1].seq


def _check_blobs(store: RunDatabase, progress: Callable[[int], None]) -> tuple[int, list[str]]:
    problems: list[str] = []
    there: set[str] = set()
    for digest in store.blobs.digests():
        there.add(digest)
        progress(len(there))
        try:
            with store.blobs.open(BlobRef(digest=digest, size_bytes=0)) as stream:
                while stream.read(1 << 20):
                    pass
        except AdjudgeError as error:
            problems.append(f"{error.message}{_needed_by(store, digest)}")
    references = schema.blob_references
    with store.database.reading("references cannot be read") as connection:
        for digest in connection.execute(select(references.c.digest).distinct()).scalars():
            # Looked up once more: it may have come after the listing.
            if digest not in there and not store.blobs.has(digest):
                problems.append(f"blob {digest} is missing{_needed_by(store, digest)}")
    return len(there), problems


def _needed_by(store: RunDatabase, digest: str) -> str:
    references = schema.blob_references
    named = []
    with store.database.reading("references cannot be read") as connection:
        for owner, table in (("run", schema.runs), ("evaluation", schema.evaluations)):
            statement = (
                select(table.c.id)
                .join(references, references.c.owner_seq == table.c.seq)
                .where(references.c.owner == owner, references.c.digest == digest)
                .limit(3)
            )
            named += [f"{owner} {found}" for found in connection.execute(statement).scalars()]
    return f", needed by {', '.join(named)}" if named else ", needed by nothing"


def collect_garbage(store: RunDatabase, *, older_than_s: float, dry_run: bool = False) -> Collected:
    """Remove the blobs that no row refers to.

    Writers may be at work: a blob and the row that needs it are kept one after the other, so what is younger
    than `older_than_s` is left alone. Should a blob go in between all the same, the writer is told instead of
    its row being kept (`adjudge.store.runs`).
    """
    references = schema.blob_references
    removed = freed = kept = young = 0
    digests = store.blobs.digests()
    while batch := list(islice(digests, _PAGE)):
        with store.database.writing("garbage cannot be collected", sweeping=True) as connection:
            needed = set(
                connection.execute(
                    select(references.c.digest).where(references.c.digest.in_(batch)).distinct()
                ).scalars()
            )
            kept += len(needed)
            for digest in batch:
                if digest in needed:
                    continue
                age_s = store.blobs.age_s(digest)
                if age_s is None:
                    continue
                if age_s < older_than_s:
                    young += 1
                    continue
                removed += 1
                if not dry_run:
                    freed += store.blobs.remove(digest)
    if not dry_run:
        store.blobs.sweep(older_than_s)
    return Collected(removed, freed, kept, young)
