"""The web view: server time and size of its pages, over 100,000 runs and a trace of 20,000 events.

Requests go through the whole application, as a browser's do, but for the socket. Documents of runs are padded
to 4 kB, which is what a run with a change set of a few files takes.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path

from sqlalchemy import text
from starlette.testclient import TestClient

from adjudge.records.run import AgentOutcome, AgentStatus, Attempt, RunStatus
from adjudge.settings import Settings
from adjudge.store.opening import store_for
from adjudge.store.runs import RunDatabase
from adjudge.store.users import UserTable
from adjudge.testing.runs import graded_run, keep_blob, make_run
from adjudge.web.access.identity import Access
from adjudge.web.app import create_app
from bench.store import RUNS, fill

EVENTS = 20_000
ASKED = 40
"""How often each page is asked for."""

_VARY = """
UPDATE runs SET cost_usd = (seq * 7919 % 10007) / 1000.0, total_tokens = seq * 104729 % 2000003,
    wall_s = (seq * 15485863 % 1000003) / 1000.0, started_at = datetime(1767225600 + seq * 60, 'unixepoch'),
    document = document || printf('%*s', 3000, '');
UPDATE evaluations SET score = (seq * 7919 % 101) / 100.0, reward = (seq * 7919 % 101) / 100.0,
    judge = CASE seq % 7 WHEN 0 THEN 'FAIL' WHEN 1 THEN 'PASS' ELSE 'NA' END,
    run_gate = CASE WHEN seq % 50 = 0 THEN 'FAIL' ELSE 'PASS' END,
    integrity = CASE WHEN seq % 1000 = 0 THEN 'tampered' ELSE 'clean' END,
    failure_mode = CASE WHEN seq % 97 = 0 THEN 'mode-' || (seq % 13) END,
    objective = CASE WHEN seq % 20011 = 0 THEN 'ERROR' ELSE objective END;
INSERT INTO tags (run_seq, key, value) SELECT seq, 'suite', 'suite-' || (seq % 40) FROM runs
    WHERE seq % 2 = 0
"""


def long_trace() -> bytes:
    """A normalised trace."""
    lines = ['{"schema":"adjudge.trace/1"}']
    return "\n".join(lines).encode()


def prepare(store: RunDatabase) -> None:
    fill(store, RUNS)
    with store.database.writing("vary") as connection:
        for statement in _VARY.split(";"):
            connection.execute(text(statement))
    run = make_run(
        4_000_000,
        attempt=Attempt(
            outcome=AgentOutcome(status=AgentStatus.COMPLETED, trace=keep_blob(store.blobs, long_trace()))
        ),
    )
    store.save_run(run)
    store.save_evaluation(run.id, graded_run(run))
    store.save_run(make_run(4_000_001, status=RunStatus.RUNNING, attempt=None, ended_at=None))


def pages(client: TestClient) -> list[str]:
    """What is asked for: each page, and lists in their costliest forms."""
    lists = [
        "/runs",
        "/runs?task=task-7&objective=FAIL",
        "/runs?objective=ERROR",
        "/runs?objective=ERROR&judge=FAIL&agent=agent-3",
        "/runs?integrity=tampered&model=model-1",
        "/runs?failure_mode=mode-12&score_min=0.99",
        "/runs?q=task-19",
        "/runs?q=suite-39+agent-4",
        "/runs?q=no+such+thing+anywhere",
        "/runs?tag=suite%3Dsuite-8",
        "/runs?score_min=0.5&score_max=0.5&sort=-cost",
        "/runs?cost_min=9.99&cost_max=9.991",
        "/runs?since=2026-03-01&until=2026-03-02",
        *(f"/runs?sort={'-' if down else ''}{column}" for column in _SORTS for down in (False, True)),
    ]
    for query in ("", "sort=-score&", "q=task-19&", "objective=FAIL&sort=cost&"):
        address = f"/api/v1/runs?{query}limit=200"
        for _ in range(20):
            address = client.get(address).json()["next"]
        lists.append(address.replace("/api/v1", "").replace("limit=200", "limit=50"))
    return lists


_SORTS = ("task", "agent", "model", "trial", "score", "reward", "cost", "tokens", "time", "recorded")


def run() -> None:
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name:
        root = Path(name)
        with store_for(Settings(root / "state", "auto", 1, store=str(root / "store"), folder=root)) as store:
            prepare(store)
            measure(store)


def measure(store: RunDatabase) -> None:
    app = create_app(store, Access(UserTable(store.database)))
    with TestClient(app, base_url="http://127.0.0.1:8642", follow_redirects=False) as client:
        print(f"{'page':<70}{'p50':>9}{'p95':>9}{'HTML':>9}")
        for address in pages(client):
            times, size = [], 0
            for _ in range(ASKED):
                began = time.perf_counter()
                answer = client.get(address)
                times.append((time.perf_counter() - began) * 1000)
                assert answer.status_code == 200, f"{address}: {answer.status_code}"
                size = len(answer.content)
            p95 = statistics.quantiles(times, n=20)[-1]
            shown = address if len(address) <= 68 else f"{address[:67]}…"
            print(f"{shown:<70}{statistics.median(times):>6.1f} ms{p95:>6.1f} ms{size / 1000:>6.1f} kB")
