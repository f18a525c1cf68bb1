"""The list of runs, in a browser."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect

from adjudge.records.run import AgentRef, RunStatus
from adjudge.store.runs import RunDatabase
from adjudge.testing.runs import graded_run, make_run, make_task


def fill(store: RunDatabase, count: int) -> None:
    for number in range(count):
        task = make_task(f"task {number % 3}")
        run = make_run(number, task=task, agent=AgentRef(name=f"agent-{number % 2}", type="command"))
        store.save_run(run)
        store.save_evaluation(run.id, graded_run(run, ("PASS", "FAIL", "NA", "ERROR")[number % 4]))


def test_runs_are_listed_filtered_and_paged(
    server: object,
    store: RunDatabase,
    page: Page,
    shot: Callable[[Page, str], None],
    axe: Callable[[Page], None],
) -> None:
    fill(store, 60)
    running = make_run(99, status=RunStatus.RUNNING, attempt=None, ended_at=None)
    store.save_run(running)
    url = server.url  # type: ignore[attr-defined]
    page.goto(f"{url}/")
    rows = page.locator("table.runs tbody tr")
    expect(rows).to_have_count(50)
    expect(rows.first).to_contain_text("running")
    shot(page, "runs")
    axe(page)
    page.get_by_role("link", name="Next").click()
    expect(rows).to_have_count(11)
    page.go_back()
    expect(rows).to_have_count(50)
    page.keyboard.press("/")
    page.keyboard.type("agent-1")
    page.get_by_label("Objective").select_option("FAIL")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Filter").click()
    expect(rows).to_have_count(15)
    assert "objective=FAIL" in page.url
