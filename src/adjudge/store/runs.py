"""Experiments, tasks, runs, evaluations and annotations in a database.

What was recorded is only ever added to: a run that has come to its end is not changed any more, an evaluation
never is, and which of a run's evaluations is current is a pointer. A row refers only to blobs that are there:
they are looked up inside the transaction, which garbage collection waits for.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, NoReturn, Self

from sqlalchemy import Connection, RowMapping, Table, and_, func, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite

from adjudge.contracts import GradedSubject, KeptBlobs
from adjudge.errors import StoreError, UsageError
from adjudge.formats.evidence import dump_evidence, parse_evidence
from adjudge.records.annotation import Annotation
from adjudge.records.base import BlobRef, Record
from adjudge.records.evaluation import Evaluation
from adjudge.records.evidence import EvidenceRequest
from adjudge.records.listing import (
    RunCursor,
    RunFilter,
    RunSort,
    RunSummary,
    ScorerTally,
    TaskSummary,
)
from adjudge.records.run import NO_AGENT, Attempt, Experiment, Run, RunStatus
from adjudge.records.task import Task
from adjudge.store import schema
from adjudge.store.database import Database
from adjudge.store.listing import SUMMARY, Direction, narrowed, read_page
from adjudge.store.reviews import Candidate, read_candidates
from adjudge.store.rows import (
    annotation_row,
    blobs_in,
    evaluation_digest,
    evaluation_of,
    evaluation_row,
    judgement_rows,
    run_row,
    scorer_rows,
    suite_rows,
)

__all__ = ["RunDatabase", "insert_once"]

_PAGE = 500
"""How many rows a stream reads at a time: no transaction stays open while a reader thinks."""
_ID = re.compile(r"^[0-9a-z]{1,64}$")


class RunDatabase:
    """A `contracts.RunStore` and `contracts.EvaluationStore` in a database.

    Args:
        database: Where rows go.
        blobs: Where the bytes lie that rows refer to.
    """

    def __init__(self, database: Database, blobs: KeptBlobs) -> None:
        self.database = database
        self.blobs = blobs

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Close every connection. The store can be used again all the same."""
        self.database.close()

    # Experiments and tasks

    def add_experiment(self, experiment: Experiment) -> None:
        """Record an experiment before its first run."""
        with self.database.writing(f"experiment {experiment.id} cannot be kept") as connection:
            row = {
                "id": experiment.id,
                "name": experiment.name,
                "created_at": experiment.created_at,
                "document": experiment.model_dump_json(),
            }
            if insert_once(connection, schema.experiments, row) is None:
                raise StoreError(f"experiment {experiment.id} is kept already")

    def experiment(self, id_or_prefix: str) -> Experiment:
        """An experiment by its id, the beginning of it, or its name."""
        with self.database.reading("the experiment cannot be read") as connection:
            row = self._find(connection, schema.experiments, "experiment", id_or_prefix, name="name")
            return Experiment.model_validate_json(row["document"])

    def experiments(self) -> Iterator[Experiment]:
        """Every experiment, newest first."""
        yield from map(Experiment.model_validate_json, self._documents(schema.experiments, []))

    def keep_task(self, task: Task) -> None:
        """Record a task, once however often it is called."""
        with self.database.writing(f"task {task.digest} cannot be kept") as connection:
            self._keep_task(connection, task)

    def _keep_task(self, connection: Connection, task: Task) -> None:
        held = select(schema.tasks.c.digest).where(schema.tasks.c.digest == task.digest)
        if connection.execute(held).first() is not None:
            return
        row = {
            "digest": task.digest,
            "name": task.name,
            "recorded_at": datetime.now(UTC),
            "document": task.model_dump_json(),
        }
        insert_once(connection, schema.tasks, row)

    def task(self, digest: str) -> Task:
        """A task by its digest."""
        with self.database.reading("the task cannot be read") as connection:
            found = connection.execute(
                select(schema.tasks.c.document).where(schema.tasks.c.digest == digest)
            ).scalar()
        if found is None:
            raise UsageError(f"no task with the digest {digest} is stored")
        return Task.model_validate_json(found)

    def task_page(self, name: str | None, *, after: str | None, limit: int) -> list[TaskSummary]:
        """Some tasks, of one name or of any, in the order of their digests."""
        table = schema.tasks
        statement = select(table.c.name, table.c.digest, table.c.recorded_at)
        if name is not None:
            statement = statement.where(table.c.name == name)
        if after is not None:
            statement = statement.where(table.c.digest > after)
        with self.database.reading("tasks cannot be listed") as connection:
            rows = connection.execute(statement.order_by(table.c.digest).limit(limit)).all()
        return [TaskSummary(*row) for row in rows]

    # Runs

    def save_run(self, run: Run) -> None:
        """Record where a run stands now. A finished run is never changed."""
        needed = blobs_in([run])
        with self.database.writing(f"run {run.id} cannot be kept") as connection:
            self._save_run(connection, run, needed)

    def _save_run(self, connection: Connection, run: Run, needed: set[str]) -> int:
        row = run_row(run)
        runs = schema.runs
        seq: int | None = insert_once(connection, runs, row)
        if seq is None:
            held = connection.execute(
                select(runs.c.seq, runs.c.status, runs.c.digest).where(runs.c.id == run.id).with_for_update()
            ).one()
            seq = int(held.seq)
            if held.digest == row["digest"]:
                return seq
            if held.status == RunStatus.FINISHED:
                raise StoreError(f"run {run.id} is finished and is never changed")
            connection.execute(update(runs).where(runs.c.seq == seq).values(row))
            connection.execute(schema.tags.delete().where(schema.tags.c.run_seq == seq))
            connection.execute(
                schema.blob_references.delete().where(
                    schema.blob_references.c.owner == "run", schema.blob_references.c.owner_seq == seq
                )
            )
        if run.tags:
            listed = [{"run_seq": seq, "key": key, "value": value} for key, value in run.tags.items()]
            connection.execute(insert(schema.tags), listed)
        self._refer(connection, "run", seq, needed)
        return seq

    def run(self, id_or_prefix: str) -> Run:
        """A run by its id, or by a beginning of it that only one run has."""
        with self.database.reading("the run cannot be read") as connection:
            return Run.model_validate_json(
                self._find(connection, schema.runs, "run", id_or_prefix)["document"]
            )

    def position(self, id_or_prefix: str) -> int:
        """Where a run stands in the order of recording, for `RunFilter.before`."""
        with self.database.reading("the run cannot be read") as connection:
            return int(self._find(connection, schema.runs, "run", id_or_prefix)["seq"])

    def runs(self, *, experiment_id: str | None = None) -> Iterator[Run]:
        """Runs, newest first, streamed."""
        narrowed = [] if experiment_id is None else [schema.runs.c.experiment_id == experiment_id]
        yield from map(Run.model_validate_json, self._documents(schema.runs, narrowed))

    # Evaluations

    def save(self, graded: GradedSubject) -> None:
        """Keep the grading of an attempt that was made elsewhere: the run, its task and the evaluation."""
        run = Run(
            id=graded.evaluation.run_id,
            task=graded.evaluation.task,
            agent=NO_AGENT,
            status=RunStatus.FINISHED,
            started_at=graded.evaluation.started_at,
            attempt=graded.attempt or Attempt(change_set=graded.change_set),
        )
        evidence = self._keep_evidence(graded)
        needed = blobs_in([run])
        with self.database.writing(f"evaluation {graded.evaluation.id} cannot be kept") as connection:
            seq = connection.execute(
                select(schema.runs.c.seq).where(schema.runs.c.id == run.id).with_for_update()
            ).scalar()
            if seq is None:
                seq = self._save_run(connection, run, needed)
            self._save_evaluation(connection, int(seq), graded, evidence, current=True)

    def save_evaluation(self, run_id: str, graded: GradedSubject, *, current: bool = True) -> None:
        """Add an evaluation of a run, whole or not at all."""
        if graded.evaluation.run_id != run_id:
            raise StoreError(
                f"evaluation {graded.evaluation.id} is of run {graded.evaluation.run_id}, not of {run_id}"
            )
        evidence = self._keep_evidence(graded)
        with self.database.writing(f"evaluation {graded.evaluation.id} cannot be kept") as connection:
            seq = connection.execute(
                select(schema.runs.c.seq).where(schema.runs.c.id == run_id).with_for_update()
            ).scalar()
            if seq is None:
                raise StoreError(f"evaluation {graded.evaluation.id} is of run {run_id}, which is not stored")
            self._save_evaluation(connection, int(seq), graded, evidence, current=current)

    def _keep_evidence(self, graded: GradedSubject) -> BlobRef | None:
        if not graded.evidence:
            return None
        writer = self.blobs.writer()
        try:
            writer.write(dump_evidence(graded.evidence))
            return writer.commit()
        finally:
            writer.abort()

    def _save_evaluation(
        self,
        connection: Connection,
        run_seq: int,
        graded: GradedSubject,
        evidence: BlobRef | None,
        *,
        current: bool,
    ) -> None:
        evaluation = graded.evaluation
        self._keep_task(connection, graded.task)
        row = evaluation_row(evaluation)
        scorers, judgements = scorer_rows(evaluation), judgement_rows(evaluation)
        row["digest"] = evaluation_digest(
            row["document"],
            [scorer["document"] for scorer in scorers],
            judgements[0]["document"] if judgements else "null",
        )
        row["run_seq"] = run_seq
        row["evidence"] = evidence.model_dump_json() if evidence is not None else None
        table = schema.evaluations
        seq = insert_once(connection, table, row)
        if seq is None:
            raise StoreError(f"evaluation {evaluation.id} is kept already and is never changed")
        for target, rows in (
            (schema.scorer_results, scorers),
            (schema.judgements, judgements),
            (schema.test_results, suite_rows(graded)),
            (schema.annotations, [annotation_row(item) for item in evaluation.annotations]),
        ):
            if rows:
                connection.execute(insert(target), [{**part, "evaluation_seq": seq} for part in rows])
        self._refer(
            connection,
            "evaluation",
            seq,
            blobs_in([evaluation, graded.change_set, graded.evidence, evidence]),
        )
        if current:
            connection.execute(
                update(schema.runs).where(schema.runs.c.seq == run_seq).values(current_evaluation=seq)
            )

    def load(self, evaluation_id: str) -> Evaluation:
        """An evaluation by its id or the beginning of it, annotations included."""
        with self.database.reading("the evaluation cannot be read") as connection:
            row = self._find(connection, schema.evaluations, "evaluation", evaluation_id)
            return self._evaluations(connection, schema.evaluations.c.seq == row["seq"])[0]

    def evaluations(self, run_id: str) -> tuple[Evaluation, ...]:
        """Every evaluation of a run, oldest first, annotations included."""
        with self.database.reading("the evaluations cannot be read") as connection:
            row = self._find(connection, schema.runs, "run", run_id)
            return tuple(self._evaluations(connection, schema.evaluations.c.run_seq == row["seq"]))

    def current_evaluation(self, run_id: str) -> Evaluation | None:
        """The one that counts now."""
        with self.database.reading("the evaluation cannot be read") as connection:
            row = self._find(connection, schema.runs, "run", run_id)
            found = self._evaluations(connection, schema.evaluations.c.seq == row["current_evaluation"])
            return found[0] if found else None

    def evidence(self, evaluation_id: str) -> tuple[tuple[EvidenceRequest, Record], ...]:
        """What an evaluation was concluded from, as far as this version understands it."""
        with self.database.reading("the evidence cannot be read") as connection:
            row = self._find(connection, schema.evaluations, "evaluation", evaluation_id)
        if row["evidence"] is None:
            return ()
        with self.blobs.open(BlobRef.model_validate_json(row["evidence"])) as stream:
            return parse_evidence(stream.read())

    def annotate(self, evaluation_id: str, annotation: Annotation) -> None:
        """Add a person's verdict beside an evaluation."""
        with self.database.writing("the annotation cannot be kept") as connection:
            row = self._find(connection, schema.evaluations, "evaluation", evaluation_id)
            connection.execute(
                insert(schema.annotations), [{**annotation_row(annotation), "evaluation_seq": row["seq"]}]
            )

    def annotated(self) -> Iterator[Evaluation]:
        """Every evaluation that has annotations, oldest first, streamed."""
        table, last = schema.evaluations, -1
        held = select(schema.annotations.c.evaluation_seq)
        while True:
            page = select(table.c.seq).where(table.c.seq.in_(held), table.c.seq > last)
            with self.database.reading("the annotations cannot be read") as connection:
                found = connection.execute(page.order_by(table.c.seq).limit(_PAGE)).scalars().all()
                evaluations = self._evaluations(connection, table.c.seq.in_(found))
            yield from evaluations
            if len(found) < _PAGE:
                return
            last = found[-1]

    def review_candidates(self, wanted: RunFilter, reviewer: str, limit: int) -> list[Candidate]:
        """The newest evaluations that somebody could review, with what was said of each already."""
        with self.database.reading("evaluations cannot be listed") as connection:
            return read_candidates(connection, wanted, reviewer, limit)

    def run_of(self, evaluation_id: str) -> str:
        """The id of the run that an evaluation is of."""
        with self.database.reading("the evaluation cannot be read") as connection:
            row = self._find(connection, schema.evaluations, "evaluation", evaluation_id)
            statement = select(schema.runs.c.id).where(schema.runs.c.seq == row["run_seq"])
            return str(connection.execute(statement).scalar_one())

    def _evaluations(self, connection: Connection, where: Any) -> list[Evaluation]:
        table = schema.evaluations
        found = connection.execute(
            select(table.c.seq, table.c.document).where(where).order_by(table.c.seq)
        ).all()
        parts: dict[int, tuple[list[Any], list[Any], list[Any]]] = {row.seq: ([], [], []) for row in found}
        for place, part in enumerate((schema.scorer_results, schema.judgements, schema.annotations)):
            order = part.c.seq if "seq" in part.c else part.c.position
            statement = (
                select(part.c.evaluation_seq, part.c.document)
                .where(part.c.evaluation_seq.in_(parts))
                .order_by(order)
            )
            for row in connection.execute(statement):
                parts[row.evaluation_seq][place].append(row.document)
        return [
            evaluation_of(row.document, scorers, judged[0] if judged else "null", reviews)
            for row in found
            for scorers, judged, reviews in [parts[row.seq]]
        ]

    # Lists and sums

    def summaries(self, wanted: RunFilter | None = None, *, limit: int | None = None) -> Iterator[RunSummary]:
        """Runs with their current evaluations, newest first, streamed."""
        wanted = wanted or RunFilter()
        before, left = wanted.before, limit
        while left is None or left > 0:
            size = _PAGE * 10 if left is None else min(left, _PAGE * 10)
            statement = narrowed(select(*SUMMARY), wanted).order_by(schema.runs.c.seq.desc()).limit(size)
            if before is not None:
                statement = statement.where(schema.runs.c.seq < before)
            with self.database.reading("runs cannot be listed") as connection:
                page = [RunSummary(*row) for row in connection.execute(statement).all()]
            yield from page
            if len(page) < size:
                return
            before = page[-1].seq
            left = None if left is None else left - len(page)

    def page(
        self,
        wanted: RunFilter,
        sort: RunSort | None = None,
        *,
        cursor: RunCursor | None = None,
        direction: Direction = "after",
        limit: int = 50,
    ) -> list[RunSummary]:
        """Some runs of a sorted list: its beginning, or what is after or before a place in it."""
        with self.database.reading("runs cannot be listed") as connection:
            return read_page(
                connection, wanted, sort or RunSort(), cursor=cursor, direction=direction, limit=limit
            )

    def has_unfinished_runs(self) -> bool:
        """Whether any run is waiting or going on."""
        status = schema.runs.c.status
        statement = select(status).where(status.in_((RunStatus.PENDING.value, RunStatus.RUNNING.value)))
        with self.database.reading("runs cannot be listed") as connection:
            return connection.execute(statement.limit(1)).first() is not None

    def scorer_tallies(self, wanted: RunFilter | None = None) -> Iterator[ScorerTally]:
        """How often each scorer of current evaluations came to which verdict, by agent, model and task."""
        runs, results = schema.runs, schema.scorer_results
        keys = (
            runs.c.agent,
            runs.c.model,
            runs.c.task_name,
            results.c.name,
            results.c.type,
            results.c.verdict,
        )
        statement = narrowed(select(*keys, func.count()), wanted or RunFilter(), scorers=True).group_by(*keys)
        with self.database.reading("scorers cannot be counted") as connection:
            found = [ScorerTally(*row) for row in connection.execute(statement.order_by(*keys))]
        yield from found

    def names(self, column: str) -> list[str]:
        """Every distinct value of a column of runs (`task_name`, `agent`, `model`), for near misses."""
        statement = select(schema.runs.c[column]).distinct().limit(10_000)
        with self.database.reading("runs cannot be listed") as connection:
            return sorted(value for value in connection.execute(statement).scalars() if value is not None)

    def tasks_named(self, name: str, limit: int = 50) -> list[tuple[str, int]]:
        """The digests of tasks that runs with that task's name have, and how many runs each has."""
        runs = schema.runs
        statement = (
            select(runs.c.task_digest, func.count())
            .where(runs.c.task_name == name)
            .group_by(runs.c.task_digest)
            .order_by(func.max(runs.c.seq).desc())
            .limit(limit)
        )
        with self.database.reading("tasks cannot be listed") as connection:
            return [(digest, count) for digest, count in connection.execute(statement)]

    # What all of them share

    def _refer(self, connection: Connection, owner: str, seq: int, needed: set[str]) -> None:
        if not needed:
            return
        for digest in sorted(needed):
            if not self.blobs.has(digest):
                raise StoreError(f"blob {digest} is referred to, but is not in {self.blobs}")
        listed = [{"digest": digest, "owner": owner, "owner_seq": seq} for digest in sorted(needed)]
        connection.execute(insert(schema.blob_references), listed)

    def _documents(self, table: Table, narrowed: Sequence[Any]) -> Iterator[Any]:
        before: int | None = None
        while True:
            statement = select(table.c.seq, table.c.document).where(*narrowed)
            if before is not None:
                statement = statement.where(table.c.seq < before)
            with self.database.reading(f"{table.name} cannot be listed") as connection:
                page = connection.execute(statement.order_by(table.c.seq.desc()).limit(_PAGE)).all()
            yield from (row.document for row in page)
            if len(page) < _PAGE:
                return
            before = page[-1].seq

    def _find(
        self, connection: Connection, table: Table, what: str, given: str, *, name: str | None = None
    ) -> RowMapping:
        """The one row whose id is `given` or begins with it, or, with `name`, the one of that name."""
        if _ID.match(given):
            exact = connection.execute(select(table).where(table.c.id == given)).mappings().first()
            if exact is not None:
                return exact
            # One past every character of an id.
            begins = and_(table.c.id >= given, table.c.id < given + "{")
            found = connection.execute(select(table).where(begins).limit(6)).mappings().all()
            if len(found) == 1:
                return found[0]
            if found:
                shown = ", ".join(row["id"][: max(len(given) + 6, 12)] for row in found[:5])
                more = ", …" if len(found) > 5 else ""
                raise UsageError(f"{given!r} is the beginning of several {what}s: {shown}{more}")
        if name is not None:
            called = connection.execute(select(table).where(table.c[name] == given).limit(2)).mappings().all()
            if len(called) == 1:
                return called[0]
            if called:
                raise UsageError(f"several {what}s are called {given!r}", hint="use the id")
        _refuse_unknown(connection, table, what, given)


def insert_once(connection: Connection, table: Table, row: dict[str, Any]) -> Any:
    """Insert a row unless its key is taken: the first column of what was inserted, None when nothing was."""
    dialect: Any = sqlite if connection.dialect.name == "sqlite" else postgresql
    statement = dialect.insert(table).values(row).on_conflict_do_nothing()
    return connection.execute(statement.returning(next(iter(table.c)))).scalar()


def _refuse_unknown(connection: Connection, table: Table, what: str, given: str) -> NoReturn:
    recent = connection.execute(select(table.c.id).order_by(table.c.seq.desc()).limit(1000)).scalars().all()
    size = max(len(given), 6)
    shortened = {found[:size]: found for found in recent}
    near = difflib.get_close_matches(given, shortened, n=3)
    if not recent:
        hint = f"no {what} is stored"
    elif near:
        hint = f"did you mean {' or '.join(shortened[found][: max(size, 12)] for found in near)}?"
    else:
        hint = f"the newest: {', '.join(found[:12] for found in recent[:3])}"
    raise UsageError(f"no {what} {given!r} is stored", hint=hint)
