"""What a workspace is compared with, and whether the agent could have moved it.

Owns the meaning of `--baseline DIR|REV` and of its absence. A directory or a full commit id that the caller
names is trusted; whatever else is read from the workspace's own git is not, and says so.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from adjudge.capture.commit import CommitFolder, CommitTree
from adjudge.capture.entries import Folder
from adjudge.capture.gitobjects import ObjectMissing, hash_name_of
from adjudge.capture.layers import DiskTree, LayerPool
from adjudge.capture.repository import GitDirectory, Repository, find_git_directory, module_git_directory
from adjudge.errors import BaselineNotFound, UsageError, WorkspaceUnreadable, boundary
from adjudge.records.base import Digest
from adjudge.records.change import BaselineOrigin, BaselineRef
from adjudge.records.paths import render_path
from adjudge.records.sandbox import WorkspaceTree

__all__ = ["Baseline", "OpenBaseline", "directory_baseline", "resolve_baseline", "task_baseline"]


@dataclass(frozen=True, slots=True)
class Baseline:
    """A baseline that was found; `open` reads it. Either `tree` or `git` is set."""

    ref: BaselineRef
    tree: WorkspaceTree | None = None
    git: GitDirectory | None = None
    prefix: bytes = b""
    """The workspace's directory in the repository, for a commit."""

    @contextmanager
    def open(self, pool: LayerPool) -> Iterator[OpenBaseline]:
        """Open the baseline for one comparison."""
        if self.tree is not None:
            tree = DiskTree(self.tree, pool)
            yield OpenBaseline(tree.root, tree.root, disk=tree)
            return
        assert self.git is not None
        assert self.ref.commit is not None
        with Repository(self.git) as repository:
            commit = self.ref.commit
            store = repository.objects(hash_name_of(commit) or "sha1")
            modules = _Modules(self.git, self.prefix)
            top = CommitFolder(store, repository.tree_of(commit))
            tree_of_commit = CommitTree(top, self.prefix, modules.find)
            try:
                yield OpenBaseline(tree_of_commit.root, top, commit=tree_of_commit)
            finally:
                modules.close()


@dataclass(frozen=True, slots=True)
class OpenBaseline:
    """A baseline being read."""

    root: Folder
    """What corresponds to the workspace."""
    top: Folder
    """The top of the repository; `root`, but for a workspace that is a directory of a larger repository."""
    disk: DiskTree | None = None
    commit: CommitTree | None = None


class _Modules:
    """Finds submodules' trees among the workspace's own git directories."""

    def __init__(self, git: GitDirectory, prefix: bytes) -> None:
        self._git = git
        self._prefix = prefix
        self._open: list[Repository] = []

    def find(self, path: bytes, commit: str) -> CommitFolder | None:
        """The tree of `commit` from the objects of the submodule at `path`; None when it is not there."""
        full = b"%b/%b" % (self._prefix, path) if self._prefix else path
        place = module_git_directory(self._git, self._git.worktree, full)
        if place is None:
            return None
        repository = Repository(place)
        self._open.append(repository)
        try:
            tree_id = repository.tree_of(commit)
        except ObjectMissing:
            return None
        return CommitFolder(repository.objects(hash_name_of(commit) or "sha1"), tree_id)

    def close(self) -> None:
        for repository in self._open:
            repository.close()


def directory_baseline(directory: Path) -> Baseline:
    """A directory the caller names."""
    if not directory.is_dir():
        raise BaselineNotFound(f"baseline {directory} is not a directory")
    described = f"directory {render_path(os.fspath(directory))}"
    ref = BaselineRef(origin=BaselineOrigin.DIRECTORY, description=described)
    return Baseline(ref, tree=WorkspaceTree(layers=(directory,)))


def task_baseline(tree: WorkspaceTree, *, description: str, digest: Digest | None = None) -> Baseline:
    """The recorded tree of a frozen task."""
    ref = BaselineRef(origin=BaselineOrigin.TASK, description=description, digest=digest)
    return Baseline(ref, tree=tree)


def resolve_baseline(workspace: Path, given: str | None) -> Baseline:
    """What `--baseline GIVEN` means for a workspace; with None, what it is compared with by default.

    A full commit id is a trusted baseline, an existing directory another. Any other text is a revision of the
    workspace's own repository, and without one the merge base with the default branch is taken, or HEAD where
    that branch is checked out; both are unverified.

    Raises:
        BaselineNotFound: There is nothing to compare with.
        UsageError: The baseline lies in the workspace, or the workspace in it.
    """
    if not workspace.is_dir():
        raise UsageError(f"workspace {workspace} is not a directory")
    if not os.access(workspace, os.R_OK | os.X_OK):
        raise WorkspaceUnreadable(f"workspace {workspace} cannot be read")
    if given is not None and hash_name_of(given.lower()) is not None:
        given = given.lower()
    elif given is not None and os.path.isdir(given):
        return _given_directory(workspace, Path(given))
    with boundary(BaselineNotFound, f"the repository of {workspace} cannot be read"):
        return _from_repository(workspace, given)


def _from_repository(workspace: Path, given: str | None) -> Baseline:
    place = find_git_directory(workspace)
    if place is None:
        what = "no baseline was given" if given is None else f"{given!r} is not a directory"
        raise BaselineNotFound(
            f"{what}, and workspace {workspace} is not in a git repository",
            hint="give the state before the attempt: --baseline DIRECTORY",
        )
    prefix = os.fsencode(os.path.relpath(os.path.realpath(workspace), place.worktree))
    with Repository(place) as repository:
        ref = _default(repository) if given is None else _revision(repository, given)
    return Baseline(ref, git=place, prefix=b"" if prefix == b"." else prefix)


def _given_directory(workspace: Path, directory: Path) -> Baseline:
    inside, outside = Path(os.path.realpath(directory)), Path(os.path.realpath(workspace))
    if inside == outside:
        raise UsageError("baseline and workspace are the same directory")
    if inside.is_relative_to(outside) or outside.is_relative_to(inside):
        raise UsageError(
            f"baseline {directory} and workspace {workspace} lie in one another",
            hint="keep the baseline outside of what the agent can write",
        )
    return directory_baseline(directory)


def _revision(repository: Repository, given: str) -> BaselineRef:
    if hash_name_of(given) is not None:
        commit = repository.commit_of(given)
        described = f"commit {given[:12]}" if commit == given else f"commit {commit[:12]} of tag {given[:12]}"
        return BaselineRef(origin=BaselineOrigin.COMMIT, description=described, commit=commit)
    return _unverified(given, repository.resolve(given))


def _default(repository: Repository) -> BaselineRef:
    branch, head = repository.head()
    if head is None:
        raise BaselineNotFound(
            f"the repository of {repository.place.worktree} has no commit that is checked out",
            hint="give the state before the attempt: --baseline DIRECTORY or --baseline COMMIT",
        )
    default = repository.default_branch()
    if default is None:
        return _unverified("HEAD, no default branch was found", repository.commit_of(head))
    short = default.removeprefix("refs/heads/").removeprefix("refs/remotes/")
    name = short.removeprefix("origin/")
    if branch == f"refs/heads/{name}":
        return _unverified(f"HEAD of the default branch {name}", repository.commit_of(head))
    base = repository.merge_base(repository.commit_of(head), repository.resolve(default))
    if base is None:
        raise BaselineNotFound(
            f"HEAD and {short} have no common ancestor",
            hint="a shallow clone may miss it; give --baseline DIRECTORY or --baseline COMMIT",
        )
    return _unverified(f"merge base with {short}", base)


def _unverified(what: str, commit: str) -> BaselineRef:
    source = "from the workspace's own git, which the agent could change"
    return BaselineRef(
        origin=BaselineOrigin.UNVERIFIED,
        description=f"{render_path(what)} ({commit[:12]}), {source}",
        commit=commit,
    )
