"""One thread for all that many runs have to say to the store."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Any, Self, TypeVar

__all__ = ["StoreWriter"]

T = TypeVar("T")


class StoreWriter:
    """Does things with the store one after another, off the event loop."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="adjudge-store")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._thread.shutdown()

    async def do(self, work: Callable[..., T], *arguments: Any) -> T:
        """Do something, behind all that was asked before."""
        running = asyncio.get_running_loop().run_in_executor(self._thread, lambda: work(*arguments))
        try:
            return await asyncio.shield(running)
        except asyncio.CancelledError:
            # A transaction that was begun is waited for, so that the process never ends in its middle.
            await asyncio.wait([running])
            raise
