"""The web view: server time and size of its pages, over 100,000 runs and a trace of 20,000 events.

Requests go through the whole application, as a browser's do, but for the socket. Documents of runs are padded
to 4 kB, which is what a run with a change set of a few files takes. The first time a page is asked for stands
apart: the template is compiled then, and the index of a long trace made. Aims: p95 under 100 ms, HTML under
60 kB.
"""

from __future__ import annotations

import io
import statistics
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import text
from starlette.testclient import TestClient

from adjudge.formats.traces.adjudge import write_trace
from adjudge.records.run import (
    AgentOutcome,
    AgentRef,
    AgentStatus,
    Attempt,
    Experiment,
    Run,
    RunKey,
    RunStatus,
)
from adjudge.records.trace import ToolCall, ToolKind, ToolResult, TraceItem
from adjudge.settings import Settings
from adjudge.store.opening import store_for
from adjudge.store.runs import RunDatabase
from adjudge.store.users import UserTable
from adjudge.testing.runs import graded_run, keep_blob, make_run, make_task
from adjudge.web.access.identity import Access
from adjudge.web.app import create_app, list_routes
from bench.store import RUNS, fill

EVENTS = 20_000
ASKED = 40
"""How often each page is asked for."""
EXPERIMENT = "benchmark000"

_VARY = f"""
UPDATE runs SET cost_usd = (seq * 7919 % 10007) / 1000.0, total_tokens = seq * 104729 % 2000003,
    wall_s = (seq * 15485863 % 1000003) / 1000.0, started_at = datetime(1767225600 + seq * 60, 'unixepoch'),
    experiment_id = CASE WHEN seq <= 2000 THEN '{EXPERIMENT}' END,
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
_SORTS = ("task", "agent", "model", "trial", "score", "reward", "cost", "tokens", "time", "recorded")


def long_trace() -> bytes:
    """A normalised trace: calls, and what they printed."""

    def items() -> Iterator[TraceItem]:
        for at in range(EVENTS // 2):
            yield ToolCall(
                id=f"t{at}", raw_name="Bash", name="bash", kind=ToolKind.EXECUTE, input=f"echo {at}"
            )
            yield ToolResult(call_id=f"t{at}", text=f"line {at}\n" * 20, is_error=at == EVENTS // 4)

    stream = io.BytesIO()
    write_trace(items(), stream, format="claude-code")
    return stream.getvalue()


def prepare(store: RunDatabase) -> None:
    """Runs with every column different, one experiment, one long trace, one run that goes on."""
    fill(store, RUNS)
    agents = [AgentRef(name=f"agent-{number}", type="command") for number in range(5)]
    matrix = tuple(
        RunKey(task_digest=make_task(f"task-{number}").digest, agent_digest=agent.config_digest, trial=trial)
        for trial in (1, 2)
        for number in range(200)
        for agent in agents
    )
    began = datetime(2026, 1, 1, tzinfo=UTC)
    store.add_experiment(Experiment(id=EXPERIMENT, name="benchmark", created_at=began, matrix=matrix))
    with store.database.writing("vary") as connection:
        for statement in _VARY.split(";"):
            connection.execute(text(statement))
    long = long_run(store)
    store.save_run(long)
    store.save_evaluation(long.id, graded_run(long))
    store.save_run(make_run(4_000_001, status=RunStatus.RUNNING, attempt=None, ended_at=None))


def long_run(store: RunDatabase) -> Run:
    outcome = AgentOutcome(status=AgentStatus.COMPLETED, trace=keep_blob(store.blobs, long_trace()))
    return make_run(4_000_000, attempt=Attempt(outcome=outcome))


def pages(client: TestClient) -> list[str]:
    """What is asked for: each page, the parts of the long run, and lists in their costliest forms."""
    run = f"/runs/{make_run(4_000_000).id}"
    plain = [
        route.path
        for route in list_routes()
        if route.method == "GET" and "{" not in route.path and not route.path.startswith("/api/v1")
    ]
    lists = [
        *(path for path in plain if path not in ("/", "/sign-in", "/explore/download")),
        run,
        *(f"{run}/{part}" for part in ("timeline", "timeline?start=9000", "timeline?q=line+9999", "raw")),
        f"/experiments/{EXPERIMENT}",
        "/runs?task=task-7&objective=FAIL",
        "/runs?objective=ERROR",
        "/runs?objective=ERROR&judge=FAIL&agent=agent-3",
        "/runs?integrity=tampered&model=model-1",
        "/runs?failure_mode=mode-12&score_min=0.99",
        f"/runs?experiment={EXPERIMENT}&sort=-cost",
        "/runs?q=task-19",
        "/runs?q=suite-39+agent-4",
        "/runs?q=no+such+thing+anywhere",
        "/runs?tag=suite%3Dsuite-8",
        "/runs?score_min=0.5&score_max=0.5&sort=-cost",
        "/runs?cost_min=9.99&cost_max=9.991",
        "/runs?since=2026-03-01&until=2026-03-02",
        *(f"/runs?sort={sign}{column}" for column in _SORTS for sign in ("", "-")),
    ]
    lists += [
        "/explore",
        "/explore?by=task",
        "/explore?by=scorer",
        "/explore?by=week&by=agent",
        "/explore?by=tag%3Asuite",
        "/explore?f=agent&o=is&v=agent-3&f=score&o=at-least&v=0.5",
        *(f"/explore?plot={plot}" for plot in ("distribution", "frontier", "gates", "heat")),
        "/explore?show=runs",
        "/explore?show=runs&sort=-cost_usd",
        "/experiments",
    ]
    for query in ("", "sort=-score&", "q=task-19&", "objective=FAIL&sort=cost&"):
        address = f"/api/v1/runs?{query}limit=200"
        for _ in range(20):
            address = client.get(address).json()["next"]
        lists.append(address.replace("/api/v1", "").replace("limit=200", "limit=50"))
    return lists


def run() -> None:
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name:
        root = Path(name)
        settings = Settings(root / "state", "auto", 1, store=str(root / "store"), folder=root)
        with store_for(settings) as store:
            prepare(store)
            measure(store)


def measure(store: RunDatabase) -> None:
    app = create_app(store, Access(UserTable(store.database)))
    with TestClient(app, base_url="http://127.0.0.1:8642", follow_redirects=False) as client:
        print(f"{'page':<66}{'first':>9}{'p50':>10}{'p95':>10}{'processor':>12}{'HTML':>10}")
        for address in pages(client):
            times, used, size = [], [], 0
            for _ in range(ASKED + 1):
                began, busy = time.perf_counter(), time.process_time()
                answer = client.get(address)
                times.append((time.perf_counter() - began) * 1000)
                used.append((time.process_time() - busy) * 1000)
                size = len(answer.content)
                if answer.status_code != 200:
                    break
            shown = address if len(address) <= 64 else f"{address[:63]}…"
            if answer.status_code != 200:
                print(f"{shown:<66}answered {answer.status_code}")
                continue
            first, *times = times
            print(
                f"{shown:<66}{first:>6.0f} ms{statistics.median(times):>7.1f} ms"
                f"{statistics.quantiles(times, n=20)[-1]:>7.1f} ms{statistics.median(used[1:]):>9.1f} ms"
                f"{size / 1000:>7.1f} kB",
                flush=True,
            )
