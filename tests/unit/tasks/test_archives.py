"""Archives are hostile: what they may do, and everything they may not."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import stat
import struct
import tarfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from adjudge.records.tree import EXECUTABLE, FILE, SYMLINK
from adjudge.tasks.archives import ArchiveLimits, extract
from adjudge.tasks.trees import TreeRefused, TreeWriter

Member = tuple[tarfile.TarInfo, bytes]


def member(
    name: str, data: bytes = b"", *, kind: bytes = tarfile.REGTYPE, link: str = "", mode: int = 0o644
) -> Member:
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.mode, info.size = kind, link, mode, len(data)
    return info, data


def tar(*members: Member) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for info, data in members:
            archive.addfile(info, io.BytesIO(data))
    return stream.getvalue()


def zipped(*entries: tuple[str, bytes, int]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data, mode in entries:
            info = zipfile.ZipInfo(name)
            info.external_attr = mode << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, data)
    return stream.getvalue()


class Place:
    """A folder to extract into, and what came out of it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.into = root / "into"

    def extract(
        self, data: bytes, *, subdir: str | None = None, limits: ArchiveLimits | None = None
    ) -> dict[str, int]:
        file = self.root / "source.bin"
        file.write_bytes(data)
        writer = TreeWriter(self.into, subdir=subdir)
        extract(file, writer, limits)
        return {entry.path: entry.mode for entry in writer.finish()}

    def refused(self, data: bytes, *, limits: ArchiveLimits | None = None) -> str:
        with pytest.raises(TreeRefused) as caught:
            self.extract(data, limits=limits)
        outside = {path.name for path in self.root.iterdir()} - {"into", "source.bin"}
        assert outside == set()
        return caught.value.message


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


TREE = tar(
    member("./", kind=tarfile.DIRTYPE),
    member("./a.txt", b"alpha\n"),
    member("bin/run", b"#!/bin/sh\n", mode=0o6755),
    member("bin/again", kind=tarfile.LNKTYPE, link="bin/run", mode=0o755),
    member("bin/link", kind=tarfile.SYMTYPE, link="../a.txt"),
    member("empty", kind=tarfile.DIRTYPE),
    member("wide", b"x" * 512 * 3),
)


@pytest.mark.parametrize(
    "compress", [bytes, gzip.compress, bz2.compress, lzma.compress], ids=["tar", "gz", "bz2", "xz"]
)
def test_tar_archives_whatever_their_name(place: Place, compress: Callable[[bytes], bytes]) -> None:
    assert place.extract(compress(TREE)) == {
        "a.txt": FILE, "bin/again": EXECUTABLE, "bin/link": SYMLINK, "bin/run": EXECUTABLE,
        "empty": 0o040000, "wide": FILE,
    }  # fmt: skip
    assert (place.into / "bin" / "link").read_bytes() == b"alpha\n"
    assert stat.S_IMODE((place.into / "bin" / "run").stat().st_mode) == 0o755


def test_zip_archives(place: Place) -> None:
    data = zipped(
        ("d/", b"", stat.S_IFDIR | 0o755),
        ("d/a", b"alpha", stat.S_IFREG | 0o644),
        ("d/run", b"x", stat.S_IFREG | 0o4755),
        ("d/link", b"a", stat.S_IFLNK | 0o777),
        ("dos", b"no mode at all", 0),
    )
    assert place.extract(data) == {"d/a": FILE, "d/link": SYMLINK, "d/run": EXECUTABLE, "dos": FILE}
    assert os.readlink(place.into / "d" / "link") == "a"


def test_only_a_subdirectory(place: Place) -> None:
    data = tar(member("top", b"x"), member("bin/run", b"y", mode=0o755), member("binary", b"z"))
    assert place.extract(data, subdir="bin") == {"run": EXECUTABLE}


def test_names_keep_their_true_bytes(place: Place) -> None:
    name = os.fsdecode(b"caf\xe9\nline")
    assert place.extract(tar(member(name, b"x"))) == {name: FILE}


def test_history_is_left_out(place: Place) -> None:
    file = place.root / "source.bin"
    file.write_bytes(tar(member(".git/HEAD", b"x"), member("a", b"x"), member("sub/.git/config", b"x")))
    writer = TreeWriter(place.into)
    assert extract(file, writer) == ("2 entries below .git were left out",)
    assert [entry.path for entry in writer.finish()] == ["a"]


@pytest.mark.parametrize("name", ["../out", "a/../../out", "/abs", "a/..", "..", "./../out"])
def test_names_that_leave_are_refused(place: Place, name: str) -> None:
    assert "is absolute" in (said := place.refused(tar(member(name, b"x")))) or "goes up" in said


@pytest.mark.parametrize("name", ["../out", "a/../../out", "/abs"])
def test_zip_names_that_leave_are_refused(place: Place, name: str) -> None:
    assert place.refused(zipped((name, b"x", 0)))


@pytest.mark.parametrize("target", ["/etc/passwd", "..", "../out", "a/../../out", "./../.."])
def test_symlinks_that_leave_are_refused(place: Place, target: str) -> None:
    assert "link" in place.refused(tar(member("s", kind=tarfile.SYMTYPE, link=target)))
    place.into.rmdir()
    assert "link" in place.refused(zipped(("s", target.encode(), stat.S_IFLNK | 0o777)))


def test_links_that_leave_only_together_are_refused(place: Place) -> None:
    data = tar(
        member("d/here", kind=tarfile.SYMTYPE, link="."),
        member("out", kind=tarfile.SYMTYPE, link="d/here/../.."),
    )
    assert place.refused(data) == "source.bin: out is a link that goes up through another link"


def test_a_link_that_leaves_only_the_subdirectory_is_refused(place: Place) -> None:
    with pytest.raises(TreeRefused, match="leaves the tree"):
        place.extract(TREE, subdir="bin")


def test_nothing_is_written_through_a_link(place: Place) -> None:
    outside = place.root / "source.bin"
    data = tar(member("d", kind=tarfile.SYMTYPE, link="."), member("d/file", b"x"))
    assert "appears twice" in place.refused(data)
    assert outside.read_bytes() == data


@pytest.mark.parametrize("kind", [tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE])
def test_devices_are_refused(place: Place, kind: bytes) -> None:
    assert (
        place.refused(tar(member("x", kind=kind))) == "source.bin: x is neither a file, a folder nor a link"
    )


def test_zip_devices_are_refused(place: Place) -> None:
    assert "neither a file" in place.refused(zipped(("x", b"", stat.S_IFIFO | 0o644)))


def test_hard_links_to_what_is_not_there_are_refused(place: Place) -> None:
    data = tar(member("x", kind=tarfile.LNKTYPE, link="etc/passwd"))
    assert place.refused(data) == "source.bin: x is a hard link to etc/passwd, which is no file before it"


@pytest.mark.parametrize("link", ["/etc/passwd", "../source.bin"])
def test_hard_links_that_leave_are_refused(place: Place, link: str) -> None:
    assert place.refused(tar(member("x", kind=tarfile.LNKTYPE, link=link)))


def test_a_hard_link_to_a_symlink_is_refused(place: Place) -> None:
    data = tar(member("s", kind=tarfile.SYMTYPE, link="a"), member("x", kind=tarfile.LNKTYPE, link="s"))
    assert "which is no file before it" in place.refused(data)


def test_what_appears_twice_is_refused(place: Place) -> None:
    assert "appears twice" in place.refused(tar(member("a", b"1"), member("./a", b"2")))


def test_a_file_that_is_also_a_folder_is_refused(place: Place) -> None:
    assert "a is no directory" in place.refused(tar(member("a", b"1"), member("a/b", b"2")))


def test_a_tar_bomb_is_stopped_while_it_goes_off(place: Place) -> None:
    bomb = gzip.compress(tar(member("zeros", bytes(300 << 20))), 9)
    started = time.process_time()
    assert place.refused(bomb) == "source.bin: grows to more than 250 times its size"
    assert time.process_time() - started < 10
    assert (place.into / "zeros").stat().st_size < 130 << 20


def test_a_zip_bomb_is_stopped(place: Place) -> None:
    assert "times its size" in place.refused(zipped(*((f"z{n}", bytes(40 << 20), 0) for n in range(4))))


def test_too_many_entries_are_refused(place: Place) -> None:
    data = tar(*(member(f"f{n}") for n in range(11)))
    assert place.refused(data, limits=ArchiveLimits(entries=10)) == "source.bin: holds more than 10 entries"


def test_too_many_bytes_are_refused(place: Place) -> None:
    said = place.refused(tar(member("x", os.urandom(3 << 20))), limits=ArchiveLimits(bytes=2 << 20))
    assert said == "source.bin: holds more than 2 MiB"


def test_a_header_of_gigabytes_is_not_read_into_memory(place: Place) -> None:
    header = tarfile.TarInfo("x")
    header.type = tarfile.XHDTYPE
    header.size = 3 << 30
    data = gzip.compress(header.tobuf(tarfile.USTAR_FORMAT) + bytes(1 << 20))
    assert place.refused(data) == "source.bin: a header is too large"


def test_a_zip_directory_of_gigabytes_is_not_read_into_memory(place: Place) -> None:
    data = bytearray(zipped(("a", b"x", 0)))
    at = data.rfind(b"PK\x05\x06")
    struct.pack_into("<L", data, at + 12, 0xFFFF_FFF0)
    assert place.refused(bytes(data)) == "source.bin: holds more than 500000 entries"


def test_encrypted_entries_are_refused(place: Place) -> None:
    data = bytearray(zipped(("a", b"x", 0)))
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.find(mark) + offset] |= 1
    assert place.refused(bytes(data)) == "source.bin: a is encrypted"


NO_ARCHIVES = {
    "empty": b"",
    "text": b"just text",
    "long text": b"x" * 2000,
    "compressed text": gzip.compress(b"not a tar"),
    "cut gzip": gzip.compress(TREE)[:-20],
    "cut tar header": TREE[:700],
    "cut tar member": TREE[: -(10240 - 512 * 12)],
    "broken gzip": b"\x1f\x8b" + b"junk" * 10,
    "broken bzip2": b"BZh" + b"junk",
    "broken xz": b"\xfd7zXZ\x00junk",
    "broken zip": b"PK\x03\x04junk",
    "cut zip": zipped(("a", b"x" * 100, 0))[:60],
    "zstd": b"\x28\xb5\x2f\xfdxxxx",
}


@pytest.mark.parametrize("name", NO_ARCHIVES)
def test_what_is_no_archive_is_refused(place: Place, name: str) -> None:
    assert place.refused(NO_ARCHIVES[name]).startswith("source.bin: ")


def test_a_sparse_file_is_refused(place: Place) -> None:
    info = tarfile.TarInfo("x")
    info.type = tarfile.GNUTYPE_SPARSE
    info.size = 512
    buffer = bytearray(info.tobuf(tarfile.GNU_FORMAT))
    buffer[386:398], buffer[398:410] = b"00000000000\0", b"00000001000\0"
    buffer[483:495] = b"77777777777\0"
    buffer[148:156] = b" " * 8
    buffer[148:156] = b"%06o\0 " % sum(buffer[:512])
    assert "sparse" in place.refused(bytes(buffer) + bytes(512) + bytes(1024))
