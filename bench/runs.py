"""Experiments: trivial runs per second, regrading what is stored, and seeding once against once per run.

Runs: 500 of the `replay` agent with a patch of one line and one `command: true`, two at a time, in a store on
disk; processor time is that of this process and of all that it started.

Regrade: the same 500 again, with nothing to compute and with everything computed from what is stored.

Seeding: a repository of 10,000 files. Once: set up for the task and shared copy-on-write, then a sandbox for
each run. Per run: a workspace of its own for each, as `adjudge seed` makes it.
"""

from __future__ import annotations

import asyncio
import resource
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from adjudge.records.experiment import ExperimentPlan, MatrixBlock, PlannedAgent, RunOptions
from adjudge.records.sandbox import ExecRequest, SandboxSpec
from adjudge.sandbox.choose import choose_backend
from adjudge.store.opening import open_store
from adjudge.store.places import StorePlace
from adjudge.store.runs import RunDatabase
from adjudge.tasks.freeze import freeze
from adjudge.tasks.load import load_scenario
from adjudge.workflows.agents import agent_ref
from adjudge.workflows.regrade import RegradeMeans, RegradeRequest, regrade
from adjudge.workflows.run import RunMeans, run_experiment
from adjudge.workflows.seed import seed
from adjudge.workflows.startingpoint import prepare_start

RUNS = 500
JOBS = 2
FILES = 10_000
SEEDED = 3
PATCH = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-1\n+2\n"
TASK = """
instruction: Go.
workspace: {source: directory, path: src}
scorers: [{type: command, command: "true"}]
"""


def cpu_s() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


@contextmanager
def measured(what: str, count: int) -> Iterator[None]:
    began, used = time.perf_counter(), cpu_s()
    yield
    wall, cpu = time.perf_counter() - began, cpu_s() - used
    print(
        f"{what:<44} {wall:7.1f} s  {count / wall:7.1f}/s  {wall / count * 1000:7.1f} ms each  "
        f"{cpu / count * 1000:7.1f} ms of processor each",
        flush=True,
    )


def scenario(root: Path, files: int = 1) -> Path:
    folder = root / "task"
    for number in range(files):
        place = folder / "src" / (f"d{number % 100}" if number else "") / (f"f{number}" if number else "x")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("1\n")
    (folder / "adjudge.yaml").write_text(TASK)
    (root / "change.patch").write_text(PATCH)
    return folder


def store_at(root: Path) -> RunDatabase:
    return open_store(StorePlace(root / "store", None, str(root / "store" / "blobs")))


def experiments(root: Path) -> None:
    folder = scenario(root)
    store = store_at(root)
    backend = choose_backend("auto").backend
    agent = agent_ref("replay", {"patch": str(root / "change.patch")})
    plan = ExperimentPlan(
        name="bench",
        blocks=(MatrixBlock(tasks=(str(folder),), agents=(PlannedAgent(ref=agent),), trials=RUNS),),
        options=RunOptions(jobs=JOBS),
    )
    means = RunMeans(
        store=store,
        blobs=store.blobs,
        state_dir=root / "state",
        jobs=JOBS,
        backend=lambda _: lambda _: backend,
        observe=lambda _: None,
    )
    with measured(f"{RUNS} trivial runs, {JOBS} at a time", RUNS):
        result = run_experiment(plan, means)
    assert result.tally.pass_rate == 1.0, result.tally
    again = RegradeMeans(
        store=store, blobs=store.blobs, state_dir=root / "state", jobs=JOBS, backend=lambda _: backend
    )
    with measured(f"regrade of {RUNS}, nothing changed", RUNS):
        assert all(one.after is None for one in regrade(RegradeRequest(everything=True), again).runs)
    with measured(f"regrade of {RUNS}, --force", RUNS):
        assert all(one.after is not None for one in regrade(_force(), again).runs)


def _force() -> RegradeRequest:
    return RegradeRequest(everything=True, force=True)


def seeding(root: Path) -> None:
    folder = scenario(root, FILES)
    backend = choose_backend("auto").backend
    store = store_at(root)
    with measured(f"freeze {FILES} files", 1):
        frozen = freeze(load_scenario(folder), root / "state")
    with measured("set up once for all runs", 1):
        start = prepare_start(frozen, state_dir=root / "state", backend=lambda _: backend, blobs=store.blobs)

    async def clone() -> None:
        for _ in range(SEEDED):
            async with await backend.start(SandboxSpec(workspace=start.tree, exact_renames=True)) as sandbox:
                await sandbox.exec(ExecRequest(argv=("true",)))

    with measured(f"then a sandbox over it, {SEEDED} times", SEEDED):
        asyncio.run(clone())
    with measured(f"a workspace of its own, {SEEDED} times", SEEDED):
        for number in range(SEEDED):
            seed(
                str(frozen.directory),
                root / f"w{number}",
                state_dir=root / "state",
                backend=lambda _: backend,
            )


def in_scratch(work: Callable[[Path], None]) -> None:
    root = Path(tempfile.mkdtemp(prefix="adjudge-bench-"))
    root.chmod(0o755)
    try:
        work(root)
    finally:
        shutil.rmtree(root)


def run() -> None:
    in_scratch(experiments)
    in_scratch(seeding)
