"""Keeping a graded workspace so that it can be graded again: baseline, changes, the recipe's files, words.

What an agent of ours left is kept by `adjudge.workflows.attempt`; this is for attempts made elsewhere.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from adjudge.contracts import BlobStore, Subject, TraceSource
from adjudge.errors import SubjectError
from adjudge.formats.traces.adjudge import encode_header, encode_item
from adjudge.records.base import BlobRef
from adjudge.records.run import Attempt
from adjudge.records.tree import digest_tree
from adjudge.tasks.trees import PlainFolder, TreeWriter, remove_tree, write_folder
from adjudge.workflows.storedchanges import store_changes, store_tree

__all__ = ["keep_attempt"]


def keep_attempt(subject: Subject, blobs: BlobStore) -> Attempt:
    """Keep a subject; what the attempt said is kept with it.

    Raises:
        StoreError: It cannot be kept.
    """
    facts: dict[str, Any] = {
        "change_set": subject.change_set,
        "changes": store_changes(subject.change_set, subject.contents, blobs),
        "given_trace": None if subject.trace is None else _keep_trace(subject.trace, blobs),
        "given_response": subject.response,
    }
    if subject.task.files and subject.scenario_files is not None:
        facts["task_files"] = store_tree(subject.scenario_files, subject.task.files, blobs)
    baseline = subject.baseline
    if baseline is None and subject.make_baseline is not None:
        baseline = subject.make_baseline()
    if baseline is not None and baseline.flat:
        with _copied(baseline.base) as (copy, entries):
            facts["baseline"] = store_tree(copy, entries, blobs)
            facts["baseline_digest"] = digest_tree(entries)
    return Attempt(**facts)


@contextlib.contextmanager
def _copied(folder: Path) -> Iterator[tuple[Path, Any]]:
    """A baseline's folder in the form that trees are kept in: without `.git`, and nothing but what counts."""
    scratch = Path(tempfile.mkdtemp(prefix="adjudge-"))
    try:
        writer = TreeWriter(scratch / "tree")
        write_folder(PlainFolder(os.fsencode(folder)), writer, leave_out_git=True)
        yield scratch / "tree", writer.finish()
    finally:
        remove_tree(scratch)


def _keep_trace(trace: TraceSource, blobs: BlobStore) -> BlobRef | None:
    """The trace in its normalised form; None when it cannot be read as one."""
    writer = blobs.writer()
    try:
        writer.write(encode_header(trace.summary().format))
        for item in trace.events():
            writer.write(encode_item(item))
        return writer.commit()
    except SubjectError:
        return None
    finally:
        writer.abort()
