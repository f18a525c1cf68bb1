"""Cold starts of the command line, and what a grading costs above its sandbox and its command.

Cold start: the median over fresh processes of `--version`, `--help`, and `grade` with four scorers that run
nothing on a repository of 1,000 files; a bare interpreter takes its turn beside them.

Overhead: 200 gradings in one process, each of one `true` in its own sandbox, beside as many bare rounds of
starting the same sandbox, running `true` and discarding it; processor time of this process and of all that
it started.
"""

from __future__ import annotations

import asyncio
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import adjudge
from adjudge.records.sandbox import ExecRequest, SandboxSpec, WorkspaceTree
from adjudge.records.score import Recipe, ScorerSpec
from adjudge.records.task import Scenario
from adjudge.sandbox.choose import choose_backend

STARTS = 15
GRADINGS = 200
BLOCK = 20
RECIPE = """
scorers:
  - {type: allowed_paths, patterns: ["d1/**"]}
  - {type: max_files_changed, limit: 3}
  - {type: tests_unmodified, paths: [d2/f2.py]}
  - {type: file_exists, path: d1/f1.py}
"""
GIT = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}


def make_repository(root: Path, files: int) -> None:
    for number in range(files):
        path = root / f"d{number % 20}" / f"f{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"x = {number}\n")
    for command in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-qm", "base"]):
        identity = ["-c", "user.name=bench", "-c", "user.email=bench@example.org"]
        subprocess.run(["git", "-C", str(root), *identity, *command], env={**os.environ, **GIT}, check=True)
    (root / "d1" / "f1.py").write_text("x = 0\n")


def cold_starts(root: Path) -> None:
    recipe = root / "recipe.yaml"
    recipe.write_text(RECIPE)
    workspace = root / "workspace"
    make_repository(workspace, 1000)
    command = str(Path(sys.executable).with_name("adjudge"))
    kinds = {
        "bare python": [sys.executable, "-c", "pass"],
        "--version": [command, "--version"],
        "--help": [command, "--help"],
        "grade": [command, "grade", str(recipe), "--workspace", str(workspace)],
    }
    taken: dict[str, list[tuple[float, float]]] = {kind: [] for kind in kinds}
    for _ in range(STARTS):
        for kind, argv in kinds.items():
            began, used = time.perf_counter(), cpu(resource.RUSAGE_CHILDREN)
            subprocess.run(argv, stdout=subprocess.DEVNULL, check=True)
            taken[kind].append((time.perf_counter() - began, cpu(resource.RUSAGE_CHILDREN) - used))
    print(f"{'cold start':>14}{'median':>11}{'best':>11}{'processor':>12}")
    for kind, values in taken.items():
        walls = [wall * 1000 for wall, _ in values]
        processor = statistics.median(used for _, used in values) * 1000
        print(f"{kind:>14}{statistics.median(walls):>8.0f} ms{min(walls):>8.0f} ms{processor:>9.0f} ms")


def cpu(who: int) -> float:
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime


def spent() -> float:
    """Processor time of this process and of every child it has waited for."""
    return cpu(resource.RUSAGE_SELF) + cpu(resource.RUSAGE_CHILDREN)


async def overhead(root: Path) -> None:
    before, workspace = root / "before", root / "after"
    for place in (before, workspace):
        place.mkdir()
        (place / "file.txt").write_text("content\n")
    backend = choose_backend("auto").backend
    spec = SandboxSpec(workspace=WorkspaceTree(layers=(workspace,)))
    line = ScorerSpec(
        name="true",
        type="command",
        required=True,
        counted=True,
        config={"command": "true", "timeout_s": 60.0},
    )
    scenario = Scenario(name="bench", recipe=Recipe(scorers=(line,)))

    async def bare() -> None:
        async with await backend.start(spec) as sandbox:
            assert (await sandbox.exec(ExecRequest(shell="true"))).ok

    async def graded() -> None:
        evaluation = await adjudge.agrade(scenario, workspace=workspace, baseline=before)
        assert evaluation.score == 1.0

    for work in (bare, graded):
        await work()
    used = {"bare": [0.0, 0.0], "graded": [0.0, 0.0]}
    for _ in range(GRADINGS // BLOCK):
        for name, work in (("bare", bare), ("graded", graded)):
            began, before_cpu = time.perf_counter(), spent()
            for _ in range(BLOCK):
                await work()
            used[name][0] += time.perf_counter() - began
            used[name][1] += spent() - before_cpu
    print(f"{GRADINGS} each{'':>6}{'wall':>11}{'processor':>12}")
    for name, (wall, processor) in used.items():
        print(f"{name:>14}{wall / GRADINGS * 1000:>8.2f} ms{processor / GRADINGS * 1000:>9.2f} ms")
    extra = [(used["graded"][at] - used["bare"][at]) / GRADINGS * 1000 for at in (0, 1)]
    print(f"{'overhead':>14}{extra[0]:>8.2f} ms{extra[1]:>9.2f} ms")


def run() -> None:
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name:
        root = Path(name)
        os.environ["ADJUDGE_HOME"] = str(root / "state")
        cold_starts(root)
        asyncio.run(overhead(root))
