"""Mounts laid over a workspace where nothing can be mounted."""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath

import pytest

from adjudge.errors import SandboxError, SubjectError, UsageError
from adjudge.records.sandbox import Mount
from adjudge.sandbox.covers import Covers

WORKSPACE = PurePosixPath("/workspace")


@pytest.fixture
def places(tmp_path: Path) -> tuple[Path, Path, Path]:
    """A workspace, a directory for what is covered, and something to show."""
    for name in ("workspace", "aside", "shown"):
        (tmp_path / name).mkdir()
    (tmp_path / "shown" / "test.py").write_text("trusted")
    return tmp_path / "workspace", tmp_path / "aside", tmp_path / "shown"


def test_what_was_covered_comes_back_as_it_was(places: tuple[Path, Path, Path]) -> None:
    workspace, aside, shown = places
    (workspace / "tests").mkdir()
    (workspace / "tests" / "test.py").write_text("forged")
    (workspace / "tests").chmod(0o555)
    covers = Covers(workspace, aside, [Mount(source=shown, target=WORKSPACE / "tests")])
    covers.lay()
    assert (workspace / "tests" / "test.py").read_text() == "trusted"
    covers.lift()
    assert (workspace / "tests" / "test.py").read_text() == "forged"
    assert (workspace / "tests").stat().st_mode & 0o777 == 0o555
    assert list(aside.iterdir()) == []
    (workspace / "tests").chmod(0o755)


def test_nothing_stays_where_nothing_was(places: tuple[Path, Path, Path]) -> None:
    workspace, aside, shown = places
    target = WORKSPACE / "made" / "for" / "it"
    covers = Covers(workspace, aside, [Mount(source=shown / "test.py", target=target)])
    covers.lay()
    assert (workspace / "made" / "for" / "it").read_text() == "trusted"
    covers.lift()
    assert list(workspace.iterdir()) == []


def test_what_a_command_put_beside_a_mount_stays(places: tuple[Path, Path, Path]) -> None:
    workspace, aside, shown = places
    covers = Covers(workspace, aside, [Mount(source=shown, target=WORKSPACE / "made" / "it")])
    covers.lay()
    (workspace / "made" / "own").write_text("own")
    (workspace / "made" / "it" / "more").write_text("into the copy")
    covers.lift()
    assert [path.name for path in (workspace / "made").iterdir()] == ["own"]
    assert [path.name for path in shown.iterdir()] == ["test.py"]


def test_writable_mounts_reach_their_source(places: tuple[Path, Path, Path]) -> None:
    workspace, aside, shown = places
    covers = Covers(workspace, aside, [Mount(source=shown, target=WORKSPACE / "out", writable=True)])
    covers.lay()
    (workspace / "out" / "result").write_text("done")
    covers.lift()
    assert (shown / "result").read_text() == "done"
    assert list(workspace.iterdir()) == []


def test_a_link_on_the_way_is_refused_and_everything_undone(places: tuple[Path, Path, Path]) -> None:
    workspace, aside, shown = places
    outside = workspace.parent / "outside"
    outside.mkdir()
    (workspace / "link").symlink_to(outside)
    (workspace / "kept").write_text("kept")
    mounts = [
        Mount(source=shown / "test.py", target=WORKSPACE / "kept"),
        Mount(source=shown, target=WORKSPACE / "link" / "tests"),
    ]
    covers = Covers(workspace, aside, mounts)
    with pytest.raises(SubjectError, match="cannot be laid"):
        covers.lay()
    assert (workspace / "kept").read_text() == "kept"
    assert list(outside.iterdir()) == []


def test_a_link_at_the_place_itself_is_covered(places: tuple[Path, Path, Path]) -> None:
    workspace, aside, shown = places
    outside = workspace.parent / "outside"
    outside.write_text("outside")
    (workspace / "file").symlink_to(outside)
    covers = Covers(workspace, aside, [Mount(source=shown / "test.py", target=WORKSPACE / "file")])
    covers.lay()
    assert (workspace / "file").read_text() == "trusted"
    covers.lift()
    assert os.readlink(workspace / "file") == str(outside)
    assert outside.read_text() == "outside"


def test_a_way_the_command_removed_counts_as_removed(places: tuple[Path, Path, Path]) -> None:
    workspace, aside, shown = places
    (workspace / "dir").mkdir()
    covers = Covers(workspace, aside, [Mount(source=shown, target=WORKSPACE / "dir" / "tests")])
    covers.lay()
    (workspace / "dir").rename(workspace.parent / "gone")
    covers.lift()
    assert list(workspace.iterdir()) == []


def test_places_outside_the_workspace_are_refused(places: tuple[Path, Path, Path]) -> None:
    workspace, aside, shown = places
    Covers(workspace, aside, [Mount(source=shown, target=PurePosixPath(shown))])
    with pytest.raises(SandboxError, match="nothing can be shown at /elsewhere"):
        Covers(workspace, aside, [Mount(source=shown, target=PurePosixPath("/elsewhere"))])
    for target in ("/workspace", "/workspace/../etc"):
        with pytest.raises(UsageError, match="nothing can be mounted"):
            Covers(workspace, aside, [Mount(source=shown, target=PurePosixPath(target))])
    with pytest.raises(UsageError, match="does not exist"):
        Covers(workspace, aside, [Mount(source=shown / "missing", target=WORKSPACE / "x")])
