"""Sums over many runs: the same from SQLite and PostgreSQL, and never of yesterday."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from adjudge.records.evaluation import GateResult, Gates, ObjectiveGateResult
from adjudge.records.exploring import (
    FIELDS,
    GROUPS,
    MEASURES,
    Bucket,
    Condition,
    Exploration,
    GroupRow,
    Moments,
    Operator,
    RowOrder,
)
from adjudge.records.run import (
    AgentOutcome,
    AgentRef,
    AgentStatus,
    Attempt,
    Experiment,
    RunStatus,
    TokenUsage,
)
from adjudge.settings import Settings
from adjudge.store.exploring import Explorer
from adjudge.store.opening import store_for
from adjudge.store.runs import RunDatabase
from adjudge.testing.results import scorer_result
from adjudge.testing.runs import graded_run, make_run, make_task

pytestmark = pytest.mark.anyone

EXPERIMENT = "aaaabbbbcccc"

# agent, model, task, objective, judge, score, cost
RUNS: tuple[tuple[Any, ...], ...] = (
    ("alpha", "m-1", "one", "PASS", "PASS", 1.0, 0.5),
    ("alpha", "m-1", "one", "FAIL", "PASS", 0.25, 1.5),
    ("alpha", "m-1", "two", "PASS", "FAIL", 1.0, None),
    ("alpha", None, "two", "ERROR", "NA", None, 0.1),
    ("beta", "m-1", "one", "NA", "FAIL", None, 0.2),
    ("beta", "m-1", "two", "FAIL", "FAIL", 0.0, 0.2),
    ("beta", "m-1", "two", "running", None, None, None),
    ("beta", "m-1", "two", "fault", None, None, None),
)


def fill(store: RunDatabase) -> None:
    began = datetime(2026, 3, 1, 23, 30, tzinfo=UTC)
    made = []
    for number, (agent, model, task, objective, judge, score, cost) in enumerate(RUNS):
        run = make_run(
            number,
            agent=AgentRef(name=agent, type="command"),
            model=model,
            task=make_task(task),
            trial=number + 1,
            started_at=began + timedelta(days=number),
            tags={"suite": "small" if number % 2 else "large"} if number < 6 else {},
            experiment_id=EXPERIMENT if number > 3 else None,
            attempt=Attempt(
                outcome=AgentOutcome(
                    status=AgentStatus.COMPLETED,
                    usage=TokenUsage(input_tokens=3_000_000_000, cost_usd=cost),
                    wall_s=10.0 * number,
                )
            ),
        )
        if objective == "running":
            run = run.model_copy(update={"status": RunStatus.RUNNING, "attempt": None, "ended_at": None})
        elif objective == "fault":
            run = run.model_copy(update={"status": RunStatus.INFRASTRUCTURE_FAULT, "attempt": None})
        made.append((run, objective, judge, score))
    store.add_experiment(
        Experiment(
            id=EXPERIMENT,
            name="nightly",
            created_at=began,
            matrix=tuple(run.key for run, *_ in made[4:]) * 2,
            max_cost_usd=9.5,
            settings={"jobs": 2},
        )
    )
    for run, objective, judge, score in made:
        store.save_run(run)
        if judge is None:
            continue
        gates = Gates(
            objective=ObjectiveGateResult(verdict=objective, reason="", mean_score=score),
            judge=GateResult(verdict=judge, reason=""),
            run=GateResult(verdict="PASS", reason=""),
        )
        said = (
            {"model": "judge-1", "verdict": judge, "failure_mode": "incorrect"} if judge == "FAIL" else None
        )
        scorers = (scorer_result(objective, name="unit tests"), scorer_result("PASS", name="scope"))
        store.save_evaluation(
            run.id,
            graded_run(run, objective, gates=gates, score=score, reward=score, judge=said, scorers=scorers),
        )


@pytest.fixture
def store(store_settings: Settings) -> Iterator[RunDatabase]:
    with store_for(store_settings) as opened:
        fill(opened)
        yield opened


def where(*given: tuple[str, str, str]) -> tuple[Condition, ...]:
    return tuple(Condition(field=field, operator=Operator(how), value=value) for field, how, value in given)


def keys(explorer: Explorer, by: str, *given: tuple[str, str, str]) -> dict[str | None, int]:
    rows = explorer.groups(Exploration(where=where(*given), by=(by,), measures=())).rows
    return {row.key[0]: row.runs for row in rows}


def test_groups_gates_rows_and_experiments(store: RunDatabase) -> None:
    explorer = Explorer(store.database)
    found = explorer.groups(Exploration())
    assert found.more is False
    rows = {row.key: row for row in found.rows}
    assert rows[("alpha", "m-1")] == GroupRow(
        ("alpha", "m-1"), 3, 2, 1, 0, 0, 2, 1, 0, (Moments(3, 2.25, 2.0625), Moments(2, 2.0, 2.5))
    )
    assert rows[("alpha", None)] == GroupRow(
        ("alpha", None), 1, 0, 0, 1, 0, 0, 0, 0, (Moments(0, 0.0, 0.0), Moments(1, 0.1, 0.1 * 0.1))
    )
    beta = rows[("beta", "m-1")]
    # An infrastructure fault is an error, what runs is missing, and NA is neither.
    assert (beta.runs, beta.passed, beta.failed, beta.errors, beta.not_applicable) == (4, 0, 1, 1, 1)
    assert (beta.missing, beta.unfinished) == (2, 1)

    assert explorer.gates(()) == {
        ("PASS", "PASS", "PASS"): 1,
        ("FAIL", "PASS", "PASS"): 1,
        ("PASS", "FAIL", "PASS"): 1,
        ("ERROR", "NA", "PASS"): 1,
        ("NA", "FAIL", "PASS"): 1,
        ("FAIL", "FAIL", "PASS"): 1,
    }
    assert explorer.distribution((), "score") == (
        Bucket(0, "FAIL", 1),
        Bucket(5, "FAIL", 1),
        Bucket(19, "PASS", 2),
    )

    assert keys(explorer, "week") == {"2026-02-23": 1, "2026-03-02": 7}
    assert keys(explorer, "day")["2026-03-01"] == 1
    assert keys(explorer, "tag:suite") == {"large": 3, "small": 3, None: 2}
    assert keys(explorer, "failure_mode") == {"incorrect": 3, None: 5}
    assert keys(explorer, "judge_model") == {"judge-1": 3, None: 5}
    assert keys(explorer, "experiment") == {EXPERIMENT: 4, None: 4}
    assert keys(explorer, "trial")["3"] == 1
    scorers = explorer.groups(Exploration(by=("scorer",), measures=("score",))).rows
    assert {row.key[0]: (row.runs, row.passed, row.failed, row.errors, row.missing) for row in scorers} == {
        "unit tests": (6, 2, 2, 1, 1),
        "scope": (6, 6, 0, 0, 0),
    }
    tokens = explorer.groups(Exploration(by=("agent",), measures=("total_tokens",))).rows[0].moments[0]
    assert tokens == pytest.approx(Moments(4, 12e9, 36e18))

    columns = ("run", "agent", "score", "started_at", "judge_verdict", "tag:suite")
    newest = explorer.rows((), columns, RowOrder(), limit=2)
    assert newest[0] == (
        make_run(7).id, "beta", None, datetime(2026, 3, 8, 23, 30, tzinfo=UTC), None, None,
    )  # fmt: skip
    best = explorer.rows((), ("score", "trial"), RowOrder(field="score"), limit=9)
    assert best[:4] == [(1.0, 3), (1.0, 1), (0.25, 2), (0.0, 6)]
    assert explorer.rows((), ("score", "trial"), RowOrder(field="score"), limit=2, skip=3)[0] == (0.0, 6)
    assert explorer.rows((), ("model",), RowOrder(field="model", descending=False), limit=9)[-1] == (None,)
    assert explorer.rows((), ("trial",), RowOrder(descending=False), limit=1) == [(1,)]

    summary = explorer.experiments()[0]
    assert summary == explorer.experiment(EXPERIMENT)
    assert summary[1:] == (
        EXPERIMENT, "nightly", datetime(2026, 3, 1, 23, 30, tzinfo=UTC), 8, 9.5, None,
    )  # fmt: skip
    progress = explorer.progress([summary])[EXPERIMENT]
    assert progress._asdict() == {
        "planned": 8, "graded": 2, "ungraded": 0, "running": 1, "faults": 1,
        "cost_usd": pytest.approx(0.4), "cost_known": 2,
    }  # fmt: skip
    assert explorer.experiment("nothing") is None
    assert explorer.experiments(before=summary.seq) == []

    assert explorer.tag_keys() == ("suite",)
    assert explorer.suggestions("agent") == ("alpha", "beta")
    assert explorer.suggestions("tag:suite") == ("large", "small")
    assert explorer.suggestions("score") == ()


def test_every_condition_narrows_as_it_says(store: RunDatabase) -> None:
    explorer = Explorer(store.database)
    for given, expected in (
        ([("agent", "is", "alpha")], 4),
        ([("agent", "is", "alpha"), ("agent", "is", "beta")], 8),
        ([("agent", "is", "alpha"), ("model", "is", "m-1")], 3),
        ([("agent", "is-not", "alpha")], 4),
        ([("model", "is-not", "m-1")], 1),
        ([("agent", "contains", "ALPH")], 4),
        ([("agent", "contains", "%")], 0),
        ([("score", "at-least", "0.25")], 3),
        ([("score", "at-most", "0.25")], 2),
        ([("trial", "at-least", "1.5")], 7),
        ([("trial", "is", "3")], 1),
        ([("score", "unknown", "")], 4),
        ([("score", "known", "")], 4),
        ([("started_at", "at-least", "2026-03-03")], 6),
        ([("objective", "is", "FAIL"), ("judge", "is", "FAIL")], 1),
        ([("judge_failure_mode", "is", "incorrect")], 3),
        ([("tag:suite", "is", "small")], 3),
        ([("tag:suite", "unknown", "")], 2),
        ([("tag:other", "known", "")], 0),
        ([("experiment", "is", "nightly")], 4),
        ([("experiment", "is", EXPERIMENT), ("status", "is", "finished")], 2),
        ([("scorer", "is", "unit tests"), ("scorer_verdict", "is", "FAIL")], 2),
        # One scorer has to fulfil both, not one this and one that.
        ([("scorer", "is", "scope"), ("scorer_verdict", "is", "FAIL")], 0),
        ([("scorer_score", "at-least", "1")], 6),
        ([("run", "is", "' OR 1=1 --")], 0),
    ):
        assert explorer.count(where(*given)) == expected, given
    failing = where(("scorer_verdict", "is", "FAIL"))
    rows = explorer.groups(Exploration(where=failing, by=("scorer",), measures=())).rows
    assert [(row.key, row.runs) for row in rows] == [(("unit tests",), 2)]


def test_everything_can_be_asked_for(store: RunDatabase) -> None:
    explorer = Explorer(store.database)
    for by in GROUPS:
        assert explorer.groups(Exploration(by=(by,), measures=tuple(MEASURES))).rows, by
    columns = [name for name, field in FIELDS.items() if not field.of_scorer]
    for name in columns:
        rows = explorer.rows((), columns, RowOrder(field=name), limit=20)
        assert [len(row) for row in rows] == [len(columns)] * 8
    for name in FIELDS:
        known = [explorer.count(where((name, how, ""))) for how in ("known", "unknown")]
        # A run without an evaluation has no scorer of which anything could be unknown.
        assert sum(known) == (6 if FIELDS[name].of_scorer else 8) or name == "scorer_score"
        assert isinstance(explorer.suggestions(name), tuple)


def test_answers_are_kept_until_something_is_written(store: RunDatabase) -> None:
    explorer = Explorer(store.database)
    asked = Exploration()
    first = explorer.groups(asked)
    assert explorer.groups(asked) is first
    run = make_run(99, agent=AgentRef(name="gamma", type="command"))
    store.save_run(run)
    assert ("gamma", "m-1") in {row.key for row in explorer.groups(asked).rows}
    store.save_evaluation(run.id, graded_run(run, "PASS"))
    assert {row.key: row.passed for row in explorer.groups(asked).rows}[("gamma", "m-1")] == 1
