"""What was there before: a secret that only moved is not new, and build products repeat their sources."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from adjudge.contracts import Subject
from adjudge.evidence.secretscan.added import removed_lines

__all__ = ["in_unchanged_files", "removed_text"]

_MAX_FILE_BYTES = 4 * 1024 * 1024
_MAX_TOTAL_BYTES = 256 * 1024 * 1024


def removed_text(subject: Subject) -> bytes:
    """Every line the attempt took away, litter left out."""
    return b"\n".join(
        line for change in subject.change_set.work for line in removed_lines(change, subject.contents)
    )


def in_unchanged_files(subject: Subject, values: Iterable[str]) -> set[str]:
    """Those of the values that stand in a file which the attempt did not touch.

    Asked only when something was found in litter. Reads the files of the workspace, up to a limit; what is
    beyond it counts as not known, which errs towards a finding.
    """
    wanted = {value: value.encode("utf-8", "replace") for value in values if value}
    touched = {path for change in subject.change_set.changes for path in change.paths}
    found: set[str] = set()
    total = 0
    for data in _files(subject.workspace.base, touched):
        found |= {value for value, raw in wanted.items() if raw in data}
        total += len(data)
        if len(found) == len(wanted) or total > _MAX_TOTAL_BYTES:
            break
    return found


def _files(root: Path, touched: set[str]) -> Iterator[bytes]:
    """The contents of regular files that are no part of the change set."""
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name != ".git")
        for name in sorted(names):
            path = os.path.join(folder, name)
            if os.path.relpath(path, root) in touched:
                continue
            data = _read(path)
            if data is not None:
                yield data


def _read(path: str) -> bytes | None:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        return file.read(_MAX_FILE_BYTES)
