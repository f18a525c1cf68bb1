"""Both trees of a comparison, read through one contract."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from adjudge.capture.baseline import Baseline, directory_baseline, resolve_baseline
from adjudge.capture.changes import capture_changes
from adjudge.capture.diff import DiffLimits
from adjudge.evidence.changes import ChangedLines
from adjudge.records.change import ChangeSet, EntryType
from adjudge.records.sandbox import WorkspaceTree
from adjudge.workflows.contents import TreeContents

GIT = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org"]


class Trees:
    """A baseline, a workspace, their change set and their contents."""

    def __init__(self, baseline: Baseline, workspace: Path, limits: DiffLimits | None = None) -> None:
        tree = WorkspaceTree(layers=(workspace,))
        self.changes: ChangeSet = capture_changes(baseline, tree, limits=limits)
        self.contents = TreeContents(baseline, tree)

    def lines(self, path: str) -> list[str] | None:
        (change,) = (change for change in self.changes.changes if change.path == path)
        found = ChangedLines(self.contents).of(change)
        return None if found is None else [("+" if line.added else "-") + line.text for line in found.lines]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    place = tmp_path / "workspace"
    (place / "dir").mkdir(parents=True)
    (place / "dir" / "a.txt").write_text("one\ntwo\n")
    (place / "big.txt").write_text("".join(f"{number}\n" for number in range(2000)))
    (place / ".gitignore").write_text("*.log\n")
    for command in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-qm", "x"]):
        subprocess.run([*GIT, "-C", str(place), *command], check=True)
    (place / "dir" / "a.txt").write_text("one\r\n2\rstill two\n")
    (place / "big.txt").write_text("".join(f"{number}\n" for number in range(2000) if number != 7) + "end\n")
    (place / "new.log").write_text("litter\n")
    (place / "bin").write_bytes(b"\0\1")
    (place / "link").symlink_to("dir/a.txt")
    os.mkfifo(place / "fifo")
    return place


@pytest.fixture(params=["commit", "directory"])
def trees(request: pytest.FixtureRequest, workspace: Path, tmp_path: Path) -> Iterator[Trees]:
    if request.param == "commit":
        baseline = resolve_baseline(workspace, "main")
    else:
        subprocess.run(["git", "clone", "-q", str(workspace), str(tmp_path / "before")], check=True)
        baseline = directory_baseline(tmp_path / "before")
    # Limits so small that the diff leaves big.txt out: its lines must be found all the same.
    made = Trees(baseline, workspace, DiffLimits(file_bytes=1000))
    with made.contents:
        yield made


def test_lines_of_ordinary_files(trees: Trees) -> None:
    assert trees.lines("dir/a.txt") == ["-one", "-two", "+one", "+2\rstill two"]


def test_lines_of_a_file_that_the_diff_left_out(trees: Trees) -> None:
    assert next(change for change in trees.changes.changes if change.path == "big.txt").diff_truncated
    assert trees.lines("big.txt") == ["-7", "+end"]


def test_lines_of_litter(trees: Trees) -> None:
    assert next(change for change in trees.changes.changes if change.path == "new.log").litter
    assert trees.lines("new.log") == ["+litter"]


def test_what_has_no_lines(trees: Trees) -> None:
    assert trees.lines("bin") is None
    assert trees.lines("fifo") is None


def test_a_symlinks_content_is_its_target(trees: Trees) -> None:
    assert trees.lines("link") == ["+dir/a.txt"]


def test_looking_at_the_workspace(trees: Trees) -> None:
    look = trees.contents.look
    entry = look("link")
    assert entry is not None
    assert (entry.type, entry.target) == (EntryType.SYMLINK, "dir/a.txt")
    assert getattr(look("dir"), "type", None) is EntryType.DIRECTORY
    assert getattr(look("fifo"), "type", None) is EntryType.SPECIAL
    assert getattr(look("bin"), "size_bytes", None) == 2
    assert look("nothing") is None
    assert look("bin/below") is None
    assert look("link/below") is None


def test_looking_at_the_baseline(trees: Trees) -> None:
    assert trees.contents.find_old("dir/a.txt") is not None
    assert trees.contents.find_old("new.log") is None
    assert trees.contents.find_old("dir/a.txt/below") is None
