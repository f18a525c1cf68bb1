"""What an attempt changed: the trusted change set and its parts."""

from enum import StrEnum

from adjudge.records.base import BlobRef, Digest, Record
from adjudge.records.paths import WorkspacePath

__all__ = [
    "BaselineOrigin",
    "BaselineRef",
    "ChangeKind",
    "ChangeSet",
    "EntryType",
    "FileChange",
    "Hunk",
    "RepositoryFinding",
    "RepositoryRule",
]


class EntryType(StrEnum):
    """What a path is, as far as grading cares. A directory is implied by what is in it."""

    FILE = "file"
    SYMLINK = "symlink"
    REPOSITORY = "repository"
    """A submodule in the baseline, recorded by its commit."""
    SPECIAL = "special"
    """A fifo, socket or device. It has no content and is never opened."""
    DIRECTORY = "directory"
    """Only for a directory without any entry, which would otherwise go unseen."""


class ChangeKind(StrEnum):
    """How a path differs from the baseline."""

    ADDED = "added"
    MODIFIED = "modified"
    DELETED = "deleted"
    RENAMED = "renamed"
    MODE_CHANGED = "mode_changed"
    """Content equal, permission bits that git tracks (executable or not) differ."""
    TYPE_CHANGED = "type_changed"
    """A file became a symlink, a fifo, a repository, … or the reverse."""


class Hunk(Record):
    """The place of one run of changed lines, without context, in the numbering of unified diffs."""

    old_start: int
    old_lines: int
    new_start: int
    new_lines: int


class FileChange(Record):
    """One changed path."""

    path: WorkspacePath
    """The path in the final workspace; for a deletion, the path in the baseline."""
    kind: ChangeKind
    old_path: WorkspacePath | None = None
    """The path in the baseline, for a rename."""
    old_type: EntryType | None = None
    new_type: EntryType | None = None
    old_mode: int | None = None
    """Mode in git's form (0o100644, 0o100755, 0o120000, 0o160000); None where nothing was."""
    new_mode: int | None = None
    old_digest: Digest | None = None
    """Digest of the content (of the target, for a symlink)."""
    new_digest: Digest | None = None
    old_size_bytes: int | None = None
    new_size_bytes: int | None = None
    added_lines: int | None = None
    """None when lines were not counted: binary content, or larger than the diff limit."""
    removed_lines: int | None = None
    binary: bool = False
    hunks: tuple[Hunk, ...] = ()
    diff_truncated: bool = False
    """The file is in the change set in full, but its text is not (or not wholly) in the diff."""
    litter: bool = False
    """Matched by the baseline's ignore rules or by our own list of build products and caches."""
    unreadable: str | None = None
    """Why the content could not be read, when it could not; the change itself is certain."""

    @property
    def paths(self) -> tuple[str, ...]:
        """Every path this change touches: both ends of a rename, else the one."""
        return (self.path,) if self.old_path is None else (self.old_path, self.path)

    @property
    def is_unlisted_folder(self) -> bool:
        """A folder that is there and could not be listed, so that it may hold anything."""
        return self.new_type is EntryType.DIRECTORY and self.unreadable is not None


class RepositoryRule(StrEnum):
    """What can be planted in a repository's own files, which are not part of the change set."""

    REPLACED = "git-replaced"
    """`.git` is not the directory (or the worktree's file) it should be."""
    REMOVED = "git-removed"
    HOOK = "git-hook"
    CONFIG = "git-config"
    """A setting that runs a program or changes what git shows."""
    EXCLUDE = "git-exclude"
    ATTRIBUTES = "git-attributes"
    ALTERNATES = "git-alternates"
    GRAFTS = "git-grafts"
    REPLACE_REFS = "git-replace-refs"
    INDEX_FLAGS = "git-index-flags"
    """Paths marked so that git does not look at them: assume-unchanged, skip-worktree."""
    REWRITTEN = "git-rewritten"
    """The branch no longer holds the commit that it was at when the attempt began."""
    FOREIGN = "git-foreign-file"
    """A file in `.git` that is none of git's."""


class RepositoryFinding(Record):
    """Something in the workspace's `.git` that the baseline did not have; it decided nothing."""

    rule: RepositoryRule
    path: WorkspacePath
    message: str
    items: tuple[str, ...] = ()
    """What it is about, one by one: the paths that git does not look at, the lines of a file, a setting, the
    beginning of a hook; capped."""


class BaselineOrigin(StrEnum):
    """Where the baseline came from, which decides whether it can be trusted."""

    TASK = "task"
    """A frozen task's recorded tree."""
    DIRECTORY = "directory"
    """A directory the caller named."""
    COMMIT = "commit"
    """A full commit id the caller named; every object was hashed again while reading."""
    UNVERIFIED = "unverified"
    """Read from the workspace's own git by anything else: a branch, a tag, HEAD, a merge base."""


class BaselineRef(Record):
    """What the workspace was compared with."""

    origin: BaselineOrigin
    description: str
    """For people: `merge base with main (1a2b3c4)`, `directory ../before`."""
    commit: str | None = None
    digest: Digest | None = None
    """Digest of the baseline tree where it is known without reading all of it."""

    @property
    def trusted(self) -> bool:
        """Whether the agent could not have moved it."""
        return self.origin is not BaselineOrigin.UNVERIFIED


class ChangeSet(Record):
    """Everything that differs between the baseline and the final workspace.

    `changes` holds litter too, marked; the properties give the two views scorers are defined on.
    """

    baseline: BaselineRef
    changes: tuple[FileChange, ...]
    """Sorted by the true bytes of `path`."""
    diff: BlobRef
    """The unified diff in git's format, binary-safe, litter left out; possibly truncated, and marked so."""
    digest: Digest
    """Identity of the change: over every path, kind, mode, type and content digest, litter included."""
    method: str = "walk"
    """How it was found: `overlay` (from the copy-on-write layer) or `walk` (the whole tree was read)."""
    repository: tuple[RepositoryFinding, ...] = ()
    """What was planted in the workspace's own `.git`, which is not part of `changes`."""
    warnings: tuple[str, ...] = ()

    @property
    def work(self) -> tuple[FileChange, ...]:
        """The changes that are not litter."""
        return tuple(change for change in self.changes if not change.litter)

    @property
    def litter(self) -> tuple[FileChange, ...]:
        """The changes kept apart: ignored files, caches, build products."""
        return tuple(change for change in self.changes if change.litter)
