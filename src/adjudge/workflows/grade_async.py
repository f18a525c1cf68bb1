"""The asynchronous door of grading, and the event loop that the synchronous one borrows."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from adjudge.errors import UsageError
from adjudge.records.evaluation import Evaluation
from adjudge.workflows.grade import GradeJob, GradeRequest

__all__ = ["grade_soon", "run_to_end"]

T = TypeVar("T")


async def grade_soon(request: GradeRequest) -> Evaluation:
    """Grade without blocking the event loop: whatever reads or computes goes on a thread.

    Cancelling it ends every process and removes every file it made before the cancellation propagates.
    """
    with GradeJob(request) as job:
        await _on_a_thread(job.prepare)
        await job.wait()
        await _on_a_thread(job.conclude)
        if job.has_judge:
            await job.judge()
        return await _on_a_thread(job.finish)


def run_to_end(work: Callable[[], Awaitable[None]]) -> None:
    """Run a coroutine function in an event loop of its own. Ctrl-C cancels it and lets it clean up.

    Raises:
        UsageError: The caller is in an event loop already.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        pass
    else:
        raise UsageError("adjudge.grade was called in an event loop", hint="use: await adjudge.agrade(...)")

    async def main() -> None:
        await work()

    asyncio.run(main())


async def _on_a_thread(work: Callable[[], T]) -> T:
    """Run on a thread; a cancellation waits for the thread, which cannot be stopped half-way."""
    running = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        await asyncio.wait([running])
        raise
