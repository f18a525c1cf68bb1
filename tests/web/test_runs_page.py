"""The list of runs, in a browser."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from adjudge.records.evaluation import Integrity
from adjudge.records.run import AgentRef, RunStatus
from adjudge.records.user import Role
from adjudge.store.runs import RunDatabase
from adjudge.testing.runs import graded_run, make_run, make_task

Check = Callable[[Page], None]
Shot = Callable[[Page, str], None]

HOSTILE = "<script>window.pwned=1</script><img src=x onerror=window.pwned=1>\x1b[2J\u202e\0'\""


def fill(store: RunDatabase, count: int) -> None:
    for number in range(count):
        task = make_task(f"task {number % 3}")
        run = make_run(number, task=task, agent=AgentRef(name=f"agent-{number % 2}", type="command"))
        store.save_run(run)
        integrity = Integrity(outcome="tampered" if number == count - 1 else "clean")
        graded = graded_run(run, ("PASS", "FAIL", "NA", "ERROR")[number % 4], integrity=integrity)
        store.save_evaluation(run.id, graded)


def test_runs_are_listed_filtered_sorted_and_paged(
    server: Any, store: RunDatabase, page: Page, shot: Shot, axe: Check
) -> None:
    fill(store, 60)
    store.save_run(make_run(99, status=RunStatus.RUNNING, attempt=None, ended_at=None))
    page.goto(f"{server.url}/")
    rows = page.locator("table.runs tbody tr")
    expect(rows).to_have_count(50)
    expect(rows.first).to_contain_text("running")
    expect(rows.nth(1)).to_contain_text("tampered")
    # Three gates, side by side.
    expect(rows.nth(2).locator(".badge")).to_have_text(["N/A", "N/A", "PASS"])
    shot(page, "runs")
    axe(page)

    # Pages, and back.
    page.get_by_role("link", name="Next").click()
    expect(rows).to_have_count(11)
    assert "after=" in page.url
    page.get_by_role("link", name="Previous").click()
    expect(rows).to_have_count(50)
    page.go_back()
    expect(rows).to_have_count(11)
    page.reload()
    expect(rows).to_have_count(11)
    page.get_by_role("link", name="First").click()
    expect(rows).to_have_count(50)

    # Orders.
    page.get_by_role("link", name="Score").click()
    expect(page.locator("th[aria-sort=descending]")).to_contain_text("Score")
    assert "sort=-score" in page.url
    expect(rows.first).to_contain_text("PASS")
    page.get_by_role("link", name="Score").click()
    expect(page.locator("th[aria-sort=ascending]")).to_contain_text("Score")
    expect(rows.first).to_contain_text("FAIL")

    # Filters, which stay in the address and in the form.
    page.get_by_text("More filters").click()
    page.get_by_label("Agent").fill("agent-1")
    page.get_by_label("Objective").select_option("FAIL")
    page.get_by_label("time at least").fill("29.5")
    shot(page, "runs-filters")
    axe(page)
    page.get_by_role("button", name="Filter").click()
    expect(rows).to_have_count(15)
    assert "agent=agent-1&" in page.url
    assert "time_min=29.5" in page.url
    assert "sort=score" in page.url
    page.reload()
    expect(rows).to_have_count(15)
    expect(page.get_by_label("Objective")).to_have_value("FAIL")
    page.get_by_role("link", name="objective: FAIL").click()
    expect(rows).to_have_count(30)
    expect(page.get_by_label("Objective")).to_have_value("")
    page.goto(f"{server.url}/runs?q=nothing+like+that")
    expect(page.get_by_text("No run is like that.")).to_be_visible()


def test_the_keyboard_suffices(server: Any, store: RunDatabase, page: Page, axe: Check) -> None:
    fill(store, 6)
    page.goto(f"{server.url}/runs")
    rows = page.locator("table.runs tbody tr")
    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(rows.nth(1)).to_have_class(re.compile("here"))
    expect(rows.nth(1).get_by_role("link")).to_be_focused()
    page.keyboard.press("k")
    expect(rows.nth(0).get_by_role("link")).to_be_focused()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    axe(page)
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    page.keyboard.press("/")
    page.keyboard.type("AGENT-1 jk?")
    expect(page.get_by_role("searchbox")).to_have_value("AGENT-1 jk?")
    page.keyboard.press("Control+a")
    page.keyboard.type("AGENT-1")
    page.keyboard.press("Enter")
    expect(rows).to_have_count(3)
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("/runs/[0-9a-f]{12}"))


def test_rows_follow_what_runs(server: Any, store: RunDatabase, page: Page) -> None:
    fill(store, 3)
    running = make_run(50, status=RunStatus.RUNNING, attempt=None, ended_at=None)
    store.save_run(running)
    page.goto(f"{server.url}/runs")
    row = page.locator(f"#run-{running.id}")
    other = page.locator("table.runs tbody tr").last
    expect(row).to_contain_text("running")
    row.get_by_role("link").focus()
    other.evaluate("row => row.kept = true")
    store.save_run(make_run(51, status=RunStatus.RUNNING, attempt=None, ended_at=None))
    store.save_run(make_run(50))
    expect(row).to_contain_text("finished")
    store.save_evaluation(running.id, graded_run(make_run(50), "FAIL"))
    expect(page.locator("table.runs tbody tr")).to_have_count(5)
    expect(row.locator(".badge")).to_have_text(["FAIL", "N/A", "PASS"])
    # What did not change was left alone, and the reader is where they were.
    expect(row.get_by_role("link")).to_be_focused()
    assert page.evaluate("[...document.querySelectorAll('tbody tr')].some(row => row.kept)")


def test_lists_can_be_read_without_scripts(server: Any, store: RunDatabase, page: Page) -> None:
    fill(store, 55)
    context = page.context.browser.new_context(java_script_enabled=False)  # type: ignore[union-attr]
    plain = context.new_page()
    plain.goto(f"{server.url}/runs")
    rows = plain.locator("table.runs tbody tr")
    expect(rows).to_have_count(50)
    plain.get_by_role("link", name="Next").click()
    expect(rows).to_have_count(5)
    plain.get_by_label("Judge").select_option("NA")
    plain.get_by_role("searchbox").fill("agent-1 task")
    plain.get_by_role("button", name="Filter").click()
    expect(rows).to_have_count(27)
    context.close()


def test_what_agents_wrote_is_text(server: Any, store: RunDatabase, page: Page) -> None:
    run = make_run(1, task=make_task(HOSTILE), agent=AgentRef(name=HOSTILE, type="command"), model=HOSTILE)
    store.save_run(run)
    store.save_evaluation(run.id, graded_run(run))
    store.save_run(make_run(2, model="<b>plain</b>"))
    page.goto(f"{server.url}/runs?agent=%3Cscript%3E")
    expect(page.get_by_text("No run is like that.")).to_be_visible()
    page.goto(f"{server.url}/runs?q=%3Cscript%3Ewindow")
    cells = page.locator("table.runs tbody td")
    expect(cells.first).to_contain_text("<script>window.pwned=1</script>")
    expect(cells.first).to_contain_text("\\x1b[2J\\u202e")
    page.locator("summary").click()
    page.get_by_label("Model").focus()
    expect(page.locator("#model-names option")).to_have_count(1)
    expect(page.locator("#model-names option")).to_have_attribute("value", "<b>plain</b>")
    assert page.evaluate("window.pwned") is None
    assert "\u202e" not in page.content()


@pytest.mark.parametrize("path", ["/api", "/nothing"])
def test_other_pages_can_be_used_by_everybody(
    server: Any, page: Page, shot: Shot, axe: Check, path: str
) -> None:
    page.goto(f"{server.url}/runs")
    # A page that is not there is noted in the console.
    page.route(f"{server.url}/nothing", lambda route: route.fulfill(response=route.fetch(), status=200))
    page.goto(f"{server.url}{path}")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    shot(page, path.strip("/"))
    axe(page)


def test_signing_in_and_out(server: Any, store: RunDatabase, page: Page, shot: Shot, axe: Check) -> None:
    fill(store, 2)
    token = server.users.add("ada", Role.VIEWER)
    page.goto(f"{server.url}/runs?agent=agent-1")
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    shot(page, "sign-in")
    axe(page)
    page.get_by_label("Your token").fill(token)
    page.get_by_role("button", name="Sign in").click()
    expect(page.locator("table.runs tbody tr")).to_have_count(1)
    expect(page.locator(".who")).to_contain_text("ada viewer")
    axe(page)
    assert page.evaluate("document.cookie") == ""
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
