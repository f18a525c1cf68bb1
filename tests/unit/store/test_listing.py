"""Lists of runs: filters, orders, and pages in both directions."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import pytest

from adjudge.records.listing import Bound, RunFilter, RunSort, RunSummary, SortColumn
from adjudge.records.run import AgentOutcome, AgentRef, AgentStatus, Attempt, RunStatus, TokenUsage
from adjudge.settings import Settings
from adjudge.store.listing import cursor_of
from adjudge.store.opening import store_for
from adjudge.store.runs import RunDatabase
from adjudge.testing.runs import graded_run, make_run, make_task
from adjudge.workflows.browsing import read_runs

pytestmark = pytest.mark.anyone

VERDICTS = ("PASS", "FAIL", "NA", "ERROR")
COUNT = 23


@pytest.fixture
def store(store_settings: Settings) -> Iterator[RunDatabase]:
    """Runs with ties, with values missing, and two that were never graded."""
    with store_for(store_settings) as opened:
        for number in range(COUNT):
            usage = TokenUsage(cost_usd=None if number % 5 == 0 else number % 4 / 10, input_tokens=number % 6)
            run = make_run(
                number,
                task=make_task(f"Task_{number % 3}"),
                agent=AgentRef(name=f"agent{'%' if number % 2 else '-'}x", type="command"),
                model=None if number % 4 == 1 else f"m-{number % 3}",
                trial=number % 2 + 1,
                tags={"suite": f"Suite {number % 2}"},
                attempt=Attempt(
                    outcome=AgentOutcome(status=AgentStatus.COMPLETED, usage=usage, wall_s=number % 7)
                ),
            )
            opened.save_run(run)
            if number < COUNT - 2:
                score = None if number % 6 == 0 else number % 3 / 2
                opened.save_evaluation(
                    run.id, graded_run(run, VERDICTS[number % 4], score=score, reward=score)
                )
                if number == 4:
                    # The one that counts is the newer one.
                    opened.save_evaluation(run.id, graded_run(run, "FAIL", score=0.25, reward=0.25))
        yield opened


def everything(store: RunDatabase, wanted: RunFilter, sort: RunSort, size: int) -> list[RunSummary]:
    """A list, page by page, to its end; and back again, which has to give the same."""
    page = read_runs(store, wanted, sort, limit=size)
    assert page.earlier is None
    pages = [page.rows]
    while page.later is not None:
        page = read_runs(store, wanted, sort, after=page.later, limit=size)
        assert page.rows
        pages.append(page.rows)
    back = [pages[-1]]
    while page.earlier is not None:
        page = read_runs(store, wanted, sort, before=page.earlier, limit=size)
        back.append(page.rows)
    assert back[::-1] == pages
    return [row for rows in pages for row in rows]


def test_every_order_holds_over_all_pages(store: RunDatabase) -> None:
    for column in SortColumn:
        for descending in (True, False):
            check_order(store, column, descending)


def check_order(store: RunDatabase, column: SortColumn, descending: bool) -> None:
    sort = RunSort(column=column, descending=descending)
    rows = everything(store, RunFilter(), sort, 4)
    assert sorted(row.seq for row in rows) == list(range(1, COUNT + 1))
    if column is SortColumn.RECORDED:
        assert [row.seq for row in rows] == sorted((row.seq for row in rows), reverse=descending)
        return
    places = [cursor_of(row, sort) for row in rows]
    without = [place.seq for place in places if place.value is None]
    assert [place.seq for place in places[len(places) - len(without) :]] == without
    assert without == sorted(without, reverse=True)
    for one, other in pairwise(place for place in places if place.value is not None):
        first: Any = (one.value, one.seq)
        second: Any = (other.value, other.seq)
        assert first > second if descending else first < second


WANTED: dict[str, tuple[RunFilter, Any]] = {
    "task": (RunFilter(task="Task_1"), lambda row: row.task_name == "Task_1"),
    "agent": (RunFilter(agent="agent%x"), lambda row: row.agent == "agent%x"),
    "model": (RunFilter(model="m-2"), lambda row: row.model == "m-2"),
    "trial": (RunFilter(trial=2), lambda row: row.trial == 2),
    "status": (RunFilter(status=RunStatus.RUNNING), lambda row: False),
    "objective": (RunFilter(objective="FAIL"), lambda row: row.objective == "FAIL"),
    "gates": (RunFilter(objective="FAIL", judge="NA", run_gate="PASS"), lambda row: row.objective == "FAIL"),
    "not graded": (RunFilter(graded=False), lambda row: row.evaluation_id is None),
    "score": (
        RunFilter(bounds=(Bound(column="score", at_least=0.2, at_most=0.5),)),
        lambda row: row.score is not None and 0.2 <= row.score <= 0.5,
    ),
    "cost": (
        RunFilter(bounds=(Bound(column="cost_usd", at_least=0.2),)),
        lambda row: row.cost_usd is not None and row.cost_usd >= 0.2,
    ),
    "tokens": (
        RunFilter(bounds=(Bound(column="total_tokens", at_most=1.5),)),
        lambda row: row.total_tokens is not None and row.total_tokens <= 1.5,
    ),
    "time": (RunFilter(bounds=(Bound(column="wall_s", at_least=5),)), lambda row: row.wall_s >= 5),
    "since": (
        RunFilter(since=datetime(2026, 1, 1, 0, 5, tzinfo=UTC), until=datetime(2026, 1, 1, 0, 9, tzinfo=UTC)),
        lambda row: 5 <= row.started_at.minute < 9,
    ),
    "tag": (RunFilter(tags=(("suite", "Suite 1"),)), lambda row: row.seq % 2 == 0),
    "text": (RunFilter(text="TASK_1"), lambda row: row.task_name == "Task_1"),
    "no wildcards": (RunFilter(text="t%k_1"), lambda row: False),
    "a percent sign": (RunFilter(text="t%x"), lambda row: row.agent == "agent%x"),
    "two words": (RunFilter(text="task_2 suite"), lambda row: row.task_name == "Task_2"),
    "words in either": (RunFilter(text=" task_2   m-1 "), lambda row: False),
    "nothing but space": (RunFilter(text="  "), lambda row: True),
}


def test_every_filter_in_some_orders(store: RunDatabase) -> None:
    listed = list(store.summaries())
    for name, (wanted, fits) in WANTED.items():
        expected = [row.seq for row in listed if fits(row)]
        for column in (SortColumn.RECORDED, SortColumn.SCORE, SortColumn.COST):
            rows = everything(store, wanted, RunSort(column=column), 5)
            assert sorted((row.seq for row in rows), reverse=True) == expected, name
        assert [row.seq for row in store.summaries(wanted)] == expected, name


def test_the_evaluation_that_counts_is_listed(store: RunDatabase) -> None:
    row = next(
        row for row in everything(store, RunFilter(), RunSort(column=SortColumn.SCORE), 5) if row.seq == 5
    )
    assert (row.score, row.objective) == (0.25, "FAIL")


def test_an_empty_list_has_no_other_pages(store: RunDatabase) -> None:
    page = read_runs(store, RunFilter(agent="nobody"), RunSort(), limit=5)
    assert (page.rows, page.earlier, page.later) == ([], None, None)
