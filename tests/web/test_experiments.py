"""Experiments: followed while they run, compared when they are done."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from starlette.testclient import TestClient

from adjudge.records.run import AgentRef, Experiment, Run, RunStatus
from adjudge.store.runs import RunDatabase
from adjudge.testing.runs import graded_run, make_run, make_task

pytestmark = pytest.mark.anyone

FIRST, SECOND = "aaaabbbbcccc", "ddddeeeeffff"


def matrix(experiment: str, offset: int, tasks: int = 8) -> list[Run]:
    return [
        make_run(
            offset + 2 * task + agent,
            task=make_task(f"task {task}"),
            agent=AgentRef(name=("alpha", "beta")[agent], type="command"),
            experiment_id=experiment,
        )
        for task in range(tasks)
        for agent in (0, 1)
    ]


def begin(store: RunDatabase, experiment: str, name: str, runs: list[Run]) -> None:
    store.add_experiment(
        Experiment(
            id=experiment,
            name=name,
            created_at=datetime(2026, 3, 1, tzinfo=UTC),
            matrix=tuple(run.key for run in runs),
            max_cost_usd=20.0,
        )
    )


def finish(store: RunDatabase, run: Run, verdict: str) -> None:
    store.save_run(run)
    store.save_evaluation(run.id, graded_run(run, verdict))


def fill(store: RunDatabase) -> None:
    """All fail in one experiment, and all but two pass in the other."""
    for experiment, name, offset in ((FIRST, "before", 0), (SECOND, "after", 100)):
        runs = matrix(experiment, offset)
        begin(store, experiment, name, runs)
        for number, run in enumerate(runs):
            finish(store, run, "PASS" if experiment == SECOND and number > 1 else "FAIL")


def test_experiments_over_the_api(client: TestClient, store: RunDatabase) -> None:
    fill(store)
    listed = client.get("/api/v1/experiments").json()
    assert [item["name"] for item in listed["experiments"]] == ["after", "before"]
    assert listed["next"] is None
    first = client.get("/api/v1/experiments/before").json()
    assert (first["planned"], first["graded"], first["complete"], first["cost_usd"]) == (16, 16, True, 4.0)
    assert [(row["agent"], row["passed"], row["graded"]) for row in first["leaderboard"]] == [
        ("beta", 0, 8), ("alpha", 0, 8),
    ]  # fmt: skip
    found = client.get(f"/api/v1/experiments/{FIRST}/compare?with=after").json()
    assert found["verdict"] == "after (ddddeeee) passes more often than before (aaaabbbb)"
    assert (found["objective"]["pairs"], found["objective"]["shown"]) == (8, True)
    same = client.get(f"/api/v1/experiments/{FIRST}/compare?with={FIRST}")
    assert (same.status_code, "not with itself" in same.json()["detail"]) == (400, True)
    assert client.get("/api/v1/experiments/nothing").status_code == 404
    assert client.get("/experiments/nothing/compare?with=x").status_code == 404
    assert client.get("/experiments/before").headers["location"] == f"/experiments/{FIRST}"
    assert client.get(f"/experiments/{FIRST}/compare").headers["location"] == f"/experiments/{FIRST}"


def test_experiments_are_listed_page_by_page(client: TestClient, store: RunDatabase) -> None:
    for number in range(27):
        begin(store, f"experiment{number:02}", f"number {number}", [])
    page = client.get("/api/v1/experiments").json()
    assert [item["name"] for item in page["experiments"]][:2] == ["number 26", "number 25"]
    rest = client.get(page["next"]).json()
    assert ([item["name"] for item in rest["experiments"]], rest["next"]) == (["number 1", "number 0"], None)
    assert "/experiments?before=" in client.get("/experiments").text


def test_experiments_in_a_browser(
    server: Any,
    store: RunDatabase,
    page: Page,
    shot: Callable[[Page, str], None],
    axe: Callable[[Page], None],
) -> None:
    fill(store)
    runs = matrix("999988887777", 200, tasks=2)
    begin(store, "999988887777", "going on", runs)
    finish(store, runs[0], "PASS")
    store.save_run(
        runs[1].model_copy(update={"status": RunStatus.RUNNING, "attempt": None, "ended_at": None})
    )
    page.goto(f"{server.url}/experiments")
    expect(page.locator("tbody tr")).to_have_count(3)
    expect(page.locator("tbody tr").first).to_contain_text("1 of 4 runs are graded; 1 running, 2 not begun.")
    shot(page, "experiments")
    axe(page)

    # What happens meanwhile shows up by itself.
    page.get_by_role("link", name="going on").click()
    expect(page.locator("#progress-words")).to_contain_text("1 of 4")
    page.evaluate("window.same = true")
    for run in runs[1:]:
        finish(store, run, "PASS")
    expect(page.locator("#progress-words")).to_have_text("All 4 runs are graded.")
    expect(page.locator("progress")).to_have_js_property("value", 4)
    expect(page.locator("#followed[data-live]")).to_have_count(0)
    assert page.evaluate("window.same") is True

    page.goto(f"{server.url}/experiments/{FIRST}")
    expect(page.locator("svg.chart")).to_have_count(3)
    expect(page.locator("table.groups tbody tr")).to_have_count(2)
    shot(page, "experiment")
    axe(page)
    page.get_by_label("Compare with").select_option(SECOND)
    page.get_by_role("button", name="Compare").click()
    expect(page.locator(".verdict-line")).to_have_text(
        "after (ddddeeee) passes more often than before (aaaabbbb)."
    )
    expect(page.get_by_text("7 up, 0 down").first).to_be_visible()
    shot(page, "compare")
    axe(page)
