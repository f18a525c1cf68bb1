"""Whatever ends adjudge in the middle, nothing of a sandbox goes on, and the next start clears up."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.bwrap

RUN = """
import asyncio, sys
from adjudge.records.sandbox import ExecRequest, SandboxSpec
from adjudge.sandbox.bubblewrap import BubblewrapBackend
async def run():
    async with await BubblewrapBackend().start(SandboxSpec()) as sandbox:
        beat = f"setsid sh -c 'while :; do date >> beat; sleep 0.05; done' {sys.argv[1]}"
        script = f"echo started; ({beat} &) ; sleep 300"
        show = lambda stream, data: print(sandbox.tree().layers[-1], flush=True)
        await sandbox.exec(ExecRequest(argv=("/bin/sh", "-c", script, sys.argv[1])), on_output=show)
asyncio.run(run())
"""


def processes_with(mark: str) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                if mark.encode() in (entry / "cmdline").read_bytes():
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


def wait_for(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + 15
    while not condition():
        assert time.monotonic() < deadline, f"still not: {what}"
        time.sleep(0.02)


def start(scratch: Path, mark: str) -> tuple[subprocess.Popen[str], Path]:
    process = subprocess.Popen(
        [sys.executable, "-c", RUN, mark],
        env={**os.environ, "ADJUDGE_SCRATCH": str(scratch)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_nothing_survives_and_the_next_start_sweeps(how: signal.Signals, hostile_tmp: Path) -> None:
    scratch, mark = hostile_tmp / "scratch", f"mark-{os.getpid()}-{time.monotonic_ns()}"
    process, workspace = start(scratch, mark)
    try:
        wait_for((workspace / "beat").exists, "the daemon runs")
        assert len(processes_with(mark)) > 1
    finally:
        process.send_signal(how)
        process.communicate()
    wait_for(lambda: not processes_with(mark), "all processes dead")
    (left,) = scratch.iterdir()
    again, _ = start(scratch, mark)
    try:
        assert left not in list(scratch.iterdir())
    finally:
        again.send_signal(signal.SIGINT)
        again.communicate()
    wait_for(lambda: not processes_with(mark), "all processes dead")
    assert not scratch.exists()


def test_an_interrupt_discards_everything_before_it_propagates(hostile_tmp: Path) -> None:
    scratch, mark = hostile_tmp / "scratch", f"mark-{os.getpid()}-{time.monotonic_ns()}"
    process, workspace = start(scratch, mark)
    wait_for((workspace / "beat").exists, "the daemon runs")
    process.send_signal(signal.SIGINT)
    process.communicate()
    assert process.returncode == -signal.SIGINT
    assert processes_with(mark) == []
    assert not scratch.exists()


def test_a_supervisor_that_dies_is_our_failure_and_takes_the_tree_along(hostile_tmp: Path) -> None:
    scratch, mark = hostile_tmp / "scratch", f"mark-{os.getpid()}-{time.monotonic_ns()}"
    process, workspace = start(scratch, mark)
    wait_for((workspace / "beat").exists, "the daemon runs")
    launchers = [
        pid for pid in processes_with("adjudge.sandbox.launcher") if _scratch_of(pid) == str(scratch)
    ]
    for pid in launchers:
        # Killing the launcher ends the supervisors that wait for it.
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    process.communicate()
    assert process.returncode == 1
    wait_for(lambda: not processes_with(mark), "all processes dead")
    assert not scratch.exists()


def _scratch_of(pid: int) -> str | None:
    try:
        variables = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return None
    return next((v.partition(b"=")[2].decode() for v in variables if v.startswith(b"ADJUDGE_SCRATCH=")), None)
