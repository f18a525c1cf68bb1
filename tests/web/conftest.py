"""What tests of the web view share: stores, servers, clients, and a browser.

store      an empty store in a folder of its own
view       starts a server over a store: `with view(store) as served: served.url`
server     one that is started already, over `store`
client     asks an application directly, without a socket
page       a page of the browser; a console error or a request to another host fails the test
shot       keeps pictures of a page, light and dark: `shot(page, "runs")`
axe        fails on serious findings of axe-core: `axe(page)`
"""

from __future__ import annotations

import asyncio
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from fastapi import FastAPI
from playwright.sync_api import Browser, Page, expect, sync_playwright
from starlette.testclient import TestClient

from adjudge.store.blobs import BlobDirectory
from adjudge.store.database import sqlite_database
from adjudge.store.runs import RunDatabase
from adjudge.store.users import UserTable
from adjudge.web.access.identity import Access
from adjudge.web.app import create_app
from adjudge.web.serving import address_of, listen, make_server

_DEADLINE_S = 120.0
_PACKAGES = Path(os.environ.get("ADJUDGE_TEST_PACKAGES", "/var/tmp/adjudge-test-packages"))


@dataclass(frozen=True)
class Served:
    """A view that is being served."""

    url: str
    """Without a slash at its end."""
    store: RunDatabase
    users: UserTable
    app: FastAPI


StartView = Callable[..., AbstractContextManager[Served]]


@pytest.fixture(scope="session")
def _empty_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with nothing in it: copying it is quicker than making another one."""
    file = tmp_path_factory.mktemp("empty") / "store.db"
    sqlite_database(file).close()
    return file


@pytest.fixture
def store(tmp_path: Path, _empty_store: Path) -> Iterator[RunDatabase]:
    folder = tmp_path / "store"
    folder.mkdir()
    shutil.copy(_empty_store, folder / "store.db")
    with RunDatabase(sqlite_database(folder / "store.db"), BlobDirectory(folder / "blobs")) as opened:
        yield opened


def make_app(store: RunDatabase, *, host: str = "127.0.0.1", **options: Any) -> FastAPI:
    https = options.pop("https", False)
    return create_app(store, Access(UserTable(store.database), host=host, https=https), **options)


@pytest.fixture(scope="session")
def view() -> StartView:
    @contextmanager
    def start(store: RunDatabase, scenarios: Sequence[Path] = ()) -> Iterator[Served]:
        app = make_app(store, scenarios=scenarios)
        listener = listen("127.0.0.1", 0)
        server = make_server(app)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        deadline = time.monotonic() + _DEADLINE_S
        while not server.started:
            assert thread.is_alive(), "the server ended before it began"
            assert time.monotonic() < deadline, "the server does not begin"
            time.sleep(0.01)
        try:
            yield Served(address_of(listener).rstrip("/"), store, UserTable(store.database), app)
        finally:
            server.should_exit = True
            thread.join(_DEADLINE_S)
            listener.close()

    return start


@pytest.fixture
def server(view: StartView, store: RunDatabase) -> Iterator[Served]:
    with view(store) as served:
        yield served


@pytest.fixture
def client(store: RunDatabase) -> Iterator[TestClient]:
    with TestClient(make_app(store), base_url="http://127.0.0.1:8642", follow_redirects=False) as asked:
        yield asked


class _Loop:
    """The event loop that Playwright keeps running in this thread between calls.

    Out of sight while no test uses a page: `asyncio.run` refuses to start beside it, and other tests of the
    same worker call that.
    """

    def __init__(self) -> None:
        self._held: asyncio.AbstractEventLoop | None = None

    def hide(self) -> None:
        self._held = asyncio._get_running_loop()
        asyncio._set_running_loop(None)

    def show(self) -> None:
        asyncio._set_running_loop(self._held)


_LOOP = _Loop()


@pytest.fixture(scope="session")
def _browser() -> Iterator[Browser]:
    """One for all tests of a worker."""
    expect.set_options(timeout=_DEADLINE_S * 1000)
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("needs Chromium (Debian: chromium)")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=program,
            # What it shows is ours, and root has no other way.
            args=["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
            timeout=_DEADLINE_S * 1000,
        )
        _LOOP.hide()
        yield browser
        _LOOP.show()
        browser.close()


@pytest.fixture
def page(_browser: Browser) -> Iterator[Page]:
    _LOOP.show()
    context = _browser.new_context(viewport={"width": 1280, "height": 800}, timezone_id="UTC", locale="en-GB")
    context.set_default_timeout(_DEADLINE_S * 1000)
    opened = context.new_page()
    wrong: list[str] = []
    opened.on(
        "console",
        lambda said: wrong.append(f"console: {said.text}") if said.type in ("error", "warning") else None,
    )
    opened.on("pageerror", lambda error: wrong.append(f"error: {error}"))

    def asked(request: Any) -> None:
        address = urlsplit(request.url)
        if address.scheme not in ("data", "about") and address.hostname not in ("127.0.0.1", "localhost"):
            wrong.append(f"request to {request.url}")

    opened.on("request", asked)
    yield opened
    context.close()
    _LOOP.hide()
    assert wrong == []


@pytest.fixture(scope="session")
def _artefacts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    given = os.environ.get("ADJUDGE_ARTEFACTS")
    folder = Path(given) if given else tmp_path_factory.mktemp("pictures")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture
def shot(_artefacts: Path) -> Callable[[Page, str], None]:
    """Pictures of a page on a laptop, light and dark, and on a phone."""

    def keep(page: Page, name: str) -> None:
        before = page.viewport_size
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            page.screenshot(path=_artefacts / f"{name}-{scheme}.png", animations="disabled")
        page.emulate_media(color_scheme="light")
        page.set_viewport_size({"width": 390, "height": 844})
        page.screenshot(path=_artefacts / f"{name}-phone.png", animations="disabled")
        if before is not None:
            page.set_viewport_size(before)

    return keep


@cache
def _axe_source() -> str | None:
    found = sorted(_PACKAGES.glob("axe-core-*/node_modules/axe-core/axe.min.js"))
    return found[-1].read_text(encoding="utf-8") if found else None


@pytest.fixture
def axe() -> Callable[[Page], None]:
    source = _axe_source()
    if source is None:
        pytest.skip("needs axe-core (tools/test-packages)")

    def check(page: Page) -> None:
        """Fail on findings that keep people from using the page, in light and in dark."""
        # Evaluated, not added as a script: the page's policy refuses those.
        page.evaluate(source)
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            found = page.evaluate("async () => (await axe.run({resultTypes: ['violations']})).violations")
            serious = [
                f"{finding['id']} ({scheme}): {node['html'][:200]}"
                for finding in found
                if finding["impact"] in ("serious", "critical")
                for node in finding["nodes"]
            ]
            assert serious == []
        page.emulate_media(color_scheme="light")

    return check
