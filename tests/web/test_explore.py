"""The Data Explorer: what it shows is what it downloads, for people, programs and browsers."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from starlette.testclient import TestClient

from adjudge.records.evaluation import GateResult, Gates, ObjectiveGateResult
from adjudge.records.run import AgentOutcome, AgentRef, AgentStatus, Attempt, RunStatus, TokenUsage
from adjudge.records.score import Verdict
from adjudge.records.user import Role
from adjudge.store.runs import RunDatabase
from adjudge.store.users import UserTable
from adjudge.store.views import ViewTable
from adjudge.testing.runs import graded_run, make_run, make_task

pytestmark = pytest.mark.anyone

HOSTILE = '<script>alert(1)</script>"><img src=x onerror=alert(2)>\u202e=1+1'


def add(store: RunDatabase, number: int, agent: str, objective: str, **fields: Any) -> None:
    """A graded run, with the judge of the other opinion where the number is even."""
    cost = fields.pop("cost", 0.1 * (number + 1))
    run = make_run(
        number,
        agent=AgentRef(name=agent, type="command"),
        attempt=Attempt(
            outcome=AgentOutcome(
                status=AgentStatus.COMPLETED, usage=TokenUsage(input_tokens=10, cost_usd=cost), wall_s=3.0
            )
        ),
        **fields,
    )
    store.save_run(run)
    passed = objective == "PASS"
    judge = Verdict.PASS if passed == bool(number % 2) else Verdict.FAIL
    gates = Gates(
        objective=ObjectiveGateResult(verdict=Verdict(objective), reason="", mean_score=0.5),
        judge=GateResult(verdict=judge, reason=""),
        run=GateResult(verdict=Verdict.PASS, reason=""),
    )
    said = {"model": "j", "verdict": judge.value, "failure_mode": None if passed else "incomplete"}
    store.save_evaluation(run.id, graded_run(run, objective, gates=gates, judge=said))


def fill(store: RunDatabase) -> None:
    for number in range(12):
        agent = ("alpha", "beta", "gamma")[number % 3]
        task = make_task(f"task {number % 4}")
        add(store, number, agent, "PASS" if number % 3 else "FAIL", task=task, tags={"suite": "s"})
    store.save_run(make_run(90, status=RunStatus.RUNNING, attempt=None, ended_at=None))


def sheet_of(client: TestClient, address: str) -> list[list[str]]:
    answer = client.get(address)
    assert answer.status_code == 200, answer.text
    return list(csv.reader(io.StringIO(answer.text)))


def test_downloads_are_what_is_shown(client: TestClient, store: RunDatabase) -> None:
    fill(store)
    query = "f=objective&o=known&v=&by=agent&m=score&sort=agent"
    table = sheet_of(client, f"/explore/download?{query}")
    assert [dict(zip(table[0], row, strict=True))["agent"] for row in table[1:]] == ["alpha", "beta", "gamma"]
    alpha = dict(zip(table[0], table[1], strict=True))
    assert (alpha["runs"], alpha["graded"], alpha["errors"], alpha["missing"]) == ("4", "4", "0", "0")
    assert (alpha["passed"], alpha["pass_rate"], alpha["score_mean"]) == ("0", "0.0", "0.0")
    document = client.get(f"/explore/download?{query}&format=json").json()
    assert document["columns"] == table[0]
    assert [[str(value) for value in row.values()] for row in document["rows"]] == table[1:]
    shown = client.get(f"/api/v1/explore/groups?{query}").json()
    assert shown["rows"] == document["rows"]
    assert (shown["total"], shown["next"]) == (3, None)
    parquet = pytest.importorskip("pyarrow.parquet")
    kept = client.get(f"/explore/download?{query}&format=parquet")
    assert kept.headers["content-disposition"] == 'attachment; filename="adjudge-groups.parquet"'
    assert parquet.read_table(io.BytesIO(kept.content)).to_pylist() == document["rows"]

    rows = "show=runs&col=agent&col=objective&col=judge_verdict&col=tag%3Asuite&sort=-cost_usd"
    runs = sheet_of(client, f"/explore/download?{rows}")
    assert runs[0] == ["agent", "objective", "judge_verdict", "tag:suite"]
    assert runs[1] == ["gamma", "PASS", "PASS", "s"]
    assert len(runs) == 14
    assert sheet_of(client, f"/explore/download?{rows}&what=all") == runs
    listed = client.get(f"/api/v1/explore/runs?{rows}").json()
    assert [["" if value is None else value for value in row.values()] for row in listed["rows"]] == runs[1:]

    plot = sheet_of(client, f"/explore/download?{query}&what=plot")
    assert [row[0] for row in plot[1:]] == ["alpha", "beta", "gamma"]
    assert client.get(f"/explore/download?{query}&what=plot&number=1").status_code == 404
    assert client.get(f"/explore/download?{query}&format=xlsx").status_code == 422


def test_plots_over_the_api(client: TestClient, store: RunDatabase) -> None:
    fill(store)
    found = {
        plot: client.get(f"/api/v1/explore/plots/{plot}").json()
        for plot in ("pass-rates", "distribution", "frontier", "gates", "heat")
    }
    assert [len(charts) for charts in found.values()] == [1, 1, 1, 3, 1]
    assert all(
        chart["svg"].startswith("<svg") and chart["summary"] for charts in found.values() for chart in charts
    )
    gates = found["gates"][0]
    assert gates["rows"][:2] == [
        {"objective": "PASS", "judge_PASS": 4, "judge_FAIL": 4, "judge_NA": 0, "judge_ERROR": 0},
        {"objective": "FAIL", "judge_PASS": 2, "judge_FAIL": 2, "judge_NA": 0, "judge_ERROR": 0},
    ]
    heat = {(row["task"], row["agent"]): (row["passed"], row["graded"]) for row in found["heat"][0]["rows"]}
    assert heat[("task 0", "beta:m-1")] == (1, 1)
    assert heat[("task 0", "alpha:m-1")] == (0, 1)
    assert found["distribution"][0]["rows"][-1]["passed"] == 8
    assert "1 run has none and is left out" in found["distribution"][0]["summary"]
    assert [row["group"] for row in found["frontier"][0]["rows"] if row["on_frontier"]] == [
        "alpha · m-1", "beta · m-1",
    ]  # fmt: skip
    asked = client.get("/api/v1/explore/plots/heat?f=task&o=is&v=task+1").json()[0]
    assert {row["task"] for row in asked["rows"]} == {"task 1"}
    assert client.get("/api/v1/explore/plots/pie").status_code == 422


def test_what_can_be_asked_is_said(client: TestClient, store: RunDatabase) -> None:
    fill(store)
    fields = client.get("/api/v1/explore/fields").json()
    assert {"agent", "judge_verdict", "failure_mode", "tag:suite"} <= {
        item["name"] for item in fields["fields"]
    }
    assert {"agent", "model", "task", "scorer", "failure_mode", "week", "tag:suite"} <= set(fields["groups"])
    assert client.get("/api/v1/explore/values?field=agent").json()["values"] == [
        "alpha", "beta", "builder", "gamma",
    ]  # fmt: skip
    assert client.get("/api/v1/explore/values?field=objective").json()["values"][0] == "PASS"
    refused = client.get("/api/v1/explore/values?field=agnt")
    assert (refused.status_code, refused.json()["detail"]) == (400, "'agnt' is no field; did you mean agent?")


def test_names_of_agents_are_text(client: TestClient, store: RunDatabase) -> None:
    add(store, 1, HOSTILE, "PASS", task=make_task(HOSTILE), model=HOSTILE, tags={HOSTILE: HOSTILE})
    for address in (
        "/explore",
        "/explore?show=runs",
        "/explore?by=scorer",
        *(f"/explore?plot={plot}" for plot in ("distribution", "frontier", "gates", "heat")),
    ):
        page = client.get(address).text
        assert "<script>alert" not in page
        assert "<img" not in page
        assert "\u202e" not in page
    assert client.get("/explore/download?by=tag:x").status_code == 200
    table = sheet_of(client, "/explore/download?show=runs&col=agent")
    assert table[1][0].startswith("<script>")


def test_saved_views_are_made_and_removed_by_who_may(client: TestClient, store: RunDatabase) -> None:
    users = UserTable(store.database)
    tokens = {
        name: {"authorization": f"Bearer {users.add(name, role)}"}
        for name, role in (
            ("vic", Role.VIEWER),
            ("rae", Role.REVIEWER),
            ("rob", Role.REVIEWER),
            ("ada", Role.ADMIN),
        )
    }
    new = {"name": "failures", "query": "f=objective&o=is&v=FAIL"}
    assert client.post("/api/v1/views", json=new).status_code == 401
    assert client.post("/api/v1/views", json=new, headers=tokens["vic"]).status_code == 403
    made = client.post("/api/v1/views", json=new, headers=tokens["rae"])
    assert made.status_code == 201
    address = f"/api/v1/views/{made.json()['id']}"
    assert [view["name"] for view in client.get("/api/v1/views", headers=tokens["vic"]).json()] == [
        "failures"
    ]
    assert client.delete(address, headers=tokens["rob"]).status_code == 403
    assert client.delete(address, headers=tokens["ada"]).status_code == 204
    assert client.delete(address, headers=tokens["ada"]).status_code == 404
    bad = client.post("/api/v1/views", json={"name": " ", "query": ""}, headers=tokens["rae"])
    assert bad.status_code == 400
    saved = client.post(
        "/explore/views", data={"name": "mine", "query": "by=task&f=&o=is&v="}, headers=tokens["rae"]
    )
    assert (saved.status_code, saved.headers["location"]) == (303, "/explore?by=task")
    view = ViewTable(store.database).all("explore")[0]
    assert (view.name, view.query, view.owner) == ("mine", "by=task", "rae")
    assert client.post(f"/explore/views/{view.id}/remove", headers=tokens["rob"]).status_code == 403
    assert client.post(f"/explore/views/{view.id}/remove", headers=tokens["rae"]).status_code == 303
    assert ViewTable(store.database).all("explore") == []


def test_what_is_wrong_with_an_address_is_said_on_a_page(client: TestClient) -> None:
    page = client.get("/explore?f=agnt&o=is&v=x")
    assert page.status_code == 400
    assert "did you mean agent" in page.text
    assert client.get("/explore?by=tag:x&sort=nothing").status_code == 400


def test_forms_work_without_scripts_and_pages_stay_small(client: TestClient, store: RunDatabase) -> None:
    for number in range(50):
        add(store, number, f"agent {number:02}", "PASS", task=make_task(f"task {number}"))
    sent = "f=agent&o=contains&v=agent&f=&o=is&v=&by=agent&by=&m=score&m=cost_usd&show=groups"
    answer = client.get(f"/explore?{sent}")
    assert (answer.status_code, answer.headers["location"]) == (
        303, "/explore?f=agent&o=contains&v=agent&by=agent",
    )  # fmt: skip
    for address in ("/explore", "/explore?plot=heat", "/explore?plot=gates", "/explore?show=runs"):
        page = client.get(address)
        assert page.status_code == 200
        assert len(page.content) < 60_000, address
    second = client.get("/explore?page=2").text
    assert "50 groups of 50 runs" in second
    assert second.count('<th scope="row">') == 10
    tag = client.get("/explore").headers["etag"]
    assert client.get("/explore", headers={"if-none-match": tag}).status_code == 304


def test_exploring_in_a_browser(
    server: Any,
    store: RunDatabase,
    page: Page,
    shot: Callable[[Page, str], None],
    axe: Callable[[Page], None],
) -> None:
    fill(store)
    page.goto(f"{server.url}/explore")
    expect(page.get_by_role("heading", name="4 groups of 13 runs")).to_be_visible()
    rows = page.locator("table.groups tbody tr")
    expect(rows).to_have_count(4)
    shot(page, "explore")
    axe(page)

    # Every plot, each with its values.
    for title, named, count in (
        ("Score distribution", "Distribution of the score", 1),
        ("Cost against score", "Cost against score", 1),
        ("Gate disagreement", "Objective gate against judge gate", 3),
        ("Tasks by agents", "Tasks by agents", 1),
        ("Pass rates", "Pass rate by group", 1),
    ):
        page.get_by_role("navigation", name="Plots").get_by_role("link", name=title).click()
        expect(page.locator("svg.chart")).to_have_count(count)
        expect(page.get_by_role("img", name=named).first).to_be_visible()
        expect(page.get_by_text("Values as a table")).to_have_count(count)
        shot(page, f"explore-{title.split()[0].lower()}")
    page.go_back()
    expect(page.get_by_role("img", name="Tasks by agents")).to_be_visible()
    axe(page)

    # A filter, with values to choose from, and another line for the next one.
    page.get_by_label("Field of filter 1").select_option("agent")
    page.get_by_label("Comparison of filter 1").select_option("is-not")
    page.get_by_label("Value of filter 1").fill("gamma")
    page.get_by_label("Field of filter 2").select_option("status")
    page.get_by_label("Value of filter 2").fill("finished")
    page.get_by_label("Group by").select_option("task")
    page.get_by_label("then by").select_option("")
    page.get_by_role("button", name="Show", exact=True).click()
    expect(page.get_by_role("heading", name="4 groups of 8 runs")).to_be_visible()
    assert "f=agent&o=is-not&v=gamma&f=status&o=is&v=finished" in page.url
    assert "by=task" in page.url
    page.get_by_role("link", name="Pass rate", exact=True).click()
    expect(page.locator("th[aria-sort=descending]")).to_contain_text("Pass rate")

    # What is downloaded is what is shown.
    with page.expect_download() as begun:
        page.locator("p.downloads", has_text="these groups").get_by_role("link", name="JSON").click()
    document = json.loads(begun.value.path().read_text())
    assert [row["task"] for row in document["rows"]] == rows.locator("th").all_inner_texts()

    # Saved, and found again.
    page.get_by_text("Saved views").click()
    page.get_by_label("Name of this view").fill("not gamma")
    address = page.url
    page.get_by_role("button", name="Save").click()
    saved = page.get_by_role("link", name="not gamma", exact=True)
    expect(saved).to_be_visible()
    page.goto(f"{server.url}/explore")
    saved.click()
    expect(page.get_by_role("heading", name="4 groups of 8 runs")).to_be_visible()
    assert page.url == address

    # From a group to its runs, and back without a filter.
    rows.first.locator("a").click()
    expect(page.get_by_role("heading", name="2 runs")).to_be_visible()
    shot(page, "explore-runs")
    axe(page)
    page.locator("a.chip", has_text="gamma").click()
    expect(page.get_by_role("heading", name="3 runs")).to_be_visible()
    page.get_by_role("button", name="Remove the view not gamma").click()
    expect(saved).to_have_count(0)
