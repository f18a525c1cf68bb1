"""Several processes that write runs into one store, and tell on stdout what was acknowledged.

`writers.py STORE BLOBS PROCESSES RUNS`: one process loads everything and forks the others, which is a tenth
of the work of starting each. Every acknowledged write is a line `<process> <run id> <evaluation id>`, written
in one piece after the store returned.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from adjudge.records.run import AgentOutcome, AgentStatus, Attempt, RunStatus
from adjudge.settings import Settings
from adjudge.store.opening import store_for
from adjudge.testing.runs import graded_run, keep_blob, make_run


def write(settings: Settings, process: int, runs: int) -> None:
    store = store_for(settings)
    for number in range(runs):
        output = keep_blob(store.blobs, f"output of {process} {number}\n".encode() * 50)
        shared = keep_blob(store.blobs, f"shared output {number}\n".encode())
        run = make_run(process * 1_000_000 + number)
        store.save_run(run.model_copy(update={"status": RunStatus.RUNNING, "attempt": None}))
        outcome = AgentOutcome(status=AgentStatus.COMPLETED, stdout=output, stderr=shared)
        store.save_run(run.model_copy(update={"attempt": Attempt(outcome=outcome)}))
        graded = graded_run(run)
        store.save_evaluation(run.id, graded)
        os.write(1, f"{process} {run.id} {graded.evaluation.id}\n".encode())


def main(store: str, blobs: str, processes: int, runs: int) -> int:
    settings = Settings(state_dir=Path("/nowhere"), sandbox="auto", jobs=1, store=store, blobs=blobs)
    children: list[int] = []
    for process in range(processes):
        child = os.fork()
        if child == 0:
            os.write(1, f"{process} started {os.getpid()}\n".encode())
            try:
                write(settings, process, runs)
            except BaseException as error:
                os.write(2, f"{type(error).__name__}: {error}\n".encode())
                os._exit(1)
            os._exit(0)
        children.append(child)
    return max(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
