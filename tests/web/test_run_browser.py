"""The pages of a run in a browser: reading, unfolding, scrolling, and nothing hostile coming alive."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from playwright.sync_api import Page, expect
from tests.web.conftest import StartView
from tests.web.stored import keep_hostile_run, keep_long_run, keep_rich_run

from adjudge.records.listing import RunFilter
from adjudge.records.run import RunStatus
from adjudge.store.blobs import BlobDirectory
from adjudge.store.database import sqlite_database
from adjudge.store.runs import RunDatabase
from adjudge.testing.runs import graded_run, make_run
from adjudge.web.sharing import share_report, share_run

pytestmark = pytest.mark.xdist_group("web-run")

_FOREIGN = ", ".join(
    (
        'script:not([src^="/static/"])',
        "img, iframe, object, embed, base, main svg:not(.chart), main style",
        '[onerror], [onload], [href^="javascript:"]',
    )
)
"""Elements that no page of ours has."""
_OPEN_ALL = "document.querySelectorAll('details').forEach(item => { item.open = true; })"
HOSTILE_PARTS = (
    "",
    "/timeline",
    "/timeline/4",
    "/diff",
    "/diff?view=split",
    "/diff?file=4",
    "/scorers/0",
    "/response",
    "/evaluations",
    "/raw",
    "/timeline?q=%3Cscript%3E&agent=%3Cimg%20src=x%3E",
)
Shot = Callable[[Page, str], None]
Axe = Callable[[Page], None]


class Viewed(NamedTuple):
    """A view over some runs."""

    url: str
    store: RunDatabase
    rich: str
    hostile: str
    long: str


@pytest.fixture(scope="module")
def viewed(tmp_path_factory: pytest.TempPathFactory, view: StartView) -> Iterator[Viewed]:
    folder = tmp_path_factory.mktemp("viewed")
    with RunDatabase(sqlite_database(folder / "store.db"), BlobDirectory(folder / "blobs")) as store:
        rich, hostile = keep_rich_run(store, folder / "rich"), keep_hostile_run(store, folder / "hostile")
        long = keep_long_run(store, events=4_000)
        with view(store) as served:
            yield Viewed(served.url, store, rich.id, hostile.id, long.id)


def test_a_run_is_read_from_its_cards_to_the_line(viewed: Viewed, page: Page, shot: Shot, axe: Axe) -> None:
    page.goto(f"{viewed.url}/runs/{viewed.rich}")
    rows = page.locator(".scorers details")
    expect(rows).to_have_count(5)
    expect(rows.nth(0)).to_have_attribute("open", "")
    expect(rows.nth(2)).not_to_have_attribute("open", "")
    shot(page, "run-overview")
    axe(page)
    rows.nth(2).locator("summary").focus()
    page.keyboard.press("Enter")
    page.get_by_role("link", name="tests/test_cart.py:5").click()
    page.wait_for_url("**/diff?file=3#f3n5")
    expect(page.locator("#f3n5")).to_be_in_viewport()
    expect(page.locator(".finding-row")).to_contain_text("skip-added")
    page.get_by_role("link", name="no new skips").click()
    page.wait_for_url("**#scorer-2")
    expect(page.locator("#scorer-2")).to_have_attribute("open", "")


def test_a_diff_unfolds_and_turns(viewed: Viewed, page: Page, shot: Shot, axe: Axe) -> None:
    page.goto(f"{viewed.url}/runs/{viewed.rich}/diff")
    shot(page, "run-diff")
    axe(page)
    page.get_by_role("link", name="Show 3,000 changed lines").click()
    expect(page.locator("#f1")).to_contain_text("row 190")
    page.get_by_role("link", name="Side by side").click()
    expect(page.locator("#f2 table.split")).to_be_visible()
    shot(page, "run-diff-split")
    axe(page)


def test_a_timeline_is_searched_and_jumped_in(viewed: Viewed, page: Page, shot: Shot, axe: Axe) -> None:
    page.goto(f"{viewed.url}/runs/{viewed.rich}/timeline")
    expect(page.locator(".step")).to_have_count(9)
    shot(page, "run-timeline")
    axe(page)
    result = page.locator("#step-3 details")
    expect(result).not_to_have_attribute("open", "")
    result.locator("summary").click()
    expect(result.locator("pre")).to_contain_text("return sum(prices)")
    page.keyboard.press("e")
    page.wait_for_url("**#step-4")
    page.keyboard.press("/")
    page.keyboard.type("helper")
    page.keyboard.press("Enter")
    expect(page.locator(".step")).to_have_count(1)
    expect(page.locator("mark")).to_have_text("helper")


def test_a_long_trace_stays_small_in_the_page(viewed: Viewed, page: Page, shot: Shot) -> None:
    page.goto(f"{viewed.url}/runs/{viewed.long}/timeline")
    steps = page.locator(".step")
    expect(steps.first).to_be_visible()
    seen = 0
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        page.evaluate("window.scrollTo(0, document.documentElement.scrollHeight)")
        page.wait_for_timeout(20)
        seen = int(page.evaluate("Number(document.querySelector('.chunk:last-child').dataset.first)"))
        if seen > 600:
            break
    assert seen > 600
    expect(page.locator(".chunk.parked").first).to_be_attached()
    assert steps.count() < 600
    page.evaluate("window.scrollTo(0, 0)")
    expect(page.locator("#step-1")).to_be_visible()
    page.get_by_role("link", name="First error").click()
    page.wait_for_url("**#step-1001")
    expect(page.locator("#step-1001")).to_be_in_viewport()
    expect(page.locator("#step-1001")).to_contain_text("error")
    shot(page, "run-timeline-long")


def test_what_a_regrade_changed(viewed: Viewed, page: Page, shot: Shot, axe: Axe) -> None:
    page.goto(f"{viewed.url}/runs/{viewed.rich}/evaluations")
    expect(page.locator("tr.changed", has_text="unit tests")).to_contain_text("verdict, score")
    shot(page, "run-evaluations")
    axe(page)
    page.keyboard.press("]")
    page.wait_for_url("**/raw")
    expect(page.get_by_role("link", name="evaluation.json")).to_be_visible()
    axe(page)
    with page.expect_download() as started:
        page.get_by_role("link", name="changes.diff").click()
    assert started.value.suggested_filename == f"{viewed.rich[:12]}.diff"


@pytest.mark.parametrize("part", ["timeline/3", "scorers/0", "scorers/2", "response"])
def test_a_part_has_a_page_of_its_own(viewed: Viewed, page: Page, shot: Shot, axe: Axe, part: str) -> None:
    answer = page.goto(f"{viewed.url}/runs/{viewed.rich}/{part}")
    assert answer is not None
    assert answer.ok
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    shot(page, f"run-{part.replace('/', '-')}")
    axe(page)


def test_a_run_under_way_is_followed(viewed: Viewed, page: Page) -> None:
    run = make_run(77, status=RunStatus.RUNNING, attempt=None, ended_at=None)
    viewed.store.save_run(run)
    page.goto(f"{viewed.url}/runs/{run.id}")
    expect(page.locator(".run-head")).to_contain_text("running")
    finished = make_run(77)
    # Once the page has seen the run as it is, it waits for another state.
    with page.expect_response(f"**/runs/{run.id}"):
        pass
    viewed.store.save_run(finished)
    viewed.store.save_evaluation(run.id, graded_run(finished))
    expect(page.locator(".scorers")).to_be_visible(timeout=120_000)


def assert_nothing_came_alive(page: Page) -> None:
    assert page.evaluate("window.pwned") is None
    injected = page.evaluate(f"[...document.querySelectorAll(`{_FOREIGN}`)].map(e => e.outerHTML)")
    assert injected == []
    assert "window.pwned=1" in page.locator("main").inner_text()


def test_hostile_text_stays_text(viewed: Viewed, page: Page, shot: Shot) -> None:
    base = f"{viewed.url}/runs/{viewed.hostile}"
    for part in HOSTILE_PARTS:
        page.goto(base + part)
        if "agent=" not in part:
            assert_nothing_came_alive(page)
        else:
            assert page.evaluate("window.pwned") is None
    page.goto(base)
    page.evaluate(_OPEN_ALL)
    assert_nothing_came_alive(page)
    shot(page, "run-hostile")
    page.goto(f"{viewed.url}/runs")
    assert page.evaluate("window.pwned") is None


def test_documents_are_self_contained_and_harmless(
    viewed: Viewed, page: Page, shot: Shot, axe: Axe, tmp_path: Path
) -> None:
    report = share_report(viewed.store, RunFilter(), k=None, runs=10)
    page.set_content(report)
    expect(page.locator("svg.chart").first).to_be_visible()
    shot(page, "document-report")
    axe(page)
    page.evaluate(_OPEN_ALL)
    assert_nothing_came_alive(page)
    page.set_content(share_run(viewed.store, viewed.hostile))
    assert_nothing_came_alive(page)
    page.set_content(share_run(viewed.store, viewed.rich))
    shot(page, "document-run")
    axe(page)
