"""Finding a repository and what its names point to, without git and without its configuration.

Owns the way from a workspace to a git directory (ordinary, linked worktree, submodule), the files that hold
references, revision syntax, and merge bases. All of it can be written by the agent, so whatever is found
this way is an unverified baseline; only a full commit id from the caller pins one. No configuration file is
read.
"""

from __future__ import annotations

import heapq
import os
import re
from dataclasses import dataclass
from pathlib import Path

from adjudge.capture.disk import Directory
from adjudge.capture.entries import EntryType
from adjudge.capture.gitobjects import ObjectMissing, ObjectStore, hash_name_of
from adjudge.errors import BaselineNotFound

__all__ = ["GitDirectory", "Repository", "find_git_directory"]

_MAX_SYMREFS = 5
_MAX_PACKED_REFS_BYTES = 256 << 20
_MAX_MERGE_BASE_COMMITS = 1_000_000
_DEFAULT_BRANCHES = ("main", "master", "trunk")
_REVISION_STEP = re.compile(r"(?:~(\d*)|\^\{(?:commit|)\}|\^(\d*))")


@dataclass(frozen=True, slots=True)
class GitDirectory:
    """Where a working tree's git files are. Both are directories reached without following symlinks."""

    worktree: Path
    """The top of the working tree."""
    anchor: Path
    """What the two paths below are relative to."""
    private: bytes
    """Holds HEAD: `.git`, or the worktree's own folder."""
    common: bytes
    """Holds objects and references."""


def find_git_directory(workspace: Path) -> GitDirectory | None:
    """The git directory of `workspace`, or of the nearest parent that has one.

    Raises:
        BaselineNotFound: There is a `.git`, but not one that can be followed safely.
    """
    workspace = Path(os.path.realpath(workspace))
    for worktree in (workspace, *workspace.parents):
        place = worktree / ".git"
        if not os.path.lexists(place):
            continue
        if place.is_symlink():
            raise BaselineNotFound(
                f"{place} is a symlink, which is not followed",
                hint="give the baseline as a directory, or run on the working tree it points to",
            )
        if place.is_dir():
            return GitDirectory(worktree, worktree, b".git", b".git")
        return _follow_git_file(worktree)
    return None


def _follow_git_file(worktree: Path, within: Path | None = None) -> GitDirectory:
    """Follow a `.git` file of a linked worktree or a submodule, if it is one that belongs here.

    A `.git` file can point anywhere, at a repository of somebody else on this machine too. It is followed
    when the git directory points back (linked worktree), or lies in the working tree, in a `.git` above it,
    or in `within` (submodule).
    """
    with Directory(worktree) as directory:
        text = directory.read_control_file(b".git", max_bytes=65536)
    refusal = BaselineNotFound(
        f"the .git file of {worktree} does not lead to a git directory that belongs to it",
        hint="give the baseline as a directory",
    )
    if text is None or not text.startswith(b"gitdir: "):
        raise refusal
    target = Path(os.path.normpath(worktree / os.fsdecode(text[8:].rstrip(b"\r\n"))))
    if not target.is_dir() or Path(os.path.realpath(target)) != target:
        raise refusal
    if target.parent.name == "worktrees":
        with Directory(target) as directory:
            back = directory.read_control_file(b"gitdir", max_bytes=65536) or b""
        pointed = Path(os.path.normpath(target / os.fsdecode(back.rstrip(b"\r\n"))))
        common = target.parent.parent
        if Path(os.path.realpath(pointed)) == worktree / ".git" and common.is_dir():
            return GitDirectory(worktree, common, os.fsencode(f"worktrees/{target.name}"), b"")
        raise refusal
    homes = [parent / ".git" for parent in (worktree, *worktree.parents)]
    if any(target.is_relative_to(home) for home in homes if home.is_dir() and not home.is_symlink()) or (
        within is not None and target.is_relative_to(within)
    ):
        return GitDirectory(worktree, target, b"", b"")
    raise refusal


class Repository:
    """References and history of one repository. A context manager."""

    def __init__(self, place: GitDirectory) -> None:
        self.place = place
        self._directory = Directory(place.anchor)
        self._stores: dict[str, ObjectStore] = {}
        self._packed: dict[str, str] | None = None
        self._shallow: frozenset[str] | None = None
        self._history: dict[str, tuple[int, list[str]]] = {}

    def __enter__(self) -> Repository:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Close every file."""
        for store in self._stores.values():
            store.close()
        self._directory.close()

    def objects(self, hash_name: str) -> ObjectStore:
        """The object database, read as the given object format."""
        if hash_name not in self._stores:
            path = self.place.common + b"/objects" if self.place.common else b"objects"
            self._stores[hash_name] = ObjectStore(self._directory, path, hash_name)
        return self._stores[hash_name]

    def commit_of(self, object_id: str) -> str:
        """The commit an object is or, for an annotated tag, points to."""
        store = self._store_of(object_id)
        for _ in range(_MAX_SYMREFS):
            kind, data = store.read(object_id)
            if kind == b"commit":
                return object_id
            if kind != b"tag":
                raise BaselineNotFound(
                    f"git object {object_id} is a {kind.decode()}, not a commit", hint="give a commit id"
                )
            object_id = _field(data, b"object") or ""
            if hash_name_of(object_id) != store.hash_name:
                break
        raise BaselineNotFound(f"git tag {object_id} does not lead to a commit")

    def tree_of(self, commit: str) -> str:
        """The tree id of a commit."""
        _, data = self._store_of(commit).read(commit, b"commit")
        tree = _field(data, b"tree") or ""
        if hash_name_of(tree) is None:
            raise BaselineNotFound(f"commit {commit} names no tree")
        return tree

    def resolve(self, revision: str) -> str:
        """The commit a revision names: a reference or an abbreviated id, then any of `~N`, `^N`, `^{commit}`.

        Raises:
            BaselineNotFound: It names nothing here.
        """
        name = re.split(r"[~^]", revision, maxsplit=1)[0]
        object_id = self._named(name or "HEAD") if name != "@" else self._named("HEAD")
        if object_id is None:
            raise BaselineNotFound(
                f"{revision!r} is neither a directory nor a revision of {self.place.worktree}",
                hint="give a directory, a full commit id, a branch or a tag",
            )
        commit = self.commit_of(object_id)
        position = len(name)
        while position < len(revision):
            step = _REVISION_STEP.match(revision, position)
            if step is None:
                raise BaselineNotFound(
                    f"revision {revision!r} is not understood after {revision[:position]!r}"
                )
            position = step.end()
            if step.group(1) is not None:
                for _ in range(int(step.group(1) or 1)):
                    commit = self._parent(commit, 1, revision)
            elif step.group(2) is not None and int(step.group(2) or 1) > 0:
                commit = self._parent(commit, int(step.group(2) or 1), revision)
        return commit

    def head(self) -> tuple[str | None, str | None]:
        """The branch that is checked out (None when detached) and the commit (None when there is none)."""
        text = self._control(self.place.private, "HEAD")
        if text.startswith("ref: "):
            branch = text[5:].strip()
            return branch, self._reference(branch)
        return None, text.strip() if hash_name_of(text.strip()) else None

    def default_branch(self) -> str | None:
        """The reference of the default branch: what origin/HEAD says, else the usual names."""
        text = self._control(self.place.common, "refs/remotes/origin/HEAD")
        if text.startswith("ref: ") and self._reference(text[5:].strip()) is not None:
            return text[5:].strip()
        for prefix in ("refs/heads/", "refs/remotes/origin/"):
            for name in _DEFAULT_BRANCHES:
                if self._reference(prefix + name) is not None:
                    return prefix + name
        return None

    def merge_base(self, one: str, other: str) -> str | None:
        """A best common ancestor of two commits, as `git merge-base` finds it; None when there is none."""
        both = 3
        flags = {one: 1}
        flags[other] = flags.get(other, 0) | 2
        queue = [(-self._date(commit), commit) for commit in flags]
        heapq.heapify(queue)
        found: list[tuple[int, str]] = []
        stale: set[str] = set()
        while queue and any(commit not in stale for _, commit in queue):
            negative_date, commit = heapq.heappop(queue)
            mark = flags[commit]
            is_stale = commit in stale
            if mark == both and not is_stale:
                found.append((negative_date, commit))
                is_stale = True
            for parent in self._parents(commit):
                before = flags.get(parent, 0)
                newly_stale = is_stale and parent not in stale
                if before | mark == before and not newly_stale:
                    continue
                flags[parent] = before | mark
                if is_stale:
                    stale.add(parent)
                heapq.heappush(queue, (-self._date(parent), parent))
            if len(flags) > _MAX_MERGE_BASE_COMMITS:
                raise BaselineNotFound(
                    "the history is too long to find a merge base in",
                    hint="name the baseline with --baseline",
                )
        best = sorted((date, commit) for date, commit in found if commit not in stale)
        return best[0][1] if best else None

    def _store_of(self, object_id: str) -> ObjectStore:
        hash_name = hash_name_of(object_id)
        if hash_name is None:
            raise BaselineNotFound(f"{object_id!r} is not a full object id")
        return self.objects(hash_name)

    def _named(self, name: str) -> str | None:
        if hash_name_of(name) is not None:
            return name
        for pattern in (
            "{}",
            "refs/{}",
            "refs/tags/{}",
            "refs/heads/{}",
            "refs/remotes/{}",
            "refs/remotes/{}/HEAD",
        ):
            found = self._reference(pattern.format(name))
            if found is not None:
                return found
        if re.fullmatch(r"[0-9a-f]{4,63}", name):
            for hash_name in ("sha1", "sha256"):
                ids = self.objects(hash_name).find_abbreviated(name)
                commits = [found for found in ids if self._is_commit(found)]
                if len(commits) > 1:
                    raise BaselineNotFound(
                        f"{name!r} abbreviates {len(commits)} commits", hint="give it in full"
                    )
                if commits:
                    return commits[0]
        return None

    def _is_commit(self, object_id: str) -> bool:
        return self._store_of(object_id).header(object_id)[0] in (b"commit", b"tag")

    def _reference(self, name: str) -> str | None:
        for _ in range(_MAX_SYMREFS):
            if not _is_reference_name(name):
                return None
            per_worktree = not name.startswith("refs/") or name.startswith(("refs/bisect/", "refs/worktree/"))
            text = self._control(self.place.private if per_worktree else self.place.common, name).strip()
            if text.startswith("ref: "):
                name = text[5:].strip()
                continue
            if text:
                return text if hash_name_of(text) is not None else None
            return self._packed_references().get(name)
        return None

    def _packed_references(self) -> dict[str, str]:
        if self._packed is None:
            self._packed = {}
            path = self.place.common + b"/packed-refs" if self.place.common else b"packed-refs"
            data = self._directory.read_control_file(path, max_bytes=_MAX_PACKED_REFS_BYTES) or b""
            for line in data.decode("utf-8", "surrogateescape").split("\n"):
                object_id, _, name = line.partition(" ")
                if name and hash_name_of(object_id) is not None:
                    self._packed[name] = object_id
        return self._packed

    def _control(self, folder: bytes, name: str) -> str:
        path = os.fsencode(name)
        data = self._directory.read_control_file(folder + b"/" + path if folder else path, max_bytes=65536)
        return (data or b"").decode("utf-8", "surrogateescape")

    def _parent(self, commit: str, number: int, revision: str) -> str:
        parents = self._parents(commit)
        if number > len(parents):
            raise BaselineNotFound(f"{revision!r} goes beyond the history: {commit[:12]} has no such parent")
        return parents[number - 1]

    def _parents(self, commit: str) -> list[str]:
        return self._ancestry(commit)[1]

    def _date(self, commit: str) -> int:
        return self._ancestry(commit)[0]

    def _ancestry(self, commit: str) -> tuple[int, list[str]]:
        """When a commit was made, as it says, and its parents."""
        if commit not in self._history:
            _, data = self._store_of(commit).read(commit, b"commit")
            words = (_field(data, b"committer") or "").rsplit(" ", 2)
            date = int(words[1]) if len(words) == 3 and words[1].isdecimal() else 0
            lines = data.partition(b"\n\n")[0].split(b"\n")
            named = [line[7:].decode("ascii", "replace") for line in lines if line.startswith(b"parent ")]
            parents = [parent for parent in named if hash_name_of(parent) is not None]
            self._history[commit] = (date, [] if commit in self._shallow_commits() else parents)
        return self._history[commit]

    def _shallow_commits(self) -> frozenset[str]:
        if self._shallow is None:
            self._shallow = frozenset(self._control(self.place.common, "shallow").split())
        return self._shallow

    def has_commit(self, commit: str) -> bool:
        """Whether a commit can be read here."""
        try:
            self._store_of(commit).read(commit, b"commit")
        except ObjectMissing:
            return False
        return True


def module_git_directory(repository: GitDirectory, worktree: Path, path: bytes) -> GitDirectory | None:
    """The git directory of the submodule at `path`, if its working files lead to one that belongs here."""
    module = worktree / os.fsdecode(path)
    with Directory(worktree) as directory:
        kind = directory.kind(path + b"/.git")
        if kind is EntryType.DIRECTORY:
            return GitDirectory(module, worktree, path + b"/.git", path + b"/.git")
        if kind is not EntryType.FILE:
            return None
    try:
        return _follow_git_file(module, repository.anchor / os.fsdecode(repository.common))
    except BaselineNotFound:
        return None


def _is_reference_name(name: str) -> bool:
    parts = name.split("/")
    return bool(name) and not any(part in ("", ".", "..") or "\0" in part for part in parts)


def _field(data: bytes, name: bytes) -> str | None:
    for line in data.partition(b"\n\n")[0].split(b"\n"):
        if line.startswith(name + b" "):
            return line[len(name) + 1 :].decode("utf-8", "replace")
    return None
