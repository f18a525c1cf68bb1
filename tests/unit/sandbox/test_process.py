"""The backend without isolation: what is its own, beside what the conformance suite checks."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from pathlib import Path, PurePosixPath

import pytest

from adjudge.errors import SandboxError, WorkspaceUnreadable
from adjudge.records.sandbox import Ended, ExecRequest, Network, SandboxSpec, WorkspaceTree
from adjudge.sandbox.bubblewrap import BubblewrapBackend
from adjudge.sandbox.marking import MARK, end_marked
from adjudge.sandbox.process import ProcessBackend


def run(spec: SandboxSpec, *requests: ExecRequest) -> list[str]:
    async def all_of_them() -> list[str]:
        async with await ProcessBackend().start(spec) as sandbox:
            results = [await sandbox.exec(request) for request in requests]
        assert [result.ended for result in results] == [Ended.EXITED] * len(results)
        return [result.stdout.head for result in results]

    return asyncio.run(all_of_them())


def test_it_says_that_it_isolates_nothing() -> None:
    support = ProcessBackend().probe()
    assert support.available
    assert "no isolation" in support.reason

    async def report() -> tuple[str, ...]:
        async with await ProcessBackend().start(SandboxSpec()) as sandbox:
            assert not sandbox.report.isolated
            assert sandbox.report.network is Network.HOST
            return sandbox.report.notes

    notes = asyncio.run(report())
    assert any("no isolation" in note for note in notes)
    assert any("although `none` was asked for" in note for note in notes)


def test_commands_find_the_true_places() -> None:
    script = 'echo x > file; cat "$ADJUDGE_WORKSPACE/file"; [ "$PWD" = "$ADJUDGE_WORKSPACE" ] && echo same'
    temporary = ExecRequest(shell='[ "$PWD" = "$TMPDIR" ] && echo same', cwd=PurePosixPath("/tmp"))
    assert run(SandboxSpec(), ExecRequest(shell=script), temporary) == ["x\nsame\n", "same\n"]


def test_the_callers_environment_stays_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "secret")
    (text,) = run(SandboxSpec(env={"OWN": "1"}), ExecRequest(argv=("env",)))
    names = {line.partition("=")[0] for line in text.splitlines()}
    assert "OWN" in names
    assert "SOME_API_KEY" not in names


def test_a_command_that_kills_its_supervisor_leaves_nothing(tmp_path: Path) -> None:
    beat = tmp_path / "beat"
    program = f"""
import os, signal, time
if os.fork() == 0:
    os.setsid()
    while True:
        open({str(beat)!r}, "a").write(".")
        time.sleep(0.02)
while not os.path.exists({str(beat)!r}):
    time.sleep(0.01)
os.kill(os.getppid(), signal.SIGKILL)
time.sleep(30)
"""
    with pytest.raises(SandboxError, match="died without a report"):
        run(SandboxSpec(), ExecRequest(argv=(sys.executable, "-c", program)))
    size = beat.stat().st_size
    time.sleep(0.2)
    assert beat.stat().st_size == size


def test_marked_processes_are_ended_and_no_others() -> None:
    def sleeper(mark: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(["sleep", "60"], env={**os.environ, MARK: mark})

    marked, other = sleeper(f"mine-{os.getpid()}"), sleeper(f"others-{os.getpid()}")
    try:
        end_marked(f"mine-{os.getpid()}")
        assert marked.wait(5) == -9
        assert other.poll() is None
    finally:
        for process in (marked, other):
            process.kill()
            process.wait()


def test_a_missing_workspace_is_said(tmp_path: Path) -> None:
    spec = SandboxSpec(workspace=WorkspaceTree(layers=(tmp_path / "missing",)))
    with pytest.raises(WorkspaceUnreadable, match="missing is not a directory"):
        run(spec)


@pytest.mark.bwrap
def test_it_continues_a_workspace_made_of_layers(tmp_path: Path) -> None:
    (tmp_path / "dir").mkdir()
    (tmp_path / "dir" / "gone").write_text("gone")
    (tmp_path / "kept").write_text("kept")
    tmp_path.chmod(0o755)

    async def go() -> str:
        spec = SandboxSpec(workspace=WorkspaceTree(layers=(tmp_path,)))
        async with await BubblewrapBackend().start(spec) as first:
            await first.exec(ExecRequest(shell="rm -r dir && mkdir dir && echo new > dir/new"))
            async with await ProcessBackend().start(SandboxSpec(workspace=first.tree())) as second:
                result = await second.exec(ExecRequest(shell="find . -type f | sort; cat kept dir/new"))
                assert result.ok
                return result.stdout.head

    assert asyncio.run(go()) == "./dir/new\n./kept\nkeptnew\n"
