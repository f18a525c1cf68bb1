"""What an attempt left, as one archive that grading can be repeated from, and back again.

A tar of every path that is new or changed, litter included: git's two file modes, no owners, no times, in the
order of paths, so that equal changes are equal bytes. What goes away is listed beside it.
"""

from __future__ import annotations

import io
import os
import stat
import tarfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, cast

from adjudge.contracts import BlobStore, BlobWriter, Contents
from adjudge.errors import StoreError, WorkspaceUnreadable, boundary
from adjudge.records.base import BlobRef
from adjudge.records.change import ChangeKind, ChangeSet, EntryType, FileChange
from adjudge.records.paths import path_bytes, path_from_bytes
from adjudge.records.run import StoredChanges
from adjudge.records.sandbox import WorkspaceTree
from adjudge.records.tree import DIRECTORY, EXECUTABLE, SYMLINK, TreeEntry
from adjudge.tasks.trees import TreeWriter

__all__ = ["restore_baseline", "restore_workspace", "store_changes", "store_tree"]

_CHUNK = 1 << 20
_MAX_FILE_BYTES = 4 << 30
"""Of one changed file; what the sandbox's disk limit lets through is less."""


def store_changes(change_set: ChangeSet, contents: Contents, blobs: BlobStore) -> StoredChanges:
    """Keep what an attempt left.

    Raises:
        StoreError: It cannot be kept.
    """
    deleted: list[str] = []
    unreadable: list[str] = []
    with _Archive(blobs) as archive:
        for change in change_set.changes:
            if change.old_path is not None:
                deleted.append(change.old_path)
            if change.kind is ChangeKind.DELETED:
                deleted.append(change.path)
                continue
            if change.unreadable is not None or change.new_type not in (EntryType.FILE, EntryType.SYMLINK):
                unreadable.append(change.path)
                continue
            try:
                content = contents.new(change, max_bytes=_MAX_FILE_BYTES)
            except WorkspaceUnreadable:
                unreadable.append(change.path)
                continue
            _add_change(archive, change, content)
        ref = archive.commit()
    return StoredChanges(archive=ref, deleted=tuple(deleted), unreadable=tuple(unreadable))


def _add_change(archive: _Archive, change: FileChange, content: bytes) -> None:
    if change.new_type is EntryType.SYMLINK:
        archive.add_link(change.path, content)
    else:
        executable = bool((change.new_mode or 0) & 0o100)
        archive.add_file(change.path, io.BytesIO(content), len(content), executable=executable)


def store_tree(root: Path, entries: Iterable[TreeEntry], blobs: BlobStore) -> BlobRef:
    """Keep a tree of ours, such as a baseline, in the same form."""
    top = os.fsencode(root)
    with _Archive(blobs) as archive:
        for entry in entries:
            place = os.path.join(top, path_bytes(entry.path))
            if entry.mode == DIRECTORY:
                archive.add_folder(entry.path)
            elif entry.mode == SYMLINK:
                archive.add_link(entry.path, os.readlink(place))
            else:
                with boundary(StoreError, f"{root} cannot be read"), open(place, "rb") as file:
                    size = os.fstat(file.fileno()).st_size
                    archive.add_file(entry.path, file, size, executable=entry.mode == EXECUTABLE)
        return archive.commit()


class _Archive:
    """A tar on its way into a blob store."""

    def __init__(self, blobs: BlobStore) -> None:
        self._writer: BlobWriter = blobs.writer()
        self._tar = tarfile.open(  # noqa: SIM115  # closed by commit and __exit__
            fileobj=cast(IO[bytes], self._writer),
            mode="w|",
            format=tarfile.PAX_FORMAT,
            encoding="utf-8",
            errors="surrogateescape",
        )

    def __enter__(self) -> _Archive:
        return self

    def __exit__(self, *exc: object) -> None:
        self._writer.abort()

    def add_folder(self, path: str) -> None:
        member = tarfile.TarInfo(path)
        member.type, member.mode = tarfile.DIRTYPE, 0o755
        self._tar.addfile(member)

    def add_link(self, path: str, target: bytes) -> None:
        member = tarfile.TarInfo(path)
        member.type, member.mode, member.linkname = tarfile.SYMTYPE, 0o777, path_from_bytes(target)
        self._tar.addfile(member)

    def add_file(self, path: str, content: IO[bytes], size: int, *, executable: bool) -> None:
        member = tarfile.TarInfo(path)
        member.size, member.mode = size, 0o755 if executable else 0o644
        self._tar.addfile(member, content)

    def commit(self) -> BlobRef:
        self._tar.close()
        # Its ends are mostly zero bytes, which nobody reads and every record would carry.
        return self._writer.commit().model_copy(update={"head": "", "tail": ""})


def restore_baseline(archive: BlobRef, blobs: BlobStore, place: Path) -> tuple[TreeEntry, ...]:
    """Write a stored tree to `place`, a folder that does not exist yet; what was written.

    Raises:
        StoreError: The archive is missing or damaged.
    """
    writer = TreeWriter(place)
    with boundary(StoreError, f"the stored tree {archive.digest} cannot be restored"):
        for member, content in _members(archive, blobs):
            path = path_bytes(member.name)
            if member.isdir():
                writer.add_directory(path)
            elif member.issym():
                writer.add_symlink(path, path_bytes(member.linkname))
            else:
                assert content is not None
                chunks = iter(lambda content=content: content.read(_CHUNK), b"")  # type: ignore[misc]
                writer.add_file(path, chunks, executable=bool(member.mode & 0o100))
    return writer.finish()


def restore_workspace(
    baseline: WorkspaceTree, stored: StoredChanges, blobs: BlobStore, place: Path
) -> WorkspaceTree:
    """The final workspace again: stored changes as a layer over the baseline.

    Args:
        baseline: What they were changes to.
        stored: The changes.
        blobs: Where their archive is kept.
        place: Where the layer goes; nothing is there yet.

    Raises:
        StoreError: The archive is missing or damaged.
    """
    writer = TreeWriter(place)
    with boundary(StoreError, f"the stored changes {stored.archive.digest} cannot be restored"):
        kept: set[bytes] = set()
        for member, content in _members(stored.archive, blobs):
            path = path_bytes(member.name)
            kept.add(path)
            if member.issym():
                writer.add_symlink(path, path_bytes(member.linkname))
            elif content is not None:
                chunks = iter(lambda content=content: content.read(_CHUNK), b"")  # type: ignore[misc]
                writer.add_file(path, chunks, executable=bool(member.mode & 0o100))
        top = os.fsencode(place)
        for gone in sorted(map(path_bytes, stored.deleted)):
            _white_out(writer, top, gone, kept)
    prefix = baseline.xattr_prefix
    if baseline.flat:
        prefix = "trusted.overlay." if os.geteuid() == 0 else "user.overlay."
    return baseline.model_copy(update={"layers": (*baseline.layers, place), "xattr_prefix": prefix})


def _white_out(writer: TreeWriter, top: bytes, path: bytes, kept: set[bytes]) -> None:
    """Hide what the layers below have at a path, unless the layer has something of its own there."""
    parts = path.split(b"/")
    if any(b"/".join(parts[:depth]) in kept for depth in range(1, len(parts) + 1)):
        return
    place = os.path.join(top, path)
    if os.path.lexists(place):
        return
    if len(parts) > 1:
        writer.add_directory(b"/".join(parts[:-1]))
    # The kernel's own mark for "nothing here"; anybody may make it.
    os.mknod(place, stat.S_IFCHR, os.makedev(0, 0))


def _members(archive: BlobRef, blobs: BlobStore) -> Iterator[tuple[tarfile.TarInfo, IO[bytes] | None]]:
    with (
        blobs.open(archive) as stream,
        tarfile.open(fileobj=stream, mode="r|", encoding="utf-8", errors="surrogateescape") as tar,
    ):
        for member in tar:
            if not (member.isdir() or member.issym() or member.isreg()):
                raise StoreError(f"the archive holds {member.name!r}, which is no file, folder or link")
            yield member, tar.extractfile(member) if member.isreg() else None
