"""Collecting what waits: sandboxes in parallel, as many at once as the caller allows."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from adjudge.contracts import Collector, Subject
from adjudge.engine.collect import Piece, collect_one
from adjudge.errors import AdjudgeError
from adjudge.records.base import Record
from adjudge.records.evidence import AnyRequest

__all__ = ["collect_concurrently"]


async def collect_concurrently(
    wanted: Sequence[tuple[str, AnyRequest]],
    collector_of: Callable[[str], Collector | AdjudgeError],
    subject: Subject,
    *,
    jobs: int,
    known: Mapping[str, Record] = MappingProxyType({}),
    asides: dict[str, tuple[AnyRequest, Piece]] | None = None,
) -> dict[str, Piece]:
    """Collect every request, the cheaper kinds before the costlier, at most `jobs` at a time.

    A collector that asks for further evidence gets it through the same door: what is collected already, or
    being collected, is not collected again. Cancelling it cancels every collector and returns when all have
    cleaned up.

    Args:
        wanted: What the scorers asked for, by digest.
        collector_of: Who answers a kind of request, or why nobody does.
        subject: What is graded.
        jobs: How many collectors may run code at once.
        known: Answers there are already, by digest, for collectors that ask.
        asides: Takes what only collectors asked for.
    """
    slots = asyncio.Semaphore(jobs)
    running: dict[str, asyncio.Task[Piece]] = {}
    requests: dict[str, AnyRequest] = {}

    async def collect(request: AnyRequest) -> Piece:
        collector = collector_of(request.kind)
        if isinstance(collector, AdjudgeError):
            return Piece(None, collector, 0.0)
        if getattr(collector, "asks", False):
            # It waits for others, and would keep them from their slot.
            return await collect_one(collector, request, asking)
        async with slots:
            return await collect_one(collector, request, subject)

    def start(digest: str, request: AnyRequest) -> asyncio.Task[Piece]:
        if digest not in running:
            running[digest] = group.create_task(collect(request))
            requests[digest] = request
        return running[digest]

    async def ask(request: AnyRequest) -> Any:
        digest = request.digest
        if digest in known:
            return known[digest]
        piece = await start(digest, request)
        if piece.error is not None:
            raise piece.error
        return piece.answer

    planned = {digest for digest, _ in wanted}

    def expects(request: AnyRequest) -> bool:
        return request.digest in known or request.digest in planned or request.digest in running

    asking = subject._replace(ask=ask, expects=expects)
    by_cost: dict[int, list[tuple[str, AnyRequest]]] = {}
    for digest, request in wanted:
        collector = collector_of(request.kind)
        cost = 0 if isinstance(collector, AdjudgeError) else collector.cost
        by_cost.setdefault(cost, []).append((digest, request))
    for cost in sorted(by_cost):
        async with asyncio.TaskGroup() as group:
            for digest, request in by_cost[cost]:
                start(digest, request)
    if asides is not None:
        asides.update(
            (digest, (requests[digest], task.result()))
            for digest, task in running.items()
            if digest not in planned
        )
    return {digest: running[digest].result() for digest, _ in wanted}
