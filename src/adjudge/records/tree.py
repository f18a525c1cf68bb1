"""A recorded tree: what lies where, and the one digest over all of it.

Git's view of a file is what counts: its path, its kind, whether it is executable, its content. Owners,
times, other permission bits and the order in which a disk lists names do not.
"""

import hashlib
from collections.abc import Iterable

from adjudge.records.base import Digest, Record, digest_bytes
from adjudge.records.paths import WorkspacePath, path_bytes

__all__ = ["DIRECTORY", "EXECUTABLE", "FILE", "NO_CONTENT", "SYMLINK", "TreeEntry", "digest_tree"]

FILE = 0o100644
EXECUTABLE = 0o100755
SYMLINK = 0o120000
DIRECTORY = 0o040000
"""Only for a directory that holds nothing; every other one is implied by what is in it."""

NO_CONTENT = digest_bytes(b"")
"""The digest of an empty directory's content."""


class TreeEntry(Record):
    """One entry of a recorded tree."""

    path: WorkspacePath
    mode: int
    """In git's form: one of the constants above."""
    digest: Digest
    """Of the content; of the target, for a symlink."""


def digest_tree(entries: Iterable[TreeEntry]) -> str:
    """The digest of a tree, independent of the order its entries come in.

    Over each entry in the order of its path's true bytes: the mode in octal, the content digest and the
    path, the last one ended by a NUL, which no path can contain.
    """
    digest = hashlib.sha256(b"adjudge.tree/1\0")
    for entry in sorted(entries, key=lambda entry: path_bytes(entry.path)):
        line = b"%06o %s %s\0" % (entry.mode, entry.digest.encode("ascii"), path_bytes(entry.path))
        digest.update(line)
    return f"sha256:{digest.hexdigest()}"
