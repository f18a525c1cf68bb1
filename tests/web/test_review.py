"""Review: the queue, blinding, what is kept, and agreement."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from starlette.testclient import TestClient
from tests.web.conftest import Served
from tests.web.stored import keep_hostile_run, keep_rich_run

from adjudge.records.annotation import Annotation, Judgment
from adjudge.records.listing import RunFilter
from adjudge.records.run import AgentRef
from adjudge.store.runs import RunDatabase
from adjudge.testing.runs import graded_run, make_run, make_task
from adjudge.workflows.reviewing import QueueOrder, agreements, make_queue


def fill(store: RunDatabase, verdicts: str) -> list[str]:
    """Runs with these objective verdicts; the ids of their evaluations."""
    found = []
    for number, letter in enumerate(verdicts):
        run = make_run(number, task=make_task(), agent=AgentRef(name=f"agent-{number}", type="command"))
        store.save_run(run)
        store.save_evaluation(run.id, graded_run(run, {"P": "PASS", "F": "FAIL", "N": "NA"}[letter]))
        current = store.current_evaluation(run.id)
        assert current is not None
        found.append(current.id)
    return found


def say(store: RunDatabase, evaluation: str, who: str, judgment: str) -> None:
    store.annotate(
        evaluation, Annotation(reviewer_id=who, timestamp=datetime.now(UTC), judgment=Judgment(judgment))
    )


def left(store: RunDatabase, who: str = "ann", **how: object) -> list[str]:
    queue = make_queue(store, RunFilter(), reviewer=who, **how)  # type: ignore[arg-type]
    return [one.evaluation_id for one in queue.left]


def test_a_queue_leaves_out_what_one_has_reviewed(store: RunDatabase) -> None:
    first, second, third = fill(store, "PFP")
    assert left(store) == [third, second, first]
    say(store, second, "ann", "pass")
    assert left(store) == [third, first]
    assert left(store, "bob") == [third, second, first]
    queue = make_queue(store, RunFilter(objective="PASS"), reviewer="ann")
    assert (len(queue.left), queue.reviewed, queue.cut) == (2, 0, False)


def test_a_random_order_follows_from_its_seed(store: RunDatabase) -> None:
    ids = fill(store, "P" * 12)
    one = left(store, order=QueueOrder.RANDOM, seed="a")
    assert one == left(store, order=QueueOrder.RANDOM, seed="a")
    assert sorted(one) == sorted(ids)
    assert len({tuple(left(store, order=QueueOrder.RANDOM, seed=str(n))) for n in range(5)}) > 1


def test_disagreement_comes_first(store: RunDatabase) -> None:
    agreed, against, split, untouched = fill(store, "PPPP")
    for who, judgment in (("bob", "pass"), ("eve", "fail")):
        say(store, split, who, judgment)
    say(store, against, "bob", "fail")
    say(store, agreed, "bob", "pass")
    assert left(store, order=QueueOrder.DISAGREEMENT)[:2] == [split, against]
    assert set(left(store, order=QueueOrder.DISAGREEMENT)[2:]) == {agreed, untouched}


def test_agreement_with_what_was_concluded(store: RunDatabase) -> None:
    ids = fill(store, "PPFFN")
    for id_, judgment in zip(ids, ("pass", "fail", "fail", "pass", "pass"), strict=True):
        say(store, id_, "ann", judgment)
    say(store, ids[0], "bob", "pass")
    found = agreements(store)
    gate = next(match for match in found.matches if match.name == "objective gate")
    assert (gate.compared, gate.agreed, gate.passed_wrongly, gate.failed_wrongly) == (4, 2, 1, 1)
    assert gate.kappa == 0.0
    assert found.reviewers is not None


def test_says_and_goes_on(client: TestClient, store: RunDatabase) -> None:
    first, second = fill(store, "PF")
    page = client.get("/review?as=ann&order=newest")
    assert "2 left for ann" in page.text
    token = re.search(r'name="csrf" content="([^"]*)"', page.text)
    assert token is not None
    form = {"csrf": token[1], "do": "say", "notes": " fine\r\nreally ", "others": "a, b,,a", "category": "c"}
    empty = client.post(f"/review/{second}?as=ann", data=form)
    assert "Choose pass, fail or defer first." in empty.text
    assert "really" in empty.text
    done = client.post(f"/review/{second}?as=ann", data={**form, "judgment": "fail"})
    assert (done.status_code, done.headers["location"]) == (303, f"/review/{first}?as=ann")
    (kept,) = store.load(second).annotations
    assert (kept.reviewer_id, kept.judgment, kept.categories) == ("ann", Judgment.FAIL, ["c", "a", "b"])
    assert kept.notes == "fine\nreally"
    skipped = client.post(f"/review/{first}?as=ann", data={"csrf": token[1], "do": "skip"})
    assert skipped.headers["location"] == "/review?as=ann"
    assert store.load(first).annotations == ()
    assert client.post(f"/review/{first}", data={"judgment": "pass"}).status_code == 403


@pytest.mark.parametrize("address", ["/review?order=best", "/review?tsk=x", "/review/" + "0" * 32])
def test_what_cannot_be_asked_for(client: TestClient, address: str) -> None:
    assert client.get(address).status_code in (400, 404)


def test_blinded_shows_nothing_that_was_concluded(
    client: TestClient, store: RunDatabase, tmp_path: Path
) -> None:
    run = keep_rich_run(store, tmp_path)
    current = store.current_evaluation(run.id)
    assert current is not None
    open_, blind = (client.get(f"/review/{current.id}{query}").text for query in ("", "?blind=1"))
    assert run.agent.name in open_
    assert "Scorers" in open_
    for hidden in (run.agent.name, run.id[:12], "badge fail", "badge pass", "finding"):
        assert hidden not in blind, hidden
    assert current.annotations
    assert all(said.reviewer_id not in blind for said in current.annotations)


def test_review_in_a_browser(
    server: Served,
    store: RunDatabase,
    tmp_path: Path,
    page: Page,
    shot: Callable[[Page, str], None],
    axe: Callable[[Page], None],
) -> None:
    keep_rich_run(store, tmp_path / "rich")
    hostile = keep_hostile_run(store, tmp_path / "hostile")
    fill(store, "PF")
    page.goto(f"{server.url}/review?as=ann&order=disagreement&seed=1")
    shot(page, "review")
    axe(page)
    page.get_by_role("link", name="Start").click()
    shot(page, "review-run")
    axe(page)
    here = page.url
    page.keyboard.press("f")
    expect(page.get_by_role("radio", name="fail")).to_be_checked()
    page.keyboard.press("c")
    page.keyboard.type("not what was asked")
    page.keyboard.press("Control+Enter")
    expect(page).not_to_have_url(here)
    said = [
        one for evaluation in store.annotated() for one in evaluation.annotations if one.reviewer_id == "ann"
    ]
    assert [(one.judgment, one.notes) for one in said] == [(Judgment.FAIL, "not what was asked")]
    there = page.url
    # The address changes before the script that listens has come.
    page.wait_for_load_state()
    page.keyboard.press("n")
    expect(page).not_to_have_url(there)
    current = store.current_evaluation(hostile.id)
    assert current is not None
    page.goto(f"{server.url}/review/{current.id}?as=ann")
    expect(page.locator("body")).to_contain_text("<script>")
    assert page.evaluate("() => window.pwned") is None
