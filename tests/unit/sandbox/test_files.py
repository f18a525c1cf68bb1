"""Copying and removing trees nobody meant well with."""

import os
import socket
import stat
from pathlib import Path

import pytest

from adjudge.sandbox.copying import copy_tree
from adjudge.sandbox.ownership import single_owner, world_reachable
from adjudge.sandbox.removal import remove_tree

ME = (os.getuid(), os.getgid())


def deep(root: Path, levels: int) -> None:
    here = os.open(root, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir("d", dir_fd=here)
        below = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(os.open("bottom", os.O_CREAT | os.O_WRONLY, dir_fd=here))
    os.close(here)


def test_removal_of_deep_closed_and_odd_trees(hostile_tmp: Path) -> None:
    root = hostile_tmp / "root"
    root.mkdir()
    deep(root, 3000)
    (root / "closed/inner").mkdir(parents=True)
    (root / "closed/inner/file").touch()
    (root / "closed/inner").chmod(0)
    (root / "closed").chmod(0o500)
    for name in (b"new\nline", b"\xff\xfe", b" ", b"-rf", b"d" * 255):
        (root / os.fsdecode(name)).mkdir()
    outside = hostile_tmp / "outside"
    outside.mkdir()
    (outside / "precious").touch()
    (root / "link").symlink_to(outside)
    os.mkfifo(root / "fifo")
    root.chmod(0)
    remove_tree(root)
    assert not root.exists()
    assert (outside / "precious").exists()
    remove_tree(root)


def test_a_copy_keeps_what_matters(hostile_tmp: Path) -> None:
    source, target = hostile_tmp / "source", hostile_tmp / "target"
    (source / "sub").mkdir(parents=True)
    (source / "sub/program").write_bytes(b"#!/bin/sh\n")
    (source / "sub/program").chmod(0o755)
    os.utime(source / "sub/program", ns=(10**18, 10**18 + 1))
    os.link(source / "sub/program", source / "second name")
    (source / "dangling").symlink_to("/nowhere")
    (source / "sub/loop").symlink_to("loop")
    (source / os.fsdecode(b"bad\xff\nname")).write_bytes(os.urandom(100_000))
    (source / "private").mkdir(mode=0o700)
    os.mkfifo(source / "fifo")
    target.mkdir()
    assert copy_tree(str(source), str(target), ME) == []
    program = (target / "sub/program").stat()
    assert (stat.S_IMODE(program.st_mode), program.st_mtime_ns) == (0o755, 10**18 + 1)
    assert program.st_ino == (target / "second name").stat().st_ino
    assert program.st_ino != (source / "sub/program").stat().st_ino
    assert os.readlink(target / "dangling") == "/nowhere"
    assert os.readlink(target / "sub/loop") == "loop"
    odd = os.fsdecode(b"bad\xff\nname")
    assert (target / odd).read_bytes() == (source / odd).read_bytes()
    assert stat.S_ISFIFO((target / "fifo").lstat().st_mode)
    assert stat.S_IMODE((target / "private").stat().st_mode) == 0o700


def test_sockets_are_left_out_and_noted(hostile_tmp: Path) -> None:
    source, target = hostile_tmp / "source", hostile_tmp / "target"
    source.mkdir()
    target.mkdir()
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(source / "sock"))
        assert copy_tree(str(source), str(target), ME) == [
            "left out, neither file nor directory nor link: 'sock'"
        ]
    assert list(target.iterdir()) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_what_may_not_be_read_is_left_out_and_noted(hostile_tmp: Path) -> None:
    source, target = hostile_tmp / "source", hostile_tmp / "target"
    source.mkdir()
    target.mkdir()
    (source / "closed").touch(mode=0)
    (source / "open").touch()
    assert copy_tree(str(source), str(target), ME) == ["left out, not readable: 'closed'"]
    assert [path.name for path in target.iterdir()] == ["open"]


@pytest.mark.root
def test_a_copy_belongs_to_whom_it_is_for(hostile_tmp: Path) -> None:
    source, target = hostile_tmp / "source", hostile_tmp / "target"
    source.mkdir()
    target.mkdir()
    (source / "file").touch()
    (source / "link").symlink_to("file")
    copy_tree(str(source), str(target), (54321, 54322))
    for path in (target, target / "file", target / "link"):
        assert (path.lstat().st_uid, path.lstat().st_gid) == (54321, 54322)


@pytest.mark.root
def test_one_file_of_another_owner_is_found(tmp_path: Path) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a/b/file").touch()
    assert single_owner(tmp_path)
    os.chown(tmp_path / "a/b/file", -1, 54321)
    assert not single_owner(tmp_path)


def test_reachable_for_everybody_means_the_whole_way(hostile_tmp: Path) -> None:
    place = hostile_tmp / "private"
    place.mkdir()
    (place / "file").touch(mode=0o644)
    assert world_reachable(place / "file") == world_reachable(hostile_tmp)
    place.chmod(0o700)
    assert not world_reachable(place / "file")
    assert not world_reachable(place / "missing")
