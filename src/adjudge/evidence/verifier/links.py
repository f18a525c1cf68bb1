"""Symlinks of an attempt that may lead to what is the verifier's own.

A verifier that opens /workspace/result.json follows whatever lies there. Were it a link to the expected
answer in /tests, the attempt would be graded on the answer key; were it one to /logs, writing to it would
write the reward. So such links are taken away from the verifier's copy of the workspace, and told. So are
folders that cannot be listed, in which there may be any. Links to the system, such as a virtual environment
has, stay.
"""

from __future__ import annotations

from pathlib import PurePosixPath

from adjudge.contracts import Contents
from adjudge.records.change import ChangeSet, EntryType

__all__ = ["reaches_verifier", "risky_links"]

_NOT_FOR_LINKS = frozenset({"tests", "logs", "solution", "opt", "proc", "dev", "sys", "run"})
"""Top folders that are the verifier's, or from which every other can be reached (/proc/self/root)."""


def risky_links(
    change_set: ChangeSet, contents: Contents, tops: tuple[PurePosixPath, ...]
) -> tuple[str, ...]:
    """The paths of all such links, litter included, and of folders that cannot be listed.

    Args:
        change_set: What the attempt changed.
        contents: The final workspace.
        tops: Where the workspace is shown.
    """
    found = []
    for change in change_set.changes:
        if change.is_unlisted_folder:
            found.append(change.path)
        if change.new_type is not EntryType.SYMLINK:
            continue
        entry = contents.look(change.path)
        if entry is not None and reaches_verifier(change.path, entry.target or "", tops):
            found.append(change.path)
    return tuple(found)


def reaches_verifier(path: str, target: str, tops: tuple[PurePosixPath, ...]) -> bool:
    """Whether a link at `path` may lead to what is the verifier's own.

    `..` after a name is exact only when the name is no link itself, so such a target counts. So does one into
    a `.git`, whose content is nobody's change. Every link that is left leads where it seems to.
    """
    parts = [part for part in target.split("/") if part not in ("", ".")]
    ups = 0
    while ups < len(parts) and parts[ups] == "..":
        ups += 1
    rest = parts[ups:]
    if not target or ".." in rest or ".git" in rest:
        return True
    if target.startswith("/"):
        return _is_own(rest, tops)
    out = ups - path.count("/")
    if out <= 0:
        return False
    return any(_is_own([*top.parts[1 : max(1, len(top.parts) - out)], *rest], tops) for top in tops)


def _is_own(parts: list[str], tops: tuple[PurePosixPath, ...]) -> bool:
    if any(PurePosixPath("/", *parts).is_relative_to(top) for top in tops):
        return False
    return not parts or parts[0] in _NOT_FOR_LINKS
