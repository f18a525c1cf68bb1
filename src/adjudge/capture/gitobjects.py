"""Reading git's object database without git.

Owns loose objects and packs, in both object formats. Every object is hashed again when it is read and
refused when its bytes do not give its id, so what a commit id names is exactly what comes back, whoever
wrote the files. Alternates, replace refs and grafts are not consulted: they are other files, and nothing
here reads them. No C parser but zlib sees the bytes, sizes are checked before memory is spent, and delta
chains are bounded. What a commit means is left to `commit`, what a name points to is left to `repository`.
"""

from __future__ import annotations

import hashlib
import os
import struct
import zlib
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass

from adjudge.capture.disk import CHUNK_BYTES, Directory, join
from adjudge.capture.entries import EntryType
from adjudge.errors import BaselineNotFound, SubjectChanged
from adjudge.formats.gitdelta import apply_delta

__all__ = ["ObjectMissing", "ObjectStore", "hash_name_of"]

_TYPES = {1: b"commit", 2: b"tree", 3: b"blob", 4: b"tag"}
_OFS_DELTA, _REF_DELTA = 6, 7
_MAX_DELTA_CHAIN = 4096
"""git itself never writes a longer one."""
_MAX_STRUCTURE_BYTES = 64 << 20
"""Commits, trees and tags are read whole; one larger than this is not an honest one."""
_MAX_DELTA_BYTES = 512 << 20
"""A deltified object has to be put together in memory. git deltifies nothing larger by default."""
_BASE_CACHE_BYTES = 32 << 20


class ObjectMissing(BaselineNotFound):
    """An object is not in the repository."""


def hash_name_of(object_id: str) -> str | None:
    """The object format a full id belongs to; None when the text is not a full id."""
    if set(object_id) - set("0123456789abcdef"):
        return None
    return {40: "sha1", 64: "sha256"}.get(len(object_id))


@dataclass(slots=True)
class _Piece:
    """Where an object's compressed bytes are."""

    descriptor: int
    offset: int
    kind: int
    """Pack object type; 0 for a loose object, whose type is in its own header."""
    size: int
    base: bytes | int | None = None


class ObjectStore:
    """The objects under one `objects` directory.

    Args:
        directory: What the path is relative to.
        path: Where the `objects` directory is in it.
        hash_name: `sha1` or `sha256`.
    """

    def __init__(self, directory: Directory, path: bytes, hash_name: str) -> None:
        self.hash_name = hash_name
        self.id_size = hashlib.new(hash_name).digest_size
        self._directory = directory
        self._path = path
        self._packs: list[_Pack] | None = None
        self._bases: OrderedDict[tuple[int, int], tuple[int, bytes]] = OrderedDict()
        self._bases_size = 0

    def close(self) -> None:
        """Close the packs."""
        for pack in self._packs or ():
            pack.close()
        self._packs = None

    def contains(self, object_id: str) -> bool:
        """Whether the object is here (its content is not checked)."""
        raw = bytes.fromhex(object_id)
        return self._loose_kind(object_id) is EntryType.FILE or any(
            pack.find(raw) is not None for pack in self._open_packs()
        )

    def find_abbreviated(self, prefix: str) -> list[str]:
        """Every object whose id starts with `prefix` (at least two digits)."""
        found: set[str] = set()
        folder = join(self._path, prefix[:2].encode())
        if self._directory.kind(folder) is EntryType.DIRECTORY:
            names = (name.decode("ascii", "replace") for name, _ in self._directory.scan(folder))
            found |= {prefix[:2] + name for name in names if (prefix[:2] + name).startswith(prefix)}
        for pack in self._open_packs():
            found |= {
                raw.hex() for raw in pack.bucket_ids(int(prefix[:2], 16)) if raw.hex().startswith(prefix)
            }
        return sorted(object_id for object_id in found if hash_name_of(object_id) == self.hash_name)

    def read(self, object_id: str, expected: bytes | None = None) -> tuple[bytes, bytes]:
        """Type and content of a commit, tree or tag (or a blob known to be small), verified.

        Raises:
            ObjectMissing: It is not here.
            BaselineNotFound: It is damaged, forged, too large, or not of the expected type.
        """
        kind, size = self.header(object_id)
        if expected is not None and kind != expected:
            raise BaselineNotFound(f"git object {object_id} is a {kind.decode()}, not a {expected.decode()}")
        if size > _MAX_STRUCTURE_BYTES:
            raise BaselineNotFound(f"git object {object_id} has {size} bytes, too many for a {kind.decode()}")
        return kind, b"".join(self.chunks(object_id))

    def header(self, object_id: str) -> tuple[bytes, int]:
        """Type and size, as claimed; `chunks` is what verifies them."""
        piece = self._find(object_id)
        try:
            if piece.kind == 0:
                return self._loose_header(object_id, piece.descriptor)[:2]
            size = piece.size
            if piece.kind in _TYPES:
                return _TYPES[piece.kind], size
            kind, data = self._resolve(object_id, piece)
            return _TYPES[kind], len(data)
        finally:
            self._release(piece)

    def chunks(self, object_id: str) -> Iterator[bytes]:
        """The content, streamed. The last piece is followed by an error when the hash does not fit."""
        piece = self._find(object_id)
        try:
            if piece.kind == 0:
                kind, size, inflater, rest = self._loose_header(object_id, piece.descriptor)
                yield from self._verified(
                    object_id, kind, size, _inflate_rest(piece.descriptor, inflater, rest)
                )
            elif piece.kind in _TYPES:
                pieces = _inflate(piece.descriptor, piece.offset)
                yield from self._verified(object_id, _TYPES[piece.kind], piece.size, pieces)
            else:
                number, data = self._resolve(object_id, piece)
                yield from self._verified(object_id, _TYPES[number], len(data), iter([data]))
        finally:
            self._release(piece)

    def _verified(self, object_id: str, kind: bytes, size: int, pieces: Iterator[bytes]) -> Iterator[bytes]:
        state = hashlib.new(self.hash_name, b"%b %d\0" % (kind, size))
        seen = 0
        try:
            for piece in pieces:
                seen += len(piece)
                if seen > size:
                    break
                state.update(piece)
                yield piece
        except zlib.error as error:
            raise _damaged(object_id) from error
        if seen != size or state.hexdigest() != object_id:
            raise _damaged(object_id)

    # Loose objects

    def _loose_kind(self, object_id: str) -> EntryType | None:
        return self._directory.kind(self._loose_path(object_id))

    def _loose_path(self, object_id: str) -> bytes:
        return join(self._path, f"{object_id[:2]}/{object_id[2:]}".encode())

    def _find(self, object_id: str) -> _Piece:
        parent, _, name = self._loose_path(object_id).rpartition(b"/")
        try:
            descriptor, _ = self._directory.open(parent, name)
        except (OSError, SubjectChanged):
            pass
        else:
            return _Piece(descriptor, 0, 0, 0)
        raw = bytes.fromhex(object_id)
        for pack in self._open_packs():
            offset = pack.find(raw)
            if offset is not None:
                return pack.piece(object_id, offset, self.id_size)
        raise ObjectMissing(
            f"git object {object_id} is not in the repository's own object database",
            hint="shallow, partial or borrowing clones (alternates are ignored) miss objects: "
            "fetch them, run `git repack -a -d`, or give the baseline as a directory",
        )

    def _release(self, piece: _Piece) -> None:
        if piece.kind == 0:
            os.close(piece.descriptor)

    def _loose_header(self, object_id: str, descriptor: int) -> tuple[bytes, int, zlib._Decompress, bytes]:
        inflater = zlib.decompressobj()
        try:
            head = inflater.decompress(os.pread(descriptor, 4096, 0), 64)
            words, _, rest = head.partition(b"\0")
            kind, _, size = words.partition(b" ")
            if kind not in _TYPES.values() or not size.isdigit():
                raise _damaged(object_id)
        except zlib.error as error:
            raise _damaged(object_id) from error
        os.lseek(descriptor, 4096, os.SEEK_SET)
        return kind, int(size), inflater, rest

    # Packs

    def _open_packs(self) -> list[_Pack]:
        if self._packs is None:
            folder = join(self._path, b"pack")
            names: list[bytes] = []
            if self._directory.kind(folder) is EntryType.DIRECTORY:
                names = [name for name, kind in self._directory.scan(folder) if kind is EntryType.FILE]
            self._packs = [
                _Pack(self._directory, folder, name[:-4], self.id_size)
                for name in sorted(names)
                if name.endswith(b".idx") and name[:-4] + b".pack" in names
            ]
        return self._packs

    def _resolve(self, object_id: str, piece: _Piece) -> tuple[int, bytes]:
        """Put a deltified object together: type and content, not yet verified."""
        deltas: list[bytes] = []
        where: list[tuple[int, int]] = []
        at = (piece.descriptor, piece.offset)
        while True:
            cached = self._bases.get(at)
            if cached is not None:
                self._bases.move_to_end(at)
                kind, data = cached
                break
            if piece.size > _MAX_DELTA_BYTES or len(deltas) > _MAX_DELTA_CHAIN:
                raise _damaged(object_id)
            try:
                inflated = b"".join(_inflate(piece.descriptor, piece.offset, piece.size))
            except zlib.error as error:
                raise _damaged(object_id) from error
            if len(inflated) != piece.size:
                raise _damaged(object_id)
            if piece.kind in _TYPES:
                kind, data = piece.kind, inflated
                self._remember(at, kind, data)
                break
            deltas.append(inflated)
            where.append(at)
            piece = self._base_of(object_id, piece)
            at = (piece.descriptor, piece.offset)
        while deltas:
            data = _apply_delta(object_id, data, deltas.pop())
            self._remember(where.pop(), kind, data)
        return kind, data

    def _base_of(self, object_id: str, piece: _Piece) -> _Piece:
        for pack in self._open_packs():
            if pack.descriptor == piece.descriptor:
                offset = piece.base if isinstance(piece.base, int) else pack.find(piece.base or b"")
                if offset is None:
                    break
                return pack.piece(object_id, offset, self.id_size)
        raise _damaged(object_id)

    def _remember(self, at: tuple[int, int], kind: int, data: bytes) -> None:
        if len(data) > _BASE_CACHE_BYTES // 4:
            return
        self._bases[at] = (kind, data)
        self._bases_size += len(data)
        while self._bases_size > _BASE_CACHE_BYTES:
            self._bases_size -= len(self._bases.popitem(last=False)[1][1])


class _Pack:
    """One pack with its index (version 2)."""

    def __init__(self, directory: Directory, folder: bytes, stem: bytes, id_size: int) -> None:
        self._id_size = id_size
        self._index, index_status = directory.open(folder, stem + b".idx")
        self._index_size = index_status.st_size
        self.descriptor, self._status = directory.open(folder, stem + b".pack")
        head = os.pread(self._index, 8 + 1024, 0)
        if len(head) != 8 + 1024 or head[:8] != b"\xfftOc\x00\x00\x00\x02":
            raise BaselineNotFound(
                f"{os.fsdecode(stem)}.idx is not a pack index of version 2",
                hint="run `git index-pack` on the pack, or give the baseline as a directory",
            )
        self._fanout = struct.unpack(">256I", head[8:])
        self._count = self._fanout[255]
        self._buckets: dict[int, list[bytes]] = {}

    def close(self) -> None:
        os.close(self._index)
        os.close(self.descriptor)

    def bucket_ids(self, first: int) -> list[bytes]:
        """Every id in the pack that starts with the byte `first`, sorted."""
        if first not in self._buckets:
            start = self._fanout[first - 1] if first else 0
            count = max(0, self._fanout[first] - start)
            size = self._id_size
            # A forged index can claim any count; no more is asked for than there is.
            table = os.pread(self._index, min(count * size, self._index_size), 8 + 1024 + start * size)
            self._buckets[first] = [table[at : at + size] for at in range(0, len(table), size)]
        return self._buckets[first]

    def find(self, raw: bytes) -> int | None:
        """The offset of an object, if it is in this pack."""
        if len(raw) != self._id_size:
            return None
        bucket = self.bucket_ids(raw[0])
        position = bisect_left(bucket, raw)
        if position == len(bucket) or bucket[position] != raw:
            return None
        number = position + (self._fanout[raw[0] - 1] if raw[0] else 0)
        offsets = 8 + 1024 + self._count * (self._id_size + 4)
        try:
            (offset,) = struct.unpack(">I", os.pread(self._index, 4, offsets + number * 4))
            if offset & 0x80000000:
                large = offsets + self._count * 4 + (offset & 0x7FFFFFFF) * 8
                (offset,) = struct.unpack(">Q", os.pread(self._index, 8, large))
        except struct.error as error:
            raise _damaged(raw.hex()) from error
        # A forged index can name any place; pread refuses what does not fit a file offset.
        return min(int(offset), self._status.st_size)

    def piece(self, object_id: str, offset: int, id_size: int) -> _Piece:
        """Read the header of the object at `offset`."""
        head = os.pread(self.descriptor, 64 + id_size, offset)
        try:
            byte = head[0]
            kind, size, shift, at = (byte >> 4) & 7, byte & 15, 4, 1
            while byte & 0x80:
                byte = head[at]
                size |= (byte & 0x7F) << shift
                shift += 7
                at += 1
            base: bytes | int | None = None
            if kind == _OFS_DELTA:
                byte = head[at]
                at += 1
                distance = byte & 0x7F
                while byte & 0x80:
                    byte = head[at]
                    at += 1
                    distance = ((distance + 1) << 7) | (byte & 0x7F)
                base = offset - distance
                if distance <= 0 or base < 0:
                    raise _damaged(object_id)
            elif kind == _REF_DELTA:
                base = head[at : at + id_size]
                at += id_size
            elif kind not in _TYPES:
                raise _damaged(object_id)
        except IndexError as error:
            raise _damaged(object_id) from error
        return _Piece(self.descriptor, offset + at, kind, size, base)


def _inflate(descriptor: int, offset: int, size: int | None = None) -> Iterator[bytes]:
    """Decompress from a place in a file. With `size`, no more than one byte beyond it."""
    inflater = zlib.decompressobj()
    seen = 0
    compressed = b""
    step = 4096 if size is not None and size < 16384 else CHUNK_BYTES
    while not inflater.eof and (size is None or seen <= size):
        if not compressed:
            compressed = os.pread(descriptor, step, offset)
            offset += len(compressed)
            if not compressed:
                return
        data = inflater.decompress(compressed, CHUNK_BYTES)
        compressed = inflater.unconsumed_tail
        seen += len(data)
        if data:
            yield data


def _inflate_rest(descriptor: int, inflater: zlib._Decompress, rest: bytes) -> Iterator[bytes]:
    """Decompress what follows a loose object's header."""
    if rest:
        yield rest
    compressed = inflater.unconsumed_tail
    while not inflater.eof:
        if not compressed:
            compressed = os.read(descriptor, CHUNK_BYTES)
            if not compressed:
                return
        data = inflater.decompress(compressed, CHUNK_BYTES)
        compressed = inflater.unconsumed_tail
        if data:
            yield data


def _apply_delta(object_id: str, base: bytes, delta: bytes) -> bytes:
    try:
        return apply_delta(base, delta, max_bytes=_MAX_DELTA_BYTES)
    except ValueError as error:
        raise _damaged(object_id) from error


def _damaged(object_id: str) -> BaselineNotFound:
    return BaselineNotFound(
        f"git object {object_id} is damaged or forged: its bytes do not give its id",
        hint="run `git fsck`, or give the baseline as a directory",
    )
