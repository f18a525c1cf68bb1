"""Every route there is, by everybody there may be."""

from __future__ import annotations

import re

import pytest
from fastapi import APIRouter
from starlette.testclient import TestClient

from adjudge.records.user import Role
from adjudge.store.runs import RunDatabase
from adjudge.store.users import UserTable
from adjudge.testing.runs import graded_run, make_run
from adjudge.web import app as application
from adjudge.web.access.identity import Access
from adjudge.web.app import NamedRoute, create_app, list_routes

OPEN = {("GET", "/sign-in"), ("POST", "/sign-in"), ("GET", "/static/{name:path}")}


def test_what_is_open_to_all_is_known() -> None:
    assert {(route.method, route.path) for route in list_routes() if route.role is None} == OPEN


def test_only_viewers_rights_are_needed_to_read() -> None:
    for route in list_routes():
        if route.method not in ("GET", "HEAD") and route.role is not None and route.path != "/sign-out":
            assert route.role is not Role.VIEWER, f"{route.method} {route.path} changes something"


def test_a_route_that_names_no_role_is_refused(store: RunDatabase, monkeypatch: pytest.MonkeyPatch) -> None:
    careless = APIRouter()
    careless.add_api_route("/careless", lambda: None)
    monkeypatch.setattr(application, "PAGES", (*application.PAGES, careless))
    with pytest.raises(LookupError, match="/careless does not say who may ask for it"):
        create_app(store, Access(UserTable(store.database)))


def test_nothing_is_served_beside_the_listed_routes(store: RunDatabase) -> None:
    app = create_app(store, Access(UserTable(store.database)))
    assert len(app.routes) == len(application.PAGES) + len(application.RESOURCES)


def _address(route: NamedRoute, known: dict[str, str]) -> str:
    return re.sub(r"\{(\w+)(?::\w+)?\}", lambda match: known.get(match[1], "0"), route.path)


@pytest.mark.parametrize("role", [None, *Role])
def test_each_role_gets_what_it_may_have_and_nothing_else(store: RunDatabase, role: Role | None) -> None:
    run = make_run(1)
    store.save_run(run)
    graded = graded_run(run)
    store.save_evaluation(run.id, graded)
    known = {
        "run_id": run.id,
        "evaluation_id": graded.evaluation.id,
        "digest": run.task.digest,
        "column": "task",
    }
    users = UserTable(store.database)
    users.add("somebody", Role.ADMIN)
    headers = {}
    if role is not None:
        headers["authorization"] = f"Bearer {users.add(role.value, role)}"
    app = create_app(store, Access(users))
    wrong = []
    with TestClient(
        app, base_url="http://127.0.0.1:8642", follow_redirects=False, raise_server_exceptions=False
    ) as client:
        for route in list_routes():
            answer = client.request(route.method, _address(route, known), headers=headers)
            if route.role is None:
                fine = answer.status_code not in (403, 500)
            elif role is None:
                page = answer.status_code == 303 and answer.headers["location"].startswith("/sign-in?next=")
                fine = answer.status_code == 401 or (page and route.method == "GET")
            elif role.covers(route.role):
                # Let through: what becomes of an empty or wrong request is another matter.
                fine = answer.status_code not in (401, 403, 500)
            else:
                fine = answer.status_code == 403
            if not fine:
                wrong.append(f"{route.method} {route.path}: {answer.status_code}")
    assert wrong == []
