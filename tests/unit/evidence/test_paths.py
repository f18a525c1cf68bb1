"""What lies at a path, over a tree that is a dictionary."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from adjudge.contracts import WorkspaceEntry
from adjudge.evidence.paths import PathStateCollector
from adjudge.records.change import EntryType
from adjudge.records.evidence import PathState, PathStatus

FILE = WorkspaceEntry(EntryType.FILE, size_bytes=5)
FOLDER = WorkspaceEntry(EntryType.DIRECTORY)


def link(target: str) -> WorkspaceEntry:
    return WorkspaceEntry(EntryType.SYMLINK, target=target)


TREE = {
    "file": FILE,
    "dir": FOLDER,
    "dir/sub": FOLDER,
    "dir/sub/file": FILE,
    "to-file": link("file"),
    "to-dir": link("dir/sub"),
    "dir/up": link("../file"),
    "dir/around": link("../dir/./sub//file"),
    "chain": link("to-file"),
    "out": link("../file"),
    "dir/out": link("../../dir/file"),
    "absolute": link("/etc/passwd"),
    "absolute-inside": link("/workspace/file"),
    "dangling": link("nothing"),
    "loop": link("loop2"),
    "loop2": link("loop"),
    "fifo": WorkspaceEntry(EntryType.SPECIAL),
    "empty-link": link(""),
    "latin\udce9": FILE,
}


def state(path: str) -> PathStatus:
    subject: Any = SimpleNamespace(contents=SimpleNamespace(look=TREE.get))
    return asyncio.run(PathStateCollector().collect(PathState(path=path), subject))


@pytest.mark.parametrize(
    ("path", "kind"),
    [("file", "file"), ("dir", "directory"), ("dir/sub/file", "file"), ("to-file", "symlink"),
     ("chain", "symlink"), ("to-dir", "symlink"), ("to-dir/file", "file"), ("dir/up", "symlink"),
     ("dir/around", "symlink"),
     ("fifo", "special"), ("latin\udce9", "file")],
)  # fmt: skip
def test_what_is_there(path: str, kind: str) -> None:
    status = state(path)
    assert status.exists
    assert status.type == kind


@pytest.mark.parametrize(
    ("path", "note"),
    [
        ("nothing", "nothing is at nothing"),
        ("file/below", "nothing is at file/below"),
        ("dangling", "nothing is at nothing, following a symlink"),
        ("out", "leads out of the workspace"),
        ("dir/out", "leads out of the workspace"),
        ("absolute", "a symlink to /etc/passwd, outside the workspace"),
        ("absolute-inside", "outside the workspace"),
        ("absolute/x", "outside the workspace"),
        ("loop", "in a loop"),
        ("empty-link", "a symlink to nowhere"),
        ("to-file/x", "nothing is at file/x"),
    ],
)
def test_what_is_not_there_and_why(path: str, note: str) -> None:
    status = state(path)
    assert not status.exists
    assert status.type is None
    assert note in status.note


def test_the_size_is_that_of_what_the_link_leads_to() -> None:
    assert state("chain").size_bytes == 5
