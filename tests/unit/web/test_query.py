"""Addresses of lists, both ways."""

from __future__ import annotations

from datetime import UTC, datetime
from urllib.parse import parse_qsl, urlsplit

import pytest
from fastapi import HTTPException

from adjudge.records.listing import Bound, RunCursor, RunFilter, RunSort, SortColumn
from adjudge.web.api.models import RunParameters
from adjudge.web.query import PARAMETERS, RunQuery

pytestmark = pytest.mark.anyone

FULL = RunQuery(
    wanted=RunFilter(
        experiment_id="abc",
        task="a task & more",
        agent="agent=1",
        model="m/1",
        trial=3,
        status="finished",
        objective="FAIL",
        judge="NA",
        run_gate="ERROR",
        integrity="suspect",
        failure_mode="gave up",
        tags=(("suite", "a=b"), ("size", "")),
        text="x  <b>&\u202e",
        bounds=(
            Bound(column="score", at_least=0.25),
            Bound(column="cost_usd", at_least=0.1, at_most=1e-7),
            Bound(column="total_tokens", at_most=1_234_567_890),
        ),
        since=datetime(2026, 1, 2, tzinfo=UTC),
        until=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
        graded=True,
    ),
    sort=RunSort(column=SortColumn.COST, descending=False),
    after=RunCursor(value=0.1 + 0.2, seq=7),
    limit=20,
)


def read(address: str) -> RunQuery:
    return RunQuery.parse(parse_qsl(urlsplit(address).query, keep_blank_values=True))


@pytest.mark.parametrize(
    "query",
    [
        RunQuery(),
        FULL,
        FULL.at(before=RunCursor(value=None, seq=1)),
        RunQuery(sort=RunSort(column=SortColumn.TASK), after=RunCursor(value="t \U0001f600 \ud7ff", seq=1)),
        RunQuery(sort=RunSort(descending=False), after=RunCursor(value=None, seq=1)),
    ],
)
def test_an_address_says_all_of_a_query(query: RunQuery) -> None:
    assert read(query.url()) == query


def test_parameters_are_documented() -> None:
    assert set(RunParameters.model_fields) == set(PARAMETERS)


def test_empty_fields_of_a_form_ask_for_nothing() -> None:
    assert read("/runs?q=&task=&score_min=&sort=&limit=") == RunQuery()


def test_other_lists_from_here() -> None:
    assert FULL.at().after is None
    assert FULL.sorted_by(SortColumn.COST).sort.descending
    assert FULL.sorted_by(SortColumn.SCORE).sort == RunSort(column=SortColumn.SCORE, descending=True)
    assert FULL.sorted_by(SortColumn.TASK).sort == RunSort(column=SortColumn.TASK, descending=False)
    assert FULL.sorted_by(SortColumn.TASK).after is None
    fewer = FULL.without("tag", "score_min", "q")
    assert (fewer.wanted.tags, fewer.wanted.text, len(fewer.wanted.bounds)) == ((), None, 2)
    assert fewer.wanted.task == FULL.wanted.task


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("/runs?objectiv=FAIL", "there is no parameter 'objectiv'; did you mean objective?"),
        ("/runs?objective=GOOD", "objective: one of PASS, FAIL, NA, ERROR expected"),
        ("/runs?status=x", "status: one of pending, running, finished, infrastructure_fault expected"),
        ("/runs?integrity=x", "integrity: one of"),
        ("/runs?score_min=much", "score_min: a number expected"),
        ("/runs?score_min=nan", "score_min: a number expected"),
        ("/runs?cost_max=1e999", "cost_max: a number expected"),
        ("/runs?trial=-1", "trial: a whole number expected"),
        ("/runs?trial=\u0664", "trial: a whole number expected"),
        ("/runs?limit=0", "limit: a whole number from 1 to 200 expected"),
        ("/runs?limit=201", "limit: a whole number from 1 to 200 expected"),
        ("/runs?tag=x", "tag: KEY=VALUE expected"),
        ("/runs?since=yesterday", "since: a date such as"),
        ("/runs?since=0001-01-01T00:00:00%2B23:00", "since: a date such as"),
        ("/runs?sort=-colour", "sort: one of"),
        ("/runs?graded=maybe", "graded: yes or no expected"),
        ("/runs?task=%00", "task: no text has a null character"),
        (f"/runs?q={'x' * 501}", "q: longer than 500 characters"),
        ("/runs?after=x", "after: not a place in this list"),
        ("/runs?after=%C3%A9", "after: not a place in this list"),
        ("/runs?after=WzEsMSwxXQ", "after: not a place in this list"),
        ("/runs?sort=task&after=WzEsMV0", "after: not a place in this list"),
        ("/runs?sort=cost&after=WyJ4IiwxXQ", "after: not a place in this list"),
        ("/runs?sort=cost&after=W3RydWUsMV0", "after: not a place in this list"),
        ("/runs?sort=cost&before=WzFlOTk5LDFd", "before: not a place in this list"),
        ("/runs?before=W251bGwsLTFd", "before: not a place in this list"),
    ],
)
def test_what_cannot_be_asked_is_said(address: str, said: str) -> None:
    with pytest.raises(HTTPException) as refused:
        read(address)
    assert refused.value.status_code == 400
    assert str(refused.value.detail).startswith(said)
