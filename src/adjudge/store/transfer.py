"""Everything of one store into another, whatever databases and blob stores the two are.

Rows are copied as they are, a batch to a transaction, after the blobs they need. What the target has already
is left alone, so a copy that was interrupted, or that is made again later, adds what is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, RowMapping, Table, insert, select, update

from adjudge.contracts import KeptBlobs
from adjudge.errors import StoreError
from adjudge.records.base import BlobRef
from adjudge.store import schema
from adjudge.store.runs import RunDatabase, insert_once

__all__ = ["Copied", "copy_blob", "copy_store"]

_BATCH = 100
_PARTS = (schema.scorer_results, schema.judgements, schema.test_results)


@dataclass
class Copied:
    """What was added to the target."""

    experiments: int = 0
    tasks: int = 0
    runs: int = 0
    evaluations: int = 0
    annotations: int = 0
    blobs: int = 0
    problems: list[str] = field(default_factory=list)
    """What could not be copied, and why."""


def copy_store(
    source: RunDatabase, target: RunDatabase, *, progress: Callable[[int], None] = lambda runs: None
) -> Copied:
    """Add everything of `source` to `target`."""
    copied = Copied()
    for table, name in ((schema.experiments, "experiments"), (schema.tasks, "tasks")):
        with source.database.reading(f"{name} cannot be read") as connection:
            rows = [
                {key: value for key, value in row.items() if key != "seq"}
                for row in connection.execute(select(table)).mappings()
            ]
        with target.database.writing(f"{name} cannot be kept") as connection:
            added = [row for row in rows if insert_once(connection, table, row) is not None]
        setattr(copied, name, len(added))
    after, seen = 0, 0
    while True:
        runs = schema.runs
        with source.database.reading("runs cannot be read") as connection:
            page = (
                connection.execute(select(runs).where(runs.c.seq > after).order_by(runs.c.seq).limit(_BATCH))
                .mappings()
                .all()
            )
            batch = [_whole(connection, row) for row in page]
        there = _copy_blobs(source.blobs, target.blobs, batch, copied)
        with target.database.writing("runs cannot be kept") as connection:
            for digest in there:
                # Looked up where garbage collection has to wait.
                if not target.blobs.has(digest):
                    raise StoreError(f"blob {digest} was removed while it was needed", hint="try again")
            for item in batch:
                _add(connection, item, copied)
        seen += len(page)
        progress(seen)
        if len(page) < _BATCH:
            return copied
        after = page[-1]["seq"]


@dataclass
class _Whole:
    """A run with all its rows."""

    run: RowMapping
    tags: Sequence[RowMapping]
    references: Sequence[str]
    evaluations: Sequence[_Evaluated]


@dataclass
class _Evaluated:
    row: RowMapping
    parts: Sequence[tuple[Table, Sequence[RowMapping]]]
    annotations: Sequence[RowMapping]
    references: Sequence[str]


def _whole(connection: Connection, run: RowMapping) -> _Whole:
    def rows(table: Table, column: str, value: int, order: str) -> Sequence[RowMapping]:
        statement = select(table).where(table.c[column] == value).order_by(table.c[order])
        return connection.execute(statement).mappings().all()

    def references(owner: str, seq: int) -> Sequence[str]:
        held = schema.blob_references
        statement = select(held.c.digest).where(held.c.owner == owner, held.c.owner_seq == seq)
        return connection.execute(statement).scalars().all()

    return _Whole(
        run,
        rows(schema.tags, "run_seq", run["seq"], "key"),
        references("run", run["seq"]),
        [
            _Evaluated(
                row,
                [(part, rows(part, "evaluation_seq", row["seq"], "position")) for part in _PARTS],
                rows(schema.annotations, "evaluation_seq", row["seq"], "seq"),
                references("evaluation", row["seq"]),
            )
            for row in rows(schema.evaluations, "run_seq", run["seq"], "seq")
        ],
    )


def _copy_blobs(source: KeptBlobs, target: KeptBlobs, batch: Sequence[_Whole], copied: Copied) -> list[str]:
    """Copy what a batch needs and the target has not; returns what is there then."""
    needed = {digest for item in batch for digest in item.references}
    needed |= {digest for item in batch for part in item.evaluations for digest in part.references}
    there: list[str] = []
    for digest in sorted(needed):
        try:
            if not target.has(digest):
                copy_blob(source, target, digest)
                copied.blobs += 1
            there.append(digest)
        except StoreError as error:
            copied.problems.append(error.message)
    return there


def copy_blob(source: KeptBlobs, target: KeptBlobs, digest: str) -> None:
    """Copy a blob, checking its digest on the way."""
    writer = target.writer()
    try:
        with source.open(BlobRef(digest=digest, size_bytes=0)) as stream:
            while data := stream.read(1 << 20):
                writer.write(data)
        writer.commit()
    finally:
        writer.abort()


def _add(connection: Connection, item: _Whole, copied: Copied) -> None:
    run = item.run
    row = {key: value for key, value in run.items() if key not in ("seq", "current_evaluation")}
    seq = insert_once(connection, schema.runs, row)
    new = seq is not None
    if new:
        copied.runs += 1
        if item.tags:
            connection.execute(insert(schema.tags), [{**tag, "run_seq": seq} for tag in item.tags])
        _refer(connection, "run", seq, item.references)
    else:
        held = connection.execute(
            select(schema.runs.c.seq, schema.runs.c.digest)
            .where(schema.runs.c.id == run["id"])
            .with_for_update()
        ).one()
        if held.digest != run["digest"]:
            copied.problems.append(f"run {run['id']} is in both stores, and not the same")
            return
        seq = held.seq
    for part in item.evaluations:
        added = _add_evaluation(connection, part, seq, copied)
        if new and part.row["seq"] == run["current_evaluation"]:
            connection.execute(
                update(schema.runs).where(schema.runs.c.seq == seq).values(current_evaluation=added)
            )


def _add_evaluation(connection: Connection, item: _Evaluated, run_seq: int, copied: Copied) -> int:
    row = {key: value for key, value in item.row.items() if key != "seq"} | {"run_seq": run_seq}
    seq: int | None = insert_once(connection, schema.evaluations, row)
    held: set[str] = set()
    if seq is not None:
        copied.evaluations += 1
        for table, rows in item.parts:
            if rows:
                connection.execute(insert(table), [{**part, "evaluation_seq": seq} for part in rows])
        _refer(connection, "evaluation", seq, item.references)
    else:
        table = schema.evaluations
        seq = int(connection.execute(select(table.c.seq).where(table.c.id == item.row["id"])).scalar_one())
        reviews = schema.annotations
        held = set(
            connection.execute(select(reviews.c.document).where(reviews.c.evaluation_seq == seq)).scalars()
        )
    missing = [
        {key: value for key, value in review.items() if key != "seq"} | {"evaluation_seq": seq}
        for review in item.annotations
        if review["document"] not in held
    ]
    if missing:
        copied.annotations += len(missing)
        connection.execute(insert(schema.annotations), missing)
    return seq


def _refer(connection: Connection, owner: str, seq: Any, digests: Sequence[str]) -> None:
    if digests:
        connection.execute(
            insert(schema.blob_references),
            [{"digest": digest, "owner": owner, "owner_seq": seq} for digest in digests],
        )
