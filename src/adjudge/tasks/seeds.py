"""Baselines and the workspaces made from them, kept where no agent can reach.

    baselines/<digest>/             the tree as it was right after seeding, by its digest
    seeds/<sha256 of the path>.json a `SeedRecord` for each workspace, by its real path

A workspace is written beside its final place and moved there when it is whole, so a failure leaves nothing.
"""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import os
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from adjudge.errors import StoreError, UsageError, boundary
from adjudge.records.paths import render_path
from adjudge.records.task import SeedRecord
from adjudge.records.tree import TreeEntry, digest_tree
from adjudge.tasks.trees import PlainFolder, TreeWriter, remove_tree, write_folder

__all__ = [
    "Baseline",
    "Seed",
    "find_seed",
    "keep_baseline",
    "keep_seed",
    "new_workspace",
    "refuse_unless_new",
]


@dataclass(frozen=True, slots=True)
class Baseline:
    """A recorded tree."""

    tree: Path
    digest: str
    entries: tuple[TreeEntry, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Seed:
    """What is known about a workspace that was seeded here."""

    record: SeedRecord
    baseline: Path
    """The trusted tree to compare the workspace with."""


def keep_baseline(write: Callable[[TreeWriter], tuple[str, ...]], state_dir: Path) -> Baseline:
    """Record a tree under the state directory; `write` writes it and says what it left out."""
    baselines = state_dir / "baselines"
    with boundary(StoreError, f"{baselines} cannot be written"):
        baselines.mkdir(parents=True, exist_ok=True, mode=0o700)
        scratch = Path(tempfile.mkdtemp(prefix=".recording-", dir=baselines))
    try:
        writer = TreeWriter(scratch / "tree")
        notes = write(writer)
        entries = writer.finish()
        digest = digest_tree(entries)
        place = baselines / digest.removeprefix("sha256:")
        with boundary(StoreError, f"{place} cannot be written"):
            try:
                (scratch / "tree").rename(place)
            except OSError:
                # An equal tree was recorded before.
                if not place.is_dir():
                    raise
        return Baseline(place, digest, entries, notes)
    finally:
        remove_tree(scratch)


def refuse_unless_new(workspace: Path, state_dir: Path) -> Path:
    """The real path of a workspace to be made.

    Raises:
        UsageError: Something is there, or it would lie among our own records.
    """
    real = Path(os.path.realpath(workspace))
    if real.is_relative_to(os.path.realpath(state_dir)):
        raise UsageError(f"{workspace} lies in {state_dir}, where trusted baselines are kept")
    try:
        taken = os.listdir(real)
    except FileNotFoundError:
        return real
    except NotADirectoryError:
        raise UsageError(f"{workspace} exists and is not a folder") from None
    except OSError as error:
        raise UsageError(f"{workspace} cannot be used: {error.strerror}") from error
    if taken:
        raise UsageError(f"{workspace} is not empty", hint="give a folder that does not exist yet")
    return real


@contextlib.contextmanager
def new_workspace(place: Path, baseline: Baseline) -> Iterator[Path]:
    """A copy of a baseline beside `place`, moved there when the block ends well."""
    with boundary(UsageError, f"{place} cannot be made"):
        place.parent.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(prefix=f".{place.name[:40]}-", dir=place.parent))
    try:
        copy = scratch / "workspace"
        writer = TreeWriter(copy)
        write_folder(PlainFolder(os.fsencode(baseline.tree)), writer, leave_out_git=False)
        if digest_tree(writer.finish()) != baseline.digest:
            raise StoreError(
                f"{baseline.tree} is not the tree that was recorded", hint="remove it and seed again"
            )
        yield copy
        with boundary(UsageError, f"{place} cannot be made"):
            copy.rename(place)
    finally:
        remove_tree(scratch)


def keep_seed(place: Path, task_digest: str, baseline_digest: str, state_dir: Path) -> SeedRecord:
    """Record which baseline a workspace was made from; an earlier record for the same path is replaced."""
    record = SeedRecord(
        task_digest=task_digest,
        baseline_digest=baseline_digest,
        workspace=render_path(str(place)),
        seeded_at=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    )
    file = _record_file(place, state_dir)
    with boundary(StoreError, f"{file} cannot be written"):
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor, scratch = tempfile.mkstemp(prefix=".", dir=file.parent)
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            stream.write(record.model_dump_json(indent=1) + "\n")
        os.replace(scratch, file)
    return record


def find_seed(workspace: Path, state_dir: Path) -> Seed | None:
    """What is recorded about a workspace; None when it was not seeded here.

    Raises:
        StoreError: There is a record, but it or the baseline it names cannot be used.
    """
    file = _record_file(Path(os.path.realpath(workspace)), state_dir)
    try:
        record = SeedRecord.model_validate_json(file.read_bytes())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StoreError(f"{file} cannot be read: {error.strerror}") from error
    except ValidationError as error:
        raise StoreError(f"{file} is damaged", hint="remove it and seed again") from error
    baseline = state_dir / "baselines" / record.baseline_digest.removeprefix("sha256:")
    if not baseline.is_dir():
        raise StoreError(f"the baseline of {workspace} is gone: {baseline}", hint="seed the workspace again")
    return Seed(record, baseline)


def _record_file(place: Path, state_dir: Path) -> Path:
    return state_dir / "seeds" / f"{hashlib.sha256(os.fsencode(place)).hexdigest()}.json"
