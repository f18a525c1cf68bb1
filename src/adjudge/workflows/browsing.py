"""Looking through many runs: one page of a sorted list, and whether there is more on either side."""

from __future__ import annotations

from typing import NamedTuple

from adjudge.records.listing import RunCursor, RunFilter, RunSort, RunSummary
from adjudge.store.listing import cursor_of
from adjudge.store.runs import RunDatabase

__all__ = ["RunPage", "read_runs"]


class RunPage(NamedTuple):
    """Some runs of a list."""

    rows: list[RunSummary]
    earlier: RunCursor | None
    """Where the page before this one ends; None on the first one."""
    later: RunCursor | None
    """Where the next page begins; None on the last one."""


def read_runs(
    store: RunDatabase,
    wanted: RunFilter,
    sort: RunSort,
    *,
    after: RunCursor | None = None,
    before: RunCursor | None = None,
    limit: int,
) -> RunPage:
    """A page of a list of runs: its first, the one after a place, or the one before it."""
    if before is not None:
        rows = store.page(wanted, sort, cursor=before, direction="before", limit=limit + 1)
        more_before, more_after = len(rows) > limit, True
        rows = rows[-limit:]
    else:
        rows = store.page(wanted, sort, cursor=after, limit=limit + 1)
        more_before, more_after = after is not None, len(rows) > limit
        rows = rows[:limit]
    return RunPage(
        rows,
        cursor_of(rows[0], sort) if rows and more_before else None,
        cursor_of(rows[-1], sort) if rows and more_after else None,
    )
