"""A commit's tree out of a repository, and a baseline commit into a workspace, with libgit2.

Nothing of a repository is executed: blobs are written as they are, without filters, line-ending conversion,
hooks or attributes, and the configuration of user and system is not read at all. Getting a repository onto
this machine is left to `gitfetch`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pygit2
from pygit2.enums import ConfigLevel, FileMode, RepositoryOpenFlag

from adjudge.errors import StoreError, UsageError
from adjudge.records.paths import path_bytes
from adjudge.records.tree import DIRECTORY, SYMLINK, TreeEntry
from adjudge.tasks.trees import TreeRefused, TreeWriter, has_git_part, shown

__all__ = ["BASELINE_BRANCH", "CommitTree", "commit_baseline", "write_commit"]

BASELINE_BRANCH = "main"
_SIGNATURE = ("adjudge", "adjudge@localhost", 946_684_800, 0)
"""Name, address, time (2000-01-01) and zone: fixed, so that equal baselines are equal commits."""
_STREAMED_BYTES = 16 << 20
_POINTER = b"version https://git-lfs.github.com/spec/"
_CHUNK_BYTES = 1 << 20

# Settings of the whole process: nobody in it may read the configuration of the user or the system, and who
# owns a repository that is only read does not matter.
for _level in (ConfigLevel.PROGRAMDATA, ConfigLevel.SYSTEM, ConfigLevel.XDG, ConfigLevel.GLOBAL):
    pygit2.settings.search_path[_level] = "/dev/null"
pygit2.settings.owner_validation = False


@dataclass(frozen=True, slots=True)
class CommitTree:
    """Which commit a tree was taken from, and what was not taken."""

    commit: str
    notes: tuple[str, ...]


def write_commit(repository: Path, ref: str, writer: TreeWriter) -> CommitTree:
    """Write the tree of a commit.

    Raises:
        UsageError: There is no repository, or no such commit in it.
        TreeRefused: The tree holds something that cannot be written.
    """
    try:
        repo = pygit2.Repository(str(repository), RepositoryOpenFlag.NO_SEARCH)
    except (pygit2.GitError, ValueError) as error:
        raise UsageError(
            f"{repository} is not a git repository: {error}",
            hint="path names the top of a repository; a part of one is chosen with subdir",
        ) from error
    try:
        commit = repo.revparse_single(ref).peel(pygit2.Commit)
    except (KeyError, ValueError, pygit2.GitError) as error:
        raise UsageError(
            f"the repository has no commit {ref!r}", hint="ref is a branch, a tag or a commit id"
        ) from error
    try:
        return CommitTree(str(commit.id), _write(repo, commit.tree, writer))
    except (KeyError, pygit2.GitError) as error:
        raise UsageError(f"the repository is not complete: {error}") from error


def _write(repo: pygit2.Repository, top: pygit2.Tree, writer: TreeWriter) -> tuple[str, ...]:
    submodules: list[bytes] = []
    pointers: list[bytes] = []
    pending: list[tuple[bytes, pygit2.Tree]] = [(b"", top)]
    while pending:
        parent, tree = pending.pop()
        for item in tree:
            name = item.raw_name
            if not name or b"/" in name:
                raise TreeRefused(f"{shown(name or b'?')} is not a name git would write")
            path = parent + b"/" + name if parent else name
            if has_git_part(path):
                raise TreeRefused(f"{shown(path)} would lie in a .git folder")
            if item.filemode == FileMode.TREE:
                assert isinstance(item, pygit2.Tree)
                writer.add_directory(path)
                pending.append((path, item))
            elif item.filemode == FileMode.COMMIT:
                writer.add_directory(path)
                submodules.append(path)
            else:
                blob = repo[item.id]
                assert isinstance(blob, pygit2.Blob)
                if item.filemode == FileMode.LINK:
                    writer.add_symlink(path, blob.data)
                else:
                    executable = item.filemode == FileMode.BLOB_EXECUTABLE
                    writer.add_file(path, _chunks(blob), executable=executable)
                    if blob.size < 1024 and blob.data.startswith(_POINTER):
                        pointers.append(path)
    return (
        *(f"submodule {shown(path)} is an empty folder: submodules are not fetched" for path in submodules),
        *(f"{shown(path)} is a Git LFS pointer: its content is not fetched" for path in pointers),
    )


def _chunks(blob: pygit2.Blob) -> Iterator[bytes]:
    if blob.size <= _STREAMED_BYTES:
        yield blob.data
        return
    with pygit2.BlobIO(blob) as stream:
        while chunk := stream.read(_CHUNK_BYTES):
            yield chunk


def commit_baseline(
    workspace: Path, entries: tuple[TreeEntry, ...], tracked: frozenset[str]
) -> tuple[str, tuple[str, ...]]:
    """Make a workspace a repository whose one commit is its present state.

    For the agent's convenience only; the trusted baseline is kept elsewhere. Files that the workspace's own
    ignore rules name are not committed unless the source had them.

    Args:
        workspace: The folder, without a `.git` yet.
        entries: Everything in it.
        tracked: Paths of the source, committed whatever the ignore rules say.

    Returns:
        The commit, and what could not be committed, for people.
    """
    notes: list[str] = []
    try:
        repo = pygit2.init_repository(str(workspace), initial_head=BASELINE_BRANCH)
        # A repack while the workspace is read or copied would move files away under the reader.
        repo.config["gc.auto"] = 0
        index = repo.index
        for entry in entries:
            raw = path_bytes(entry.path)
            if entry.mode == DIRECTORY or has_git_part(raw):
                continue
            if entry.path not in tracked and _ignored(repo, entry.path):
                continue
            blob = _create_blob(repo, os.path.join(os.fsencode(workspace), raw), entry.mode)
            try:
                index.add(pygit2.IndexEntry(entry.path, blob, FileMode(entry.mode)))
            except pygit2.GitError as error:
                notes.append(f"{shown(raw)} is not in the workspace's git commit: {error}")
        index.write()
        author = pygit2.Signature(*_SIGNATURE)
        commit = repo.create_commit(None, author, author, "Baseline\n", index.write_tree(), [])
        # Written by hand: libgit2 would start a reflog with it.
        (workspace / ".git" / "refs" / "heads" / BASELINE_BRANCH).write_text(f"{commit}\n", encoding="ascii")
    except pygit2.GitError as error:
        raise StoreError(f"the baseline cannot be committed in {workspace}: {error}") from error
    return str(commit), tuple(notes)


def _ignored(repo: pygit2.Repository, path: str) -> bool:
    try:
        return repo.path_is_ignored(path)
    except UnicodeEncodeError:
        # pygit2 asks only for names that are UTF-8. Nobody writes ignore rules for others.
        return False


def _create_blob(repo: pygit2.Repository, place: bytes, mode: int) -> pygit2.Oid:
    if mode == SYMLINK:
        return repo.create_blob(os.readlink(place))
    with open(place, "rb") as stream:
        if os.fstat(stream.fileno()).st_size <= _STREAMED_BYTES:
            return repo.create_blob(stream.read())
        return repo.create_blob_fromiobase(stream)
