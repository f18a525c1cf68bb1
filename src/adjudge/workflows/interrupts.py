"""Ctrl-C in two steps while an event loop runs: once asks to drain, twice stops; SIGTERM stops at once."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["interruptible"]


@contextmanager
def interruptible(drain: Callable[[], None], stop: Callable[[], object]) -> Iterator[None]:
    """Handle signals in the running loop, as long as the block lasts.

    Does nothing outside the main thread, which alone gets signals.

    Args:
        drain: Called at the first Ctrl-C.
        stop: Called at the second, and at SIGTERM.
    """
    loop = asyncio.get_running_loop()
    asked = 0

    def interrupted() -> None:
        nonlocal asked
        asked += 1
        (drain if asked == 1 else stop)()

    handlers: dict[signal.Signals, Callable[[], object]] = {signal.SIGTERM: stop}
    # A shell starts what it puts in the background with Ctrl-C ignored; that is left as it is.
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        handlers[signal.SIGINT] = interrupted
    before = {number: signal.getsignal(number) for number in handlers}
    try:
        for number, handler in handlers.items():
            loop.add_signal_handler(number, handler)
    except (ValueError, RuntimeError):
        yield
        return
    try:
        yield
    finally:
        for number in handlers:
            loop.remove_signal_handler(number)
            signal.signal(number, before[number])
