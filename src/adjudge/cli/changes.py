"""`adjudge changes`: print what a workspace changed against a baseline."""

from __future__ import annotations

import shutil
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import click

from adjudge.capture.litter import EMPTY_GROUP, IGNORED_GROUP, own_group
from adjudge.cli.console import Hue, note, tint_for
from adjudge.records.change import ChangeKind, ChangeSet, EntryType, FileChange
from adjudge.records.paths import path_bytes, render_path
from adjudge.workflows.changes import changes_of, changes_with_diff

__all__ = ["changes", "render_changes"]

_LETTERS = {
    ChangeKind.ADDED: ("A", Hue.ADDED),
    ChangeKind.MODIFIED: ("M", Hue.CHANGED),
    ChangeKind.DELETED: ("D", Hue.REMOVED),
    ChangeKind.RENAMED: ("R", Hue.CHANGED),
    ChangeKind.MODE_CHANGED: ("M", Hue.CHANGED),
    ChangeKind.TYPE_CHANGED: ("T", Hue.CHANGED),
}


@click.command()
@click.option(
    "--workspace",
    required=True,
    type=click.Path(path_type=Path),
    help="The directory to look at. Nothing in it is executed or written.",
)
@click.option(
    "--baseline",
    metavar="DIR|REV",
    help="What it was before: a directory, or a revision of the workspace's own repository. A directory or a "
    "full commit id is trusted. Left out: what `adjudge seed` recorded, else the merge base with the default "
    "branch (HEAD when on it).",
)
@click.option("--json", "as_json", is_flag=True, help="Print the change set as a JSON document.")
@click.option("--diff", "as_diff", is_flag=True, help="Print the unified diff, without litter.")
def changes(workspace: Path, baseline: str | None, as_json: bool, as_diff: bool) -> None:
    """Show what a workspace changed against a baseline.

    Every added, changed, deleted, renamed or retyped path is listed; what the baseline's own ignore rules and
    our list of caches and build products call litter is counted apart.
    """
    if as_json and as_diff:
        raise click.UsageError("--json and --diff exclude each other")
    if as_diff:
        with changes_with_diff(workspace, baseline) as (found, diff):
            shutil.copyfileobj(diff, sys.stdout.buffer)
            sys.stdout.buffer.flush()
        _tell(found)
        return
    found = changes_of(workspace, baseline)
    if as_json:
        print(found.model_dump_json(indent=2))
        return
    print(render_changes(found, tint_for(sys.stdout)), end="")
    _tell(found)


def _tell(found: ChangeSet) -> None:
    for warning in found.warnings:
        note(f"warning: {warning}")


def render_changes(found: ChangeSet, tint: Callable[[str, Hue], str]) -> str:
    """A change set for people."""
    trust = "trusted" if found.baseline.trusted else "unverified"
    lines = [f"baseline: {found.baseline.description} [{trust}]"]
    lines += [_line(change, tint) for change in found.work]
    work = found.work
    added = sum(change.added_lines or 0 for change in work)
    removed = sum(change.removed_lines or 0 for change in work)
    count = "nothing changed" if not work else f"{len(work)} change{'s' if len(work) != 1 else ''}"
    lines.append(f"{count}, +{added} -{removed}" if work else count)
    groups = Counter(_group(change) for change in found.litter)
    if groups:
        parts = ", ".join(f"{number} {group}" for group, number in sorted(groups.items()))
        lines.append(tint(f"litter, kept apart: {parts}", Hue.QUIET))
    return "\n".join(lines) + "\n"


def _line(change: FileChange, tint: Callable[[str, Hue], str]) -> str:
    letter, hue = _LETTERS[change.kind]
    name = render_path(change.path)
    if change.old_path is not None:
        name = f"{render_path(change.old_path)} → {name}"
    if change.new_type is EntryType.DIRECTORY or (
        change.new_type is None and change.old_type is EntryType.DIRECTORY
    ):
        name += "/"
    notes = list(_notes(change, tint))
    return f"{tint(letter, hue)} {name}" + (f"  ({', '.join(notes)})" if notes else "")


def _notes(change: FileChange, tint: Callable[[str, Hue], str]) -> list[str]:
    notes: list[str] = []
    if change.added_lines or change.removed_lines:
        counts = (tint(f"+{change.added_lines}", Hue.ADDED), tint(f"-{change.removed_lines}", Hue.REMOVED))
        notes.append(" ".join(counts))
    if change.binary:
        notes.append(f"binary, {_size(change.old_size_bytes)} → {_size(change.new_size_bytes)}")
    if change.kind is ChangeKind.TYPE_CHANGED:
        notes.append(f"{change.old_type} → {change.new_type}")
    elif change.kind is ChangeKind.ADDED and change.new_type is not EntryType.FILE:
        notes.append(str(change.new_type))
    if change.old_mode is not None and change.new_mode is not None and change.old_mode != change.new_mode:
        notes.append(f"mode {change.old_mode:06o} → {change.new_mode:06o}")
    if change.unreadable is not None:
        notes.append(f"unreadable: {change.unreadable}")
    elif change.diff_truncated:
        notes.append(f"text left out of the diff, {_size(change.new_size_bytes)}")
    return notes


def _size(size: int | None) -> str:
    return "nothing" if size is None else f"{size} bytes"


def _group(change: FileChange) -> str:
    is_directory = change.new_type is EntryType.DIRECTORY
    group = own_group(path_bytes(change.path), is_directory=is_directory)
    if group is not None:
        return group.name
    return EMPTY_GROUP if is_directory else IGNORED_GROUP
