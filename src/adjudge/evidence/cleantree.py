"""What the clean tree is made of: the attempt's changes as far as they reach it, and what stays out.

Decided here from the change set, the table in `adjudge.evidence.protected` and the two sides of merged files;
`adjudge.evidence.gradedtree` writes it down. `CleanTreeCollector` answers with what was left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar

from adjudge.contracts import Subject
from adjudge.evidence.protected import ProtectedGroup, Protection
from adjudge.evidence.protectedfiles import protected_files
from adjudge.formats.testconfig import ConfigUnreadable, is_merged, merge_config
from adjudge.records.change import EntryType, FileChange
from adjudge.records.evidence import CleanTree, CleanTreeChanges, LeftOutChange
from adjudge.records.paths import render_path

__all__ = ["CleanPlan", "CleanTreeCollector", "Written", "plan_clean_tree"]

_MAX_CONFIG_BYTES = 4 * 1024 * 1024
_MERGED = "merged configuration"


@dataclass(frozen=True, slots=True)
class Written:
    """A file or symlink of the attempt's that goes into the clean tree."""

    change: FileChange
    data: bytes | None = None
    """Its content where it is not simply the attempt's."""

    @property
    def executable(self) -> bool:
        """Whether its owner may execute it."""
        return bool((self.change.new_mode or 0) & 0o100)


@dataclass
class CleanPlan:
    """The attempt's part of the clean tree."""

    written: dict[str, Written] = field(default_factory=dict)
    removed: list[str] = field(default_factory=list)
    left_out: list[LeftOutChange] = field(default_factory=list)
    litter: int = 0


class CleanTreeCollector:
    """Says what is left out; nothing is run."""

    kind: ClassVar[str] = "clean_tree"
    cost: ClassVar[int] = 1

    async def collect(self, request: CleanTree, subject: Subject) -> CleanTreeChanges:
        """Plan the tree and forget all but what is not in it."""
        plan = plan_clean_tree(subject, Protection(request.allow, request.protect))
        return CleanTreeChanges(left_out=tuple(plan.left_out), litter=plan.litter)


def plan_clean_tree(subject: Subject, protection: Protection) -> CleanPlan:
    """Decide on every change.

    Raises:
        SubjectError: A changed file cannot be read.
    """
    plan = CleanPlan()
    by_file = protected_files(subject, protection)
    kept: set[str] = set()
    """Folders in which something of the baseline stays though the attempt took it away."""
    for change in subject.change_set.changes:
        if change.litter and not _reaches(change, protection):
            plan.litter += 1
            continue
        for path, removed in _ends(change):
            in_baseline = change.old_type is not None and path == (change.old_path or change.path)
            group = protection.of(path, in_baseline=in_baseline) or by_file.get(path)
            if group is not None or change.litter:
                plan.left_out.append(_left_out(path, group, removed=removed, in_baseline=in_baseline))
                if in_baseline:
                    parts = path.split("/")
                    kept.update("/".join(parts[:depth]) for depth in range(1, len(parts)))
            else:
                _take(plan, subject, protection, change, path, removed=removed, in_baseline=in_baseline)
    for path in [path for path in plan.written if path in kept]:
        # The attempt put a file or a link in place of a folder with protected files in it.
        del plan.written[path]
        message = f"{render_path(path)} is in the place of a folder whose tests are the baseline's"
        plan.left_out.append(LeftOutChange(path=path, group="tests", message=message))
    return plan


def _ends(change: FileChange) -> Iterator[tuple[str, bool]]:
    """Each path that a change touches, and whether it is gone from there."""
    if change.old_path is not None:
        yield change.old_path, True
    yield change.path, change.new_type is None


def _reaches(change: FileChange, protection: Protection) -> bool:
    """Whether litter is worth a word: it stays out, but tests or shims that are called litter are shown."""
    group = protection.of(change.path, in_baseline=change.old_type is not None)
    return group is not None and group.name not in ("installed packages", "version control")


def _left_out(path: str, group: ProtectedGroup | None, *, removed: bool, in_baseline: bool) -> LeftOutChange:
    """What is said of a protected path, or of litter."""
    did = "removed" if removed else "changed" if in_baseline else "added"
    reason = group.reason if group is not None else "litter"
    return LeftOutChange(
        path=path,
        group=group.name if group is not None else "litter",
        message=f"{render_path(path)}, which the attempt {did}, is left out: {reason}",
    )


def _take(
    plan: CleanPlan,
    subject: Subject,
    protection: Protection,
    change: FileChange,
    path: str,
    *,
    removed: bool,
    in_baseline: bool,
) -> None:
    if is_merged(path) and not protection.allows(path):
        _merge(plan, subject, change, path, removed=removed, in_baseline=in_baseline)
    elif removed:
        plan.removed.append(path)
    elif change.new_type in (EntryType.FILE, EntryType.SYMLINK):
        plan.written[path] = Written(change)
    elif change.new_type is not EntryType.DIRECTORY:
        message = f"{render_path(path)} is a {change.new_type}, which no tree that is graded can hold"
        plan.left_out.append(LeftOutChange(path=path, group="not a file", message=message))


def _merge(
    plan: CleanPlan, subject: Subject, change: FileChange, path: str, *, removed: bool, in_baseline: bool
) -> None:
    """Test sections from the baseline, all others from the attempt."""
    name = render_path(path)

    def leave_out(message: str) -> None:
        plan.left_out.append(LeftOutChange(path=path, group=_MERGED, message=message))

    sides = (
        change.old_type if in_baseline else EntryType.FILE,
        EntryType.FILE if removed else change.new_type,
    )
    sizes = (change.old_size_bytes or 0, change.new_size_bytes or 0)
    if sides != (EntryType.FILE, EntryType.FILE) or max(sizes) > _MAX_CONFIG_BYTES:
        leave_out(f"{name} cannot be merged, so it is the baseline's")
        return
    old = subject.contents.old(change, max_bytes=_MAX_CONFIG_BYTES) if in_baseline else None
    new = None if removed else subject.contents.new(change, max_bytes=_MAX_CONFIG_BYTES)
    try:
        merged, tests_differ = merge_config(path, old, new)
    except ConfigUnreadable as error:
        leave_out(f"{name} cannot be merged, so it is the baseline's: {error}")
        return
    if tests_differ:
        leave_out(f"{name}: its test sections are the baseline's, all others the attempt's")
    if merged is None:
        if in_baseline:
            plan.removed.append(path)
    else:
        plan.written[path] = Written(change, merged)
