"""The editor of scenarios: asked directly, and in a browser."""

from __future__ import annotations

import base64
import os
import re
import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect
from starlette.testclient import TestClient
from tests.web.conftest import StartView, make_app

from adjudge.cli.main import main
from adjudge.settings import load_settings
from adjudge.store.opening import store_for
from adjudge.store.runs import RunDatabase

SCENARIO = """\
# Kept.
name: answer
instruction: Make x 2.
workspace: {source: directory, path: src}
scorers:
  - type: command        # the check
    command: "grep -q 'x = 2' x.py"
  # Few files.
  - {type: max_files_changed, limit: 3}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "tasks" / "answer"
    (made / "src").mkdir(parents=True)
    (made / "src" / "x.py").write_text("x = 1\n")
    (made / "adjudge.yaml").write_text(SCENARIO)
    return made


@pytest.fixture
def asked(store: RunDatabase, folder: Path) -> Iterator[TestClient]:
    app = make_app(store, scenarios=[folder.parent])
    with TestClient(app, base_url="http://127.0.0.1:8642", follow_redirects=False) as client:
        yield client


def id_of(asked: TestClient) -> str:
    found: str = asked.get("/api/v1/scenarios").json()[0]["id"]
    return found


def csrf(asked: TestClient) -> dict[str, str]:
    return {"x-csrf-token": asked.get("/api/v1/session").json()["csrf"]}


def test_list_and_read(asked: TestClient) -> None:
    assert asked.get("/api/v1/scenarios").json()[0]["file"] == "tasks/answer/adjudge.yaml"
    assert "tasks/answer/adjudge.yaml" in asked.get("/scenarios").text
    got = asked.get(f"/api/v1/scenarios/{id_of(asked)}").json()
    assert (got["text"], got["problems"]) == (SCENARIO, [])


@pytest.mark.parametrize("id_", ["0" * 12, "..%2f..%2fetc%2fpasswd", "adjudge.yaml"])
def test_only_ids_lead_to_files(asked: TestClient, id_: str) -> None:
    assert asked.get(f"/scenarios/{id_}").status_code == 404
    assert asked.get(f"/api/v1/scenarios/{id_}").status_code == 404


def test_checks_in_the_words_of_the_command_line(
    asked: TestClient, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = SCENARIO.replace("limit: 3", "limt: 3")
    (problem, *_) = asked.post(
        f"/api/v1/scenarios/{id_of(asked)}/check", json={"text": text}, headers=csrf(asked)
    ).json()
    (folder / "adjudge.yaml").write_text(text)
    assert main(["validate", str(folder)]) == 2
    assert (
        f":{problem['line']}:{problem['column']}: {problem['where']}: {problem['message']}"
        in capsys.readouterr().out
    )


def test_saves_whole_or_not_at_all(asked: TestClient, folder: Path) -> None:
    file = folder / "adjudge.yaml"
    file.chmod(0o640)
    place = f"/api/v1/scenarios/{id_of(asked)}"
    opened = asked.get(place).json()
    text = SCENARIO.replace("limit: 3", "limit: 5")
    bad = asked.put(place, json={"text": "scorers: 3\n", "made_from": opened["digest"]}, headers=csrf(asked))
    assert bad.status_code == 422
    assert "line 1" in bad.json()["detail"]
    stale = asked.put(place, json={"text": text, "made_from": "sha256:0"}, headers=csrf(asked))
    assert stale.status_code == 409
    assert file.read_text() == SCENARIO
    assert asked.put(place, json={"text": text, "made_from": opened["digest"]}).status_code == 403
    saved = asked.put(place, json={"text": text, "made_from": opened["digest"]}, headers=csrf(asked))
    assert saved.status_code == 200
    assert file.read_text() == text
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert os.listdir(folder) == ["src", "adjudge.yaml"] or sorted(os.listdir(folder)) == [
        "adjudge.yaml",
        "src",
    ]


def form_of(html: str) -> list[tuple[str, str]]:
    base = re.search(r'name="base" value="([^"]*)"', html)
    made = re.search(r'name="made_from" value="([^"]*)"', html)
    token = re.search(r'name="csrf" content="([^"]*)"', html)
    assert base is not None
    assert made is not None
    assert token is not None
    assert base64.b64decode(base[1]).decode() == SCENARIO
    return [("csrf", token[1]), ("base", base[1]), ("made_from", made[1])]


ROWS = [
    ("row", "0"), ("0.origin", "0"), ("0.type", "command"), ("0.required", "on"),
    ("0.field.command", "grep -q 'x = 2' x.py"),
    ("row", "1"), ("1.origin", "1"), ("1.type", "max_files_changed"), ("1.required", "on"),
    ("1.field.limit", "3"),
]  # fmt: skip


def test_without_scripts_a_form_does_it(asked: TestClient, folder: Path) -> None:
    place = f"/scenarios/{id_of(asked)}"
    form = form_of(asked.get(place).text)
    moved = asked.post(place, data=dict([*form, *ROWS, ("do", "check")]) | {"row": ["1", "0"]})
    assert moved.status_code == 200
    assert moved.text.index("max_files_changed") < moved.text.index("grep -q")
    page = asked.post(
        place, data=dict([*form, *ROWS, ("do", "add"), ("new", "preset:integrity")]) | {"row": ["0", "1"]}
    )
    assert "preset: integrity" in page.text
    wrong = asked.post(
        place, data=dict([*form, *ROWS, ("do", "save"), ("1.field.limit", "many")]) | {"row": ["0", "1"]}
    )
    assert "whole number expected" in wrong.text
    assert (folder / "adjudge.yaml").read_text() == SCENARIO
    done = asked.post(
        place, data=dict([*form, *ROWS, ("do", "save"), ("1.field.limit", "4")]) | {"row": ["0", "1"]}
    )
    assert done.status_code == 303
    assert (folder / "adjudge.yaml").read_text() == SCENARIO.replace("limit: 3", "limit: 4")
    again = asked.post(
        place, data=dict([*form, *ROWS, ("do", "save"), ("1.field.limit", "9")]) | {"row": ["0", "1"]}
    )
    assert "changed by somebody else" in again.text


def test_a_file_that_is_no_scenario_can_be_mended_as_text(asked: TestClient, folder: Path) -> None:
    (folder / "adjudge.yaml").write_text("scorers: [\n")
    page = asked.get(f"/scenarios/{id_of(asked)}")
    assert page.status_code == 200
    assert "can only be changed in the text" in page.text
    assert "not valid" in asked.get("/scenarios").text


@pytest.fixture
def project(tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ADJUDGE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("ADJUDGE_STORE", str(tmp_path / "kept"))
    monkeypatch.setenv("ADJUDGE_SANDBOX", "process")
    assert main(["run", str(folder), "--agent", "noop", "--quiet"]) == 1
    return folder


def test_edit_try_and_save_in_a_browser(
    project: Path,
    view: StartView,
    page: Page,
    shot: Callable[[Page, str], None],
    axe: Callable[[Page], None],
) -> None:
    with store_for(load_settings(), create=False) as store, view(store, [project.parent]) as served:
        before = [len(store.evaluations(run.id)) for run in store.runs()]
        page.goto(f"{served.url}/scenarios")
        axe(page)
        shot(page, "scenarios")
        page.get_by_role("link", name="answer").click()
        save = page.get_by_role("button", name="Save")
        expect(save).to_be_disabled()
        limit = page.locator('input[name$="field.limit"]')
        limit.fill("lots")
        expect(page.locator(".scorer .problem")).to_contain_text("whole number expected")
        expect(save).to_be_disabled()
        expect(limit).to_be_focused()
        limit.fill("2")
        expect(page.locator(".preview .changed")).to_contain_text("limit: 2")
        page.get_by_label("New line").select_option("file_exists")
        page.get_by_role("button", name="Add").click()
        page.locator('.field input[name$="field.path"]').fill("y.py")
        expect(page.locator(".preview .changed", has_text="path: y.py")).to_have_count(1)
        page.get_by_role("button", name="Move file_exists up").click()
        expect(page.locator(".scorer").nth(1)).to_contain_text("file_exists")
        shot(page, "scenario")
        axe(page)
        page.get_by_role("button", name="Try").click()
        tried = page.locator("#tried")
        expect(tried).to_contain_text("file_exists")
        expect(tried.locator("tr.moved")).to_contain_text("not there")
        assert [len(store.evaluations(run.id)) for run in store.runs()] == before
        expect(page.locator(".frozen")).to_contain_text("another recipe")
        page.keyboard.press("Control+s")
        page.wait_for_url("**saved=1")
        expect(page.locator(".actions")).to_contain_text("Saved.")
    text = (project / "adjudge.yaml").read_text()
    assert text == SCENARIO.replace("limit: 3", "limit: 2").replace(
        "  # Few files.\n", "  - type: file_exists\n    path: y.py\n  # Few files.\n"
    )


def test_what_is_typed_is_neither_lost_nor_left_unchecked(project: Path, view: StartView, page: Page) -> None:
    """Before the script has come, and while an answer is on its way."""
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    with store_for(load_settings(), create=False) as store, view(store, [project.parent]) as served:
        page.goto(f"{served.url}/scenarios")
        page.route("**/editor.js*", hold)
        page.get_by_role("link", name="answer").click()
        limit = page.locator('input[name$="field.limit"]')
        limit.fill("lots")
        wait_for(page, held)
        held.pop().continue_()
        expect(page.locator(".scorer .problem")).to_contain_text("whole number expected")

        page.route("**/scenarios/*", hold)
        limit.fill("2")
        wait_for(page, held)
        limit.press("End")
        limit.press("5")
        page.unroute("**/scenarios/*")
        held.pop().continue_()
        expect(page.locator(".preview .changed")).to_contain_text("limit: 25")
        expect(limit).to_have_value("25")
        expect(limit).to_be_focused()

        page.evaluate("[window.real, window.fetch] = [fetch, () => Promise.reject(new TypeError('gone'))]")
        page.get_by_role("button", name="Save").click()
        expect(page.locator(".actions")).to_contain_text("no answer, nothing was done")
        page.evaluate("() => void (window.fetch = window.real)")
        page.get_by_role("button", name="Save").click()
        expect(page.locator(".actions")).to_contain_text("Saved.")
    assert "limit: 25" in (project / "adjudge.yaml").read_text()


def wait_for(page: Page, held: list[Route]) -> None:
    deadline = time.monotonic() + 120
    while not held:
        assert time.monotonic() < deadline, "nothing was asked"
        page.wait_for_timeout(20)
