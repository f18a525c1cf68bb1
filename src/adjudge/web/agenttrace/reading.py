"""Traces and diffs of stored runs, opened once for many pages."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, cast

from adjudge.contracts import BlobStore
from adjudge.errors import UsageError
from adjudge.formats.traces.adjudge import write_trace
from adjudge.formats.traces.recorded import RecordedTrace
from adjudge.records.run import Run
from adjudge.web.agenttrace.diffs import StoredDiff
from adjudge.web.agenttrace.spools import Kept
from adjudge.web.agenttrace.timeline import Timeline

__all__ = ["RunReader"]


class RunReader:
    """Opens what is large of a run. Called from any thread.

    Args:
        blobs: Where it is kept.
    """

    def __init__(self, blobs: BlobStore) -> None:
        self._blobs = blobs
        self._timelines: Kept[Timeline] = Kept()
        self._diffs: Kept[StoredDiff] = Kept()

    def has_trace(self, run: Run) -> bool:
        """Whether there is a trace to read."""
        attempt = run.attempt
        if attempt is None:
            return False
        raw = None if attempt.outcome is None else attempt.outcome.raw_trace
        return any(ref is not None and ref.stored for ref in (attempt.trace, raw))

    def has_diff(self, run: Run) -> bool:
        """Whether it had a workspace that could change."""
        return run.attempt is not None and run.attempt.change_set is not None

    @contextmanager
    def timeline(self, run: Run) -> Iterator[Timeline]:
        """The trace of a run.

        Raises:
            UsageError: It has none.
            StoreError: It cannot be read.
        """
        if not self.has_trace(run):
            raise UsageError(f"run {run.id} has no trace")
        assert run.attempt is not None
        kept = run.attempt.trace
        if kept is not None and kept.stored:
            with self._timelines.use(kept.digest, lambda: self._normalised(run)) as timeline:
                yield timeline
            return
        assert run.attempt.outcome is not None
        assert run.attempt.outcome.raw_trace is not None
        key = (run.attempt.outcome.raw_trace.digest, run.attempt.outcome.trace_format)
        with self._timelines.use(key, lambda: self._foreign(run)) as timeline:
            yield timeline

    def _normalised(self, run: Run) -> Timeline:
        assert run.attempt is not None
        assert run.attempt.trace is not None
        with self._blobs.open(run.attempt.trace) as stream:
            return Timeline(stream)

    def _foreign(self, run: Run) -> Timeline:
        """A trace that was kept only as the agent wrote it."""
        assert run.attempt is not None
        assert run.attempt.outcome is not None
        outcome = run.attempt.outcome
        raw = outcome.raw_trace
        assert raw is not None
        source = RecordedTrace(lambda: self._blobs.open(raw), format=outcome.trace_format)
        with tempfile.TemporaryFile(prefix="adjudge-view-") as copy:
            stream = cast("BinaryIO", copy)
            write_trace(source.events(), stream, format=outcome.trace_format or "")
            stream.seek(0)
            return Timeline(stream)

    @contextmanager
    def diff(self, run: Run) -> Iterator[StoredDiff]:
        """What a run changed.

        Raises:
            UsageError: It had no workspace.
            StoreError: The text cannot be read.
        """
        changes = None if run.attempt is None else run.attempt.change_set
        if changes is None:
            raise UsageError(f"run {run.id} had no workspace to change")

        def make() -> StoredDiff:
            if not changes.diff.stored:
                return StoredDiff(changes, None)
            with self._blobs.open(changes.diff) as stream:
                return StoredDiff(changes, stream)

        with self._diffs.use((changes.digest, changes.diff.digest), make) as diff:
            yield diff

    def close(self) -> None:
        """Let go of everything."""
        self._timelines.close()
        self._diffs.close()
