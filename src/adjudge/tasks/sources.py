"""From what a scenario says about its workspace to a tree on disk, ready to be frozen."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from adjudge.errors import UsageError
from adjudge.records.task import SourceKind, WorkspaceSource
from adjudge.records.tree import TreeEntry
from adjudge.tasks.archives import extract
from adjudge.tasks.folder import Folder
from adjudge.tasks.trees import PlainContent, PlainFolder, TreeWriter, remove_tree, write_folder

__all__ = ["Materialised", "materialise"]


@dataclass(frozen=True, slots=True)
class Materialised:
    """A source as a tree."""

    source: WorkspaceSource
    """With a git ref resolved to a commit id."""
    entries: tuple[TreeEntry, ...]
    notes: tuple[str, ...]
    """What a careful reader should know: submodules, left-out folders."""


def materialise(source: WorkspaceSource, folder: Folder, into: Path) -> Materialised:
    """Write a source's tree to `into`, a folder that does not exist yet.

    Raises:
        UsageError: The source cannot be had, or holds something that is refused. `into` may be half written.
    """
    writer = TreeWriter(into, subdir=source.subdir)
    notes: tuple[str, ...] = ()
    resolved = source
    if source.source is SourceKind.DIRECTORY:
        notes = write_folder(PlainFolder(os.fsencode(_place(source, folder))), writer, leave_out_git=True)
    elif source.source is SourceKind.ARCHIVE:
        notes = extract(_place(source, folder), writer)
    elif source.source is SourceKind.FILES:
        notes = _place_files(source, folder, writer)
    elif source.source is SourceKind.GIT:
        commit, notes = _from_git(source, folder, writer, into.parent)
        resolved = source.model_copy(update={"ref": commit})
    if not writer.found_subdir:
        raise UsageError(f"workspace.subdir: the source has no folder {source.subdir!r}")
    return Materialised(resolved, writer.finish(), notes)


def _place(source: WorkspaceSource, folder: Folder) -> Path:
    assert source.path is not None
    try:
        return folder.resolve(source.path)
    except ValueError as error:
        raise UsageError(f"workspace.path: {error}") from error


def _place_files(source: WorkspaceSource, folder: Folder, writer: TreeWriter) -> tuple[str, ...]:
    notes: list[str] = []
    for file in source.files:
        try:
            place = os.fsencode(folder.resolve(file.src))
        except ValueError as error:
            raise UsageError(f"workspace.files: {error}") from error
        at = b"" if file.dest == "." else os.fsencode(file.dest)
        if os.path.isdir(place):
            notes += write_folder(PlainFolder(place), writer, leave_out_git=True, at=at)
        elif not at:
            raise UsageError(f"workspace.files: {file.src!r} is a file, so it cannot go to '.'")
        else:
            mode = os.stat(place).st_mode
            writer.add_file(at, PlainContent(place, mode).chunks(), executable=bool(mode & 0o100))
    return tuple(notes)


def _from_git(
    source: WorkspaceSource, folder: Folder, writer: TreeWriter, scratch: Path
) -> tuple[str, tuple[str, ...]]:
    # Loaded here: libgit2 takes 100 ms to load, which only git sources should pay.
    from adjudge.tasks import gitobjects  # noqa: PLC0415

    if source.url is None:
        tree = gitobjects.write_commit(_place(source, folder), source.ref or "HEAD", writer)
        return tree.commit, tree.notes
    from adjudge.tasks.gitfetch import fetch_repository  # noqa: PLC0415  # subprocess, for the same reason

    fetched = Path(tempfile.mkdtemp(prefix="fetch-", dir=scratch))
    try:
        repository = fetched / "repository.git"
        name = fetch_repository(source.url, source.ref, repository)
        tree = gitobjects.write_commit(repository, name, writer)
        return tree.commit, tree.notes
    finally:
        remove_tree(fetched)
