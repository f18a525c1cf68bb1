"""`adjudge view` and `adjudge users`, as somebody uses them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from adjudge.settings import Settings
from adjudge.store.opening import store_for
from adjudge.testing.runs import graded_run, make_run

pytestmark = pytest.mark.anyone

ADJUDGE = [sys.executable, "-m", "adjudge"]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with a store in it."""
    settings = Settings(tmp_path / "state", "auto", 1, folder=tmp_path)
    with store_for(settings) as store:
        run = make_run(1)
        store.save_run(run)
        store.save_evaluation(run.id, graded_run(run))
    return tmp_path


def environment(project: Path) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith("ADJUDGE_")}
    return {**kept, "ADJUDGE_HOME": str(project / "state")}


def adjudge(project: Path, *argv: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*ADJUDGE, *argv], cwd=project, env=environment(project), capture_output=True, text=True, check=False
    )


@contextmanager
def viewed(project: Path, *argv: str) -> Iterator[str]:
    """A view of the project; it has to end well when it is interrupted."""
    process = subprocess.Popen(
        [*ADJUDGE, "view", "--port", "0", *argv],
        cwd=project,
        env=environment(project),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert address.startswith("http://"), process.communicate()[1]
        yield address
    finally:
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=120)
    assert (process.returncode, output) == (0, ""), errors
    assert errors == "interrupt (Ctrl-C) to end it\n"


def ask(address: str, token: str | None = None) -> tuple[int, dict[str, object]]:
    headers = {} if token is None else {"authorization": f"Bearer {token}"}
    try:
        with urllib.request.urlopen(urllib.request.Request(address, headers=headers), timeout=120) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)


def test_it_serves_the_projects_store_to_this_machine(project: Path) -> None:
    with viewed(project) as address:
        assert address.startswith("http://127.0.0.1:")
        status, answer = ask(f"{address}api/v1/runs")
        assert status == 200
        assert isinstance(answer["runs"], list)
        assert [row["id"] for row in answer["runs"]] == [make_run(1).id]


def test_users_from_the_first_to_none(project: Path) -> None:
    refused = adjudge(project, "view", "--host", "0.0.0.0", "--port", "0")
    assert refused.returncode == 2
    assert "nobody needs a token yet" in refused.stderr
    assert "adjudge users add NAME --role admin" in refused.stderr

    added = adjudge(project, "users", "add", "ada", "--role", "reviewer")
    assert added.returncode == 0
    token = added.stdout.strip()
    assert token.startswith("adjudge-")
    assert "cannot be shown again" in added.stderr
    again = adjudge(project, "users", "add", "ada")
    assert (again.returncode, again.stdout) == (2, "")
    assert "there is a user 'ada' already" in again.stderr
    listed = json.loads(adjudge(project, "users", "list", "--json").stdout)
    assert [(user["name"], user["role"]) for user in listed["users"]] == [("ada", "reviewer")]
    assert token not in json.dumps(listed)
    store = project / ".adjudge" / "store.db"
    assert token.encode() not in store.read_bytes()

    with viewed(project, "--host", "0.0.0.0") as address:
        here = address.replace("0.0.0.0", "127.0.0.1")
        assert ask(f"{here}api/v1/runs")[0] == 401
        assert ask(f"{here}api/v1/session", token)[1]["role"] == "reviewer"
        other = adjudge(project, "users", "token", "ada").stdout.strip()
        assert ask(f"{here}api/v1/session", token)[0] == 401
        assert ask(f"{here}api/v1/session", other)[0] == 200
        assert adjudge(project, "users", "remove", "ada").returncode == 0
        assert ask(f"{here}api/v1/session", other)[0] == 401
        # Beyond this machine nobody is let in for there being no users any more.
        assert ask(f"{here}api/v1/session")[0] == 401
    missing = adjudge(project, "users", "remove", "ada")
    assert missing.returncode == 2
    assert "there is no user 'ada'" in missing.stderr
    assert "no users" in adjudge(project, "users", "list").stderr


def test_what_cannot_be_served_is_said(project: Path, tmp_path: Path) -> None:
    nowhere = adjudge(project, "view", "--store", str(tmp_path / "nowhere"))
    assert nowhere.returncode == 2
    assert "there is no store at" in nowhere.stderr
    with viewed(project) as address:
        taken = adjudge(project, "view", "--port", address.rstrip("/").rpartition(":")[2])
    assert taken.returncode == 2
    assert "cannot listen at 127.0.0.1" in taken.stderr
