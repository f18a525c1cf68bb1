"""Lists of runs: which rows, in which order, from where on.

Every page is found by the values of the row it continues after, never by counting rows, so the thousandth
page costs what the first does. A page is read in two steps: which runs, then their rows. The first looks at
indices only (`runs_listed`, `evaluations_listed`), because rows with their documents are wide; over 100,000
runs the costliest filters and orders take some 30 ms.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Literal

from sqlalchemy import ColumnElement, Connection, Select, and_, bindparam, or_, select, tuple_
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement

from adjudge.records.listing import RunCursor, RunFilter, RunSort, RunSummary, SortColumn
from adjudge.store import schema

__all__ = ["SUMMARY", "Direction", "cursor_of", "narrowed", "read_page"]

Direction = Literal["after", "before"]

_MAX_WORDS = 8
_MAX_TEXT = 200

SUMMARY = (
    *(
        schema.runs.c[column]
        for column in (
            "seq",
            "id",
            "experiment_id",
            "task_name",
            "task_digest",
            "agent",
            "model",
            "trial",
            "status",
            "outcome",
            "started_at",
            "ended_at",
            "wall_s",
            "cost_usd",
            "total_tokens",
            "tool_calls",
        )
    ),
    *(
        schema.evaluations.c[column]
        for column in (
            "id",
            "objective",
            "judge",
            "run_gate",
            "score",
            "mean_score",
            "reward",
            "integrity",
            "failure_mode",
            "started_at",
        )
    ),
)
"""The columns of a `RunSummary`, in its order."""


class _Aside(FunctionElement[Any]):
    """A column as it is, of which SQLite's planner is to use no index.

    It takes any equality for a rare one. Half of all runs pass: reading them all by the index of their gate,
    and sorting them, takes longer than going through the newest ones.
    """

    inherit_cache = True


@compiles(_Aside)
def _compile_aside(element: _Aside, compiler: Any, **options: Any) -> str:
    return f"{compiler.process(element.clauses, **options)}"


@compiles(_Aside, "sqlite")
def _compile_aside_for_sqlite(element: _Aside, compiler: Any, **options: Any) -> str:
    return f"+{compiler.process(element.clauses, **options)}"


class _Occurs(FunctionElement[bool]):
    """Whether a pattern occurs in a column, whatever the case of its letters. SQLite's LIKE ignores it."""

    inherit_cache = True


@compiles(_Occurs)
def _compile_occurs(element: _Occurs, compiler: Any, **options: Any) -> str:
    column, pattern = (compiler.process(clause, **options) for clause in element.clauses)
    return f"({column} {'LIKE' if compiler.dialect.name == 'sqlite' else 'ILIKE'} {pattern} ESCAPE '!')"


def narrowed(statement: Select[Any], wanted: RunFilter, *, scorers: bool = False) -> Select[Any]:
    """A statement over the runs that are wanted, each beside its current evaluation."""
    runs, evaluations = schema.runs, schema.evaluations
    joined: Any = runs.outerjoin(evaluations, evaluations.c.seq == runs.c.current_evaluation)
    if scorers:
        results = schema.scorer_results
        joined = joined.join(results, results.c.evaluation_seq == evaluations.c.seq)
    return statement.select_from(joined).where(*_conditions(wanted))


def _conditions(wanted: RunFilter) -> list[ColumnElement[bool]]:
    runs, evaluations = schema.runs, schema.evaluations
    common: tuple[tuple[Any, Any], ...] = (
        (runs.c.agent, wanted.agent),
        (runs.c.model, wanted.model),
        (runs.c.status, wanted.status),
        (evaluations.c.objective, wanted.objective),
        (evaluations.c.judge, wanted.judge),
        (evaluations.c.run_gate, wanted.run_gate),
        (evaluations.c.integrity, wanted.integrity),
    )
    rare: tuple[tuple[Any, Any], ...] = (
        (runs.c.experiment_id, wanted.experiment_id),
        (evaluations.c.failure_mode, wanted.failure_mode),
    )
    found: list[ColumnElement[bool]] = [column == value for column, value in rare if value is not None]
    found += [_Aside(column) == str(value) for column, value in common if value is not None]
    if wanted.trial is not None:
        found.append(runs.c.trial == wanted.trial)
    if wanted.task is not None:
        found.append(_is_task(wanted.task))
    for key, value in wanted.tags:
        tagged = select(schema.tags.c.run_seq).where(schema.tags.c.key == key, schema.tags.c.value == value)
        found.append(runs.c.seq.in_(tagged))
    if wanted.graded is not None:
        held = runs.c.current_evaluation
        found.append(held.is_not(None) if wanted.graded else held.is_(None))
    for bound in wanted.bounds:
        table = evaluations if bound.column in evaluations.c else runs
        if bound.at_least is not None:
            found.append(table.c[bound.column] >= bound.at_least)
        if bound.at_most is not None:
            found.append(table.c[bound.column] <= bound.at_most)
    if wanted.since is not None:
        found.append(runs.c.started_at >= wanted.since)
    if wanted.until is not None:
        found.append(runs.c.started_at < wanted.until)
    if wanted.text is not None:
        found += [_has_word(word) for word in wanted.text[:_MAX_TEXT].split()[:_MAX_WORDS]]
    return found


def _has_word(word: str) -> ColumnElement[bool]:
    runs, tags, evaluations = schema.runs, schema.tags, schema.evaluations
    escaped = re.sub("([!%_])", r"!\1", word)
    pattern: Any = bindparam(None, f"%{escaped}%", unique=True)
    named = [
        _Occurs(runs.c[name], pattern) for name in ("id", "task_name", "agent", "model", "status", "outcome")
    ]
    tagged = select(tags.c.run_seq).where(_Occurs(tags.c.value, pattern))
    mode = evaluations.c.failure_mode
    failed = select(evaluations.c.seq).where(mode.is_not(None), _Occurs(mode, pattern))
    return or_(*named, runs.c.seq.in_(tagged), runs.c.current_evaluation.in_(failed))


_COLUMNS: dict[SortColumn, Any] = {
    SortColumn.RECORDED: schema.runs.c.seq,
    SortColumn.TASK: schema.runs.c.task_name,
    SortColumn.AGENT: schema.runs.c.agent,
    SortColumn.MODEL: schema.runs.c.model,
    SortColumn.TRIAL: schema.runs.c.trial,
    SortColumn.SCORE: schema.evaluations.c.score,
    SortColumn.REWARD: schema.evaluations.c.reward,
    SortColumn.COST: schema.runs.c.cost_usd,
    SortColumn.TOKENS: schema.runs.c.total_tokens,
    SortColumn.TIME: schema.runs.c.wall_s,
}


def cursor_of(row: RunSummary, sort: RunSort) -> RunCursor:
    """Where a row stands in a list of that order."""
    column = sort.column
    if column is SortColumn.RECORDED:
        return RunCursor(value=None, seq=row.seq)
    names = {
        SortColumn.TASK: "task_name",
        SortColumn.COST: "cost_usd",
        SortColumn.TOKENS: "total_tokens",
        SortColumn.TIME: "wall_s",
    }
    return RunCursor(value=getattr(row, names.get(column, column.value)), seq=row.seq)


def read_page(
    connection: Connection,
    wanted: RunFilter,
    sort: RunSort,
    *,
    cursor: RunCursor | None = None,
    direction: Direction = "after",
    limit: int,
) -> list[RunSummary]:
    """Some rows of a sorted list, from its beginning, after a place or before it, in the list's order."""
    found: list[int] = []
    backwards = direction == "before"
    # Rows with a value, then those without; the other way round when the list is read backwards.
    parts = [True, False] if sort.column is not SortColumn.RECORDED else [True]
    for valued in reversed(parts) if backwards else parts:
        place = _beyond(sort, cursor, valued=valued, backwards=backwards)
        if place is None or len(found) >= limit:
            continue
        statement = _part(wanted, sort, place, valued=valued, backwards=backwards)
        found += connection.execute(statement.limit(limit - len(found))).scalars().all()
    rows = {row.seq: row for row in _rows(connection, found)}
    return [rows[seq] for seq in (reversed(found) if backwards else found)]


def _rows(connection: Connection, numbers: Sequence[int]) -> list[RunSummary]:
    if not numbers:
        return []
    statement = narrowed(select(*SUMMARY), RunFilter()).where(schema.runs.c.seq.in_(numbers))
    return [RunSummary(*row) for row in connection.execute(statement)]


def _beyond(
    sort: RunSort, cursor: RunCursor | None, *, valued: bool, backwards: bool
) -> Sequence[ColumnElement[bool]] | None:
    """What rows of one part of the list have to fulfil to lie beyond a place; None when none of them do."""
    if cursor is None:
        return ()
    seq = schema.runs.c.seq
    if sort.column is SortColumn.RECORDED:
        return (seq > cursor.seq if sort.descending == backwards else seq < cursor.seq,)
    if not valued:
        if cursor.value is not None:
            return None if backwards else ()
        return (seq > cursor.seq if backwards else seq < cursor.seq,)
    if cursor.value is None:
        return () if backwards else None
    here, there = tuple_(_COLUMNS[sort.column], seq), tuple_(cursor.value, cursor.seq)
    return (here > there if sort.descending == backwards else here < there,)


def _part(
    wanted: RunFilter,
    sort: RunSort,
    place: Sequence[ColumnElement[bool]],
    *,
    valued: bool,
    backwards: bool,
) -> Select[Any]:
    """The numbers of the runs of one part of a list."""
    runs, evaluations = schema.runs, schema.evaluations
    column = _COLUMNS[sort.column]
    if column.table is evaluations or _asks_evaluations(wanted):
        # Runs first and an evaluation for each, from the index: the other way round rows would be read.
        current = and_(
            evaluations.c.run_seq == _Aside(runs.c.seq),
            _Aside(evaluations.c.seq) == runs.c.current_evaluation,
        )
        statement = select(runs.c.seq).select_from(runs.outerjoin(evaluations, current))
    else:
        statement = select(runs.c.seq)
    order: tuple[Any, ...] = (runs.c.seq,)
    if sort.column is not SortColumn.RECORDED:
        statement = statement.where(column.is_not(None) if valued else column.is_(None))
        order = (column, runs.c.seq) if valued else order
    # Rows without a value are listed newest first, whichever way the others go.
    descending = (sort.descending if valued else True) != backwards
    return statement.where(*_conditions(wanted), *place).order_by(
        *(item.desc() if descending else item.asc() for item in order)
    )


def _asks_evaluations(wanted: RunFilter) -> bool:
    named = (wanted.objective, wanted.judge, wanted.run_gate, wanted.integrity, wanted.failure_mode)
    return any(value is not None for value in named) or any(
        bound.column in schema.evaluations.c for bound in wanted.bounds
    )


def _is_task(given: str) -> Any:
    named = schema.runs.c.task_name == given
    digest = given.removeprefix("sha256:")
    if not re.fullmatch(r"[0-9a-f]{6,64}", digest):
        return named
    held = schema.runs.c.task_digest
    return or_(named, and_(held >= f"sha256:{digest}", held < f"sha256:{digest}{{"))
