"""The pages of one run: server time and size, with a trace of 20,000 events and a diff of 3,000 lines.

Requests go through the whole application, as a browser's do, but for the socket. `first` is the first time a
page is asked for, in which the trace is indexed.
"""

from __future__ import annotations

import json
import statistics
import tempfile
import time
from pathlib import Path

from starlette.testclient import TestClient

from adjudge.capture.baseline import directory_baseline
from adjudge.capture.changes import capture_changes
from adjudge.formats.traces.adjudge import encode_header
from adjudge.records.run import AgentOutcome, AgentStatus, Attempt
from adjudge.records.sandbox import WorkspaceTree
from adjudge.settings import Settings
from adjudge.store.opening import store_for
from adjudge.store.runs import RunDatabase
from adjudge.store.users import UserTable
from adjudge.testing.runs import graded_run, keep_blob, make_run
from adjudge.web.access.identity import Access
from adjudge.web.app import create_app

EVENTS = 20_000
ASKED = 40


def long_trace() -> bytes:
    """Thoughts, calls, results and usage, in turn."""
    lines = [encode_header("bench")]
    for at in range(EVENTS // 4):
        for event in (
            {"type": "thought", "text": f"step {at}: " + "consider the next file " * 20},
            {"type": "tool_call", "id": f"t{at}", "raw_name": "Bash", "name": "bash", "kind": "execute",
             "input": json.dumps({"command": f"grep -rn needle-{at} src " * 4})},
            {"type": "tool_result", "call_id": f"t{at}", "text": "a line of output\n" * 100,
             "is_error": at == EVENTS // 5},
            {"type": "usage", "tokens": {"input": 900, "output": 80}, "cost_usd": 0.004},
        ):  # fmt: skip
            lines.append(json.dumps(event).encode() + b"\n")
    return b"".join(lines)


def prepare(store: RunDatabase, folder: Path) -> str:
    """A run with everything that is long."""
    for side in ("before", "after"):
        for number in range(20):
            file = folder / side / f"src/part_{number}.py"
            file.parent.mkdir(parents=True, exist_ok=True)
            text = "".join(
                f"def function_{line}(x):\n    return {line} + x  # {side}\n" for line in range(75)
            )
            file.write_text(text)
    final = WorkspaceTree(layers=(folder / "after",))
    changes = capture_changes(directory_baseline(folder / "before"), final, blobs=store.blobs)
    outcome = AgentOutcome(status=AgentStatus.COMPLETED, trace=keep_blob(store.blobs, long_trace()))
    run = make_run(1, attempt=Attempt(outcome=outcome, change_set=changes))
    store.save_run(run)
    store.save_evaluation(run.id, graded_run(run)._replace(change_set=changes))
    return run.id


def run() -> None:
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name:
        root = Path(name)
        with store_for(Settings(root / "state", "auto", 1, store=str(root / "store"), folder=root)) as store:
            measure(store, prepare(store, root / "trees"))


def measure(store: RunDatabase, run_id: str) -> None:
    app = create_app(store, Access(UserTable(store.database)))
    with TestClient(app, base_url="http://127.0.0.1:8642", follow_redirects=False) as client:
        print(f"{'page':<44}{'first':>10}{'p50':>10}{'p95':>10}{'HTML':>10}")
        for part in (
            "",
            "/timeline",
            "/timeline?start=9000",
            "/timeline?kind=error",
            "/timeline?q=needle-4999",
            "/timeline/5000",
            "/diff",
            "/diff?view=split",
            "/diff?file=7",
            "/evaluations",
            "/raw",
        ):
            times = []
            for _ in range(ASKED):
                began = time.perf_counter()
                answer = client.get(f"/runs/{run_id}{part}")
                times.append((time.perf_counter() - began) * 1000)
                assert answer.status_code == 200, f"{part}: {answer.status_code}"
            p95 = statistics.quantiles(times[1:], n=20)[-1]
            figures = (times[0], statistics.median(times[1:]), p95)
            shown = "".join(f"{figure:>7.1f} ms" for figure in figures)
            print(f"{f'/runs/…{part}':<44}{shown}{len(answer.content) / 1000:>7.1f} kB")
