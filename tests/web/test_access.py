"""Who gets in, and from where."""

from __future__ import annotations

from collections.abc import Callable
from http.cookies import SimpleCookie

import pytest
from starlette.testclient import TestClient

from adjudge.errors import StoreError
from adjudge.records.user import Role
from adjudge.store.runs import RunDatabase
from adjudge.store.users import UserTable
from adjudge.testing.runs import graded_run, make_run
from adjudge.web.access.guard import MAX_BODY_BYTES, Hosts
from adjudge.web.access.identity import Access
from adjudge.web.app import create_app

HERE = "http://127.0.0.1:8642"


@pytest.fixture
def users(store: RunDatabase) -> UserTable:
    return UserTable(store.database)


@pytest.fixture
def evaluation(store: RunDatabase) -> str:
    run = make_run(1)
    store.save_run(run)
    graded = graded_run(run)
    store.save_evaluation(run.id, graded)
    return graded.evaluation.id


def annotate(client: TestClient, evaluation: str, **headers: str) -> int:
    answer = client.post(
        f"/api/v1/evaluations/{evaluation}/annotations", json={"judgment": "pass"}, headers=headers
    )
    return answer.status_code


# From where


@pytest.mark.parametrize("host", ["127.0.0.1:8642", "localhost:8642", "localhost", "[::1]:8642", "127.0.0.2"])
def test_names_of_this_machine_are_served(client: TestClient, host: str) -> None:
    assert client.get("/runs", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8642", "localhost.evil.example", "192.168.1.2", "127.0.0.1@evil.example",
     "127.0.0.1:8642/x", "", "[::2]", "127.0.0.1:abc", "2130706433", "localhost evil.example"],
)  # fmt: skip
def test_other_names_are_refused(client: TestClient, host: str) -> None:
    for path in ("/runs", "/api/v1/runs", "/static/css/base.css", "/sign-in"):
        assert client.get(path, headers={"host": host}).status_code == 421


def test_which_hosts_there_are_beyond_this_machine() -> None:
    hosts = Hosts("0.0.0.0", ("runs.example",))
    assert "runs.example:443" in hosts
    assert "RUNS.example" in hosts
    assert "10.1.2.3:8642" in hosts
    assert "other.example" not in hosts
    assert "sub.runs.example" not in hosts


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "http://127.0.0.1:3000"},
        {"origin": "https://127.0.0.1:8642"},
        {"origin": "null"},
        {"origin": ""},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe"},
        {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors", "sec-fetch-dest": "script"},
    ],
)
def test_other_sites_are_refused(client: TestClient, evaluation: str, headers: dict[str, str]) -> None:
    csrf = client.get("/api/v1/session").json()["csrf"]
    for path in ("/runs", "/api/v1/runs", "/static/js/base.js"):
        assert client.get(path, headers=headers).status_code == 403
    assert annotate(client, evaluation, **headers, **{"x-csrf-token": csrf}) == 403
    assert client.post("/sign-in", data={"token": "x"}, headers=headers).status_code == 403


def test_links_from_elsewhere_work_for_pages_only(client: TestClient) -> None:
    followed = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
    assert client.get("/runs", headers=followed).status_code == 200
    assert client.get("/api/v1/runs", headers=followed).status_code == 403
    assert client.post("/sign-in", data={"token": "x"}, headers=followed).status_code == 403


def test_a_body_that_is_too_large_is_refused(client: TestClient, evaluation: str) -> None:
    path = f"/api/v1/evaluations/{evaluation}/annotations"
    csrf = {"x-csrf-token": client.get("/api/v1/session").json()["csrf"]}
    assert client.post(path, content=b"x" * (MAX_BODY_BYTES + 1), headers=csrf).status_code == 413

    def pieces() -> object:
        for _ in range(MAX_BODY_BYTES // 65536 + 2):
            yield b" " * 65536

    answer = client.post(path, content=pieces(), headers=csrf | {"content-type": "application/json"})  # type: ignore[arg-type]
    assert answer.status_code == 400
    assert client.post(path, content=b"{}", headers=csrf | {"content-length": "-1"}).status_code == 413


# Headers


def test_every_answer_carries_the_policy(client: TestClient) -> None:
    for path in ("/runs", "/api/v1/runs", "/nothing", "/static/css/base.css", "/sign-in", "/runs?sort=x"):
        answer = client.get(path)
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["x-frame-options"] == "DENY"
        assert "access-control-allow-origin" not in answer.headers
    assert client.get("/runs").headers["cache-control"] == "no-cache"
    assert client.get("/sign-in").headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    "path", ["/static/../app.py", "/static/..%2fapp.py", "/static//etc/passwd", "/static/css"]
)
def test_no_path_leads_out_of_the_static_files(client: TestClient, path: str) -> None:
    assert client.get(path).status_code == 404


def test_static_files_are_kept_by_browsers(client: TestClient) -> None:
    page = client.get("/runs").text
    address = page.split('<link rel="stylesheet" href="')[1].split('"')[0]
    first = client.get(address)
    assert "immutable" in first.headers["cache-control"]
    assert client.get(address, headers={"if-none-match": first.headers["etag"]}).status_code == 304
    assert client.get(address.split("?")[0]).headers["cache-control"] == "no-cache"


def test_a_list_that_did_not_change_is_not_sent_again(client: TestClient, store: RunDatabase) -> None:
    first = client.get("/runs")
    assert client.get("/runs", headers={"if-none-match": first.headers["etag"]}).status_code == 304
    store.save_run(make_run(7))
    assert client.get("/runs", headers={"if-none-match": first.headers["etag"]}).status_code == 200


# CSRF


def test_what_changes_something_needs_the_token_of_the_form(client: TestClient, evaluation: str) -> None:
    csrf = client.get("/api/v1/session").json()["csrf"]
    assert annotate(client, evaluation) == 403
    assert annotate(client, evaluation, **{"x-csrf-token": "wrong"}) == 403
    assert annotate(client, evaluation, **{"x-csrf-token": ""}) == 403
    assert annotate(client, evaluation, **{"x-csrf-token": csrf}) == 201
    assert annotate(client, evaluation, **{"x-csrf-token": csrf, "origin": HERE}) == 201
    said = client.get(f"/api/v1/evaluations/{evaluation}/annotations").json()["annotations"]
    assert [item["reviewer_id"] for item in said] == ["local", "local"]


def test_a_session_has_a_form_token_of_its_own(client: TestClient, users: UserTable, evaluation: str) -> None:
    local = client.get("/api/v1/session").json()["csrf"]
    tokens = [users.add(name, Role.REVIEWER) for name in ("ada", "bob")]
    given = []
    for token in tokens:
        client.cookies.clear()
        client.post("/sign-in", data={"token": token})
        given.append(client.get("/api/v1/session").json()["csrf"])
    assert len({local, *given}) == 3
    assert annotate(client, evaluation, **{"x-csrf-token": given[0]}) == 403
    assert annotate(client, evaluation, **{"x-csrf-token": local}) == 403
    assert annotate(client, evaluation, **{"x-csrf-token": given[1]}) == 201


# Signing in


def test_with_users_everybody_needs_a_token(client: TestClient, users: UserTable) -> None:
    assert client.get("/runs").status_code == 200
    token = users.add("ada", Role.VIEWER)
    away = client.get("/runs?q=a%26b")
    assert (away.status_code, away.headers["location"]) == (303, "/sign-in?next=%2Fruns%3Fq%3Da%2526b")
    refused = client.get("/api/v1/runs")
    assert (refused.status_code, refused.headers["www-authenticate"]) == (401, "Bearer")
    assert client.get("/sign-in").status_code == 200
    wrong = client.post("/sign-in", data={"token": "wrong", "next": "/runs"})
    assert wrong.status_code == 401
    assert "Nobody has that token" in wrong.text
    right = client.post("/sign-in", data={"token": f" {token} ", "next": "/runs?q=a"})
    assert (right.status_code, right.headers["location"]) == (303, "/runs?q=a")
    page = client.get("/runs")
    assert page.status_code == 200
    assert "ada" in page.text
    csrf = client.get("/api/v1/session").json()["csrf"]
    assert client.post("/sign-out").status_code == 403
    assert client.post("/sign-out", data={"csrf": csrf}).status_code == 303
    assert client.get("/runs").status_code == 303


@pytest.mark.parametrize(
    "next", ["https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)", "runs", ""]
)
def test_signing_in_never_leads_elsewhere(client: TestClient, users: UserTable, next: str) -> None:
    token = users.add("ada", Role.VIEWER)
    assert client.post("/sign-in", data={"token": token, "next": next}).headers["location"] == "/"
    assert 'name="next" value="/"' in client.get("/sign-in", params={"next": next}).text


def test_cookies_are_closed_to_scripts_and_other_sites(
    client: TestClient, users: UserTable, store: RunDatabase
) -> None:
    token = users.add("ada", Role.VIEWER)
    cookie = SimpleCookie(client.post("/sign-in", data={"token": token}).headers["set-cookie"])["adjudge"]
    assert (cookie["httponly"], cookie["samesite"], cookie["path"], cookie["secure"]) == (
        True,
        "lax",
        "/",
        "",
    )
    app = create_app(store, Access(users, host="0.0.0.0", https=True), names=["runs.example"])
    with TestClient(app, base_url="https://runs.example", follow_redirects=False) as proxied:
        assert (
            proxied.post(
                "/sign-in", data={"token": token}, headers={"origin": "http://runs.example"}
            ).status_code
            == 403
        )
        answer = proxied.post("/sign-in", data={"token": token}, headers={"origin": "https://runs.example"})
        secure = SimpleCookie(answer.headers["set-cookie"])["__Host-adjudge"]
        assert (secure["httponly"], secure["secure"], secure["path"], secure["domain"]) == (
            True,
            True,
            "/",
            "",
        )
        assert proxied.get("/runs").status_code == 200


def test_beyond_this_machine_nobody_is_let_in_without_a_token(store: RunDatabase) -> None:
    app = create_app(store, Access(UserTable(store.database), host="0.0.0.0"))
    with TestClient(app, base_url="http://127.0.0.1:8642", follow_redirects=False) as asked:
        assert asked.get("/runs").status_code == 303
        assert asked.get("/api/v1/runs").status_code == 401


def test_tokens_open_the_api(client: TestClient, users: UserTable, evaluation: str) -> None:
    token = users.add("ada", Role.REVIEWER)
    bearer = {"authorization": f"Bearer {token}"}
    assert client.get("/api/v1/session", headers=bearer).json() == {
        "user": "ada",
        "role": "reviewer",
        "csrf": "",
    }
    assert annotate(client, evaluation, **bearer) == 201
    for wrong in (f"Basic {token}", "Bearer", f"Bearer {token}x", token, "Bearer \x00"):
        assert client.get("/api/v1/runs", headers={"authorization": wrong}).status_code == 401
    renewed = users.renew("ada")
    assert client.get("/api/v1/runs", headers=bearer).status_code == 401
    assert client.get("/api/v1/runs", headers={"authorization": f"Bearer {renewed}"}).status_code == 200


def test_a_session_ends_with_its_user_and_with_their_token(client: TestClient, users: UserTable) -> None:
    users.add("root", Role.ADMIN)
    users.add("ada", Role.VIEWER)
    for end in (lambda: users.renew("ada"), lambda: users.remove("ada")):
        client.cookies.clear()
        client.post("/sign-in", data={"token": users.renew("ada")})
        assert client.get("/runs").status_code == 200
        end()
        assert client.get("/runs").status_code == 303


def test_wrong_tokens_are_slowed_down(client: TestClient, users: UserTable) -> None:
    token = users.add("ada", Role.VIEWER)

    def by_form(given: str) -> int:
        return client.post("/sign-in", data={"token": given}).status_code

    def by_header(given: str) -> int:
        return client.get("/api/v1/runs", headers={"authorization": f"Bearer {given}"}).status_code

    tries: list[Callable[[str], int]] = [by_form, by_header] * 5
    assert [attempt("wrong") for attempt in tries] == [401] * 10
    assert by_form("wrong") == by_form(token) == by_header(token) == 429
    answer = client.get("/api/v1/runs", headers={"authorization": "Bearer x"})
    assert 1 <= int(answer.headers["retry-after"]) <= 60


def test_behind_a_proxy_wrong_tokens_are_counted_by_what_it_says(store: RunDatabase) -> None:
    users = UserTable(store.database)
    token = users.add("ada", Role.VIEWER)
    app = create_app(store, Access(users, host="0.0.0.0", https=True), names=["runs.example"])
    with TestClient(app, base_url="https://runs.example", follow_redirects=False) as proxied:

        def ask(given: str, forwarded: str) -> int:
            headers = {"authorization": f"Bearer {given}", "x-forwarded-for": forwarded}
            return proxied.get("/api/v1/runs", headers=headers).status_code

        # What stands before the last address was written by whoever asks.
        assert [ask("wrong", f"10.0.0.{number}, 192.0.2.1") for number in range(11)] == [401] * 10 + [429]
        assert ask(token, "192.0.2.2") == 200


def test_what_goes_wrong_here_is_not_told_there(
    client: TestClient, store: RunDatabase, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise StoreError("disk full (/secret/place/store.db)")

    monkeypatch.setattr(store, "page", fail)
    for path in ("/runs", "/api/v1/runs"):
        answer = client.get(path)
        assert answer.status_code == 503
        assert "secret" not in answer.text
    assert "/secret/place/store.db" in caplog.text
