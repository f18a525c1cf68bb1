"""Symlinks of an attempt that lead out of the workspace.

A verifier that opens /workspace/result.json follows whatever lies there. Were it a link to the expected
answer in /tests, the attempt would be graded on the answer key; were it one to /logs, writing to it would
write the reward. So such links are taken away from the verifier's copy of the workspace, and told.
"""

from __future__ import annotations

from pathlib import PurePosixPath

from adjudge.contracts import Contents
from adjudge.records.change import ChangeSet, EntryType

__all__ = ["leads_out", "links_out"]


def links_out(change_set: ChangeSet, contents: Contents, tops: tuple[PurePosixPath, ...]) -> tuple[str, ...]:
    """The paths of all links that the attempt made and that lead out, litter included.

    Args:
        change_set: What the attempt changed.
        contents: The final workspace.
        tops: Where the workspace is shown.
    """
    found = []
    for change in change_set.changes:
        if change.new_type is not EntryType.SYMLINK:
            continue
        entry = contents.look(change.path)
        if entry is not None and leads_out(change.path, entry.target or "", tops):
            found.append(change.path)
    return tuple(found)


def leads_out(path: str, target: str, tops: tuple[PurePosixPath, ...]) -> bool:
    """Whether a link at `path` may lead out of the workspace.

    `..` after a name is exact only when the name is no link itself, so such a target counts as leading out;
    otherwise every link that is left leads inside, and so does every path over them.
    """
    if not target:
        return True
    absolute = target.startswith("/")
    parts = [part for part in target.split("/") if part not in ("", ".")]
    ups = 0
    while ups < len(parts) and parts[ups] == "..":
        ups += 1
    if ".." in parts[ups:]:
        return True
    if absolute:
        return ups > 0 or not any(PurePosixPath(target).is_relative_to(top) for top in tops)
    return ups > path.count("/")
