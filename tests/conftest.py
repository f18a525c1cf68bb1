"""What all tests share: skips with a printed reason, and a place that is tidied whatever lies in it."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from adjudge import catalog
from adjudge.errors import AdjudgeError
from adjudge.settings import Settings
from adjudge.testing.postgres import PostgresServer, postgres_programs, running_server

_SAME_FOR_ANYONE = ("project", "property", "snapshot", "scorers", "web")
"""Folders of tests that no user right can change the outcome of."""


def pytest_configure() -> None:
    """Have no test depend on how busy the machine is, nor on how it was started.

    What a shell starts in the background has Ctrl-C ignored. The commands that tests start would inherit
    that, and those that interrupt one would wait for ever.
    """
    # How fast inputs come says something of the machine, and nothing of what is tested.
    settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("any machine")
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what the pass as an ordinary user need not repeat."""
    here = Path(__file__).parent
    for item in items:
        if item.path.relative_to(here).parts[0] in _SAME_FOR_ANYONE:
            item.add_marker(pytest.mark.anyone)


@cache
def _no_bubblewrap() -> str | None:
    """Why bubblewrap cannot be used here, or None."""
    try:
        support = catalog.load("sandboxes", "bubblewrap")().probe()
    except (AdjudgeError, ImportError) as error:
        return f"bubblewrap cannot be loaded: {error}"
    return None if support.available else f"bubblewrap does not work here: {support.reason}"


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what this machine or this user cannot run, and say why."""
    if item.get_closest_marker("root") is not None and os.geteuid() != 0:
        pytest.skip("needs root")
    if item.get_closest_marker("bwrap") is not None and (reason := _no_bubblewrap()) is not None:
        pytest.skip(reason)


@pytest.fixture
def hostile_tmp() -> Iterator[Path]:
    """A directory for trees that resist removal: unreadable directories, very deep ones.

    Everybody may enter it, which pytest's own `tmp_path` does not allow.
    """
    place = Path(tempfile.mkdtemp(prefix="adjudge-test-"))
    place.chmod(0o755)
    yield place
    # GNU's tools open a directory before they enter it, and know no limit on depth.
    subprocess.run(["chmod", "-R", "u+rwX", place], check=True)
    subprocess.run(["rm", "-rf", place], check=True)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """A PostgreSQL server of our own on a socket in a scratch folder, or a skip that says what is missing."""
    programs = postgres_programs()
    if programs is None:
        pytest.skip("needs a PostgreSQL server (Debian: postgresql)")
    with running_server(programs) as server:
        yield server


@pytest.fixture
def postgres_url(postgres_server: PostgresServer) -> Iterator[str]:
    """An empty database of its own."""
    with postgres_server.database() as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def store_settings(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    """Settings of a store that does not exist yet, of either kind."""
    url = request.getfixturevalue("postgres_url") if request.param == "postgresql" else None
    return Settings(
        state_dir=tmp_path / "state",
        sandbox="auto",
        jobs=1,
        store=url or str(tmp_path / "store"),
        blobs=str(tmp_path / "blobs"),
        folder=tmp_path,
    )
