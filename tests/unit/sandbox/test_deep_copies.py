"""A tree that nobody can copy for its depth is its maker's fault, not ours."""

from __future__ import annotations

import asyncio
import errno
import os
import resource
from pathlib import Path

import pytest

from adjudge.errors import WorkspaceUnreadable
from adjudge.records.sandbox import SandboxSpec, WorkspaceTree
from adjudge.sandbox import supervisor
from adjudge.sandbox.process import ProcessBackend


def test_running_out_of_descriptors_is_a_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    def out_of_descriptors(*_: object) -> list[str]:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr(supervisor, "copy_tree", out_of_descriptors)
    report = supervisor._work_on_files({"op": "copy", "source": "a", "target": "b"}, (0, 1, 2), (0, 0))
    assert report["refused"] == ("EMFILE", "Too many open files")


def test_a_full_disk_stays_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> list[str]:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(supervisor, "copy_tree", full)
    with pytest.raises(OSError, match="No space left"):
        supervisor._work_on_files({"op": "copy", "source": "a", "target": "b"}, (0, 1, 2), (0, 0))


def test_a_workspace_nested_too_deeply_is_unreadable(hostile_tmp: Path) -> None:
    levels = resource.getrlimit(resource.RLIMIT_NOFILE)[1] // 2 + 10
    if levels > 50_000:
        pytest.skip("this machine lets a process open more files than a test wants directories")
    here = os.open(hostile_tmp, os.O_RDONLY | os.O_DIRECTORY)
    for _ in range(levels):
        os.mkdir("d", dir_fd=here)
        below = os.open("d", os.O_RDONLY | os.O_DIRECTORY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)

    async def start() -> None:
        async with await ProcessBackend().start(SandboxSpec(workspace=WorkspaceTree(layers=(hostile_tmp,)))):
            pass

    with pytest.raises(WorkspaceUnreadable, match="nested too deeply"):
        asyncio.run(start())
