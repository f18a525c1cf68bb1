"""Collecting what waits: sandboxes in parallel, as many at once as the caller allows."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping

from adjudge.contracts import Collector, Subject
from adjudge.engine.collect import Piece, collect_one
from adjudge.records.evidence import AnyRequest

__all__ = ["collect_concurrently"]


async def collect_concurrently(
    wanted: Iterable[tuple[str, AnyRequest]],
    collectors: Mapping[str, Collector],
    subject: Subject,
    *,
    jobs: int,
) -> dict[str, Piece]:
    """Collect every request, the cheaper kinds before the costlier, at most `jobs` at a time.

    Cancelling it cancels every collector and returns when all have cleaned up.
    """
    by_cost: dict[int, list[tuple[str, AnyRequest]]] = {}
    for digest, request in wanted:
        by_cost.setdefault(collectors[request.kind].cost, []).append((digest, request))
    slots = asyncio.Semaphore(jobs)
    gathered: dict[str, Piece] = {}

    async def collect(digest: str, request: AnyRequest) -> None:
        async with slots:
            gathered[digest] = await collect_one(collectors[request.kind], request, subject)

    for cost in sorted(by_cost):
        async with asyncio.TaskGroup() as group:
            for digest, request in by_cost[cost]:
                group.create_task(collect(digest, request))
    return gathered
