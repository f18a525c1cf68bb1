from __future__ import annotations

import os
import resource
from pathlib import Path

import pytest

from adjudge.errors import StoreError
from adjudge.records.tree import DIRECTORY, FILE, digest_tree
from adjudge.tasks.trees import PlainFolder, TreeRefused, TreeWriter, read_entries, remove_tree, write_folder


@pytest.mark.parametrize("path", [b"", b"/a", b"a//b", b"a/", b"./a", b"a/./b", b"..", b"a/../b", b"a\0b"])
def test_paths_that_are_not_inside_are_refused(tmp_path: Path, path: bytes) -> None:
    writer = TreeWriter(tmp_path / "into")
    with pytest.raises(TreeRefused, match="is not a path inside the tree"):
        writer.add_file(path, [b"x"], executable=False)
    with pytest.raises(TreeRefused, match="is not a path inside the tree"):
        writer.add_symlink(path, b"x")
    with pytest.raises(TreeRefused, match="is not a path inside the tree"):
        writer.add_directory(path)
    assert [path.name for path in tmp_path.iterdir()] == ["into"]


def test_what_is_written_is_what_is_recorded(tmp_path: Path) -> None:
    writer = TreeWriter(tmp_path / "into")
    writer.add_file(b"b/c", [b"one", b"two"], executable=True)
    writer.add_directory(b"b/d/e")
    writer.add_symlink(b"a", b"\xff/elsewhere")
    assert writer.finish() == read_entries(tmp_path / "into")
    assert (tmp_path / "into" / "b" / "c").read_bytes() == b"onetwo"


def test_the_mask_of_the_user_does_not_matter(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        writer = TreeWriter(tmp_path / "into")
        writer.add_file(b"d/f", [b""], executable=False)
    finally:
        os.umask(before)
    assert (tmp_path / "into").stat().st_mode & 0o777 == 0o755
    assert (tmp_path / "into" / "d").stat().st_mode & 0o777 == 0o755
    assert (tmp_path / "into" / "d" / "f").stat().st_mode & 0o777 == 0o644


def test_only_the_git_of_the_top_is_left_out_unless_asked(tmp_path: Path) -> None:
    for name in (".git", "sub/.git", ".github"):
        (tmp_path / "from" / name).mkdir(parents=True)
        (tmp_path / "from" / name / "f").write_text("x")
    for everywhere, expected in ((False, {".github/f", "sub/.git/f"}), (True, {".github/f", "sub"})):
        writer = TreeWriter(tmp_path / f"into-{everywhere}")
        write_folder(PlainFolder(os.fsencode(tmp_path / "from")), writer, leave_out_git=everywhere)
        assert {entry.path for entry in writer.finish()} == expected


def test_special_files_can_be_dropped(tmp_path: Path) -> None:
    (tmp_path / "from").mkdir()
    os.mkfifo(tmp_path / "from" / "fifo")
    writer = TreeWriter(tmp_path / "into")
    left_out = write_folder(
        PlainFolder(os.fsencode(tmp_path / "from")), writer, leave_out_git=False, drop_special=True
    )
    assert left_out == ("fifo was left out: it is neither a file, a folder nor a symlink",)
    assert writer.finish() == ()


def test_a_tree_is_removed_whatever_its_permissions(tmp_path: Path) -> None:
    (tmp_path / "tree" / "a" / "b").mkdir(parents=True)
    (tmp_path / "tree" / "a" / "b" / "f").write_text("x")
    (tmp_path / "outside").write_text("stays")
    (tmp_path / "tree" / "link").symlink_to(tmp_path / "outside")
    (tmp_path / "tree" / "a" / "b").chmod(0)
    (tmp_path / "tree" / "a").chmod(0o500)
    remove_tree(tmp_path / "tree")
    remove_tree(tmp_path / "tree")
    assert [path.name for path in tmp_path.iterdir()] == ["outside"]


def test_the_order_of_entries_does_not_matter(tmp_path: Path) -> None:
    writer = TreeWriter(tmp_path / "into")
    for name in (b"b", b"a/c", b"a-b", b"\xff"):
        writer.add_file(name, [name], executable=False)
    entries = writer.finish()
    assert digest_tree(entries) == digest_tree(reversed(entries))
    assert [entry.path for entry in entries] == ["a-b", "a/c", "b", os.fsdecode(b"\xff")]
    assert {entry.mode for entry in entries} == {FILE}


def test_an_empty_folder_is_an_entry_and_a_full_one_is_not(tmp_path: Path) -> None:
    writer = TreeWriter(tmp_path / "into")
    writer.add_directory(b"a/b")
    assert [(entry.path, entry.mode) for entry in writer.finish()] == [("a/b", DIRECTORY)]


def test_a_disk_that_takes_no_more_is_ours_and_not_the_sources(tmp_path: Path) -> None:
    source = tmp_path / "from"
    source.mkdir()
    (source / "large").write_bytes(b"x" * 10_000)
    writer = TreeWriter(tmp_path / "into")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (5_000, before[1]))
    try:
        with pytest.raises(StoreError, match="large cannot be written"):
            write_folder(PlainFolder(os.fsencode(source)), writer, leave_out_git=False)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
