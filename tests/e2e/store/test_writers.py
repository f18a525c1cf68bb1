"""Many writers at once, and writers that are killed: nothing acknowledged is lost, nothing is damaged."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from adjudge.records.run import RunStatus
from adjudge.settings import Settings
from adjudge.store.opening import store_for
from adjudge.store.runs import RunDatabase

WRITERS = Path(__file__).with_name("writers.py")


def start(settings: Settings, processes: int, runs: int) -> subprocess.Popen[str]:
    argv = [sys.executable, str(WRITERS), str(settings.store), str(settings.blobs), str(processes), str(runs)]
    return subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def acknowledged(lines: list[str]) -> list[tuple[str, str]]:
    found = [line.split() for line in lines if line.endswith("\n")]
    return [(parts[1], parts[2]) for parts in found if parts[1] != "started"]


def check_whole(store: RunDatabase, written: list[tuple[str, str]]) -> None:
    for run_id, evaluation_id in written:
        run = store.run(run_id)
        assert run.status is RunStatus.FINISHED
        current = store.current_evaluation(run_id)
        assert current is not None
        assert current.id == evaluation_id
        assert run.attempt is not None
        assert run.attempt.outcome is not None
        assert run.attempt.outcome.stdout is not None
        with store.blobs.open(run.attempt.outcome.stdout) as stream:
            assert stream.read().startswith(b"output of ")
    with store.database.reading("check") as connection:
        if store.database.is_sqlite:
            assert connection.exec_driver_sql("PRAGMA integrity_check").scalar() == "ok"
            assert connection.exec_driver_sql("PRAGMA foreign_key_check").all() == []


def test_ten_writers_at_once_lose_nothing(store_settings: Settings) -> None:
    # Nobody made the store before: the ten also race to make its tables.
    with start(store_settings, processes=10, runs=5) as writers:
        stdout, stderr = writers.communicate()
    assert (writers.returncode, stderr) == (0, "")
    written = acknowledged(stdout.splitlines(keepends=True))
    assert len(written) == 50
    with store_for(store_settings) as store:
        check_whole(store, written)
        assert {row.id for row in store.summaries()} == {run_id for run_id, _ in written}


def test_killed_writers_lose_nothing_they_acknowledged(store_settings: Settings) -> None:
    written: list[tuple[str, str]] = []
    with start(store_settings, processes=4, runs=1000) as writers:
        assert writers.stdout is not None
        pids: dict[str, int] = {}
        count: dict[str, int] = {}
        # Killed after the first, second, … acknowledgement: at whatever instant that happens to be.
        while len(pids) < 4 or any(count.get(process, 0) >= 0 for process in pids):
            line = writers.stdout.readline()
            process, what, more = line.split()
            if what == "started":
                pids[process] = int(more)
                continue
            written.append((what, more))
            if count.get(process, 0) >= 0:
                count[process] = count.get(process, 0) + 1
                if count[process] > 2 * int(process):
                    os.kill(pids[process], signal.SIGKILL)
                    count[process] = -1
        written += acknowledged(writers.stdout.readlines())
        writers.wait()
    with store_for(store_settings) as store:
        check_whole(store, written)
        rows = list(store.summaries())
    # What was under way is there in part at most, and may be taken up again.
    for row in rows:
        assert row.status in ("running", "finished")
        assert row.status == "finished" or row.objective is None
    assert len(written) <= len(rows) <= len(written) + 4
