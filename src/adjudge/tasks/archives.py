"""Tar and zip archives to trees, with nothing in them believed.

What an archive is, its first bytes say, not its name. Refused: names that are absolute or go up, links that
leave the tree, entries below a link, devices and fifos, encrypted entries, anything that appears twice, and
archives that grow out of proportion. Set-uid and other special bits, owners and times are dropped.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from adjudge.tasks.trees import TreeRefused, TreeWriter, has_git_part, shown

__all__ = ["ArchiveLimits", "extract"]

_CHUNK_BYTES = 1 << 18
_MAX_LINK_BYTES = 4096


@dataclass(frozen=True, slots=True)
class ArchiveLimits:
    """How large an archive may become."""

    entries: int = 500_000
    bytes: int = 8 << 30
    free_bytes: int = 64 << 20
    """Up to here the ratio is not looked at: small repetitive files compress well and hurt nobody."""
    ratio: int = 250
    """Source code compresses 3 to 10 times, and a bomb a thousand times and more."""
    header_bytes: int = 4 << 20
    """Headers are read into memory whole; an honest one has a few kilobytes."""


def extract(archive: Path, writer: TreeWriter, limits: ArchiveLimits | None = None) -> tuple[str, ...]:
    """Extract an archive; returns what was left out, for people.

    Raises:
        TreeRefused: It is no archive, damaged, or holds something that is refused.
    """
    limits = limits or ArchiveLimits()
    try:
        with archive.open("rb") as stream:
            opening = stream.read(265)
            stream.seek(0)
            budget = _Budget(limits, os.fstat(stream.fileno()).st_size)
            if opening.startswith((b"PK\x03\x04", b"PK\x05\x06")):
                _check_directory(stream, limits)
                return _extract_zip(stream, writer, budget)
            return _extract_tar(_decompressed(stream, opening), writer, budget)
    except TreeRefused as error:
        raise TreeRefused(f"{archive.name}: {error.message}", hint=error.hint) from None
    except _DAMAGE as error:
        detail = str(error) or type(error).__name__
        raise TreeRefused(f"{archive.name}: cannot be read as an archive: {detail}") from error


_DAMAGE = (
    OSError, EOFError, ValueError, zlib.error, lzma.LZMAError, struct.error, tarfile.TarError,
    zipfile.BadZipFile, zipfile.LargeZipFile, NotImplementedError, RuntimeError,
)  # fmt: skip
"""What the standard library raises on damaged or unsupported archives; zipfile uses the last two for
compression methods and encryption it does not know."""


class _Budget:
    """Counts what comes out of an archive and stops a bomb while it goes off."""

    def __init__(self, limits: ArchiveLimits, size: int) -> None:
        self.limits = limits
        self._size = max(size, 1)
        self._entries = 0
        self._bytes = 0

    def entry(self) -> None:
        self._entries += 1
        if self._entries > self.limits.entries:
            raise TreeRefused(f"holds more than {self.limits.entries} entries")

    def spend(self, count: int) -> None:
        self._bytes += count
        if self._bytes > self.limits.bytes:
            raise TreeRefused(f"holds more than {self.limits.bytes >> 20} MiB")
        if self._bytes > self.limits.free_bytes and self._bytes > self._size * self.limits.ratio:
            raise TreeRefused(f"grows to more than {self.limits.ratio} times its size")


def _clean(name: bytes) -> bytes:
    """A member's path in its shortest form; empty for the top itself."""
    if name.startswith(b"/"):
        raise TreeRefused(f"{shown(name)} is absolute")
    parts = [part for part in name.split(b"/") if part not in (b"", b".")]
    if b".." in parts:
        raise TreeRefused(f"{shown(name)} goes up with '..'")
    if b"\0" in name:
        raise TreeRefused(f"{shown(name)} contains a NUL character")
    return b"/".join(parts)


def _check_link(path: bytes, target: bytes) -> None:
    """Refuse a symlink that leads out of the tree, by its text alone."""
    if target.startswith(b"/"):
        raise TreeRefused(f"{shown(path)} is a link to the absolute path {shown(target)}")
    depth = path.count(b"/")
    for part in target.split(b"/"):
        if part == b"..":
            depth -= 1
        elif part not in (b"", b"."):
            depth += 1
        if depth < 0:
            raise TreeRefused(f"{shown(path)} is a link that leaves the tree: {shown(target)}")


class _Links:
    """Symlinks wait until everything else is written, so that nothing is ever written through one."""

    def __init__(self, writer: TreeWriter) -> None:
        self._writer = writer
        self._waiting: list[tuple[bytes, bytes]] = []

    def add(self, path: bytes, target: bytes) -> None:
        _check_link(path, target)
        self._waiting.append((path, target))

    def write(self) -> None:
        targets = dict(self._waiting)
        for path, target in self._waiting:
            _check_chain(path, target, targets)
            inside = self._writer.inside(path)
            if inside is not None:
                _check_link(inside, target)
            self._writer.add_symlink(path, target)


def _check_chain(path: bytes, target: bytes, links: dict[bytes, bytes]) -> None:
    """Refuse a link that goes up through another one: together they may leave where each alone stays."""
    parts = path.split(b"/")[:-1]
    for part in target.split(b"/"):
        if part == b"..":
            if b"/".join(parts) in links:
                raise TreeRefused(f"{shown(path)} is a link that goes up through another link")
            parts = parts[:-1]
        elif part not in (b"", b"."):
            parts.append(part)


def _left_out(count: int) -> tuple[str, ...]:
    return (f"{count} entries below .git were left out",) if count else ()


def _extract_tar(stream: IO[bytes], writer: TreeWriter, budget: _Budget) -> tuple[str, ...]:
    counted = _Counted(stream, budget)
    links = _Links(writer)
    history = 0
    with tarfile.TarFile(fileobj=counted, errorlevel=2, encoding="utf-8") as archive:
        while (member := archive.next()) is not None:
            budget.entry()
            # tarfile keeps every member it has seen; none is needed again.
            archive.members = []  # type: ignore[attr-defined]
            path = _clean(os.fsencode(member.name))
            if has_git_part(path):
                history += 1
            elif not path or member.isdir():
                if path:
                    writer.add_directory(path)
            elif member.issym():
                links.add(path, os.fsencode(member.linkname))
            elif member.islnk():
                _copy_hard_link(path, _clean(os.fsencode(member.linkname)), member.mode, writer, budget)
            elif member.issparse():
                raise TreeRefused(f"{shown(path)} is a sparse file, which is not supported")
            elif member.isreg():
                content = archive.extractfile(member)
                assert content is not None
                writer.add_file(path, _chunks(content, member.size), executable=bool(member.mode & 0o100))
            else:
                raise TreeRefused(f"{shown(path)} is neither a file, a folder nor a link")
    if counted.last_block != bytes(tarfile.BLOCKSIZE):
        # tarfile takes a damaged header in the middle for the end.
        raise TreeRefused("is cut short or damaged: it does not end as tar archives do")
    links.write()
    return _left_out(history)


def _copy_hard_link(path: bytes, target: bytes, mode: int, writer: TreeWriter, budget: _Budget) -> None:
    original = writer.file_at(target)
    if original is None:
        raise TreeRefused(f"{shown(path)} is a hard link to {shown(target)}, which is no file before it")

    def chunks() -> Iterator[bytes]:
        with original.open("rb") as stream:
            while chunk := stream.read(_CHUNK_BYTES):
                budget.spend(len(chunk))
                yield chunk

    writer.add_file(path, chunks(), executable=bool(mode & 0o100))


def _chunks(content: IO[bytes], size: int) -> Iterator[bytes]:
    """The bytes of a tar member, all of them."""
    left = size
    while left > 0:
        chunk = content.read(min(_CHUNK_BYTES, left))
        if not chunk:
            raise TreeRefused("ends in the middle of a file")
        left -= len(chunk)
        yield chunk


def _decompressed(stream: IO[bytes], opening: bytes) -> IO[bytes]:
    if opening.startswith(b"\x1f\x8b"):
        return gzip.GzipFile(fileobj=stream)  # type: ignore[return-value]  # it reads, which is all we need
    if opening.startswith(b"BZh"):
        return bz2.BZ2File(stream)
    if opening.startswith(b"\xfd7zXZ\x00"):
        return lzma.LZMAFile(stream)
    if opening.startswith(b"\x28\xb5\x2f\xfd"):
        raise TreeRefused("zstd is not supported", hint="compress it with gzip or xz")
    return stream


class _Counted(io.RawIOBase):
    """A forward-only stream whose bytes are counted and whose single reads are small.

    tarfile reads the header of a member in one piece, and that piece can be made gigabytes long. It also
    steps back by one byte before each header, so the last one is kept.
    """

    def __init__(self, stream: IO[bytes], budget: _Budget) -> None:
        self._stream = stream
        self._budget = budget
        self._position = 0
        self._last = b""
        self._again = False
        self.last_block = b""
        """The last piece read that had the size of a header."""

    def read(self, size: int = -1) -> bytes:
        if size < 0 or size > self._budget.limits.header_bytes:
            raise TreeRefused("a header is too large")
        data = b""
        if self._again and size:
            data, self._again = self._last, False
        while len(data) < size:
            piece = self._stream.read(size - len(data))
            if not piece:
                break
            self._budget.spend(len(piece))
            data += piece
        self._position += len(data)
        self._last = data[-1:] or self._last
        if size == tarfile.BLOCKSIZE:
            self.last_block = data
        return data

    def readinto(self, buffer: Any) -> int:
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        if whence != os.SEEK_SET:
            raise OSError("only forward")
        if offset == self._position - 1 and self._last and not self._again:
            self._again = True
            self._position = offset
        while self._position < offset:
            if not self.read(min(offset - self._position, _CHUNK_BYTES)):
                break
        if self._position > offset:
            raise OSError("only forward")
        return self._position


_END = b"PK\x05\x06"
_END64 = b"PK\x06\x06"
_END64_LOCATOR = b"PK\x06\x07"


def _check_directory(stream: IO[bytes], limits: ArchiveLimits) -> None:
    """Refuse a zip whose directory is too long before zipfile reads it into memory whole."""
    size = stream.seek(0, os.SEEK_END)
    start = max(0, size - 65_557)
    stream.seek(start)
    end = stream.read()
    at = end.rfind(_END)
    if at < 0 or len(end) - at < 22:
        raise TreeRefused("the zip archive has no directory; it is cut short")
    length = struct.unpack_from("<L", end, at + 12)[0]
    if length == 0xFFFFFFFF and at >= 20 and end[at - 20 : at - 16] == _END64_LOCATOR:
        stream.seek(struct.unpack_from("<Q", end, at - 12)[0])
        record = stream.read(56)
        if record.startswith(_END64) and len(record) == 56:
            length = struct.unpack_from("<Q", record, 40)[0]
    if length > limits.entries * 256:
        raise TreeRefused(f"holds more than {limits.entries} entries")
    stream.seek(0)


def _extract_zip(stream: IO[bytes], writer: TreeWriter, budget: _Budget) -> tuple[str, ...]:
    links = _Links(writer)
    history = 0
    with zipfile.ZipFile(stream) as archive:
        for member in archive.infolist():
            budget.entry()
            path = _clean(os.fsencode(member.filename))
            mode = member.external_attr >> 16
            if has_git_part(path):
                history += 1
            elif not path or member.is_dir():
                if path:
                    writer.add_directory(path)
            elif member.flag_bits & 0x1:
                raise TreeRefused(f"{shown(path)} is encrypted")
            elif stat.S_IFMT(mode) == stat.S_IFLNK:
                with archive.open(member) as content:
                    links.add(path, content.read(_MAX_LINK_BYTES))
            elif stat.S_IFMT(mode) in (0, stat.S_IFREG):
                with archive.open(member) as content:
                    writer.add_file(path, _spent(content, budget), executable=bool(mode & 0o100))
            else:
                raise TreeRefused(f"{shown(path)} is neither a file, a folder nor a link")
    links.write()
    return _left_out(history)


def _spent(content: IO[bytes], budget: _Budget) -> Iterator[bytes]:
    while chunk := content.read(_CHUNK_BYTES):
        budget.spend(len(chunk))
        yield chunk
