"""Sums over many runs, made by the database: groups, distributions, how gates go together, single rows.

Everything is bounded: so many groups, so many rows. What was worked out is kept until anything is written, so
that looking at the same thing twice, sorted otherwise or drawn otherwise, costs nothing.
"""

from __future__ import annotations

import json
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import (
    ColumnElement,
    Float,
    Integer,
    Text,
    and_,
    case,
    cast,
    exists,
    func,
    literal,
    literal_column,
    or_,
    select,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.sql.expression import UnaryExpression
from sqlalchemy.sql.operators import custom_op

from adjudge.records.exploring import (
    BINS,
    FIELDS,
    Bucket,
    Condition,
    ExperimentSummary,
    Exploration,
    GroupRow,
    Kind,
    Moments,
    Operator,
    Progress,
    RowOrder,
    field_of,
    moment_of,
)
from adjudge.records.run import RunStatus
from adjudge.records.score import Verdict
from adjudge.store import schema
from adjudge.store.database import Database

__all__ = ["MAX_GROUPS", "Explorer", "Groups"]

MAX_GROUPS = 2000
"""The largest groups are shown; more nobody reads."""
_MAX_SUGGESTED = 200
_KEPT = 128
"""Answers that are kept."""
_MAX_KEPT_ROWS = 200
"""Of single runs: as many as a page shows, not what is taken away."""

_runs, _evaluations = schema.runs, schema.evaluations
_judgements, _results, _tags = schema.judgements, schema.scorer_results, schema.tags

_COLUMNS: dict[str, Any] = {
    "run": _runs.c.id,
    "experiment": _runs.c.experiment_id,
    "task": _runs.c.task_name,
    "evaluation": _evaluations.c.id,
    "graded_at": _evaluations.c.started_at,
    "grading_s": _evaluations.c.duration_s,
    "judge_verdict": _judgements.c.verdict,
    "judge_model": _judgements.c.model,
    "judge_failure_mode": _judgements.c.failure_mode,
    "scorer": _results.c.name,
    "scorer_type": _results.c.type,
    "scorer_verdict": _results.c.verdict,
    "scorer_score": _results.c.score,
    **{
        name: _evaluations.c[name]
        for name in (
            "objective", "judge", "run_gate", "score", "mean_score", "reward", "integrity", "failure_mode",
            "recipe_digest", "change_digest",
        )
    },
}  # fmt: skip
_COLUMNS |= {name: _runs.c[name] for name in FIELDS if name not in _COLUMNS}

Answer = TypeVar("Answer")


class Groups(NamedTuple):
    """What runs add up to, group by group, the largest first."""

    rows: tuple[GroupRow, ...]
    more: bool
    """Whether there are smaller groups than these `MAX_GROUPS`."""


class Explorer:
    """Answers questions about many runs at once. May be used by several threads.

    Args:
        database: Where the runs are.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._state = _State(database)
        self._kept: OrderedDict[Hashable, Any] = OrderedDict()
        self._lock = threading.Lock()

    def groups(self, wanted: Exploration) -> Groups:
        """Runs put together, with what their gates said and the sums of what is measured."""
        return self._remembered(("groups", wanted), lambda: self._groups(wanted))

    def gates(self, where: Sequence[Condition]) -> dict[tuple[str, str, str], int]:
        """How many graded runs have which verdicts of the objective, judge and run gates."""
        keys = (_evaluations.c.objective, _evaluations.c.judge, _evaluations.c.run_gate)

        def count() -> dict[tuple[str, str, str], int]:
            query = _Query(self._database, where)
            query.use("objective")
            statement = query.over(select(*keys, func.count())).group_by(*keys)
            # What was not graded is left out here: a condition would have SQLite begin at another index.
            return {(row[0], row[1], row[2]): row[3] for row in self._read(statement) if row[0] is not None}

        return self._remembered(("gates", tuple(where)), count)

    def distribution(self, where: Sequence[Condition], measure: str) -> tuple[Bucket, ...]:
        """How the values of a measure from 0 to 1 are distributed; runs without one are in no bucket."""
        column = _COLUMNS[measure]

        def count() -> tuple[Bucket, ...]:
            query = _Query(self._database, where)
            query.use(measure)
            spans = column * BINS
            number = cast(spans if self._database.is_sqlite else func.floor(spans), Integer)
            keys = (
                case((column >= 1, BINS - 1), else_=number).label("k0"),
                _evaluations.c.objective.label("k1"),
            )
            statement = query.over(select(*keys, func.count())).where(column.is_not(None))
            found = self._read(statement.group_by(literal_column("k0"), literal_column("k1")))
            return tuple(sorted(Bucket(max(row[0], 0), row[1], row[2]) for row in found))

        return self._remembered(("distribution", tuple(where), measure), count)

    def count(self, where: Sequence[Condition]) -> int:
        """How many runs there are."""

        def count() -> int:
            found: int = self._read(_Query(self._database, where).over(select(func.count())))[0][0]
            return found

        return self._remembered(("count", tuple(where)), count)

    def rows(
        self,
        where: Sequence[Condition],
        columns: Sequence[str],
        order: RowOrder,
        *,
        limit: int,
        skip: int = 0,
    ) -> list[tuple[Any, ...]]:
        """Some columns of single runs."""
        if limit > _MAX_KEPT_ROWS:
            return self._rows(where, columns, order, limit, skip)
        asked = ("rows", tuple(where), tuple(columns), order, limit, skip)
        return list(self._remembered(asked, lambda: self._rows(where, columns, order, limit, skip)))

    def _rows(
        self, where: Sequence[Condition], columns: Sequence[str], order: RowOrder, limit: int, skip: int
    ) -> list[tuple[Any, ...]]:
        query = _Query(self._database, where)
        for name in columns:
            query.use(name)
        by: list[Any] = []
        if order.field is not None:
            query.use(order.field)
            column = self._sortable(order.field, query.column(order.field))
            by = [(column.desc() if order.descending else column.asc()).nulls_last()]
        # Runs of the same value newest first, whichever way they go.
        by.append(_runs.c.seq.asc() if order.field is None and not order.descending else _runs.c.seq.desc())
        chosen = [query.column(name).label(f"c{at}") for at, name in enumerate(columns)]
        statement = query.over(select(*chosen)).order_by(*by).limit(limit).offset(skip)
        return [tuple(row) for row in self._read(statement)]

    def suggestions(self, field: str) -> tuple[str, ...]:
        """Some values that a field has, for people to choose from."""
        if field_of(field).kind in (Kind.NUMBER, Kind.MOMENT):
            return ()

        def read() -> tuple[str, ...]:
            column: Any = _tags.c.value if field.startswith("tag:") else _COLUMNS[field]
            statement = select(column).where(column.is_not(None)).distinct().limit(_MAX_SUGGESTED)
            if field.startswith("tag:"):
                statement = statement.where(_tags.c.key == field.removeprefix("tag:"))
            return tuple(sorted(str(row[0]) for row in self._read(statement)))

        return self._remembered(("suggestions", field), read)

    def tag_keys(self) -> tuple[str, ...]:
        """Keys of tags that runs have."""

        def read() -> tuple[str, ...]:
            statement = select(_tags.c.key).distinct().limit(_MAX_SUGGESTED)
            return tuple(sorted(row[0] for row in self._read(statement)))

        return self._remembered(("tag keys",), read)

    def experiments(self, *, before: int | None = None, limit: int = 50) -> list[ExperimentSummary]:
        """Experiments without their matrices, newest first."""
        seq = schema.experiments.c.seq
        statement = self._experiments().order_by(seq.desc()).limit(limit)
        return [
            _experiment(row)
            for row in self._read(statement if before is None else statement.where(seq < before))
        ]

    def experiment(self, experiment_id: str) -> ExperimentSummary | None:
        """One of them, by its whole id."""
        rows = self._read(self._experiments().where(schema.experiments.c.id == experiment_id))
        return _experiment(rows[0]) if rows else None

    def progress(self, experiments: Sequence[ExperimentSummary]) -> dict[str, Progress]:
        """How far some experiments have come, by their ids."""
        if not experiments:
            return {}
        ids = {item.id for item in experiments}
        where = tuple(Condition(field="experiment", value=found) for found in sorted(ids))
        asked = Exploration(where=where, by=("experiment", "status"), measures=("cost_usd",))
        rows = self.groups(asked).rows
        return {
            item.id: _progress(item, [row for row in rows if row.key[0] == item.id]) for item in experiments
        }

    def _experiments(self) -> Any:
        table = schema.experiments
        document: Any = literal_column("experiments.document")
        if self._database.is_sqlite:
            planned: Any = func.json_array_length(document, "$.matrix")
            rest: Any = func.json_remove(document, "$.matrix", "$.settings")
        else:
            planned = func.json_array_length(document.op("->")("matrix"))
            rest = cast(cast(document, JSONB).op("-")("matrix").op("-")("settings"), Text)
        return select(table.c.seq, table.c.id, table.c.name, table.c.created_at, planned, rest)

    def _groups(self, wanted: Exploration) -> Groups:
        query = _Query(self._database, wanted.where, of_scorers=wanted.of_scorers)
        keys = []
        for at, name in enumerate(wanted.by):
            query.use({"week": "started_at", "day": "started_at"}.get(name, name))
            keys.append(query.key(name).label(f"k{at}"))
        query.use("objective")
        sums = [*_verdicts(of_scorers=wanted.of_scorers)]
        for measure in wanted.measures:
            sums += _moments(measure, of_scorers=wanted.of_scorers)
        named: list[Any] = [literal_column(f"k{at}") for at in range(len(keys))]
        statement = (
            query.over(select(*keys, *sums))
            .group_by(*named)
            .order_by(literal_column("n").desc(), *named)
            .limit(MAX_GROUPS + 1)
        )
        found = [_group_row(row, len(keys)) for row in self._read(statement)]
        return Groups(tuple(found[:MAX_GROUPS]), len(found) > MAX_GROUPS)

    def _sortable(self, name: str, column: Any) -> Any:
        """Text in the order of its characters, in whatever language the database sorts."""
        texts = field_of(name).kind in (Kind.TEXT, Kind.CHOICE)
        return column.collate("C") if texts and not self._database.is_sqlite else column

    def _read(self, statement: Any) -> Sequence[Any]:
        with self._database.reading("runs cannot be added up") as connection:
            return connection.execute(statement).all()

    def _remembered(self, asked: Hashable, work: Callable[[], Answer]) -> Answer:
        # Looked at first: what is written meanwhile makes the answer old, never new.
        key = (self._state.now(), asked)
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                found: Answer = self._kept[key]
                return found
        answer = work()
        with self._lock:
            self._kept[key] = answer
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return answer


class _State:
    """Tells whether anything was written since."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock = threading.Lock()
        self._held: Any = None

    def now(self) -> Hashable:
        """Equal as long as nothing was written."""
        if not self._database.is_sqlite:
            with self._database.reading("the store cannot be read") as connection:
                return str(connection.execute(text("SELECT pg_current_snapshot()::text")).scalar())
        with self._lock:
            if self._held is None:
                # The number says whether others wrote since this connection last looked, so it is kept.
                self._held = self._database.engine.raw_connection()
                self._held.detach()
                weakref.finalize(self, self._held.close)
            cursor = self._held.cursor()
            try:
                found: int = cursor.execute("PRAGMA data_version").fetchone()[0]
                return found
            finally:
                cursor.close()


class _Query:
    """The tables a question needs, and which of their rows."""

    def __init__(self, database: Database, where: Sequence[Condition], *, of_scorers: bool = False) -> None:
        self._sqlite = database.is_sqlite
        self._of_scorers = of_scorers
        self._where = where
        self._tables = {"evaluations"} if of_scorers else set[str]()
        self._keys: dict[str, Any] = {}
        for condition in where:
            if not field_of(condition.field).of_scorer:
                self.use(condition.field)
            elif not of_scorers:
                self._tables.add("evaluations")

    def use(self, name: str) -> None:
        """Have the table of a field at hand."""
        if name.startswith("tag:"):
            self._keys.setdefault(name, _tags.alias(f"t{len(self._keys)}"))
            return
        table = _COLUMNS[name].table
        if table is _judgements:
            self._tables |= {"evaluations", "judgements"}
        elif table is _evaluations:
            self._tables.add("evaluations")

    def column(self, name: str) -> Any:
        """The column of a field."""
        return self._keys[name].c.value if name.startswith("tag:") else _COLUMNS[name]

    def key(self, name: str) -> Any:
        """What runs are put together by."""
        if name in ("week", "day"):
            return self._span(name)
        # SQLite would read runs in the order of the groups, each from its own place between documents.
        return _unindexed(self.column(name)) if self._sqlite else self.column(name)

    def _span(self, name: str) -> Any:
        began = _runs.c.started_at
        if self._sqlite:
            # The next Sunday, and back to its Monday.
            return func.date(began, "weekday 0", "-6 days") if name == "week" else func.date(began)
        start = func.date_trunc(name, func.timezone("UTC", began))
        return func.to_char(start, "YYYY-MM-DD")

    def over(self, statement: Any) -> Any:
        """A statement over the tables that are needed, and the rows that are wanted."""
        joined: Any = _runs
        if "evaluations" in self._tables:
            joined = joined.outerjoin(_evaluations, self._current())
        if "judgements" in self._tables:
            first = and_(_judgements.c.evaluation_seq == _evaluations.c.seq, _judgements.c.position == 0)
            joined = joined.outerjoin(_judgements, first)
        if self._of_scorers:
            joined = joined.join(_results, _results.c.evaluation_seq == _evaluations.c.seq)
        for name, tags in self._keys.items():
            same = and_(tags.c.run_seq == _runs.c.seq, tags.c.key == name.removeprefix("tag:"))
            joined = joined.outerjoin(tags, same)
        return statement.select_from(joined).where(*self._conditions())

    def _current(self) -> Any:
        """Whether an evaluation is the run's current one.

        SQLite would look each up in the table, between documents; kept from that, it finds all columns that
        are added up in an index in the runs' own order.
        """
        if not self._sqlite:
            return _evaluations.c.seq == _runs.c.current_evaluation
        same = _evaluations.c.run_seq == _runs.c.seq
        return and_(same, _unindexed(_evaluations.c.seq) == _runs.c.current_evaluation)

    def _conditions(self) -> list[ColumnElement[bool]]:
        of_runs = [item for item in self._where if not field_of(item.field).of_scorer]
        found = self._held(of_runs)
        of_scorers = self._held([item for item in self._where if field_of(item.field).of_scorer])
        if of_scorers and self._of_scorers:
            found += of_scorers
        elif of_scorers:
            # One and the same scorer has to fulfil all of them.
            found.append(exists().where(_results.c.evaluation_seq == _evaluations.c.seq, *of_scorers))
        return found

    def _held(self, conditions: Sequence[Condition]) -> list[ColumnElement[bool]]:
        found: list[ColumnElement[bool]] = []
        said: dict[str, list[Condition]] = {}
        for condition in conditions:
            if condition.operator is Operator.IS:
                said.setdefault(condition.field, []).append(condition)
            else:
                found.append(self._test(condition))
        for field, any_of in said.items():
            if field == "experiment":
                found.append(_in_experiments([condition.value for condition in any_of]))
            else:
                found.append(or_(*(self._test(condition) for condition in any_of)))
        return found

    def _test(self, condition: Condition) -> ColumnElement[bool]:
        column, operator = self.column(condition.field), condition.operator
        kind = field_of(condition.field).kind
        test: ColumnElement[bool]
        if operator in (Operator.KNOWN, Operator.UNKNOWN):
            test = column.is_not(None) if operator is Operator.KNOWN else column.is_(None)
            return test
        if operator is Operator.CONTAINS:
            test = column.icontains(condition.value, autoescape=True)
            return test
        value: Any = condition.value
        if kind is Kind.NUMBER:
            # As a float, whatever the column is: a database would round it to the column's type.
            value = literal(condition.number(), Float)
        elif kind is Kind.MOMENT:
            value = moment_of(condition.value)
        if operator is Operator.IS_NOT:
            # What is not known is not that either.
            test = or_(column != value, column.is_(None))
        elif operator is Operator.AT_LEAST:
            test = column >= value
        elif operator is Operator.AT_MOST:
            test = column <= value
        else:
            test = column == value
        return test


def _unindexed(column: Any) -> Any:
    """The same value, by which SQLite does not look for an index."""
    return UnaryExpression(column, operator=custom_op("+"), type_=column.type)


def _in_experiments(given: Sequence[str]) -> ColumnElement[bool]:
    """Whether a run is of an experiment with one of these ids or names."""
    table = schema.experiments
    named: ColumnElement[bool] = _runs.c.experiment_id.in_(
        select(table.c.id).where(or_(table.c.id.in_(given), table.c.name.in_(given)))
    )
    return named


def _experiment(row: Sequence[Any]) -> ExperimentSummary:
    seq, experiment_id, name, created_at, planned, rest = row
    said = json.loads(rest)
    return ExperimentSummary(
        seq, experiment_id, name, created_at, planned or 0, said.get("max_cost_usd"), said.get("judge")
    )


def _progress(experiment: ExperimentSummary, rows: Sequence[GroupRow]) -> Progress:
    by_status: dict[str | None, GroupRow] = {row.key[1]: row for row in rows}
    finished = by_status.get(RunStatus.FINISHED.value)
    running = by_status.get(RunStatus.RUNNING.value)
    faulty = by_status.get(RunStatus.INFRASTRUCTURE_FAULT.value)
    costs = [row.moments[0] for row in rows if row.moments[0].known]
    return Progress(
        planned=experiment.planned,
        graded=0 if finished is None else finished.runs - finished.unfinished,
        ungraded=0 if finished is None else finished.unfinished,
        running=0 if running is None else running.runs,
        faults=0 if faulty is None else faulty.runs,
        cost_usd=sum(found.total for found in costs) if costs else None,
        cost_known=sum(found.known for found in costs),
    )


def _verdicts(*, of_scorers: bool) -> list[Any]:
    """How many runs there are, and what came of them."""
    verdict = _results.c.verdict if of_scorers else _evaluations.c.objective
    faulty = _runs.c.status == RunStatus.INFRASTRUCTURE_FAULT.value
    judge = _evaluations.c.judge

    def count(*conditions: Any) -> Any:
        return func.count().filter(*conditions)

    # A run that could not be run is an error whatever was graded of it before.
    sound = () if of_scorers else (~faulty,)
    wrong = verdict == Verdict.ERROR.value
    return [
        func.count().label("n"),
        count(verdict == Verdict.PASS.value, *sound),
        count(verdict == Verdict.FAIL.value, *sound),
        count(wrong if of_scorers else or_(faulty, wrong)),
        count(verdict == Verdict.NA.value, *sound),
        *(count(judge == found.value) for found in (Verdict.PASS, Verdict.FAIL, Verdict.ERROR)),
    ]


def _moments(measure: str, *, of_scorers: bool) -> list[Any]:
    column: Any = _COLUMNS[measure]
    if of_scorers:
        column = {"score": _results.c.score, "wall_s": _results.c.duration_s}.get(measure, column)
    elif measure in ("score", "reward", "mean_score"):
        # As reports do: what could not be graded is in no mean.
        column = case((_evaluations.c.objective.in_((Verdict.PASS.value, Verdict.FAIL.value)), column))
    # Multiplied as floats: squares of tokens do not fit into whole numbers.
    value = column * 1.0
    return [func.count(column), func.sum(value), func.sum(value * value)]


def _group_row(row: Sequence[Any], keys: int) -> GroupRow:
    counts, sums = row[keys : keys + 8], row[keys + 8 :]
    moments = tuple(
        Moments(sums[at], float(sums[at + 1] or 0.0), float(sums[at + 2] or 0.0))
        for at in range(0, len(sums), 3)
    )
    key = tuple(None if value is None else str(value) for value in row[:keys])
    runs, passed, failed, errors, not_applicable, judge_passed, judge_failed, judge_errors = counts
    return GroupRow(
        key, runs, passed, failed, errors, not_applicable, judge_passed, judge_failed, judge_errors, moments
    )
