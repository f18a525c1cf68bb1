"""The store: what a write costs, and lists and reports over 100,000 runs.

Writes: a run recorded as running, then as finished with an output of 2 kB, then its evaluation: three
transactions, each safe from a loss of power, and a blob. Beside it the bare price of three synced writes to
a file. Reads: cold starts of the command line on a store of 100,000 runs of 200 tasks by 5 agents.
"""

from __future__ import annotations

import hashlib
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sqlalchemy import insert

from adjudge.records.run import AgentOutcome, AgentRef, AgentStatus, Attempt, RunStatus
from adjudge.settings import Settings
from adjudge.store import schema
from adjudge.store.opening import store_for
from adjudge.store.rows import evaluation_digest, evaluation_row, run_row, scorer_rows
from adjudge.store.runs import RunDatabase
from adjudge.testing.runs import graded_run, keep_blob, make_run, make_task

RUNS = 100_000
TASKS = 200
AGENTS = 5
WRITES = 500
STARTS = 5
BATCH = 5000


def fill(store: RunDatabase, runs: int) -> None:
    """Many runs, in few transactions; documents of a template with the names exchanged."""
    templates = {}
    for verdict in ("PASS", "FAIL"):
        run = make_run(0)
        graded = graded_run(run, verdict)
        row = evaluation_row(graded.evaluation)
        scorers = scorer_rows(graded.evaluation)
        row["digest"] = evaluation_digest(row["document"], [item["document"] for item in scorers], "null")
        templates[verdict] = (run_row(run), row, scorers)
    tasks = [make_task(f"task-{number}") for number in range(TASKS)]
    for task in tasks:
        store.keep_task(task)
    store.keep_task(make_task())
    for start in range(0, runs, BATCH):
        rows: dict[str, list[dict[str, Any]]] = {"runs": [], "evaluations": [], "scorers": []}
        for number in range(start, min(start + BATCH, runs)):
            chance = hashlib.sha256(str(number).encode()).digest()
            attempt, evaluation, scorers = templates["PASS" if chance[0] < 150 else "FAIL"]
            task = tasks[number % TASKS]
            run_id, seq = chance.hex()[:12], number + 1
            rows["runs"].append(
                {**attempt, "seq": seq, "id": run_id, "task_name": task.name, "task_digest": task.digest,
                 "agent": f"agent-{number // TASKS % AGENTS}", "model": f"model-{chance[1] % 2}",
                 "trial": number // (TASKS * AGENTS) + 1, "current_evaluation": seq,
                 "document": attempt["document"].replace(attempt["id"], run_id)}
            )  # fmt: skip
            rows["evaluations"].append(
                {**evaluation, "seq": seq, "id": chance.hex()[:32], "run_seq": seq, "evidence": None}
            )
            rows["scorers"] += [{**item, "evaluation_seq": seq} for item in scorers]
        with store.database.writing("fill") as connection:
            for table, name in (
                (schema.runs, "runs"),
                (schema.evaluations, "evaluations"),
                (schema.scorer_results, "scorers"),
            ):
                connection.execute(insert(table), rows[name])


def measured(work: Callable[[], object]) -> tuple[float, float]:
    began, used = time.perf_counter(), sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
    work()
    return time.perf_counter() - began, sum(resource.getrusage(resource.RUSAGE_SELF)[:2]) - used


def write(store: RunDatabase, first: int, count: int) -> None:
    for number in range(first, first + count):
        run = make_run(number, agent=AgentRef(name="writer", type="command"))
        store.save_run(run.model_copy(update={"status": RunStatus.RUNNING, "attempt": None}))
        output = keep_blob(store.blobs, f"line of output {number}\n".encode() * 100)
        outcome = AgentOutcome(status=AgentStatus.COMPLETED, stdout=output)
        store.save_run(run.model_copy(update={"attempt": Attempt(outcome=outcome)}))
        store.save_evaluation(run.id, graded_run(run))


def sync(root: Path, count: int) -> None:
    with (root / "bare").open("wb") as file:
        for _ in range(count * 3):
            file.write(b"x" * 4096)
            file.flush()
            os.fsync(file.fileno())


def cold(root: Path, *argv: str) -> tuple[float, float]:
    """Medians over fresh processes: wall and processor time."""
    command = str(Path(sys.executable).with_name("adjudge"))
    environment = {**os.environ, "ADJUDGE_STORE": str(root / "store"), "ADJUDGE_HOME": str(root / "state")}
    walls, processor = [], []
    for _ in range(STARTS):
        began, used = time.perf_counter(), sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
        subprocess.run(
            [command, *argv],
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=True,
            cwd=root,
        )
        walls.append(time.perf_counter() - began)
        processor.append(sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2]) - used)
    return statistics.median(walls), statistics.median(processor)


def run() -> None:
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name:
        root = Path(name)
        settings = Settings(root / "state", "auto", 1, store=str(root / "store"), folder=root)
        with store_for(settings) as store:
            write(store, 2_000_000, 20)
            print(f"{WRITES} runs{'':>11}{'wall':>11}{'processor':>12}")
            for what, work in (
                ("3 synced writes", lambda: sync(root, WRITES)),
                ("stored, small", lambda: write(store, 3_000_000, WRITES)),
            ):
                wall, used = measured(work)
                print(f"{what:>20}{wall / WRITES * 1000:>8.2f} ms{used / WRITES * 1000:>9.2f} ms")
        size = root / "large"
        size.mkdir()
        settings = Settings(size / "state", "auto", 1, store=str(size / "store"), folder=size)
        with store_for(settings) as store:
            wall, _ = measured(lambda: fill(store, RUNS))
            file = size / "store" / "store.db"
            print(f"generated {RUNS:,} runs in {wall:.0f} s, {file.stat().st_size / 1e6:.0f} MB")
            write(store, 2_000_000, 20)
            wall, used = measured(lambda: write(store, 3_000_000, WRITES))
            print(f"{'stored, large':>20}{wall / WRITES * 1000:>8.2f} ms{used / WRITES * 1000:>9.2f} ms")
        print(f"{'cold start':>44}{'median':>11}{'processor':>12}")
        for argv in (
            ("--version",),
            ("list",),
            ("list", "--task", "task-7", "--objective", "FAIL"),
            ("list", "--agent", "agent-3", "--judge", "FAIL"),
            ("show", hashlib.sha256(b"77").hexdigest()[:9]),
            ("report",),
            ("report", "--agent", "agent-3", "--format", "json"),
            ("compare", "agent-1", "agent-2:model-0"),
        ):
            wall, used = cold(size, *argv)
            print(f"{' '.join(argv):>44}{wall * 1000:>8.0f} ms{used * 1000:>9.0f} ms")
